/* What the unit tests share: cmocka, a main that takes -t NAME, children whose end and stderr are
 * looked at, threads.
 *
 * cmocka's asserts belong to the main thread of the test program; threads and children use
 * UNIT_CHECK. */
#ifndef INK_UNIT_H
#define INK_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The program's main: runs the tests, or with -t those that match a pattern. */
#define UNIT_MAIN(...)                                                 \
    int main(int argc, char **argv)                                    \
    {                                                                  \
        const struct CMUnitTest tests[] = {__VA_ARGS__};               \
                                                                       \
        unit_begin(argc, argv, tests, sizeof tests / sizeof tests[0]); \
        return cmocka_run_group_tests(tests, NULL, NULL);              \
    }

void unit_begin(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

/* For threads and children: says what does not hold and ends the process. */
#define UNIT_CHECK(cond)                          \
    do {                                          \
        if (!(cond))                              \
            unit_fail(#cond, __FILE__, __LINE__); \
    } while (0)

__attribute__((noreturn)) void unit_fail(const char *what, const char *file, int line);

/* How a child ended (as waitpid tells) and what it wrote on stderr. */
struct unit_end {
    int status;
    char text[4096];
};

/* Adds to the operations of a stress test that the program reports at its end, as it does the forks
 * of unit_child.  Any thread. */
void unit_count_operations(unsigned long count);

/* Runs body in a child of fork. */
struct unit_end unit_child(void (*body)(void *), void *arg);

/* False under the thread sanitizer, which ends the child of a process with threads as soon as it
 * starts one itself. */
bool unit_child_may_start_threads(void);
/* False under the thread sanitizer, which takes a child that shares our memory for a fork, and
 * unlocks its own state twice. */
bool unit_child_may_share_memory(void);

/* Bytes that the kernel says are resident (smaps_rollup). */
size_t unit_resident_bytes(void);
/* False under a sanitizer, which keeps memory of its own for each byte of ours. */
bool unit_resident_is_ours(void);

/* The child must have ended by itself, with nothing on stderr. */
void unit_assert_ended_fine(const struct unit_end *end);
void unit_assert_fine(void (*body)(void *), void *arg);

/* The child must die by SIGABRT with exactly the line that names the fault, the function and the
 * pointer. */
void unit_assert_misuse(void (*body)(void *), void *arg, const char *fault, const char *function,
                        const void *pointer);

/* The time that a stress test may take, from INK_TEST_SECONDS, and whether it is over. */
struct unit_timer {
    uint64_t end; /* nanoseconds */
};
struct unit_timer unit_timer_start(double share);
bool unit_timer_over(const struct unit_timer *timer);
uint64_t unit_nanoseconds(void);

/* Runs body in count threads at once, with a pointer to each of the arguments of size bytes; waits
 * for all. */
enum { UNIT_THREADS_MAX = 65 };
void unit_threads(unsigned count, void (*body)(void *), void *args, size_t size);

/* A small random generator: the same sequence for the same seed. */
uint32_t unit_random(uint64_t *seed);

/* Whether all of [address, address + bytes) is zero; whether it is mapped at all. */
bool unit_is_zero(const void *address, size_t bytes);
bool unit_is_mapped(const void *address, size_t bytes);

#endif
