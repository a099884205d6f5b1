/* What sharding the shared heads would bring: bench_shards [ROUNDS].
 *
 * Threads take a batch from a stack of batches, work on it, and give it back, the stacks being 1 or
 * 8, each on a line of its own; a thread has a home stack and tries the others when it is empty.
 * Work 0 is the worst that can be asked of a head; work 500 ns is about what a thread spends on the
 * items of a batch before it comes back for the next.  Printed are medians over the rounds: CPU
 * time and failed commits for each take and give, less the work.
 *
 * Two processors cannot show what sixty-four see; docs/benchmarks.md has the arithmetic from these
 * figures. */
#define INK_BETWEEN() ((void)bench_tries++)
static _Thread_local unsigned long bench_tries;

#include "bench.h"
#include "frame.h"

#include <pthread.h>

enum {
    SHARDS_MAX = 8,
    THREADS_MAX = 6,
    BATCHES = 64,
    PAIRS = 200000,
    ROUNDS_DEFAULT = 9,
    ROUNDS_MAX = 99
};

static struct {
    _Alignas(INK_LINE_BYTES) struct ink_stack stack;
} shards[SHARDS_MAX];
static unsigned shard_count;
static unsigned long work_steps;
static double step_ns;

struct worker {
    unsigned home;
    unsigned long retries;
};

/* Steps that depend on each other, so that their time is known and no processor overlaps them. */
static INK_NOINLINE void work(unsigned long steps)
{
    unsigned long x = steps;

    for (unsigned long i = 0; i < steps; i++)
        __asm__ volatile("" : "+r"(x) : : "memory");
}

static struct ink_frame *take(unsigned home)
{
    for (unsigned i = 0;; i++) {
        struct ink_frame *batch = ink_stack_pop(&shards[(home + i) % shard_count].stack);

        if (batch != NULL)
            return batch;
    }
}

static void *run(void *argument)
{
    struct worker *worker = argument;

    bench_tries = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        struct ink_frame *batch = take(worker->home);

        work(work_steps);
        ink_stack_push(&shards[worker->home].stack, batch);
    }
    worker->retries = bench_tries - 2UL * PAIRS;
    return NULL;
}

/* One cell: CPU ns and retries for a pair. */
static void measure(unsigned threads, double *ns, double *retries)
{
    struct worker workers[THREADS_MAX];
    pthread_t handles[THREADS_MAX];
    double start = bench_cpu_ns(), pairs = (double)threads * PAIRS;

    *retries = 0;
    for (unsigned t = 0; t < threads; t++) {
        workers[t] = (struct worker){.home = t % shard_count};
        if (pthread_create(&handles[t], NULL, run, &workers[t]) != 0)
            abort();
    }
    for (unsigned t = 0; t < threads; t++) {
        pthread_join(handles[t], NULL);
        *retries += (double)workers[t].retries / pairs;
    }
    *ns = (bench_cpu_ns() - start) / pairs - (double)work_steps * step_ns;
}

static void fill(unsigned count)
{
    struct ink_frame *batch;

    for (unsigned s = 0; s < shard_count; s++)
        while ((batch = ink_stack_pop(&shards[s].stack)) != NULL)
            ink_frame_give_empty(batch);
    shard_count = count;
    for (unsigned b = 0; b < BATCHES; b++)
        ink_stack_push(&shards[b % count].stack, ink_frame_take_empty());
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static void calibrate(void)
{
    enum { STEPS = 20000000 };
    double start = bench_cpu_ns();

    work(STEPS);
    step_ns = (bench_cpu_ns() - start) / STEPS;
}

int main(int argc, char **argv)
{
    static const unsigned threads[] = {1, 2, 6}, counts[] = {1, SHARDS_MAX}, works[] = {0, 500};
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS_DEFAULT;

    if (argc > 2 || rounds == 0 || rounds > ROUNDS_MAX) {
        fputs("usage: bench_shards [ROUNDS], at most 99\n", stderr);
        return 2;
    }
    calibrate();
    printf("%8s %8s %12s %14s %16s\n", "threads", "heads", "work in ns", "ns for a pair",
           "retries a pair");
    for (unsigned w = 0; w < 2; w++) {
        for (unsigned t = 0; t < 3; t++) {
            double ns[2][ROUNDS_MAX], retries[2][ROUNDS_MAX];

            work_steps = (unsigned long)(works[w] / step_ns);
            for (unsigned r = 0; r < rounds; r++) {
                for (unsigned c = 0; c < 2; c++) {
                    fill(counts[c]);
                    measure(threads[t], &ns[c][r], &retries[c][r]);
                }
            }
            for (unsigned c = 0; c < 2; c++)
                printf("%8u %8u %12u %14.1f %16.4f\n", threads[t], counts[c], works[w],
                       median(ns[c], (unsigned)rounds), median(retries[c], (unsigned)rounds));
        }
    }
    return 0;
}
