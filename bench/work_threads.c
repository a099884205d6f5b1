/* Many threads: work_threads [churn|crowd [THREADS [STEPS]]].
 *
 * churn: THREADS threads, two at once, live for 200 replacements of mixed small blocks each and
 * leave eight blocks, which main frees: a server with one thread for each request, whose state
 * per thread the allocator must make and unmake. crowd: THREADS threads at once, each replacing
 * random ones of 200 blocks of 16 to 1015 bytes STEPS times, on whatever cores there are: the
 * scheduler stops them within an operation.  The threads that end and the threads beyond the
 * processors are cases which Berger et al.'s "Hoard" (2000) discusses; the loops are our own.
 *
 * In churn most of the time is the kernel's, for making and ending the thread, under every
 * allocator. operations counts malloc and free of the threads' own, not what pthread_create
 * takes. */
#include "work.h"

enum {
    CHURN_THREADS_DEFAULT = 4000,
    CHURN_STEPS_DEFAULT = 200,
    CHURN_SLOTS = 32,
    CHURN_OCTAVES = 8,
    AT_ONCE = 2,
    LEFT = 8,
    CROWD_THREADS_DEFAULT = 32,
    CROWD_STEPS_DEFAULT = 150000,
    CROWD_SLOTS = 200,
    CROWD_MIN_BYTES = 16,
    CROWD_SPREAD_BYTES = 1000,
    THREADS_MAX = 1000000,
    CROWD_THREADS_MAX = 10000
};

struct worker {
    _Alignas(WORK_LINE_BYTES) struct bench_rng rng;
    size_t steps;
    pthread_t thread;
    char *left[LEFT];
};

/* ---- churn ---- */

static void *live_short(void *argument)
{
    struct worker *worker = argument;
    char *slots[CHURN_SLOTS] = {NULL};

    for (size_t i = 0; i < worker->steps; i++) {
        char **slot = &slots[bench_rng_below(&worker->rng, CHURN_SLOTS)];

        free(*slot);
        *slot = work_block(work_small_size(&worker->rng, CHURN_OCTAVES));
    }
    for (size_t i = 0; i < CHURN_SLOTS; i++) {
        if (i < LEFT)
            worker->left[i] = slots[i];
        else
            free(slots[i]);
    }
    return NULL;
}

static void finish(struct worker *worker)
{
    work_join(worker->thread);
    for (size_t i = 0; i < LEFT; i++)
        free(worker->left[i]);
}

static void churn(size_t threads, size_t steps)
{
    struct worker *workers = work_map(AT_ONCE * sizeof *workers);

    for (size_t i = 0; i < threads; i++) {
        struct worker *worker = &workers[i % AT_ONCE];

        if (i >= AT_ONCE)
            finish(worker);
        worker->rng = bench_rng_seeded(i);
        worker->steps = steps;
        worker->thread = work_start(live_short, worker);
    }
    for (size_t i = 0; i < AT_ONCE && i < threads; i++)
        finish(&workers[i]);
}

/* ---- crowd ---- */

static char *crowd_block(struct worker *worker)
{
    return work_block(CROWD_MIN_BYTES + bench_rng_below(&worker->rng, CROWD_SPREAD_BYTES));
}

static void *live_long(void *argument)
{
    struct worker *worker = argument;
    char *slots[CROWD_SLOTS];

    for (size_t i = 0; i < CROWD_SLOTS; i++)
        slots[i] = crowd_block(worker);
    for (size_t i = 0; i < worker->steps; i++) {
        char **slot = &slots[bench_rng_below(&worker->rng, CROWD_SLOTS)];

        free(*slot);
        *slot = crowd_block(worker);
    }
    for (size_t i = 0; i < CROWD_SLOTS; i++)
        free(slots[i]);
    return NULL;
}

static void crowd(size_t threads, size_t steps)
{
    struct worker *workers = work_map(threads * sizeof *workers);

    for (size_t i = 0; i < threads; i++) {
        workers[i].rng = bench_rng_seeded(i);
        workers[i].steps = steps;
        workers[i].thread = work_start(live_long, &workers[i]);
    }
    for (size_t i = 0; i < threads; i++)
        work_join(workers[i].thread);
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"churn", "crowd", NULL};
    struct work_arguments a =
        work_begin(argc, argv, "work_threads [churn|crowd [THREADS [STEPS]]]");
    bool crowded = work_word(&a, words) == 1;
    size_t threads = work_number(&a, crowded ? CROWD_THREADS_DEFAULT : CHURN_THREADS_DEFAULT,
                                 crowded ? CROWD_THREADS_MAX : THREADS_MAX);
    size_t steps = work_number(&a, crowded ? CROWD_STEPS_DEFAULT : CHURN_STEPS_DEFAULT, 1000000000);

    work_end(&a);
    if (crowded)
        crowd(threads, steps);
    else
        churn(threads, steps);
    bench_result("operations", 2.0 * (double)(threads * (steps + (crowded ? CROWD_SLOTS : 0))),
                 "count");
    return 0;
}
