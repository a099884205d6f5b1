/* Parses INKALLOC_CONF.  Neither allocates nor calls stdio: it runs in a constructor that others may precede. */
#include "options.h"
#include "os.h"

#include <string.h>
#include <unistd.h>

struct ink_options ink_options = {.banner = false};

struct ink_option {
    const char *name;
    const char *values; /* as the error sentence lists them */
    bool *flag;
};

static const struct ink_option ink_option_table[] = {
    {"banner", "true|false", &ink_options.banner},
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

static bool ink_option_set(const struct ink_option *option, const char *value, size_t length)
{
    bool on = ink_text_is(value, length, "true");

    if (!on && !ink_text_is(value, length, "false"))
        return false;
    *option->flag = on;
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
