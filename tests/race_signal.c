/* malloc and free in a signal handler that interrupts malloc and free, 10 000 times a second: no
 * block is given out twice, none is lost, nothing hangs. glibc, jemalloc and mimalloc do not
 * survive this. */
#include "interrupt.h"

#include <pthread.h>
#include <stdbool.h>

enum {
    PARTS = 2,
    OWN = 300,
    HELD = 64, /* blocks of a handler */
    BOXES = 16,
    THREADS = 3,
    SIGNALS_MIN = 200,
    PERIOD_NS = 100000,
    MARKED = 20000, /* of large blocks only the start carries the pattern, for time's sake */
    LOST_BYTES_MAX = 256 << 10
};

struct kept {
    void *p;
    size_t n;
    uint32_t seed;
};

/* All that one thread and the handler that interrupts it work on. */
struct actor {
    struct kept own[OWN];
    struct kept held[HELD];
    struct kept *boxes[BOXES]; /* by exchange: from handler to thread and back */
    uint32_t rng, handler_rng;
    unsigned long served, inside;
};

static struct actor actors[THREADS];
static _Thread_local struct actor *me;
static double end_time;

static size_t marked(size_t n)
{
    return n < MARKED ? n : MARKED;
}

static void kept_take(struct kept *k, uint32_t *rng)
{
    size_t const n = random_size(rng);

    switch (rng_next(rng) % 8) {
    case 0:
        k->p = calloc(1, n);
        if (k->p != NULL)
            for (size_t i = 0; i < marked(n); ++i)
                if (((char *)k->p)[i] != 0)
                    check_fail("calloc(%zu): byte %zu is not zero", n, i);
        break;
    case 1: {
        size_t const a = (size_t)16 << rng_next(rng) % 12;

        check_eq(posix_memalign(&k->p, a, n), 0);
        check_at((uintptr_t)k->p % a == 0, a);
        break;
    }
    default:
        k->p = malloc(n);
    }
    check_at(k->p != NULL, n);
    k->n = n;
    k->seed = rng_next(rng);
    pattern_fill(k->p, marked(n), k->seed);
}

static void kept_resize(struct kept *k, uint32_t *rng)
{
    size_t const n = random_size(rng) + 1;
    size_t const both = marked(n < k->n ? n : k->n);

    k->p = realloc(k->p, n);
    check_at(k->p != NULL, n);
    check_eq(pattern_differs(k->p, both, marked(k->n), k->seed), both);
    k->n = n;
    k->seed = rng_next(rng);
    pattern_fill(k->p, marked(n), k->seed);
}

static void kept_drop(struct kept *k)
{
    check_le(k->n, malloc_usable_size(k->p));
    check_pattern(k->p, marked(k->n), k->seed);
    free(k->p);
    k->p = NULL;
}

static void kept_step(struct kept *k, uint32_t *rng)
{
    if (k->p == NULL)
        kept_take(k, rng);
    else if (rng_next(rng) % 3 == 0)
        kept_resize(k, rng);
    else
        kept_drop(k);
}

/* Puts a block into a box of the actor and frees what another has left there. */
static void box_exchange(struct actor *a, uint32_t *rng)
{
    struct kept *k = malloc(sizeof *k);

    check(k != NULL);
    kept_take(k, rng);
    k = __atomic_exchange_n(&a->boxes[rng_next(rng) % BOXES], k, __ATOMIC_ACQ_REL);
    if (k != NULL) {
        kept_drop(k);
        free(k);
    }
}

static void on_signal(int signal_number, siginfo_t *info, void *context)
{
    struct actor *const a = me;

    (void)signal_number;
    (void)info;
    if (a == NULL)
        return;
    a->served += 1;
    a->inside += (unsigned long)interrupted_allocator(context);
    for (int i = 0; i < 4; ++i)
        kept_step(&a->held[rng_next(&a->handler_rng) % HELD], &a->handler_rng);
    box_exchange(a, &a->handler_rng);
}

static void work_until_the_end(struct actor *a)
{
    while (now_seconds() < end_time)
        for (int i = 0; i < 100; ++i) {
            kept_step(&a->own[rng_next(&a->rng) % OWN], &a->rng);
            if (i % 8 == 0)
                box_exchange(&actors[rng_next(&a->rng) % THREADS], &a->rng);
        }
}

static void drop_everything(struct actor *a)
{
    for (int i = 0; i < OWN; ++i)
        if (a->own[i].p != NULL)
            kept_drop(&a->own[i]);
    for (int i = 0; i < HELD; ++i)
        if (a->held[i].p != NULL)
            kept_drop(&a->held[i]);
    for (int i = 0; i < BOXES; ++i)
        if (a->boxes[i] != NULL) {
            kept_drop(a->boxes[i]);
            free(a->boxes[i]);
            a->boxes[i] = NULL;
        }
}

static void *act(void *arg)
{
    struct actor *const a = arg;

    a->rng = (uint32_t)(a - actors) * 77 + 5;
    a->handler_rng = a->rng + 1000;
    me = a;
    timer_t const timer = timer_start(SIGUSR1, PERIOD_NS);
    work_until_the_end(a);
    check_eq(timer_delete(timer), 0);
    me = NULL; /* a signal that is still on its way does nothing */
    return NULL;
}

static size_t in_use_bytes(void)
{
    struct mallinfo2 const m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static void check_what_was_served(int threads)
{
    unsigned long served = 0, inside = 0;

    for (int i = 0; i < threads; ++i) {
        served += actors[i].served;
        inside += actors[i].inside;
        actors[i].served = actors[i].inside = 0;
        drop_everything(&actors[i]);
    }
    printf("%d threads: %lu signals served, %lu interrupted the allocator\n", threads, served,
           inside);
    check_le((size_t)SIGNALS_MIN, served);
#if defined(__x86_64__) || defined(__aarch64__)
    check_le(1, inside);
#endif
}

static void malloc_in_a_handler_that_interrupts_malloc_loses_nothing(void)
{
    malloc_trim(0);
    size_t const before = in_use_bytes();

    end_time = box_end(PARTS);
    act(&actors[0]);
    check_what_was_served(1);
    for (int i = 1; i < THREADS; ++i)
        drop_everything(&actors[i]); /* their boxes */
    malloc_trim(0);
    check_le(in_use_bytes(), before + LOST_BYTES_MAX);
}

static void malloc_in_handlers_of_several_threads_loses_nothing(void)
{
    pthread_t id[THREADS];

    malloc_trim(0);
    size_t const before = in_use_bytes();

    end_time = box_end(PARTS);
    for (int i = 0; i < THREADS; ++i)
        check_eq(pthread_create(&id[i], NULL, act, &actors[i]), 0);
    for (int i = 0; i < THREADS; ++i)
        check_eq(pthread_join(id[i], NULL), 0);
    check_what_was_served(THREADS);
    malloc_trim(0);
    check_le(in_use_bytes(), before + LOST_BYTES_MAX);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

    check_start();
    if (!on_inkalloc()) {
        puts("skipped: another malloc would crash or hang");
        return 77;
    }
    interrupt_init();
    sigemptyset(&action.sa_mask);
    check_eq(sigaction(SIGUSR1, &action, NULL), 0);
    malloc_in_a_handler_that_interrupts_malloc_loses_nothing();
    malloc_in_handlers_of_several_threads_loses_nothing();
    return check_end();
}
