/* Waves of small blocks freed in a given order: work_sh [lifo|fifo|random [THREADS [WAVES]]].
 *
 * After the idea of sh6bench and sh8bench, the benches of MicroQuill's SmartHeap (1990s).  Each
 * thread fills an array of 10 000 places with blocks of 8 to 1023 bytes, each doubling half as
 * frequent, then frees them in the order of the first argument; one in eight survives, in a place
 * of the next wave, and may survive again.
 *
 * The blocks of a wave fit the second level of a usual cache, or nearly: a smaller cache makes
 * the random order cost more than the allocator does. */
#include "work.h"

enum { THREADS_DEFAULT = 1, WAVES_DEFAULT = 400, PLACES = 10000, SURVIVES_ONE_IN = 8, OCTAVES = 7 };

enum order { LIFO, FIFO, RANDOM };

struct worker {
    _Alignas(WORK_LINE_BYTES) struct bench_rng rng;
    enum order order;
    size_t waves, operations;
    pthread_t thread;
    void *blocks[PLACES];
};

/* Frees the block at place or moves it to the front part; blocks[0..kept) are the survivors. */
static size_t free_or_keep(struct worker *worker, size_t place, size_t kept)
{
    void *p = worker->blocks[place];

    worker->blocks[place] = NULL;
    if (bench_rng_below(&worker->rng, SURVIVES_ONE_IN) == 0) {
        worker->blocks[kept++] = p;
    } else {
        free(p);
        worker->operations++;
    }
    return kept;
}

static void reverse(void **blocks, size_t items)
{
    for (size_t i = 0; i < items / 2; i++) {
        void *p = blocks[i];

        blocks[i] = blocks[items - 1 - i];
        blocks[items - 1 - i] = p;
    }
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    size_t kept = 0;

    for (size_t wave = 0; wave < worker->waves; wave++) {
        worker->operations += PLACES - kept;
        for (size_t i = kept; i < PLACES; i++)
            worker->blocks[i] = work_block(work_small_size(&worker->rng, OCTAVES));
        if (worker->order == LIFO)
            reverse(worker->blocks, PLACES);
        else if (worker->order == RANDOM)
            work_shuffle(&worker->rng, worker->blocks, PLACES);
        kept = 0;
        for (size_t i = 0; i < PLACES; i++)
            kept = free_or_keep(worker, i, kept);
    }
    for (size_t i = 0; i < kept; i++)
        free(worker->blocks[i]);
    worker->operations += kept;
    return NULL;
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"lifo", "fifo", "random", NULL};
    struct work_arguments a =
        work_begin(argc, argv, "work_sh [lifo|fifo|random [THREADS [WAVES]]]");
    enum order order = (enum order)work_word(&a, words);
    size_t threads = work_number(&a, THREADS_DEFAULT, 1024);
    size_t waves = work_number(&a, WAVES_DEFAULT, 1000000);
    struct worker *workers = work_map(threads * sizeof *workers);
    double operations = 0;

    work_end(&a);
    for (size_t i = 0; i < threads; i++) {
        workers[i].rng = bench_rng_seeded(i);
        workers[i].order = order;
        workers[i].waves = waves;
        workers[i].thread = work_start(run, &workers[i]);
    }
    for (size_t i = 0; i < threads; i++) {
        work_join(workers[i].thread);
        operations += (double)workers[i].operations;
    }
    bench_result("operations", operations, "count");
    return 0;
}
