/* Parses INKALLOC_CONF.  Neither allocates nor calls stdio: it runs in a constructor that others may precede. */
#include "options.h"
#include "os.h"

#include <string.h>
#include <unistd.h>

struct ink_options ink_options = {.dirty_max = 12 * INK_MIB};

/* Sets an option from the text of its value; false: that is none. */
typedef bool ink_option_set_t(const char *value, size_t length);
static ink_option_set_t ink_option_set_banner, ink_option_set_thp, ink_option_set_dirty_max;

struct ink_option {
    const char *name;
    const char *values; /* as the error sentence lists them */
    ink_option_set_t *set;
};

static const struct ink_option ink_option_table[] = {
    {"banner", "true|false", ink_option_set_banner},
    {"thp", "auto|always|never", ink_option_set_thp},
    {"dirty_max", "BYTES[K|M|G]", ink_option_set_dirty_max},
};

enum { INK_OPTION_COUNT = sizeof ink_option_table / sizeof ink_option_table[0] };

/* A sentence under construction; what does not fit is cut. */
struct ink_sentence {
    char text[512];
    size_t length;
};

static void ink_sentence_add(struct ink_sentence *s, const char *from, size_t length)
{
    size_t room = sizeof s->text - 1 - s->length;

    if (length > room)
        length = room;
    for (size_t i = 0; i < length; i++)
        s->text[s->length++] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
}

static void ink_sentence_add_string(struct ink_sentence *s, const char *from)
{
    ink_sentence_add(s, from, strlen(from));
}

static void ink_option_complain(const char *what, const char *item, size_t length)
{
    struct ink_sentence s = {.length = 0};

    ink_sentence_add_string(&s, "inkalloc: INKALLOC_CONF: ");
    ink_sentence_add_string(&s, what);
    ink_sentence_add_string(&s, " '");
    ink_sentence_add(&s, item, length < 64 ? length : 64);
    ink_sentence_add_string(&s, "'; valid options are ");
    for (int i = 0; i < INK_OPTION_COUNT; i++) {
        ink_sentence_add_string(&s, i == 0 ? "" : ", ");
        ink_sentence_add_string(&s, ink_option_table[i].name);
        ink_sentence_add_string(&s, ":");
        ink_sentence_add_string(&s, ink_option_table[i].values);
    }
    s.text[s.length++] = '\n';
    ink_os_write(STDERR_FILENO, s.text, s.length);
}

static bool ink_text_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Which of the words, up to NULL, the text is; -1: none. */
static int ink_text_which(const char *text, size_t length, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (ink_text_is(text, length, words[i]))
            return i;
    return -1;
}

/* A number of bytes, with K, M or G for KiB, MiB or GiB; false if it is none or too large. */
static bool ink_text_bytes(const char *text, size_t length, size_t *bytes)
{
    static const char units[] = "KMG";
    const char *unit = length != 0 ? strchr(units, text[length - 1]) : NULL;
    unsigned shift = unit != NULL ? 10 * ((unsigned)(unit - units) + 1) : 0;
    size_t value = 0;

    length -= unit != NULL;
    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (unsigned)(text[i] - '0'), &value))
            return false;
    if (value > SIZE_MAX >> shift)
        return false;
    *bytes = value << shift;
    return true;
}

static bool ink_option_set_banner(const char *value, size_t length)
{
    static const char *const words[] = {"false", "true", NULL};
    int which = ink_text_which(value, length, words);

    if (which >= 0)
        ink_options.banner = which == 1;
    return which >= 0;
}

static bool ink_option_set_thp(const char *value, size_t length)
{
    static const char *const words[] = {"auto", "always", "never", NULL}; /* in the enum's order */
    int which = ink_text_which(value, length, words);

    if (which >= 0)
        ink_options.thp = (enum ink_thp)which;
    return which >= 0;
}

static bool ink_option_set_dirty_max(const char *value, size_t length)
{
    size_t bytes;

    if (!ink_text_bytes(value, length, &bytes))
        return false;
    ink_options.dirty_max = bytes < SIZE_MAX / 4 ? bytes : SIZE_MAX / 4; /* room for sums */
    return true;
}

static void ink_option_parse_item(const char *item, size_t length)
{
    const char *colon = memchr(item, ':', length);
    size_t name_length = colon != NULL ? (size_t)(colon - item) : length;

    for (int i = 0; i < INK_OPTION_COUNT; i++) {
        const struct ink_option *option = &ink_option_table[i];

        if (!ink_text_is(item, name_length, option->name))
            continue;
        if (colon == NULL || !option->set(colon + 1, length - name_length - 1))
            ink_option_complain("wrong value in", item, length);
        return;
    }
    ink_option_complain("unknown option", item, length);
}

void ink_options_parse(const char *text)
{
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, ",");

        if (length != 0)
            ink_option_parse_item(text, length);
        text += length;
        text += *text == ',';
    }
}
