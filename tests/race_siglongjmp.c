/* Jumps out of a signal handler that has interrupted malloc: the call never ends, yet the thread
 * and the others go on. At most the block in flight is lost; none is given out twice. */
#include "interrupt.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>

enum { SLOTS = 200, JUMPS_MIN = 20, PERIOD_NS = 200000, MARKED = 4096 };

struct slot {
    void *volatile p;
    size_t n;
    uint32_t seed;
};

static struct slot slots[SLOTS];
static sigjmp_buf out;
static volatile sig_atomic_t armed;
static volatile unsigned long jumps;
static int other_stop;

static size_t marked(size_t n)
{
    return n < MARKED ? n : MARKED;
}

static void jump_out(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    if (!armed || !interrupted_allocator(context))
        return; /* out of anything else it would prove nothing */
    jumps = jumps + 1;
    armed = 0;
    siglongjmp(out, 1);
}

/* The slot is empty while its block is in the allocator's hands: what a jump leaves behind is
 * lost, not used. */
static void step(struct slot *s, uint32_t *rng)
{
    size_t const n = random_size(rng);
    void *p = s->p;

    if (p != NULL) {
        check_pattern(p, marked(s->n), s->seed);
        s->p = NULL;
        armed = 1;
        if (rng_next(rng) % 4 == 0 && n > 0) {
            p = realloc(p, n);
            armed = 0;
        } else {
            free(p);
            p = NULL;
            armed = 0;
            return;
        }
    } else {
        armed = 1;
        p = rng_next(rng) % 4 == 0 ? calloc(1, n) : malloc(n);
        armed = 0;
    }
    check_at(p != NULL, n);
    s->n = n;
    s->seed = rng_next(rng);
    pattern_fill(p, marked(n), s->seed);
    s->p = p;
}

static void free_all_slots(void)
{
    for (int i = 0; i < SLOTS; ++i) {
        if (slots[i].p != NULL)
            check_pattern(slots[i].p, marked(slots[i].n), slots[i].seed);
        free(slots[i].p);
        slots[i].p = NULL;
    }
}

static void *allocate_beside(void *arg)
{
    static struct slot own[50];
    uint32_t rng = 61;
    unsigned long steps = 0;

    (void)arg;
    while (!__atomic_load_n(&other_stop, __ATOMIC_RELAXED)) {
        struct slot *const s = &own[rng_next(&rng) % 50];
        size_t const n = random_size(&rng);

        if (s->p != NULL)
            check_pattern(s->p, marked(s->n), s->seed);
        free(s->p);
        s->n = n;
        s->seed = rng_next(&rng);
        s->p = malloc(n);
        check_at(s->p != NULL, n);
        pattern_fill(s->p, marked(n), s->seed);
        ++steps;
    }
    for (int i = 0; i < 50; ++i)
        free(own[i].p);
    return (void *)steps;
}

static void check_every_size_works(void)
{
    for (size_t n = 1; n < 4000000; n = n * 2 + 1) {
        void *p[20];

        for (uint32_t i = 0; i < 20; ++i) {
            check_at((p[i] = malloc(n)) != NULL, n);
            pattern_fill(p[i], marked(n), i);
        }
        for (uint32_t i = 0; i < 20; ++i) {
            check_pattern(p[i], marked(n), i);
            free(p[i]);
        }
    }
}

static void *check_in_a_thread(void *arg)
{
    check_every_size_works();
    return arg;
}

static void jump_out_of_malloc_leaves_every_thread_working(void)
{
    struct sigaction action = {.sa_sigaction = jump_out, .sa_flags = SA_SIGINFO | SA_RESTART};
    timer_t timer;
    static uint32_t rng = 62;
    double const end = box_end(1), last_end = now_seconds() + 60;
    pthread_t id;
    void *steps = NULL;

    check_eq(pthread_create(&id, NULL, allocate_beside, NULL), 0);
    sigemptyset(&action.sa_mask);
    check_eq(sigaction(SIGUSR1, &action, NULL), 0);
    timer = timer_start(SIGUSR1, PERIOD_NS);
    sigsetjmp(out, 1); /* every jump comes back here, with the signal open again */
    armed = 0;
    while (now_seconds() < end || (jumps < JUMPS_MIN && now_seconds() < last_end))
        for (int i = 0; i < 100; ++i)
            step(&slots[rng_next(&rng) % SLOTS], &rng);
    check_eq(timer_delete(timer), 0);

    __atomic_store_n(&other_stop, 1, __ATOMIC_RELAXED);
    check_eq(pthread_join(id, &steps), 0);
    printf("%lu jumps out of the allocator, %lu steps beside them\n", jumps, (unsigned long)steps);
    check_le((size_t)JUMPS_MIN, jumps);
    check((unsigned long)steps > 100);
    free_all_slots();
    check_every_size_works();
    check_eq(pthread_create(&id, NULL, check_in_a_thread, NULL), 0);
    check_eq(pthread_join(id, NULL), 0);
}

int main(void)
{
    check_start();
    if (!on_inkalloc()) {
        puts("skipped: another malloc would hang");
        return 77;
    }
#if !defined(__x86_64__) && !defined(__aarch64__)
    puts("skipped: where a signal has struck is not known on this machine");
    return 77;
#endif
    interrupt_init();
    jump_out_of_malloc_leaves_every_thread_working();
    return check_end();
}
