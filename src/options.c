/* Parses INKALLOC_CONF.  Neither allocates nor calls stdio: it runs in a constructor that others
 * may precede. */
#include "options.h"
#include "os.h"

#include <string.h>
#include <unistd.h>

struct ink_options ink_options = {.dirty_max = 12 * INK_MIB, .decay = 10};

/* What a value may be, and so the type of its field. */
enum ink_option_kind {
    INK_OPTION_WORD,    /* unsigned: which of the words */
    INK_OPTION_BYTES,   /* size_t */
    INK_OPTION_SECONDS, /* unsigned, at most INK_SECONDS_MAX */
};

enum { INK_SECONDS_MAX = 1000000 };

struct ink_option {
    const char *name;
    /* As the error sentence lists them; of a WORD its words, in the order of their numbers. */
    const char *values;
    enum ink_option_kind kind;
    size_t field; /* where in struct ink_options */
};

#define INK_OPTION(name, kind, values)                          \
    {                                                           \
#name, values, kind, offsetof(struct ink_options, name) \
    }

#define INK_BYTES_VALUES "BYTES[K|M|G]"

static const struct ink_option ink_option_table[] = {
    INK_OPTION(banner, INK_OPTION_WORD, "false|true"),
    INK_OPTION(thp, INK_OPTION_WORD, "auto|always|never"),
    INK_OPTION(dirty_max, INK_OPTION_BYTES, INK_BYTES_VALUES),
    INK_OPTION(limit_soft, INK_OPTION_BYTES, INK_BYTES_VALUES),
    INK_OPTION(limit_hard, INK_OPTION_BYTES, INK_BYTES_VALUES),
    INK_OPTION(decay, INK_OPTION_SECONDS, "SECONDS"),
    INK_OPTION(purge, INK_OPTION_WORD, "dontneed|free"),
    INK_OPTION(hugetlb, INK_OPTION_WORD, "false|true"),
    INK_OPTION(purge_thread, INK_OPTION_WORD, "false|true"),
};

enum { INK_OPTION_COUNT = sizeof ink_option_table / sizeof ink_option_table[0] };

/* A sentence under construction; what does not fit is cut. */
struct ink_sentence {
    char text[768];
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

/* Which of the words, divided by bars, the text is; -1: none. */
static int ink_text_which(const char *text, size_t length, const char *words)
{
    for (int i = 0;; i++) {
        size_t word = strcspn(words, "|");

        if (word == length && memcmp(text, words, length) == 0)
            return i;
        if (words[word] == '\0')
            return -1;
        words += word + 1;
    }
}

/* A number, with one of the units behind it, of which each is 1024 times the one before; false if
 * it is none or too large. */
static bool ink_text_number(const char *text, size_t length, const char *units, size_t *number)
{
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
    *number = value << shift;
    return true;
}

/* Sets an option from the text of its value; false: that is none. */
static bool ink_option_set(const struct ink_option *option, const char *value, size_t length)
{
    void *field = (char *)&ink_options + option->field;
    int which = -1;
    size_t number;

    if (option->kind == INK_OPTION_WORD)
        which = ink_text_which(value, length, option->values);
    else if (!ink_text_number(value, length, option->kind == INK_OPTION_BYTES ? "KMG" : "",
                              &number))
        return false;
    switch (option->kind) {
    case INK_OPTION_WORD:
        if (which >= 0)
            *(unsigned *)field = (unsigned)which;
        return which >= 0;
    case INK_OPTION_BYTES:
        *(size_t *)field = number < SIZE_MAX / 4 ? number : SIZE_MAX / 4; /* room for sums */
        return true;
    case INK_OPTION_SECONDS:
        *(unsigned *)field = number < INK_SECONDS_MAX ? (unsigned)number : INK_SECONDS_MAX;
        return true;
    }
    return false;
}

static void ink_option_parse_item(const char *item, size_t length)
{
    const char *colon = memchr(item, ':', length);
    size_t name_length = colon != NULL ? (size_t)(colon - item) : length;

    for (int i = 0; i < INK_OPTION_COUNT; i++) {
        const struct ink_option *option = &ink_option_table[i];

        if (!ink_text_is(item, name_length, option->name))
            continue;
        if (colon == NULL || !ink_option_set(option, colon + 1, length - name_length - 1))
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
