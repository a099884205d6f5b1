/* Fatal lines, put together in a buffer on the stack and written with one system call. */
#include "die.h"
#include "os.h"

#include <stdlib.h>
#include <unistd.h>

enum { INK_DIE_LINE_BYTES = 256 };

struct ink_line {
    char text[INK_DIE_LINE_BYTES];
    size_t length;
};

static void ink_line_add(struct ink_line *line, const char *s)
{
    while (*s != '\0' && line->length < sizeof line->text - 1)
        line->text[line->length++] = *s++;
}

static void ink_line_add_pointer(struct ink_line *line, const void *pointer)
{
    char digits[2 * sizeof(uintptr_t) + 1];
    size_t at = sizeof digits - 1;
    uintptr_t value = (uintptr_t)pointer;

    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    ink_line_add(line, "0x");
    ink_line_add(line, digits + at);
}

static INK_NORETURN void ink_line_die(struct ink_line *line)
{
    line->text[line->length++] = '\n';
    ink_os_write(STDERR_FILENO, line->text, line->length);
    abort();
}

INK_COLD void ink_die_misuse(const char *fault, const char *function, const void *pointer)
{
    struct ink_line line = {.length = 0};

    ink_line_add(&line, "inkalloc: ");
    ink_line_add(&line, fault);
    ink_line_add(&line, " in ");
    ink_line_add(&line, function);
    ink_line_add(&line, "(");
    ink_line_add_pointer(&line, pointer);
    ink_line_add(&line, ")");
    ink_line_die(&line);
}

INK_COLD void ink_die_internal(const char *what)
{
    struct ink_line line = {.length = 0};

    ink_line_add(&line, "inkalloc: internal error: ");
    ink_line_add(&line, what);
    ink_line_die(&line);
}
