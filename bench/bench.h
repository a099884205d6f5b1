/* What the benches share: a generator of numbers, a clock of CPU time, a barrier for pointers, and
 * the line that a result is printed as.  It allocates nothing. */
#ifndef INK_BENCH_H
#define INK_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* xorshift64; every run draws the same numbers, so that two allocators get the same requests. */
static uint64_t bench_random_state = 88172645463325252u;

static inline uint64_t bench_random(void)
{
    uint64_t x = bench_random_state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return bench_random_state = x;
}

/* A generator of its own for each thread: the same xorshift64 with the state at the caller's. */
struct bench_rng {
    uint64_t state;
};

/* Neighbouring seeds are spread over the states by an odd factor; the state must never be 0. */
static inline struct bench_rng bench_rng_seeded(uint64_t seed)
{
    struct bench_rng rng;

    rng.state = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
    return rng;
}

static inline uint64_t bench_rng_next(struct bench_rng *rng)
{
    uint64_t x = rng->state;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return rng->state = x;
}

/* From 0 to bound - 1, bound < 2^32: by multiplication, as a division costs as much as malloc. */
static inline size_t bench_rng_below(struct bench_rng *rng, size_t bound)
{
    return (size_t)(((bench_rng_next(rng) >> 32) * (uint64_t)bound) >> 32);
}

/* The pointer goes through memory and comes back unknown to the compiler, which therefore cannot
 * drop the pair of malloc and free around it. */
static inline void *keep(void *p)
{
    __asm__ volatile("" : "+m"(p) : : "memory");
    return p;
}

/* CPU time of all threads, user and system: the wall clock of a shared machine measures the
 * neighbours. */
static inline double bench_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One line per result, "name value unit", which interleave.sh collects. */
static inline void bench_result(const char *name, double value, const char *unit)
{
    printf("%s %.3f %s\n", name, value, unit);
}

static inline void *bench_check(void *p)
{
    if (p == NULL) {
        fputs("bench: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

#endif
