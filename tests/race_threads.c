/* Threads: blocks that change hands, threads that only free, threads that end in every order and
 * allocate while they do, many short threads. Every block carries its owner's pattern; what ends
 * gives its memory back. */
#include "check.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>

enum {
    PARTS = 6, /* facts that take a share of the program's time */
    THREADS = 4,
    SLOTS = 512,
    RING = 256,
    KEYS = 40, /* more than glibc keeps without allocating */
    SHORT_THREADS = 2000,
    MANY_THREADS = 300,
    ENDING_THREADS = 40,
    GROWTH_BYTES = 24 << 20
};

/* ---- blocks that change hands ---------------------------------------------------------------- */

struct slot {
    int busy; /* taken by exchange; the rest belongs to who holds it */
    uint32_t seed;
    size_t n;
    void *p;
};

static struct slot slots[SLOTS];
static double end_time;

/* Of large blocks the first and the last part only, for time's sake. */
static void check_zero(const char *p, size_t n)
{
    static char const zeros[16384];
    size_t const part = n < sizeof zeros ? n : sizeof zeros;

    check_at(memcmp(p, zeros, part) == 0, n);
    check_at(memcmp(p + n - part, zeros, part) == 0, n);
}

static void slot_renew(struct slot *s, uint32_t *rng)
{
    size_t const n = random_size(rng);

    if (s->p != NULL)
        check_pattern(s->p, s->n, s->seed);
    switch (rng_next(rng) % 8) {
    case 0:
        free(s->p);
        s->p = calloc(1, n);
        check_at(s->p != NULL, n);
        check_zero(s->p, n);
        break;
    case 1:
        if (s->p != NULL && n != 0) {
            size_t const both = n < s->n ? n : s->n;
            s->p = realloc(s->p, n);
            check_at(s->p != NULL, n);
            check_eq(pattern_differs(s->p, both, s->n, s->seed), both);
            break;
        }
        free(s->p);
        s->p = malloc(n);
        break;
    case 2:
        free(s->p);
        s->p = memalign((size_t)16 << rng_next(rng) % 9, n);
        break;
    default:
        free(s->p);
        s->p = malloc(n);
    }
    check_at(s->p != NULL, n);
    s->n = n;
    s->seed = rng_next(rng);
    pattern_fill(s->p, n, s->seed);
}

static void *renew_slots(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg;

    while (now_seconds() < end_time)
        for (int i = 0; i < 200; ++i) {
            struct slot *const s = &slots[rng_next(&rng) % SLOTS];

            if (__atomic_exchange_n(&s->busy, 1, __ATOMIC_ACQUIRE) != 0)
                continue;
            slot_renew(s, &rng);
            __atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
        }
    return NULL;
}

static void run_threads(void *(*work)(void *), int count)
{
    pthread_t id[THREADS * 2];

    for (int i = 0; i < count; ++i)
        check_eq(pthread_create(&id[i], NULL, work, (void *)(uintptr_t)(i + 1)), 0);
    for (int i = 0; i < count; ++i)
        check_eq(pthread_join(id[i], NULL), 0);
}

static void slots_drop(void)
{
    for (int i = 0; i < SLOTS; ++i) {
        if (slots[i].p != NULL)
            check_pattern(slots[i].p, slots[i].n, slots[i].seed);
        free(slots[i].p);
        slots[i].p = NULL;
    }
}

static void free_of_other_threads_blocks_keeps_every_pattern(void)
{
    end_time = box_end(PARTS);
    run_threads(renew_slots, THREADS);
    slots_drop();
}

static void *trim_and_ask(void *arg)
{
    FILE *const f = fopen("/dev/null", "w");

    check(f != NULL);
    while (now_seconds() < end_time) {
        int const trimmed = malloc_trim(0);

        check(trimmed == 0 || trimmed == 1);
        check(mallinfo2().uordblks < SIZE_MAX / 4);
        check_eq(malloc_info(0, f), 0);
    }
    fclose(f);
    return arg;
}

static void trim_and_queries_beside_working_threads_disturb_none(void)
{
    pthread_t id[2];

    end_time = box_end(PARTS);
    for (int i = 0; i < 2; ++i)
        check_eq(pthread_create(&id[i], NULL, trim_and_ask, NULL), 0);
    run_threads(renew_slots, THREADS);
    for (int i = 0; i < 2; ++i)
        check_eq(pthread_join(id[i], NULL), 0);
    slots_drop();
}

/* ---- threads that only free ------------------------------------------------------------------ */

static void *ring[RING];
static int ring_closed;

static void *free_what_comes(void *arg)
{
    (void)arg;
    for (unsigned i = 0;; ++i) {
        void *const p = __atomic_exchange_n(&ring[i % RING], NULL, __ATOMIC_ACQUIRE);

        if (p != NULL)
            free(p);
        else if (__atomic_load_n(&ring_closed, __ATOMIC_ACQUIRE) && i % RING == 0)
            return NULL;
        else
            sched_yield();
    }
}

/* One side only takes, the other only gives: the blocks must find their way back or the process
 * grows without end. */
static void free_in_a_thread_that_never_allocates_returns_the_memory(void)
{
    uint32_t rng = 21;
    double const end = box_end(PARTS);
    size_t before = 0;
    pthread_t id;

    __atomic_store_n(&ring_closed, 0, __ATOMIC_RELEASE);
    check_eq(pthread_create(&id, NULL, free_what_comes, NULL), 0);
    for (int round = 0; round < 3 || now_seconds() < end; ++round) {
        for (int i = 0; i < 100000; ++i) {
            size_t const n = rng_next(&rng) % 2000;
            char *const p = malloc(n + 1);

            check_at(p != NULL, n);
            p[n] = 1;
            void *no = NULL;
            while (!__atomic_compare_exchange_n(&ring[i % RING], &no, p, false, __ATOMIC_RELEASE,
                                                __ATOMIC_RELAXED)) {
                no = NULL;
                sched_yield();
            }
        }
        if (round == 1)
            before = resident_bytes();
    }
    check_le(resident_bytes(), before + GROWTH_BYTES);
    __atomic_store_n(&ring_closed, 1, __ATOMIC_RELEASE);
    check_eq(pthread_join(id, NULL), 0);
    for (int i = 0; i < RING; ++i)
        free(__atomic_exchange_n(&ring[i], NULL, __ATOMIC_ACQUIRE));
}

static void *free_one_and_end(void *p)
{
    free(p);
    return NULL;
}

static void free_in_threads_that_end_at_once_returns_the_memory(void)
{
    size_t before = 0;

    for (int i = 0; i < 400; ++i) {
        size_t const n = i % 3 == 0 ? 64 : i % 3 == 1 ? 100000 : 3000000;
        void *const p = malloc(n);
        pthread_t id;

        check(p != NULL);
        pattern_fill(p, n, 1);
        check_eq(pthread_create(&id, NULL, free_one_and_end, p), 0);
        check_eq(pthread_join(id, NULL), 0);
        if (i == 50)
            before = resident_bytes();
    }
    check_le(resident_bytes(), before + GROWTH_BYTES);
}

/* ---- threads that end ------------------------------------------------------------------------ */

static pthread_key_t keys[KEYS];
static sem_t ended;
static _Thread_local int destructor_calls;

/* Small blocks, a run range, a mapping of its own; of the large ones the first page only, for
 * time's sake. */
static void allocate_a_little(void)
{
    enum { COUNT = 20, MARKED = 4000 };
    void *p[COUNT];

    for (size_t i = 0; i < COUNT; ++i) {
        size_t const n = i == 3 ? 100000 : i == 7 ? 2000000 : i * 50;
        p[i] = malloc(n);
        check_at(p[i] != NULL, n);
        pattern_fill(p[i], n < MARKED ? n : MARKED, (uint32_t)i);
    }
    for (size_t i = 0; i < COUNT; ++i) {
        check_pattern(p[i], i == 3 || i == 7 ? (size_t)MARKED : i * 50, (uint32_t)i);
        free(p[i]);
    }
}

/* Runs in every iteration that libc grants, since it sets its key again; the value is a block of
 * the thread. */
static void destroy_key(void *value)
{
    int const k = *(int *)value;

    check(k >= 0 && k < KEYS);
    free(value);
    allocate_a_little();
    if (++destructor_calls > KEYS * 3)
        return; /* libc gives up after 4 rounds: what is set in the last would be lost */
    int *const again = malloc(sizeof *again);
    check(again != NULL);
    *again = k;
    check_eq(pthread_setspecific(keys[k], again), 0);
}

static void *set_keys_and_end(void *arg)
{
    int const which = (int)(uintptr_t)arg;

    for (int i = 0; i < KEYS; ++i) {
        int *const value = malloc(sizeof *value);
        check(value != NULL);
        *value = (which & 1) ? i : KEYS - 1 - i;
        check_eq(pthread_setspecific(keys[*value], value), 0);
    }
    if (which & 2)
        allocate_a_little();
    sem_post(&ended);
    return NULL;
}

static void key_destructors_of_every_iteration_may_allocate(void)
{
    sem_init(&ended, 0, 0);
    for (int i = 0; i < KEYS; ++i)
        check_eq(pthread_key_create(&keys[i], destroy_key), 0);
    for (uintptr_t i = 0; i < ENDING_THREADS; ++i) {
        pthread_t id;
        check_eq(pthread_create(&id, NULL, set_keys_and_end, (void *)i), 0);
        check_eq((i & 4) ? pthread_join(id, NULL) : pthread_detach(id), 0);
    }
    for (int i = 0; i < ENDING_THREADS; ++i)
        check_eq(sem_wait(&ended), 0);
}

static pthread_key_t first_key;

static void allocate_for_the_first_time(void *value)
{
    check(value == &first_key);
    allocate_a_little();
    if (++destructor_calls < 4)
        check_eq(pthread_setspecific(first_key, &first_key), 0);
}

static void *set_one_key_and_end(void *arg)
{
    (void)arg;
    check_eq(pthread_setspecific(first_key, &first_key), 0);
    return NULL;
}

static void malloc_for_the_first_time_in_a_key_destructor_works(void)
{
    check_eq(pthread_key_create(&first_key, allocate_for_the_first_time), 0);
    for (int i = 0; i < 200; ++i) {
        pthread_t id;
        check_eq(pthread_create(&id, NULL, set_one_key_and_end, NULL), 0);
        check_eq(pthread_join(id, NULL), 0);
    }
}

/* What C++ uses for thread_local objects; their destructors run before those of the keys. */
extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *) __attribute__((weak));
static char dso_mark;

static void destroy_object(void *object)
{
    check_pattern(object, 300, 9);
    free(object);
    allocate_a_little();
}

static void *register_objects_and_end(void *arg)
{
    (void)arg;
    for (int i = 0; i < 30; ++i) {
        void *const object = malloc(300);
        check(object != NULL);
        pattern_fill(object, 300, 9);
        check_eq(__cxa_thread_atexit_impl(destroy_object, object, &dso_mark), 0);
    }
    return NULL;
}

static void thread_local_destructors_may_allocate(void)
{
    if (__cxa_thread_atexit_impl == NULL)
        return;
    for (int i = 0; i < 25; ++i)
        run_threads(register_objects_and_end, THREADS);
}

static void *end_by_exit_or_cancel(void *arg)
{
    allocate_a_little();
    if ((uintptr_t)arg % 2 == 0)
        pthread_exit(NULL);
    for (;;) {
        pthread_testcancel();
        allocate_a_little();
    }
}

static void threads_that_exit_or_are_cancelled_end_well(void)
{
    for (uintptr_t i = 0; i < 40; ++i) {
        pthread_t id;
        check_eq(pthread_create(&id, NULL, end_by_exit_or_cancel, (void *)i), 0);
        if (i % 2 != 0)
            check_eq(pthread_cancel(id), 0);
        check_eq(pthread_join(id, NULL), 0);
    }
}

/* ---- churn ----------------------------------------------------------------------------------- */

static void *live_shortly(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg | 1;
    void *p[50];

    for (int i = 0; i < 50; ++i) {
        size_t const n = rng_next(&rng) % 3000;
        check((p[i] = malloc(n)) != NULL);
        pattern_fill(p[i], n, 1);
    }
    for (int i = 0; i < 49; ++i)
        free(p[i]);
    return p[49];
}

static void short_threads_by_the_thousand_leave_nothing_behind(void)
{
    size_t before = 0;

    for (uintptr_t i = 0; i < SHORT_THREADS; ++i) {
        pthread_t id;
        void *left = NULL;

        check_eq(pthread_create(&id, NULL, live_shortly, (void *)i), 0);
        check_eq(pthread_join(id, &left), 0);
        free(left);
        if (i == SHORT_THREADS / 10)
            before = resident_bytes();
    }
    check_le(resident_bytes(), before + GROWTH_BYTES / 4);
}

static pthread_barrier_t all_here;

static void *meet_and_live_shortly(void *arg)
{
    void *const left = live_shortly(arg);

    pthread_barrier_wait(&all_here);
    free(left);
    void *const other = live_shortly(arg);
    pthread_barrier_wait(&all_here);
    free(other);
    return NULL;
}

static void many_threads_at_once_find_room_and_leave_it(void)
{
    static pthread_t id[MANY_THREADS];
    size_t before = 0;

    for (int round = 0; round < 4; ++round) {
        check_eq(pthread_barrier_init(&all_here, NULL, MANY_THREADS), 0);
        for (uintptr_t i = 0; i < MANY_THREADS; ++i)
            check_eq(pthread_create(&id[i], NULL, meet_and_live_shortly, (void *)i), 0);
        for (int i = 0; i < MANY_THREADS; ++i)
            check_eq(pthread_join(id[i], NULL), 0);
        pthread_barrier_destroy(&all_here);
        if (round == 0)
            before = resident_bytes();
    }
    check_le(resident_bytes(), before + GROWTH_BYTES);
}

static void *start_and_end_others(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg;

    while (now_seconds() < end_time) {
        pthread_t id;
        void *left = NULL;

        check_eq(pthread_create(&id, NULL, live_shortly, (void *)(uintptr_t)rng_next(&rng)), 0);
        renew_slots(arg); /* returns at once when the time is over */
        check_eq(pthread_join(id, &left), 0);
        free(left);
    }
    return NULL;
}

static void *renew_one_and_end(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg | 1;
    struct slot *const s = &slots[rng_next(&rng) % SLOTS];

    if (__atomic_exchange_n(&s->busy, 1, __ATOMIC_ACQUIRE) == 0) {
        slot_renew(s, &rng);
        __atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void *start_threads_that_renew_one(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg;

    while (now_seconds() < end_time) {
        pthread_t id;

        check_eq(pthread_create(&id, NULL, renew_one_and_end, (void *)(uintptr_t)rng_next(&rng)),
                 0);
        check_eq(pthread_join(id, NULL), 0);
    }
    return NULL;
}

/* Threads come and go while others work on the same blocks. */
static void threads_that_come_and_go_beside_others_lose_nothing(void)
{
    pthread_t starter[2], worker[2];

    end_time = box_end(PARTS);
    for (uintptr_t i = 0; i < 2; ++i) {
        check_eq(pthread_create(&starter[i], NULL, start_threads_that_renew_one, (void *)(i + 5)),
                 0);
        check_eq(pthread_create(&worker[i], NULL, renew_slots, (void *)(i + 7)), 0);
    }
    for (int i = 0; i < 2; ++i) {
        check_eq(pthread_join(starter[i], NULL), 0);
        check_eq(pthread_join(worker[i], NULL), 0);
    }
    end_time = box_end(PARTS);
    run_threads(start_and_end_others, 2);
    slots_drop();
}

int main(void)
{
    check_start();
    free_of_other_threads_blocks_keeps_every_pattern();
    trim_and_queries_beside_working_threads_disturb_none();
    free_in_a_thread_that_never_allocates_returns_the_memory();
    free_in_threads_that_end_at_once_returns_the_memory();
    key_destructors_of_every_iteration_may_allocate();
    malloc_for_the_first_time_in_a_key_destructor_works();
    thread_local_destructors_may_allocate();
    threads_that_exit_or_are_cancelled_end_well();
    short_threads_by_the_thousand_leave_nothing_behind();
    many_threads_at_once_find_room_and_leave_it();
    threads_that_come_and_go_beside_others_lose_nothing();
    return check_end();
}
