/* Mallopt(M_PERTURB): blocks come full of the complement of the byte and are filled with the byte
 * when they are freed, whatever the size, the function, the thread or the process; zeroed blocks
 * are zero; and it can be switched off again.  On glibc some of this does not hold: its thread
 * caches forget it. */
#include "check.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>

enum { BYTE = 0x55, NEW = 0xaa, OWN = 0x11, EACH = 200 };

static const size_t sizes[] = {1,     16,    17,     100,     1024,    1025,   5000,
                               32768, 32769, 200000, 1048576, 1048577, 3000000};

enum { SIZES = sizeof sizes / sizeof sizes[0], LAST_SMALL = 7, LAST_RANGE = 10 };

static void check_all(const unsigned char *p, size_t from, size_t to, int byte)
{
    for (size_t i = from; i < to; ++i)
        if (p[i] != byte)
            check_fail("byte %zu of %zu is 0x%02x, not 0x%02x", i, to, p[i], (unsigned)byte);
    check(from <= to);
}

static void *get(int way, size_t n)
{
    void *p = NULL;

    if (way == 0)
        return malloc(n);
    if (way == 1)
        return memalign(256, n);
    if (way == 2)
        return aligned_alloc(8192, n);
    if (way == 3)
        return realloc(keep_ptr(NULL), n);
    return posix_memalign(&p, 64, n) == 0 ? p : NULL;
}

/* Twice, as the second time the blocks have been used before. */
static void malloc_by_every_function_gives_the_complement(int fresh)
{
    for (int way = 0; way < 5; ++way)
        for (int s = 0; s < SIZES; ++s) {
            int const count = s <= LAST_SMALL ? EACH : 2;
            unsigned char *p[EACH];

            for (int round = 0; round < 2; ++round) {
                for (int i = 0; i < count; ++i) {
                    p[i] = get(way, sizes[s]);
                    check_at(p[i] != NULL, sizes[s]);
                    check_all(p[i], 0, sizes[s], fresh);
                    memset(p[i], OWN, sizes[s]);
                }
                for (int i = 0; i < count; ++i)
                    free(p[i]);
            }
        }
}

/* Between two blocks that live, so that its pages stay. */
static void free_fills_with_the_byte(int byte, int last)
{
    for (int s = 0; s <= last; ++s) {
        void *const before = malloc(sizes[s]);
        unsigned char *const p = malloc(sizes[s]);
        void *const after = malloc(sizes[s]);
        size_t const usable = malloc_usable_size(p);
        unsigned char *const again = keep_ptr(p);

        memset(p, OWN, usable);
        free(p);
        check_all(again, 0, usable, byte);
        free(before);
        free(after);
    }
}

static void calloc_stays_zero(void)
{
    for (int s = 0; s < SIZES; ++s)
        for (int i = 0; i < 20; ++i) {
            unsigned char *const p = calloc(1, sizes[s]);

            check_at(p != NULL, sizes[s]);
            check_all(p, 0, sizes[s], 0);
            memset(p, OWN, sizes[s]);
            free(p);
        }
}

/* What a large block gains by moving pages comes from the kernel, here as in glibc. */
static void realloc_keeps_what_it_keeps_and_fills_the_rest(void)
{
    for (int from = 0; from < SIZES; ++from)
        for (int to = 0; to < SIZES; ++to) {
            size_t const kept = sizes[from < to ? from : to];
            unsigned char *p = malloc(sizes[from]);

            memset(p, OWN, sizes[from]);
            p = realloc(p, sizes[to]);
            check_at(p != NULL, sizes[to]);
            check_all(p, 0, kept, OWN);
            if (from <= LAST_RANGE)
                check_all(p, kept, sizes[to], NEW);
            free(p);
        }
}

static void *work(void *unused)
{
    malloc_by_every_function_gives_the_complement(NEW);
    free_fills_with_the_byte(BYTE, LAST_SMALL); /* a freed range may be another thread's by now */
    return unused;
}

static void threads_that_start_later_follow(void)
{
    pthread_t id[2];

    for (int i = 0; i < 2; ++i)
        check_eq(pthread_create(&id[i], NULL, work, NULL), 0);
    for (int i = 0; i < 2; ++i)
        check_eq(pthread_join(id[i], NULL), 0);
}

static void children_follow(void)
{
    int status = 0;
    pid_t const pid = fork();

    check(pid >= 0);
    if (pid == 0) {
        alarm(CHECK_WATCHDOG_SECONDS);
        work(NULL);
        _exit(0);
    }
    check_eq(waitpid(pid, &status, 0), pid);
    check_eq(status, 0);
}

/* Only the lowest byte counts, but any bit switches it on. */
static void a_value_of_several_bytes_fills_with_the_lowest(void)
{
    check_eq(mallopt(M_PERTURB, 0x1200), 1);
    malloc_by_every_function_gives_the_complement(0xff);
    free_fills_with_the_byte(0, LAST_RANGE);
}

static void zero_switches_it_off(void)
{
    check_eq(mallopt(M_PERTURB, 0), 1);
    free_fills_with_the_byte(OWN, LAST_RANGE);
    calloc_stays_zero();
}

int main(void)
{
    check_start();
    free_fills_with_the_byte(OWN, LAST_RANGE);
    check_eq(mallopt(M_PERTURB, BYTE), 1);
    malloc_by_every_function_gives_the_complement(NEW);
    free_fills_with_the_byte(BYTE, LAST_RANGE);
    calloc_stays_zero();
    realloc_keeps_what_it_keeps_and_fills_the_rest();
    threads_that_start_later_follow();
    children_follow();
    a_value_of_several_bytes_fills_with_the_lowest();
    zero_switches_it_off();
    return check_end();
}
