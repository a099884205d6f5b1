/* Vectors that grow by realloc: work_realloc [VECTORS [STEPS]].
 *
 * The pattern is that of a growing array, with the two usual factors: doubling, and the tenth
 * more that saves memory.  Wilson, Johnstone, Neely & Boles, "Dynamic storage allocation: a
 * survey and critical review" (1995), describe ramps, growth that goes on, as a basic shape of
 * programs.  The vectors take turns for STEPS turns, so that none can simply grow at the end of
 * the heap.  Each begins at 16 bytes; what it gains is written; at its limit of 1 MiB, or 32 MiB
 * for one in eight, it is freed and begins anew.
 *
 * Copying and page faults are most of the time: an allocator that moves pages by mremap wins for
 * reasons that small vectors would not show. */
#include "work.h"

enum {
    VECTORS_DEFAULT = 8,
    STEPS_DEFAULT = 160,
    FIRST_BYTES = 16,
    LIMIT_BYTES = 1 << 20,
    LARGE_LIMIT_BYTES = 32 << 20,
    LARGE_ONE_IN = 8
};

struct vector {
    char *data;
    size_t bytes, limit;
    bool doubles;
};

static size_t next_size(const struct vector *v)
{
    if (v->bytes == 0)
        return FIRST_BYTES;
    return v->doubles ? 2 * v->bytes : v->bytes + v->bytes / 10 + 1;
}

static void grow(struct vector *v)
{
    size_t bytes = next_size(v);

    if (bytes > v->limit) {
        free(v->data);
        v->data = NULL;
        v->bytes = 0;
        return;
    }
    v->data = (char *)bench_check(realloc(v->data, bytes));
    memset(v->data + v->bytes, 1, bytes - v->bytes);
    v->bytes = bytes;
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_realloc [VECTORS [STEPS]]");
    size_t count = work_number(&a, VECTORS_DEFAULT, 100000);
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);
    struct vector *vectors = work_map(count * sizeof *vectors);

    work_end(&a);
    for (size_t i = 0; i < count; i++) {
        vectors[i].doubles = i % 2 == 0;
        vectors[i].limit = i % LARGE_ONE_IN == LARGE_ONE_IN - 1 ? LARGE_LIMIT_BYTES : LIMIT_BYTES;
    }
    for (size_t step = 0; step < steps; step++)
        for (size_t i = 0; i < count; i++)
            grow(&vectors[i]);
    for (size_t i = 0; i < count; i++)
        free(vectors[i].data);
    bench_result("operations", (double)(count * (steps + 1)), "count");
    return 0;
}
