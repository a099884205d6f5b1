/* Four small workloads in one run of a few seconds, for comparing two builds while tuning.
 *
 * pair: one block comes and goes.  churn: 100 000 blocks of 16 to 515 bytes, one at random is
 * replaced and written.  build: 1 M blocks of 48 bytes are allocated and written.  coldfree: these
 * are freed in random order.  CPU time per operation; build includes the kernel's page faults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum {
    PAIRS = 20000000,
    PAIR_BYTES = 64,
    CHURN_SLOTS = 100000,
    CHURN_STEPS = 4000000,
    CHURN_MIN_BYTES = 16,
    CHURN_SPREAD_BYTES = 500,
    BUILD_BLOCKS = 1000000,
    BUILD_BYTES = 48
};

static char *churned[CHURN_SLOTS];
static char *built[BUILD_BLOCKS];

static void pair(void)
{
    double start = bench_cpu_ns();

    for (int i = 0; i < PAIRS; i++)
        free(keep(malloc(PAIR_BYTES)));
    bench_result("pair", (bench_cpu_ns() - start) / PAIRS, "ns");
}

static char *churn_block(void)
{
    char *p = bench_check(malloc(CHURN_MIN_BYTES + bench_random() % CHURN_SPREAD_BYTES));

    *p = 1;
    return p;
}

static void churn(void)
{
    double start;

    for (size_t i = 0; i < CHURN_SLOTS; i++)
        churned[i] = churn_block();
    start = bench_cpu_ns();
    for (int i = 0; i < CHURN_STEPS; i++) {
        size_t k = bench_random() % CHURN_SLOTS;

        free(churned[k]);
        churned[k] = churn_block();
    }
    bench_result("churn", (bench_cpu_ns() - start) / CHURN_STEPS, "ns");
    for (size_t i = 0; i < CHURN_SLOTS; i++)
        free(churned[i]);
}

static void build_and_free_cold(void)
{
    double start;

    memset(built, 1, sizeof built);
    start = bench_cpu_ns();
    for (size_t i = 0; i < BUILD_BLOCKS; i++)
        built[i] = memset(bench_check(malloc(BUILD_BYTES)), 1, BUILD_BYTES);
    bench_result("build", (bench_cpu_ns() - start) / BUILD_BLOCKS, "ns");

    for (size_t i = BUILD_BLOCKS - 1; i > 0; i--) {
        size_t j = bench_random() % (i + 1);
        char *p = built[i];

        built[i] = built[j];
        built[j] = p;
    }
    start = bench_cpu_ns();
    for (size_t i = 0; i < BUILD_BLOCKS; i++)
        free(built[i]);
    bench_result("coldfree", (bench_cpu_ns() - start) / BUILD_BLOCKS, "ns");
}

int main(void)
{
    pair();
    churn();
    build_and_free_cold();
    return 0;
}
