/* A server whose threads come and go: work_larson [plain|latency [THREADS [GENERATIONS
 * [STEPS]]]].
 *
 * After Larson & Krishnan, "Memory allocation for long-running server applications" (1998).  Each
 * of THREADS chains owns 1000 slots with blocks of 8 to 1024 bytes.  A thread replaces the blocks
 * of STEPS random slots, then starts a new thread, which inherits the slots, and ends; this is
 * done GENERATIONS times.  So most blocks that are young in a generation are freed by a thread
 * that did not take them, after the death of the one that did.  The original counts the
 * operations done in a given time; this one does a given number.
 *
 * latency times every malloc and every free.  The figures contain the reading of the clock, which
 * alone is clock_p50, and whatever interrupts the thread: max is that of the scheduler on a
 * loaded machine, and so may be p999.  A time stamp counter that does not run at a constant rate
 * makes them wrong; one that advances in steps, as AMD's do by 10 ns, rounds them to its steps.
 * The CPU time of a latency run is that of the clock, not of the allocator. */
#include <semaphore.h>

#include "work.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

enum {
    THREADS_DEFAULT = 2,
    GENERATIONS_DEFAULT = 20,
    STEPS_DEFAULT = 50000,
    SLOTS = 1000,
    MIN_BYTES = 8,
    MAX_BYTES = 1024
};

/* ---- the clock ---- */

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Fenced, so that what is measured neither begins before the reading nor ends after it. */
static inline uint64_t ticks(void)
{
#ifdef __x86_64__
    uint64_t t;

    _mm_lfence();
    t = __rdtsc();
    _mm_lfence();
    return t;
#else
    return clock_ns();
#endif
}

static double ns_per_tick(void)
{
#ifdef __x86_64__
    enum { CALIBRATION_NS = 10000000 };
    uint64_t ns = clock_ns(), start = ticks(), now;

    do
        now = clock_ns();
    while (now - ns < CALIBRATION_NS);
    return (double)(now - ns) / (double)(ticks() - start);
#else
    return 1;
#endif
}

/* ---- the histogram: 32 even steps to each doubling, their middles off by 1.6 % at most ---- */

enum {
    STEP_BITS = 5,
    STEPS_PER_OCTAVE = 1 << STEP_BITS,
    BINS = (65 - STEP_BITS) * STEPS_PER_OCTAVE
};

struct histogram {
    uint64_t count, max;
    uint64_t bins[BINS];
};

static inline size_t bin_of(uint64_t value)
{
    unsigned shift;

    if (value < STEPS_PER_OCTAVE)
        return (size_t)value;
    shift = 63 - STEP_BITS - (unsigned)__builtin_clzll(value);
    return (size_t)shift * STEPS_PER_OCTAVE + (size_t)(value >> shift);
}

static double bin_middle(size_t bin)
{
    size_t shift = bin / STEPS_PER_OCTAVE;

    if (shift <= 1)
        return (double)bin;
    shift--;
    return ((double)(bin - shift * STEPS_PER_OCTAVE) + 0.5) * (double)((uint64_t)1 << shift);
}

static inline void record(struct histogram *h, uint64_t value)
{
    h->bins[bin_of(value)]++;
    h->count++;
    if (value > h->max)
        h->max = value;
}

static void add(struct histogram *to, const struct histogram *from)
{
    for (size_t i = 0; i < BINS; i++)
        to->bins[i] += from->bins[i];
    to->count += from->count;
    if (from->max > to->max)
        to->max = from->max;
}

static double quantile(const struct histogram *h, double part)
{
    double wanted = part * (double)h->count, seen = 0;

    for (size_t i = 0; i < BINS; i++) {
        seen += (double)h->bins[i];
        if (seen >= wanted && h->bins[i] != 0)
            return bin_middle(i);
    }
    return (double)h->max;
}

static void print_histogram(const char *call, const struct histogram *h, double scale)
{
    static const struct {
        const char *name;
        double part;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}};
    char name[32];

    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        snprintf(name, sizeof name, "%s_%s", call, quantiles[i].name);
        bench_result(name, quantile(h, quantiles[i].part) * scale, "ns");
    }
    snprintf(name, sizeof name, "%s_max", call);
    bench_result(name, (double)h->max * scale, "ns");
}

static void print_clock(double scale)
{
    enum { READINGS = 10000 };
    static struct histogram empty;

    for (int i = 0; i < READINGS; i++) {
        uint64_t start = ticks();

        record(&empty, ticks() - start);
    }
    bench_result("clock_p50", quantile(&empty, 0.5) * scale, "ns");
}

/* ---- the chains ---- */

struct chain {
    _Alignas(WORK_LINE_BYTES) struct bench_rng rng;
    bool timed, has_before;
    size_t generations_left, steps;
    pthread_t before, last;
    sem_t done;
    char *slots[SLOTS];
    struct histogram mallocs, frees;
};

static inline size_t draw_size(struct chain *chain)
{
    return MIN_BYTES + bench_rng_below(&chain->rng, MAX_BYTES - MIN_BYTES + 1);
}

static void replace(struct chain *chain)
{
    for (size_t i = 0; i < chain->steps; i++) {
        char **slot = &chain->slots[bench_rng_below(&chain->rng, SLOTS)];

        free(*slot);
        *slot = work_block(draw_size(chain));
    }
}

static void replace_timed(struct chain *chain)
{
    for (size_t i = 0; i < chain->steps; i++) {
        char **slot = &chain->slots[bench_rng_below(&chain->rng, SLOTS)];
        size_t bytes = draw_size(chain);
        uint64_t start, freed, taken;

        start = ticks();
        free(*slot);
        freed = ticks();
        *slot = (char *)malloc(bytes);
        taken = ticks();
        *(char *)bench_check(*slot) = 1;
        record(&chain->frees, freed - start);
        record(&chain->mallocs, taken - freed);
    }
}

/* The new thread waits until the one before it is dead and what its end costs has been paid. */
static void *generation(void *argument)
{
    struct chain *chain = argument;

    if (chain->has_before)
        work_join(chain->before);
    if (chain->timed)
        replace_timed(chain);
    else
        replace(chain);
    if (--chain->generations_left > 0) {
        chain->has_before = true;
        chain->before = pthread_self();
        work_start(generation, chain);
    } else {
        chain->last = pthread_self();
        sem_post(&chain->done);
    }
    return NULL;
}

static void start_chain(struct chain *chain, size_t number, bool timed, size_t generations,
                        size_t steps)
{
    chain->rng = bench_rng_seeded(number);
    chain->timed = timed;
    chain->generations_left = generations;
    chain->steps = steps;
    sem_init(&chain->done, 0, 0);
    for (size_t i = 0; i < SLOTS; i++)
        chain->slots[i] = work_block(draw_size(chain));
    work_start(generation, chain);
}

static void finish_chain(struct chain *chain)
{
    while (sem_wait(&chain->done) != 0)
        continue;
    work_join(chain->last);
    for (size_t i = 0; i < SLOTS; i++)
        free(chain->slots[i]);
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"plain", "latency", NULL};
    struct work_arguments a =
        work_begin(argc, argv, "work_larson [plain|latency [THREADS [GENERATIONS [STEPS]]]]");
    bool timed = work_word(&a, words) == 1;
    size_t threads = work_number(&a, THREADS_DEFAULT, 1024);
    size_t generations = work_number(&a, GENERATIONS_DEFAULT, 1000000);
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);
    double scale = timed ? ns_per_tick() : 1;
    struct chain *chains = work_map(threads * sizeof *chains);

    work_end(&a);
    for (size_t i = 0; i < threads; i++)
        start_chain(&chains[i], i, timed, generations, steps);
    for (size_t i = 0; i < threads; i++)
        finish_chain(&chains[i]);
    if (timed) {
        for (size_t i = 1; i < threads; i++) {
            add(&chains[0].mallocs, &chains[i].mallocs);
            add(&chains[0].frees, &chains[i].frees);
        }
        print_histogram("malloc", &chains[0].mallocs, scale);
        print_histogram("free", &chains[0].frees, scale);
        print_clock(scale);
    }
    bench_result("operations", 2.0 * (double)(threads * (generations * steps + SLOTS)), "count");
    return 0;
}
