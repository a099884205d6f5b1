/* Helpers of the unit tests: see unit.h. */
#include "unit.h"
#include "cc.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void unit_select(const char *pattern, const struct CMUnitTest *tests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(pattern, tests[i].name, 0) == 0) {
            cmocka_set_test_filter(pattern);
            return;
        }
    fprintf(stderr, "no test matches '%s'; there are:\n", pattern);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %s\n", tests[i].name);
    exit(2);
}

static _Atomic unsigned long unit_operations, unit_forks;

void unit_count_operations(unsigned long count)
{
    ink_add_relaxed(&unit_operations, count);
}

/* .ci/run adds up what such lines say. */
static void unit_report_counts(void)
{
    if (unit_operations != 0)
        printf("%lu operations\n", unit_operations);
    if (unit_forks != 0)
        printf("%lu forks\n", unit_forks);
}

void unit_begin(int argc, char **argv, const struct CMUnitTest *tests, size_t count)
{
    int option;

    while ((option = getopt(argc, argv, "t:")) != -1) {
        if (option != 't') {
            fprintf(stderr, "usage: %s [-t TEST]\n", argv[0]);
            exit(2);
        }
        unit_select(optarg, tests, count);
    }
    (void)atexit(unit_report_counts);
}

void unit_fail(const char *what, const char *file, int line)
{
    dprintf(STDERR_FILENO, "%s:%d: does not hold: %s\n", file, line, what);
    _exit(1);
}

__attribute__((noreturn)) static void unit_child_main(void (*body)(void *), void *arg, int err)
{
    struct rlimit none = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &none);
    if (dup2(err, STDERR_FILENO) < 0)
        _exit(1);
    body(arg);
    _exit(0);
}

/* Reads to the end, keeping what fits. */
static void unit_read_all(int fd, char *text, size_t room)
{
    char rest[512];
    size_t length = 0;
    ssize_t got;

    do {
        if (length < room - 1) {
            got = read(fd, text + length, room - 1 - length);
            length += got > 0 ? (size_t)got : 0;
        } else {
            got = read(fd, rest, sizeof rest);
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    text[length] = '\0';
}

struct unit_end unit_child(void (*body)(void *), void *arg)
{
    struct unit_end end = {.status = -1};
    int ends[2];
    pid_t pid;

    UNIT_CHECK(pipe(ends) == 0);
    pid = fork();
    UNIT_CHECK(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        unit_child_main(body, arg, ends[1]);
    }
    close(ends[1]);
    ink_add_relaxed(&unit_forks, 1);
    unit_read_all(ends[0], end.text, sizeof end.text);
    close(ends[0]);
    while (waitpid(pid, &end.status, 0) < 0)
        UNIT_CHECK(errno == EINTR);
    return end;
}

void unit_assert_ended_fine(const struct unit_end *end)
{
    assert_string_equal(end->text, "");
    assert_true(WIFEXITED(end->status));
    assert_int_equal(WEXITSTATUS(end->status), 0);
}

void unit_assert_fine(void (*body)(void *), void *arg)
{
    struct unit_end end = unit_child(body, arg);

    unit_assert_ended_fine(&end);
}

void unit_assert_misuse(void (*body)(void *), void *arg, const char *fault, const char *function,
                        const void *pointer)
{
    struct unit_end end = unit_child(body, arg);
    char line[256];

    snprintf(line, sizeof line, "inkalloc: %s in %s(0x%jx)\n", fault, function,
             (uintmax_t)(uintptr_t)pointer);
    assert_string_equal(end.text, line);
    assert_true(WIFSIGNALED(end.status));
    assert_int_equal(WTERMSIG(end.status), SIGABRT);
}

bool unit_child_may_start_threads(void)
{
    return !INK_THREAD_SANITIZER;
}

bool unit_child_may_share_memory(void)
{
    return !INK_THREAD_SANITIZER;
}

uint64_t unit_nanoseconds(void)
{
    struct timespec now;

    UNIT_CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct unit_timer unit_timer_start(double share)
{
    const char *text = getenv("INK_TEST_SECONDS");
    double seconds = text != NULL && atof(text) > 0 ? atof(text) : 2;

    return (struct unit_timer){.end = unit_nanoseconds() + (uint64_t)(seconds * share * 1e9)};
}

bool unit_timer_over(const struct unit_timer *timer)
{
    return unit_nanoseconds() >= timer->end;
}

struct unit_thread {
    void (*body)(void *);
    void *arg;
    pthread_barrier_t *start;
};

static void *unit_thread_main(void *arg)
{
    struct unit_thread *thread = arg;

    pthread_barrier_wait(thread->start);
    thread->body(thread->arg);
    return NULL;
}

void unit_threads(unsigned count, void (*body)(void *), void *args, size_t size)
{
    struct unit_thread threads[UNIT_THREADS_MAX];
    pthread_t ids[UNIT_THREADS_MAX];
    pthread_barrier_t start;

    UNIT_CHECK(count <= UNIT_THREADS_MAX);
    UNIT_CHECK(pthread_barrier_init(&start, NULL, count) == 0);
    for (unsigned i = 0; i < count; i++) {
        threads[i] =
            (struct unit_thread){.body = body, .arg = (char *)args + i * size, .start = &start};
        UNIT_CHECK(pthread_create(&ids[i], NULL, unit_thread_main, &threads[i]) == 0);
    }
    for (unsigned i = 0; i < count; i++)
        UNIT_CHECK(pthread_join(ids[i], NULL) == 0);
    pthread_barrier_destroy(&start);
}

uint32_t unit_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

bool unit_is_zero(const void *address, size_t bytes)
{
    const unsigned char *at = address;

    return bytes == 0 || (at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0);
}

bool unit_is_mapped(const void *address, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)address & ~(uintptr_t)(page - 1);
    unsigned char resident;

    for (uintptr_t at = first; at < (uintptr_t)address + bytes; at += page)
        if (mincore((void *)at, page, &resident) != 0)
            return false;
    return true;
}

size_t unit_resident_bytes(void)
{
    char text[4096];
    int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    const char *line;

    UNIT_CHECK(length > 0);
    close(fd);
    text[length] = '\0';
    line = strstr(text, "Rss:");
    UNIT_CHECK(line != NULL);
    return strtoul(line + 4, NULL, 10) * 1024;
}

bool unit_resident_is_ours(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || INK_THREAD_SANITIZER
    return false;
#else
    return true;
#endif
}
