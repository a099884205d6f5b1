/* The origin's loop: each thread takes an item of 64 bytes, fills it, gives it back, a million
 * times.
 *
 *   index, wide, locked  one-item lists: every take and every give moves the shared head.  Items,
 *                        links and their width are the same for all three; only the head differs.
 *   mutex                the same list under a mutex
 *   batches              an InkFreeList whose caller holds one open batch; no thread cache, no
 *                        chunk map
 *   malloc               malloc and free of libinkalloc, which this program is linked with
 *
 * The rows take turns within each round, which another one begins.  Printed are medians: wall time
 * per million pairs of each thread, as the origin does, CPU time per pair (which the bounds are
 * held by), and how often a commit failed. */
#define INK_BETWEEN() ((void)bench_tries++)
static _Thread_local unsigned long bench_tries;

#include "bench.h"
#include "frame.h"
#include "head.h"

#include <pthread.h>
#include <string.h>

enum { ITEM_BYTES = 64, ITEMS = 256, THREADS_MAX = 6, ROUNDS_MAX = 99, PAIRS = 1000000 };

struct item {
    _Alignas(ITEM_BYTES) unsigned char byte[ITEM_BYTES];
};

static struct item items[ITEMS + 1];
/* links[n]: number of the item under item n. */
static _Atomic uintptr_t links[ITEMS + 1];

static unsigned number_of(const struct item *item)
{
    return (unsigned)(item - items);
}

/* ---- one-item lists ---- */

#define ONE_ITEM_LIST(tier)                                                                   \
    static struct {                                                                           \
        _Alignas(INK_LINE_BYTES) struct ink_##tier##_head head;                               \
    } tier##_list;                                                                            \
                                                                                              \
    static inline struct item *tier##_take(void)                                              \
    {                                                                                         \
        ink_##tier##_snapshot_t snapshot = ink_##tier##_snapshot(&tier##_list.head);          \
        ink_##tier##_link_t next;                                                             \
                                                                                              \
        do {                                                                                  \
            if (ink_##tier##_top(snapshot) == 0)                                              \
                abort();                                                                      \
            next = (ink_##tier##_link_t)ink_load_relaxed(&links[ink_##tier##_top(snapshot)]); \
            bench_tries++;                                                                    \
        } while (!ink_##tier##_commit_pop(&tier##_list.head, &snapshot, next));               \
        return &items[ink_##tier##_top(snapshot)];                                            \
    }                                                                                         \
                                                                                              \
    static inline void tier##_give(struct item *item)                                         \
    {                                                                                         \
        ink_##tier##_snapshot_t snapshot = ink_##tier##_snapshot(&tier##_list.head);          \
                                                                                              \
        do {                                                                                  \
            ink_store_relaxed(&links[number_of(item)], ink_##tier##_top(snapshot));           \
            bench_tries++;                                                                    \
        } while (!ink_##tier##_commit_push(&tier##_list.head, &snapshot, number_of(item)));   \
    }                                                                                         \
                                                                                              \
    static void tier##_fill(void)                                                             \
    {                                                                                         \
        memset(&tier##_list, 0, sizeof tier##_list);                                          \
        for (unsigned n = ITEMS; n > 0; n--)                                                  \
            tier##_give(&items[n]);                                                           \
    }

/* ---- the loop ---- */

#define LOOP(name)                                   \
    static unsigned long name##_loop(unsigned id)    \
    {                                                \
        for (unsigned i = 0; i < PAIRS; i++) {       \
            void *item = name##_take();              \
                                                     \
            memset(keep(item), (int)id, ITEM_BYTES); \
            name##_give(keep(item));                 \
        }                                            \
        return bench_tries;                          \
    }

ONE_ITEM_LIST(index)
LOOP(index)
#ifdef INK_HEAD_WIDE_H
ONE_ITEM_LIST(wide)
LOOP(wide)
#endif
ONE_ITEM_LIST(locked)
LOOP(locked)

/* ---- the same list under a mutex ---- */

static struct {
    _Alignas(INK_LINE_BYTES) pthread_mutex_t mutex;
    uintptr_t top;
} mutex_list = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static inline struct item *mutex_take(void)
{
    uintptr_t top;

    pthread_mutex_lock(&mutex_list.mutex);
    top = mutex_list.top;
    mutex_list.top = ink_load_relaxed(&links[top]);
    pthread_mutex_unlock(&mutex_list.mutex);
    return &items[top];
}

static inline void mutex_give(struct item *item)
{
    pthread_mutex_lock(&mutex_list.mutex);
    ink_store_relaxed(&links[number_of(item)], mutex_list.top);
    mutex_list.top = number_of(item);
    pthread_mutex_unlock(&mutex_list.mutex);
}

static void mutex_fill(void)
{
    mutex_list.top = 0;
    for (unsigned n = ITEMS; n > 0; n--)
        mutex_give(&items[n]);
}
LOOP(mutex)

/* ---- a list of batches, one of them open in the caller's hand ---- */

enum { BATCH_ITEMS = INK_FRAME_ITEMS_MAX };

static struct ink_stack batch_list;
/* The item handed out next; NULL behind the last one, the frame's first slot when it is full. */
static _Thread_local ink_slot_t *batch_open;

static INK_NOINLINE void batches_next(void)
{
    struct ink_frame *full = ink_stack_pop(&batch_list);

    if (full == NULL)
        abort();
    if (batch_open != NULL)
        ink_frame_give_empty(ink_frame_of_slot(batch_open));
    batch_open = full->slot;
}

static INK_NOINLINE void batches_put_by(void)
{
    struct ink_frame *empty = ink_frame_take_empty();

    ink_stack_push(&batch_list, ink_frame_of_slot(batch_open));
    batch_open = &empty->slot[BATCH_ITEMS];
    ink_store_relaxed(batch_open, NULL);
}

static inline struct item *batches_take(void)
{
    struct item *item = batch_open != NULL ? ink_load_relaxed(batch_open) : NULL;

    if (ink_unlikely(item == NULL)) {
        batches_next();
        item = ink_load_relaxed(batch_open);
    }
    batch_open++;
    return item;
}

static inline void batches_give(struct item *item)
{
    if (ink_unlikely(((uintptr_t)batch_open & (INK_FRAME_BYTES - 1)) == 0))
        batches_put_by();
    ink_store_relaxed(--batch_open, item);
}

static void batches_fill(void)
{
    unsigned n = 1;

    while (ink_stack_pop(&batch_list) != NULL)
        continue;
    for (unsigned batch = 0; batch < THREADS_MAX; batch++) {
        struct ink_frame *frame = ink_frame_take_empty();

        for (unsigned i = 0; i < BATCH_ITEMS; i++)
            ink_store_relaxed(&frame->slot[i], &items[n++ % ITEMS + 1]);
        ink_store_relaxed(&frame->slot[BATCH_ITEMS], NULL);
        ink_stack_push(&batch_list, frame);
    }
}
LOOP(batches)

/* ---- malloc ---- */

static inline void *malloc_take(void)
{
    return malloc(ITEM_BYTES);
}

static inline void malloc_give(void *item)
{
    free(item);
}

static void malloc_fill(void)
{
}
LOOP(malloc)

/* ---- rows, rounds and the table ---- */

struct row {
    const char *name;
    bool counts; /* its commits can fail, and are counted */
    void (*fill)(void);
    unsigned long (*loop)(unsigned id);
};

static const struct row rows[] = {
    {"index", true, index_fill, index_loop},
#ifdef INK_HEAD_WIDE_H
    {"wide", true, wide_fill, wide_loop},
#endif
    {"locked", true, locked_fill, locked_loop},     {"mutex", false, mutex_fill, mutex_loop},
    {"batches", false, batches_fill, batches_loop}, {"malloc", false, malloc_fill, malloc_loop},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const unsigned thread_counts[] = {1, 2, THREADS_MAX};
enum { COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

struct sample {
    double wall_ms, cpu_ns, retries;
};

static struct sample samples[COUNTS][ROWS][ROUNDS_MAX];

struct worker {
    const struct row *row;
    pthread_barrier_t *start;
    unsigned id;
    unsigned long tries;
};

static void *work(void *arg)
{
    struct worker *worker = arg;

    pthread_barrier_wait(worker->start);
    worker->tries = worker->row->loop(worker->id);
    return NULL;
}

static double wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct sample measure(const struct row *row, unsigned threads)
{
    struct worker workers[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    pthread_barrier_t start;
    double wall, cpu, pairs = (double)threads * PAIRS, tries = 0;

    row->fill();
    pthread_barrier_init(&start, NULL, threads + 1);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){row, &start, i, 0};
        if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0)
            abort();
    }
    wall = wall_ns();
    cpu = bench_cpu_ns();
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        tries += (double)workers[i].tries;
    }
    wall = wall_ns() - wall;
    cpu = bench_cpu_ns() - cpu;
    pthread_barrier_destroy(&start);
    return (struct sample){wall / PAIRS, cpu / pairs,
                           tries > 2 * pairs ? (tries - 2 * pairs) / pairs * 1000 : 0};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median over the rounds of the member at this offset of a sample. */
static double median(const struct sample *sample, size_t offset, unsigned rounds)
{
    double value[ROUNDS_MAX];

    for (unsigned i = 0; i < rounds; i++)
        memcpy(&value[i], (const char *)&sample[i] + offset, sizeof value[i]);
    qsort(value, rounds, sizeof value[0], by_value);
    return rounds % 2 != 0 ? value[rounds / 2] : (value[rounds / 2 - 1] + value[rounds / 2]) / 2;
}

/* Bounds are held by CPU time: the wall clock of a shared machine measures the neighbours. */
static double cpu_of(const char *name, unsigned count, unsigned rounds)
{
    for (unsigned i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return median(samples[count][i], offsetof(struct sample, cpu_ns), rounds);
    return 0;
}

static void print_table(unsigned rounds)
{
    printf("%-8s", "");
    for (unsigned k = 0; k < COUNTS; k++)
        printf("  |  %u thread%s  ns CPU   retries", thread_counts[k],
               thread_counts[k] == 1 ? " " : "s");
    printf("\n%-8s", "list");
    for (unsigned k = 0; k < COUNTS; k++)
        printf("  | ms/1e6  a pair  per 1000 pairs");
    for (unsigned i = 0; i < ROWS; i++) {
        printf("\n%-8s", rows[i].name);
        for (unsigned k = 0; k < COUNTS; k++) {
            printf("  | %6.1f  %6.1f",
                   median(samples[k][i], offsetof(struct sample, wall_ms), rounds),
                   median(samples[k][i], offsetof(struct sample, cpu_ns), rounds));
            if (rows[i].counts)
                printf("  %14.1f", median(samples[k][i], offsetof(struct sample, retries), rounds));
            else
                printf("  %14s", "-");
        }
    }
    printf("\n");
}

/* One line a bound: a's CPU time against b's. */
static bool hold(const char *a, const char *b, unsigned count, unsigned rounds, double bound)
{
    double ratio;

    if (cpu_of(b, count, rounds) == 0) {
        printf("%-7s / %-6s at %u threads: the compiler has no wide head\n", a, b,
               thread_counts[count]);
        return true;
    }
    ratio = cpu_of(a, count, rounds) / cpu_of(b, count, rounds);
    printf("%-7s / %-6s at %u threads: %.2f (bound %.2f) %s\n", a, b, thread_counts[count], ratio,
           bound, ratio <= bound ? "ok" : "MISSED");
    return ratio <= bound;
}

static bool hold_all(unsigned rounds)
{
    static const char *const heads[] = {"index", "wide", "locked"};
    bool all = hold("index", "wide", 0, rounds, 0.9);

    all = hold("index", "locked", 0, rounds, 0.6) && all;
    for (unsigned k = 0; k < COUNTS; k++)
        for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
            all = hold("batches", heads[i], k, rounds, 1) && all;
    return all;
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? atoi(argv[1]) : 9;
    unsigned rounds = wanted < 1 ? 1 : wanted > ROUNDS_MAX ? ROUNDS_MAX : (unsigned)wanted;

    for (unsigned round = 0; round < rounds; round++)
        for (unsigned k = 0; k < COUNTS; k++)
            for (unsigned i = 0; i < ROWS; i++) {
                unsigned at = (round + i) % ROWS;

                samples[k][at][round] = measure(&rows[at], thread_counts[k]);
            }
    printf("# %u rounds, medians\n", rounds);
    print_table(rounds);
    return hold_all(rounds) ? 0 : 1;
}
