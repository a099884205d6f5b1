/* False sharing of cache lines: work_false [active|passive [THREADS [ROUNDS [WRITES]]]].
 *
 * After cache-thrash and cache-scratch of Berger, McKinley, Blumofe & Wilson, "Hoard: a scalable
 * memory allocator for multithreaded applications" (2000).  In each of ROUNDS rounds each thread
 * takes 64 blocks of 8 bytes, writes every one WRITES times and frees them. passive: main has
 * taken 64 blocks for each thread before, by turns, and the threads begin by freeing theirs,
 * which an allocator with caches hands out again.  Berger's threads hold one block each; 64 give
 * a number of lines that can be compared.
 *
 * shared_lines is the number of 64-byte lines that hold live blocks of two threads at the end of
 * the last round, shared_lines_start the same for the blocks that main dealt out.  The CPU time
 * shows the sharing only where the threads run at once on cores of their own; the count does not
 * need that, but an allocator that interleaves needs threads that run at once to do it. */
#include "work.h"

enum {
    THREADS_DEFAULT = 2,
    ROUNDS_DEFAULT = 12000,
    WRITES_DEFAULT = 100,
    THREADS_MAX = 64,
    LIVE = 64,
    BLOCK_BYTES = 8
};

struct worker {
    _Alignas(WORK_LINE_BYTES) size_t rounds;
    size_t writes;
    bool dealt;
    pthread_barrier_t *start;
    pthread_t thread;
    volatile char *blocks[LIVE];
    char line_between[WORK_LINE_BYTES];
};

static void take_all(struct worker *worker)
{
    for (size_t i = 0; i < LIVE; i++)
        worker->blocks[i] = work_block(BLOCK_BYTES);
}

static void write_all(struct worker *worker)
{
    for (size_t n = 0; n < worker->writes; n++)
        for (size_t i = 0; i < LIVE; i++)
            (*worker->blocks[i])++;
}

static void free_all(struct worker *worker)
{
    for (size_t i = 0; i < LIVE; i++)
        free((void *)worker->blocks[i]);
}

static void *run(void *argument)
{
    struct worker *worker = argument;

    pthread_barrier_wait(worker->start);
    for (size_t round = 0; round < worker->rounds; round++) {
        if (round > 0 || worker->dealt)
            free_all(worker);
        take_all(worker);
        write_all(worker);
    }
    return NULL;
}

struct use {
    uintptr_t line;
    size_t thread;
};

static bool comes_after(const struct use *l, const struct use *r)
{
    return l->line != r->line ? l->line > r->line : l->thread > r->thread;
}

/* By insertion, as qsort may take a block from the allocator. */
static void sort_uses(struct use *uses, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct use use = uses[i];
        size_t k = i;

        for (; k > 0 && comes_after(&uses[k - 1], &use); k--)
            uses[k] = uses[k - 1];
        uses[k] = use;
    }
}

static double shared_lines(const struct worker *workers, size_t threads)
{
    static struct use uses[THREADS_MAX * LIVE];
    size_t count = 0, shared = 0;
    bool counted = false;

    for (size_t t = 0; t < threads; t++) {
        for (size_t i = 0; i < LIVE; i++) {
            uses[count].line = (uintptr_t)workers[t].blocks[i] / WORK_LINE_BYTES;
            uses[count++].thread = t;
        }
    }
    sort_uses(uses, count);
    for (size_t i = 1; i < count; i++) {
        if (uses[i].line != uses[i - 1].line) {
            counted = false;
        } else if (uses[i].thread != uses[i - 1].thread && !counted) {
            counted = true;
            shared++;
        }
    }
    return (double)shared;
}

static void deal_out(struct worker *workers, size_t threads)
{
    for (size_t i = 0; i < LIVE; i++) {
        for (size_t t = 0; t < threads; t++) {
            workers[t].blocks[i] = work_block(BLOCK_BYTES);
            workers[t].dealt = true;
        }
    }
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"active", "passive", NULL};
    struct work_arguments a =
        work_begin(argc, argv, "work_false [active|passive [THREADS [ROUNDS [WRITES]]]]");
    bool passive = work_word(&a, words) == 1;
    size_t threads = work_number(&a, THREADS_DEFAULT, THREADS_MAX);
    size_t rounds = work_number(&a, ROUNDS_DEFAULT, 1000000000);
    size_t writes = work_number(&a, WRITES_DEFAULT, 1000000000);
    struct worker *workers = work_map(threads * sizeof *workers);
    pthread_barrier_t start;

    work_end(&a);
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    if (passive) {
        deal_out(workers, threads);
        bench_result("shared_lines_start", shared_lines(workers, threads), "count");
    }
    for (size_t t = 0; t < threads; t++) {
        workers[t].rounds = rounds;
        workers[t].writes = writes;
        workers[t].start = &start;
        workers[t].thread = work_start(run, &workers[t]);
    }
    for (size_t t = 0; t < threads; t++)
        work_join(workers[t].thread);
    bench_result("shared_lines", shared_lines(workers, threads), "count");
    for (size_t t = 0; t < threads; t++)
        free_all(&workers[t]);
    bench_result("operations", 2.0 * LIVE * (double)(threads * (rounds + passive)), "count");
    return 0;
}
