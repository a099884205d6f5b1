/* Blocks taken by one thread and freed by another: work_xmalloc [PAIRS [BATCHES]].
 *
 * After the idea of Lever & Boreham, "malloc() performance in a multithreaded Linux environment"
 * (2000).  In each of PAIRS pairs a producer takes BATCHES batches of 512 blocks, mostly small,
 * and hands them through a bounded queue to a consumer, which frees them.  No block is ever freed
 * by the thread that took it.
 *
 * The producer fills the queue's own places and holds the lock once per batch only, so the queue
 * costs little; but on a busy machine the two sides may take turns rather than run at once, and
 * then the allocator's lists meet no contention and the memory in flight varies. */
#include "work.h"

enum { PAIRS_DEFAULT = 1, BATCHES_DEFAULT = 4000, BATCH_BLOCKS = 512, PLACES = 8, OCTAVES = 9 };

struct pair {
    _Alignas(WORK_LINE_BYTES) pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t filled, batches;
    struct bench_rng rng;
    pthread_t producer, consumer;
    char *places[PLACES][BATCH_BLOCKS];
};

static void wait_while_filled(struct pair *pair, size_t count)
{
    pthread_mutex_lock(&pair->mutex);
    while (pair->filled == count)
        pthread_cond_wait(&pair->changed, &pair->mutex);
    pthread_mutex_unlock(&pair->mutex);
}

/* by is 1, or its opposite as the same unsigned type has it. */
static void change_filled(struct pair *pair, size_t by)
{
    pthread_mutex_lock(&pair->mutex);
    pair->filled += by;
    pthread_cond_signal(&pair->changed);
    pthread_mutex_unlock(&pair->mutex);
}

static void *produce(void *argument)
{
    struct pair *pair = argument;

    for (size_t i = 0; i < pair->batches; i++) {
        char **place = pair->places[i % PLACES];

        wait_while_filled(pair, PLACES);
        for (size_t k = 0; k < BATCH_BLOCKS; k++)
            place[k] = work_block(work_small_size(&pair->rng, OCTAVES));
        change_filled(pair, 1);
    }
    return NULL;
}

static void *consume(void *argument)
{
    struct pair *pair = argument;

    for (size_t i = 0; i < pair->batches; i++) {
        char **place = pair->places[i % PLACES];

        wait_while_filled(pair, 0);
        for (size_t k = 0; k < BATCH_BLOCKS; k++)
            free(place[k]);
        change_filled(pair, (size_t)-1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct work_arguments a = work_begin(argc, argv, "work_xmalloc [PAIRS [BATCHES]]");
    size_t count = work_number(&a, PAIRS_DEFAULT, 512);
    size_t batches = work_number(&a, BATCHES_DEFAULT, 1000000000);
    struct pair *pairs = work_map(count * sizeof *pairs);

    work_end(&a);
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_init(&pairs[i].mutex, NULL);
        pthread_cond_init(&pairs[i].changed, NULL);
        pairs[i].batches = batches;
        pairs[i].rng = bench_rng_seeded(i);
        pairs[i].producer = work_start(produce, &pairs[i]);
        pairs[i].consumer = work_start(consume, &pairs[i]);
    }
    for (size_t i = 0; i < count; i++) {
        work_join(pairs[i].producer);
        work_join(pairs[i].consumer);
    }
    bench_result("operations", 2.0 * (double)(count * batches * BATCH_BLOCKS), "count");
    return 0;
}
