/* The five loops whose instructions are counted: bench_instructions LOOP N.
 *
 * The figure of a loop is what callgrind counts at 2N less what it counts at N, divided by the
 * operations between, so that start-up cancels; the loop's own instructions stay in.  The file is
 * compiled with -O2 -fno-builtin whatever the tree is built with, and glibc 2.36 of Debian 12 must
 * give 139.0, 200.7, 193.1, 259.0 and 244.0: a change here that moves those makes every recorded
 * figure incomparable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum {
    SLOTS = 1000,
    PAIR_BYTES = 64,
    CHURN_MIN_BYTES = 16,
    CHURN_SPREAD_BYTES = 1000,
    BATCH_BYTES = 48,
    REALLOC_MAX_BYTES = 2000
};

static void *slots[SLOTS];

static void pair(long n)
{
    for (long i = 0; i < n; i++)
        free(keep(malloc(PAIR_BYTES)));
}

/* One of a thousand blocks goes, another of random size comes. */
static void churn(long n)
{
    for (long i = 0; i < n; i++) {
        int k = (int)(bench_random() % SLOTS);

        free(slots[k]);
        slots[k] = malloc(CHURN_MIN_BYTES + bench_random() % CHURN_SPREAD_BYTES);
    }
}

/* A thousand blocks come, then go in the same order; n counts the thousands. */
static void batch(long n)
{
    for (long i = 0; i < n; i++) {
        for (size_t k = 0; k < SLOTS; k++)
            slots[k] = malloc(BATCH_BYTES);
        for (size_t k = 0; k < SLOTS; k++)
            free(slots[k]);
    }
}

static void zeroed(long n)
{
    for (long i = 0; i < n; i++)
        free(keep(calloc(1, PAIR_BYTES)));
}

/* The old block is lost when realloc fails, which ends the loop's meaning but nothing else. */
static void resize(long n)
{
    void *p = NULL;

    for (long i = 0; i < n; i++)
        p = realloc(p, 1 + bench_random() % REALLOC_MAX_BYTES);
    free(p);
}

static const struct {
    const char *name;
    void (*run)(long n);
} loops[] = {
    {"pair", pair}, {"churn", churn}, {"batch", batch}, {"calloc", zeroed}, {"realloc", resize},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof loops / sizeof loops[0]; i++) {
        if (strcmp(argv[1], loops[i].name) == 0) {
            loops[i].run(atol(argv[2]));
            return 0;
        }
    }
    fputs("usage: bench_instructions pair|churn|batch|calloc|realloc N\n", stderr);
    return 2;
}
