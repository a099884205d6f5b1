/* What stays resident: work_memory SCENE [N].
 *
 * Each scene allocates, frees, and asks the kernel (/proc/self/smaps_rollup, /proc/self/maps) what
 * the process still holds.  The pages of the scene's own pointer arrays, and what the process held
 * at the start, are not counted: what is left is the allocator's.
 *
 *   freed, asleep, exited   1 GiB (N MiB) in random blocks of 16 B to 4 KiB, all freed in random
 *                           order; by the thread that took them, or by another while the takers
 *                           sleep, or after they have ended.  "resident" a second after the last
 *                           free, without another call; "trimmed" after malloc_trim(0), where there
 *                           is one.
 *   tiny                    freed, with blocks of 16 bytes only
 *   stall                   freed, each free timed: the longest, in CPU time of the thread
 *   sparse                  nine of ten of these blocks freed at random: resident / live
 *   churn                   a server's mix for N seconds: resident / live, and the slope over the
 *                           last half, in KiB a minute
 *   thousand                1000 (N) threads take and free 1 MiB in blocks of 1 KiB and sleep:
 *                           bytes a thread beyond an idle thread's own
 *   sleepers                100 (N) threads that have taken 64 bytes and sleep: the same
 *   sequence                100 000 (N) threads one after another: growth after the first thousand
 *   dense                   1 GiB (N MiB) in blocks of 200 bytes: share of huge pages; the CPU time
 *                           is the process's
 *   growth                  one block grown by realloc from 4 bytes to 1 GiB (N MiB), by doubling
 *                           and by a fifth
 *   maps                    20 GiB (N MiB) of blocks of 72 KiB to 3 MiB, never touched, every other
 *                           one freed: lines of the map
 *
 * See Maas et al., "Adaptive huge-page subrelease for non-moving memory allocators" (2021), for why
 * what stays behind after a peak is what large users measure. */
#include "work.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * 1024, LARGEST = 4096, PRODUCERS = 4 };

/* ---- what the kernel says; nothing here allocates ---- */

/* The value of a line "NAME: value kB" in bytes. */
static size_t rollup(const char *name)
{
    static char text[4096];
    int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    const char *line;

    if (length <= 0)
        work_fail("/proc/self/smaps_rollup", errno);
    close(fd);
    text[length] = '\0';
    line = strstr(text, name);
    return line != NULL ? strtoul(line + strlen(name), NULL, 10) * KIB : 0;
}

static size_t map_lines(void)
{
    static char text[65536];
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t lines = 0;
    ssize_t length;

    if (fd < 0)
        work_fail("/proc/self/maps", errno);
    while ((length = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < length; i++)
            lines += text[i] == '\n';
    close(fd);
    return lines;
}

static size_t resident_at_start;

static double resident(void)
{
    size_t now = rollup("Rss:");

    return now > resident_at_start ? (double)(now - resident_at_start) : 0.0;
}

static void trim(void)
{
    int (*malloc_trim_of)(size_t);

    *(void **)&malloc_trim_of = dlsym(RTLD_DEFAULT, "malloc_trim");
    if (malloc_trim_of != NULL)
        (void)malloc_trim_of(0);
}

/* ---- blocks of random sizes ---- */

struct blocks {
    void **place;
    size_t count, room, bytes;
};

static size_t any_size(struct bench_rng *rng, size_t largest)
{
    return largest == 16 ? 16 : 16 + bench_rng_below(rng, largest - 15);
}

/* Takes and touches blocks until they make up bytes. */
static void take(struct blocks *blocks, size_t bytes, size_t largest, uint64_t seed)
{
    struct bench_rng rng = bench_rng_seeded(seed);

    blocks->room = bytes / (largest == 16 ? 16 : largest / 2) * 11 / 10 + 16;
    blocks->place = (void **)work_map(blocks->room * sizeof *blocks->place);
    while (blocks->bytes < bytes && blocks->count < blocks->room) {
        size_t size = any_size(&rng, largest);
        char *p = (char *)bench_check(malloc(size));

        memset(p, 1, size);
        blocks->place[blocks->count++] = p;
        blocks->bytes += size;
    }
}

static void give_all(struct blocks *blocks)
{
    struct bench_rng rng = bench_rng_seeded(99);

    work_shuffle(&rng, blocks->place, blocks->count);
    for (size_t i = 0; i < blocks->count; i++)
        free(blocks->place[i]);
    munmap(blocks->place, blocks->room * sizeof *blocks->place);
}

static void report_after(void)
{
    struct timespec second = {1, 0};

    nanosleep(&second, NULL);
    bench_result("resident", resident(), "bytes");
    trim();
    bench_result("trimmed", resident(), "bytes");
}

/* ---- scenes ---- */

static void freed(size_t mib, size_t largest)
{
    struct blocks blocks = {0};

    take(&blocks, mib * MIB, largest, 1);
    give_all(&blocks);
    report_after();
}

static double thread_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void stall(size_t mib)
{
    struct bench_rng rng = bench_rng_seeded(99);
    struct blocks blocks = {0};
    double longest = 0, sum = 0;

    take(&blocks, mib * MIB, LARGEST, 1);
    work_shuffle(&rng, blocks.place, blocks.count);
    for (size_t i = 0; i < blocks.count; i++) {
        double begin = thread_cpu_ns(), took;

        free(blocks.place[i]);
        took = thread_cpu_ns() - begin;
        longest = took > longest ? took : longest;
        sum += took;
    }
    munmap(blocks.place, blocks.room * sizeof *blocks.place);
    bench_result("longest", longest, "ns");
    bench_result("cpu_per_free", sum / (double)blocks.count, "ns");
    bench_result("resident", resident(), "bytes");
}

struct producer {
    pthread_t thread;
    struct blocks blocks;
    size_t bytes;
    uint64_t seed;
    bool sleeps;
    sem_t done, end;
};

static void *produce(void *argument)
{
    struct producer *producer = argument;

    take(&producer->blocks, producer->bytes, LARGEST, producer->seed);
    sem_post(&producer->done);
    if (producer->sleeps)
        sem_wait(&producer->end);
    return NULL;
}

static void freed_by_another(size_t mib, bool asleep)
{
    static struct producer producers[PRODUCERS];

    for (size_t i = 0; i < PRODUCERS; i++) {
        producers[i].bytes = mib * MIB / PRODUCERS;
        producers[i].seed = i;
        producers[i].sleeps = asleep;
        sem_init(&producers[i].done, 0, 0);
        sem_init(&producers[i].end, 0, 0);
        producers[i].thread = work_start(produce, &producers[i]);
    }
    for (size_t i = 0; i < PRODUCERS; i++) {
        sem_wait(&producers[i].done);
        if (!asleep)
            work_join(producers[i].thread);
    }
    for (size_t i = 0; i < PRODUCERS; i++)
        give_all(&producers[i].blocks);
    report_after();
    for (size_t i = 0; asleep && i < PRODUCERS; i++) {
        sem_post(&producers[i].end);
        work_join(producers[i].thread);
    }
}

static void sparse(size_t mib)
{
    struct bench_rng rng = bench_rng_seeded(7);
    struct blocks blocks = {0};
    size_t left;

    take(&blocks, mib * MIB, LARGEST, 1);
    work_shuffle(&rng, blocks.place, blocks.count);
    left = blocks.count / 10;
    for (size_t i = left; i < blocks.count; i++)
        free(blocks.place[i]);
    munmap(blocks.place, blocks.room * sizeof *blocks.place);
    bench_result("resident", resident(), "bytes");
    bench_result("per_live",
                 resident() / ((double)blocks.bytes * (double)left / (double)blocks.count),
                 "ratio");
}

/* Long-lived blocks, replaced at random; requests of a few dozen blocks that die together; sizes
 * that drift: the largest of the day wanders between 64 bytes and 32 KiB. */
enum { CHURN_LIVE = 60000, CHURN_REQUEST = 64 };

struct churn_block {
    void *p;
    size_t bytes;
};

static void churn_replace(struct churn_block *block, size_t bytes, size_t *live)
{
    free(block->p);
    *live = *live - block->bytes + bytes;
    block->p = bench_check(malloc(bytes));
    block->bytes = bytes;
    memset(block->p, 1, bytes);
}

static void churn_request(struct bench_rng *rng, unsigned octaves, struct churn_block *kept,
                          size_t *live)
{
    void *request[CHURN_REQUEST];

    for (size_t i = 0; i < CHURN_REQUEST; i++) {
        size_t bytes = work_log_size(rng, 16, octaves);

        request[i] = memset(bench_check(malloc(bytes)), 1, bytes);
    }
    churn_replace(&kept[bench_rng_below(rng, CHURN_LIVE)], work_log_size(rng, 16, octaves), live);
    for (size_t i = 0; i < CHURN_REQUEST; i++)
        free(request[i]);
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void churn(size_t seconds)
{
    struct churn_block *kept = work_map(CHURN_LIVE * sizeof *kept);
    struct bench_rng rng = bench_rng_seeded(3);
    double begin = seconds_now(), at, half = 0, ratio = 0, n = 0, st = 0, sr = 0, stt = 0, str = 0;
    size_t live = 0, steps = 0;

    do {
        /* The same work whatever the speed: sizes drift with steps, not with time. */
        for (int i = 0; i < 4000; i++, steps++)
            churn_request(&rng, 3 + (unsigned)(steps / 30000 % 9), kept, &live);
        at = seconds_now() - begin;
        if (at < (double)seconds / 2) {
            half = at;
            continue;
        }
        ratio += resident() / (double)live;
        n++, st += at - half, sr += resident(), stt += (at - half) * (at - half),
            str += (at - half) * resident();
    } while (at < (double)seconds);
    bench_result("per_live", ratio / n, "ratio");
    bench_result("slope", n > 1 ? (n * str - st * sr) / (n * stt - st * st) * 60 / KIB : 0,
                 "KiB/min");
    bench_result("resident", resident(), "bytes");
    bench_result("cpu_per_step", bench_cpu_ns() / (double)steps, "ns");
}

/* ---- threads ---- */

struct sleepers {
    size_t blocks, bytes; /* that each takes; 0: none */
    bool free_them;
    sem_t ready, end;
};

static void *sleeper(void *argument)
{
    struct sleepers *all = argument;
    void *p[1024];

    for (size_t i = 0; i < all->blocks; i++)
        p[i] = memset(bench_check(malloc(all->bytes)), 1, all->bytes);
    for (size_t i = 0; all->free_them && i < all->blocks; i++)
        free(p[i]);
    sem_post(&all->ready);
    sem_wait(&all->end);
    return NULL;
}

static double sleepers_resident(struct sleepers *all, size_t threads)
{
    pthread_t *thread = work_map(threads * sizeof *thread);
    double bytes;

    sem_init(&all->ready, 0, 0);
    sem_init(&all->end, 0, 0);
    for (size_t i = 0; i < threads; i++)
        thread[i] = work_start(sleeper, all);
    for (size_t i = 0; i < threads; i++)
        sem_wait(&all->ready);
    bytes = resident();
    for (size_t i = 0; i < threads; i++)
        sem_post(&all->end);
    for (size_t i = 0; i < threads; i++)
        work_join(thread[i]);
    munmap(thread, threads * sizeof *thread);
    return bytes;
}

/* Beyond what threads themselves take that never allocate but touch as much of their stack. */
static void sleeping(size_t threads, size_t blocks, size_t bytes, bool free_them)
{
    struct sleepers all = {.blocks = blocks, .bytes = bytes, .free_them = free_them};
    struct sleepers idle = {.blocks = 0};
    double base = sleepers_resident(&idle, threads);
    double with = sleepers_resident(&all, threads);

    bench_result("per_thread", with > base ? (with - base) / (double)threads : 0, "bytes");
    bench_result("resident", with, "bytes");
}

static void *short_lived(void *argument)
{
    (void)argument;
    for (size_t i = 0; i < 100; i++)
        free(keep(malloc(16 << i % 10)));
    return NULL;
}

static void sequence(size_t threads)
{
    double first = 0;

    for (size_t i = 0; i < threads; i++) {
        work_join(work_start(short_lived, NULL));
        if (i == 999)
            first = resident();
    }
    bench_result("growth", resident() - first, "bytes");
    bench_result("resident", resident(), "bytes");
}

static void dense(size_t mib)
{
    size_t count = mib * MIB / 200;

    for (size_t i = 0; i < count; i++)
        memset(bench_check(malloc(200)), 1, 200);
    bench_result("cpu", bench_cpu_ns(), "ns");
    bench_result("resident", resident(), "bytes");
    bench_result("huge", (double)rollup("AnonHugePages:") / (double)rollup("Anonymous:"), "ratio");
}

static void growth(size_t mib)
{
    for (int by_a_fifth = 0; by_a_fifth < 2; by_a_fifth++) {
        size_t bytes = 4;
        char *p = (char *)bench_check(malloc(bytes));

        while (bytes < mib * MIB) {
            size_t before = bytes;

            bytes = by_a_fifth ? bytes + bytes / 5 + 1 : 2 * bytes;
            bytes = bytes < mib * MIB ? bytes : mib * MIB;
            p = (char *)bench_check(realloc(p, bytes));
            memset(p + before, 1, bytes - before);
        }
        free(p);
    }
    bench_result("cpu", bench_cpu_ns(), "ns");
    bench_result("resident", resident(), "bytes");
}

static void maps(size_t mib)
{
    size_t count = 0, room = mib * MIB / (72 * KIB), bytes = 0, lines = map_lines();
    void **place = work_map(room * sizeof *place);
    struct bench_rng rng = bench_rng_seeded(5);

    while (bytes < mib * MIB && count < room) {
        size_t size = 72 * KIB + bench_rng_below(&rng, 3 * MIB - 72 * KIB);

        place[count++] = bench_check(malloc(size));
        bytes += size;
    }
    for (size_t i = 0; i < count; i += 2)
        free(place[i]);
    bench_result("lines", (double)(map_lines() - lines), "count");
    bench_result("lines_allowed", (double)bytes / (2 * MIB) + 64, "count");
    bench_result("resident", resident(), "bytes");
}

int main(int argc, char **argv)
{
    static const char *const scenes[] = {"freed",  "asleep",   "exited",   "tiny",     "sparse",
                                         "churn",  "thousand", "sleepers", "sequence", "dense",
                                         "growth", "maps",     "stall",    NULL};
    static const size_t numbers[] = {1024, 1024, 1024,   1024, 1024, 600,
                                     1000, 100,  100000, 1024, 1024, 20480, 1024};
    struct work_arguments a = work_begin(argc, argv, "work_memory SCENE [N]");
    size_t scene = work_word(&a, scenes);
    size_t n = work_number(&a, numbers[scene], 1 << 20);

    work_end(&a);
    free(bench_check(malloc(1))); /* an allocator's start-up is the programs' rows' to measure */
    (void)map_lines();
    resident_at_start = rollup("Rss:");
    switch (scene) {
    case 0:
        freed(n, LARGEST);
        break;
    case 1:
        freed_by_another(n, true);
        break;
    case 2:
        freed_by_another(n, false);
        break;
    case 3:
        freed(n, 16);
        break;
    case 4:
        sparse(n);
        break;
    case 5:
        churn(n);
        break;
    case 6:
        sleeping(n, 1024, 1024, true);
        break;
    case 7:
        sleeping(n, 1, 64, false);
        break;
    case 8:
        sequence(n);
        break;
    case 9:
        dense(n);
        break;
    case 10:
        growth(n);
        break;
    case 11:
        maps(n);
        break;
    default:
        stall(n);
        break;
    }
    return 0;
}
