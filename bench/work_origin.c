/* The loop of InkFreeList's own bench: work_origin [THREADS [PAIRS [BATCH]]].
 *
 * After benchmark_FreeList of Apache Traffic Server (tools/benchmark): each thread takes an item
 * of 64 bytes, fills it with its number and gives it back, PAIRS times, with malloc and free in
 * place of the list.  BATCH items, one in the original, are taken before they are given back.
 * The threads start at a barrier, which the original does not have, as it times their creation
 * too.
 *
 * Every cache of a thread answers this loop from its first entry: it shows the shortest path and
 * nothing else, and on a shared machine the neighbours. */
#include "work.h"

enum {
    THREADS_DEFAULT = 2,
    PAIRS_DEFAULT = 8000000,
    BATCH_DEFAULT = 1,
    BATCH_MAX = 4096,
    ITEM_BYTES = 64
};

struct worker {
    _Alignas(WORK_LINE_BYTES) size_t pairs;
    size_t batch;
    int number;
    pthread_barrier_t *start;
    pthread_t thread;
};

static void *run(void *argument)
{
    struct worker *worker = argument;
    void *items[BATCH_MAX];

    pthread_barrier_wait(worker->start);
    for (size_t done = 0; done < worker->pairs; done += worker->batch) {
        for (size_t i = 0; i < worker->batch; i++)
            items[i] = memset(bench_check(malloc(ITEM_BYTES)), worker->number, ITEM_BYTES);
        for (size_t i = 0; i < worker->batch; i++)
            free(keep(items[i]));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_origin [THREADS [PAIRS [BATCH]]]");
    size_t threads = work_number(&a, THREADS_DEFAULT, 1024);
    size_t pairs = work_number(&a, PAIRS_DEFAULT, 1000000000);
    size_t batch = work_number(&a, BATCH_DEFAULT, BATCH_MAX);
    struct worker *workers = work_map(threads * sizeof *workers);
    pthread_barrier_t start;

    work_end(&a);
    pairs = (pairs + batch - 1) / batch * batch;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++) {
        workers[i].pairs = pairs;
        workers[i].batch = batch;
        workers[i].number = (int)i;
        workers[i].start = &start;
        workers[i].thread = work_start(run, &workers[i]);
    }
    for (size_t i = 0; i < threads; i++)
        work_join(workers[i].thread);
    bench_result("operations", 2.0 * (double)(threads * pairs), "count");
    return 0;
}
