/* 
 * What a child of a preloaded shell says of itself (preload_children.sh): its words, who serves its
 * malloc, whether the kernel started it as another user (AT_SECURE), and its argument. Allocates
 * and checks what it got.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* There if inkalloc is in this process. */
const char *inkalloc_version(void) __attribute__((weak));

enum { SLOTS = 64, ROUNDS = 100000 };

static int churn(void)
{
    unsigned char *slot[SLOTS] = {0};
    uint32_t seed = 42;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t at = seed >> 26;
        size_t size = (seed >> 8) % (i % 50 ? 600 : 300000) + 1;
        if (slot[at] && slot[at][0] != at) {
            return 1;
        }
        slot[at] = realloc(slot[at], size);
        if (!slot[at] || (uintptr_t)slot[at] % (2 * sizeof(void *)) != 0) {
            return 1;
        }
        slot[at][0] = (unsigned char)at;
        slot[at][size - 1] = (unsigned char)at;
    }
    for (int at = 0; at < SLOTS; at++) {
        free(slot[at]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (churn() != 0) {
        puts("malloc is broken");
        return 1;
    }
    printf("%zu bits, malloc of %s%s, %s\n", 8 * sizeof(void *),
           inkalloc_version ? "inkalloc" : "the system", getauxval(AT_SECURE) ? ", secure" : "",
           argc > 1 ? argv[1] : "");
    return 5;
}
