/* How near malloc comes to the least that is possible: work_limit [PAIRS [STEPS]].
 *
 * Two loops, each by malloc and free and by an inlined list per size class: PAIRS times one block
 * of 64 bytes comes and goes; and STEPS times one of 1000 blocks of 16 to 1015 bytes is replaced.
 * The list is the segregated free list that Wilson, Johnstone, Neely & Boles describe ("Dynamic
 * storage allocation: a survey and critical review", 1995): local to the thread, links within the
 * blocks, classes 16 bytes apart, memory carved from one mapping.  It is told the size when a
 * block is freed, checks nothing and gives nothing back: what a call, a look-up of the size, or a
 * check costs is the difference.
 *
 * The times are CPU time of this thread alone. operations counts the calls of malloc and free,
 * but the CPU time of the process is that of both halves. */
#include "work.h"

enum {
    PAIRS_DEFAULT = 5000000,
    STEPS_DEFAULT = 1500000,
    PAIR_BYTES = 64,
    SLOTS = 1000,
    MIN_BYTES = 16,
    SPREAD_BYTES = 1000,
    CLASS_BYTES = 16,
    CLASSES = (MIN_BYTES + SPREAD_BYTES - 1 + CLASS_BYTES - 1) / CLASS_BYTES + 1,
    CARVED_BYTES = 16 << 20
};

/* ---- the two ways ---- */

struct link {
    struct link *next;
};

static _Thread_local struct link *lists[CLASSES];
static _Thread_local char *carved, *carved_end;

static void *carve(size_t class)
{
    char *p = carved;

    if ((size_t)(carved_end - carved) < class * CLASS_BYTES)
        return NULL;
    carved += class * CLASS_BYTES;
    return p;
}

static inline void *inline_take(size_t bytes)
{
    size_t class = (bytes + CLASS_BYTES - 1) / CLASS_BYTES;
    struct link *link = lists[class];

    if (__builtin_expect(link == NULL, 0))
        return carve(class);
    lists[class] = link->next;
    return link;
}

static inline void inline_give(void *p, size_t bytes)
{
    size_t class = (bytes + CLASS_BYTES - 1) / CLASS_BYTES;
    struct link *link = p;

    link->next = lists[class];
    lists[class] = link;
}

static inline void *malloc_take(size_t bytes)
{
    return malloc(bytes);
}

static inline void malloc_give(void *p, size_t bytes)
{
    (void)bytes;
    free(p);
}

/* ---- the loops, made twice from one text ---- */

static struct slot {
    char *block;
    size_t bytes;
} slots[SLOTS];

#define LOOPS(way)                                                                   \
    static void way##_fill(struct slot *slot, struct bench_rng *rng)                 \
    {                                                                                \
        slot->bytes = MIN_BYTES + bench_rng_below(rng, SPREAD_BYTES);                \
        slot->block = (char *)bench_check(way##_take(slot->bytes));                  \
        *slot->block = 1;                                                            \
    }                                                                                \
                                                                                     \
    static void way##_pair(size_t pairs)                                             \
    {                                                                                \
        double start = bench_cpu_ns();                                               \
                                                                                     \
        for (size_t i = 0; i < pairs; i++) {                                         \
            char *p = (char *)bench_check(keep(way##_take(PAIR_BYTES)));             \
                                                                                     \
            *p = 1;                                                                  \
            way##_give(keep(p), PAIR_BYTES);                                         \
        }                                                                            \
        bench_result(#way "_pair", (bench_cpu_ns() - start) / (double)pairs, "ns");  \
    }                                                                                \
                                                                                     \
    static void way##_churn(size_t steps)                                            \
    {                                                                                \
        struct bench_rng rng = bench_rng_seeded(1);                                  \
        double start;                                                                \
                                                                                     \
        for (size_t i = 0; i < SLOTS; i++)                                           \
            way##_fill(&slots[i], &rng);                                             \
        start = bench_cpu_ns();                                                      \
        for (size_t i = 0; i < steps; i++) {                                         \
            struct slot *slot = &slots[bench_rng_below(&rng, SLOTS)];                \
                                                                                     \
            way##_give(slot->block, slot->bytes);                                    \
            way##_fill(slot, &rng);                                                  \
        }                                                                            \
        bench_result(#way "_churn", (bench_cpu_ns() - start) / (double)steps, "ns"); \
        for (size_t i = 0; i < SLOTS; i++)                                           \
            way##_give(slots[i].block, slots[i].bytes);                              \
    }

LOOPS(malloc)
LOOPS(inline)

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_limit [PAIRS [STEPS]]");
    size_t pairs = work_number(&a, PAIRS_DEFAULT, 1000000000);
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);

    work_end(&a);
    carved = work_map(CARVED_BYTES);
    carved_end = carved + CARVED_BYTES;
    malloc_pair(pairs);
    inline_pair(pairs);
    malloc_churn(steps);
    inline_churn(steps);
    bench_result("operations", 2.0 * (double)(pairs + steps + SLOTS), "count");
    return 0;
}
