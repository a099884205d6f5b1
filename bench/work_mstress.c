/* Random stress with blocks that change hands: work_mstress [THREADS [ROUNDS [STEPS]]].
 *
 * After the idea of test-stress of mimalloc (Daan Leijen, Microsoft, 2018 on).  In each of ROUNDS
 * rounds THREADS new threads take STEPS steps: a random one of the thread's 2000 places is
 * emptied or filled, and one step in eight exchanges it with one of 1000 places that all threads
 * share.  Sizes are 8 bytes to 64 KiB, each doubling half as frequent.  At the end of a round one
 * block in sixteen is retained for some rounds, and the rest is freed.  In the end main frees
 * everything.
 *
 * A block bears its size, which is checked before it is freed.  Which thread gets which shared
 * block depends on the scheduler, so the number of operations differs by a few from run to run. */
#include <stdatomic.h>

#include "work.h"

enum {
    THREADS_DEFAULT = 2,
    ROUNDS_DEFAULT = 30,
    STEPS_DEFAULT = 70000,
    PLACES = 2000,
    SHARED = 1000,
    RETAINED = 500,
    RETAIN_ONE_IN = 16,
    EXCHANGE_ONE_IN = 8,
    OCTAVES = 13
};

/* The smallest block has room for it. */
struct block {
    uint32_t bytes, mark;
};

struct worker {
    _Alignas(WORK_LINE_BYTES) struct bench_rng rng;
    size_t steps, operations;
    pthread_t thread;
    struct block *own[PLACES];
    struct block *retained[RETAINED];
};

static struct block *_Atomic shared[SHARED];

static struct block *take(struct worker *worker)
{
    size_t bytes = work_small_size(&worker->rng, OCTAVES);
    struct block *b = bench_check(malloc(bytes));

    worker->operations++;
    b->bytes = (uint32_t)bytes;
    b->mark = ~b->bytes;
    return b;
}

static void give(struct worker *worker, struct block *b)
{
    if (b == NULL)
        return;
    if (b->mark != ~b->bytes) {
        fputs("work_mstress: a block was overwritten\n", stderr);
        exit(1);
    }
    worker->operations++;
    free(b);
}

static void step(struct worker *worker)
{
    struct block **place = &worker->own[bench_rng_below(&worker->rng, PLACES)];

    if (bench_rng_below(&worker->rng, EXCHANGE_ONE_IN) == 0) {
        *place = atomic_exchange(&shared[bench_rng_below(&worker->rng, SHARED)], *place);
    } else if (*place != NULL) {
        give(worker, *place);
        *place = NULL;
    } else {
        *place = take(worker);
    }
}

/* The blocks that are retained push out those of earlier rounds, whose threads are dead. */
static void end_round(struct worker *worker)
{
    for (size_t i = 0; i < PLACES; i++) {
        struct block *b = worker->own[i];

        worker->own[i] = NULL;
        if (b != NULL && bench_rng_below(&worker->rng, RETAIN_ONE_IN) == 0) {
            struct block **place = &worker->retained[bench_rng_below(&worker->rng, RETAINED)];
            struct block *older = *place;

            *place = b;
            b = older;
        }
        give(worker, b);
    }
}

static void *run_round(void *argument)
{
    struct worker *worker = argument;

    for (size_t i = 0; i < worker->steps; i++)
        step(worker);
    end_round(worker);
    return NULL;
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_mstress [THREADS [ROUNDS [STEPS]]]");
    size_t threads = work_number(&a, THREADS_DEFAULT, 1024);
    size_t rounds = work_number(&a, ROUNDS_DEFAULT, 1000000);
    size_t steps = work_number(&a, STEPS_DEFAULT, 1000000000);
    struct worker *workers = work_map(threads * sizeof *workers);
    double operations = 0;

    work_end(&a);
    for (size_t i = 0; i < threads; i++) {
        workers[i].rng = bench_rng_seeded(i);
        workers[i].steps = steps;
    }
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < threads; i++)
            workers[i].thread = work_start(run_round, &workers[i]);
        for (size_t i = 0; i < threads; i++)
            work_join(workers[i].thread);
    }
    for (size_t i = 0; i < SHARED; i++)
        give(&workers[0], atomic_load(&shared[i]));
    for (size_t i = 0; i < threads; i++) {
        for (size_t k = 0; k < RETAINED; k++)
            give(&workers[i], workers[i].retained[k]);
        operations += (double)workers[i].operations;
    }
    bench_result("operations", operations, "count");
    return 0;
}
