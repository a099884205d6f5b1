/* Stress of the heap from many threads: every block keeps what its owner wrote, each is handed out
 * once, and nothing is lost.
 *
 * Works on the core directly, not on the exported functions, so that it runs in the sanitizers'
 * builds as well. */
#include "heap.h"
#include "stats.h"
#include "trim.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    THREADS = 4,
    HELD = 200,    /* blocks of a thread */
    MAILBOXES = 64 /* blocks on their way from one thread to another */
};

/* ---- blocks that know what is in them ---- */

struct header {
    size_t bytes;
    uint32_t tag;
};

/* How far a block's body is written from either end: large ones are not worth every byte. */
enum { BODY = 300 };

static unsigned char body_of(uint32_t tag)
{
    return (unsigned char)(tag * 37 | 1);
}

static void *mark(void *p, size_t bytes, uint32_t tag)
{
    struct header header = {bytes, tag};
    size_t body = bytes - sizeof header;

    UNIT_CHECK(p != NULL && (uintptr_t)p % 16 == 0);
    memcpy(p, &header, sizeof header);
    memset((char *)p + sizeof header, body_of(tag), body < BODY ? body : BODY);
    memset((char *)p + bytes - (body < BODY ? body : BODY), body_of(tag),
           body < BODY ? body : BODY);
    return p;
}

static bool all_are(const unsigned char *at, size_t bytes, unsigned char value)
{
    return bytes == 0 || (at[0] == value && memcmp(at, at + 1, bytes - 1) == 0);
}

/* The block's size and tag, if it is as it was marked. */
static struct header look(const void *p, size_t known_bytes)
{
    struct header header;
    size_t body;

    memcpy(&header, p, sizeof header);
    UNIT_CHECK(header.bytes >= sizeof header && header.bytes <= ink_heap_usable(p, "race_core"));
    UNIT_CHECK(known_bytes == 0 || known_bytes == header.bytes);
    body = header.bytes - sizeof header < BODY ? header.bytes - sizeof header : BODY;
    UNIT_CHECK(all_are((const unsigned char *)p + sizeof header, body, body_of(header.tag)));
    UNIT_CHECK(all_are((const unsigned char *)p + header.bytes - body, body, body_of(header.tag)));
    return header;
}

static size_t random_bytes(uint64_t *seed)
{
    uint32_t dice = unit_random(seed) % 1000;
    size_t most = dice < 700   ? 256
                  : dice < 930 ? 4096
                  : dice < 990 ? 50000
                  : dice < 997 ? 1200000
                               : 3000000;

    return sizeof(struct header) + unit_random(seed) % most;
}

static void *alloc_some(uint64_t *seed, uint32_t tag)
{
    size_t bytes = random_bytes(seed);
    size_t alignment = (size_t)16 << unit_random(seed) % 10;
    void *p;

    switch (unit_random(seed) % 8) {
    case 0:
        p = ink_heap_alloc_zeroed(bytes);
        UNIT_CHECK(p != NULL && unit_is_zero(p, bytes));
        return mark(p, bytes, tag);
    case 1:
        p = ink_heap_alloc_aligned(bytes, alignment);
        UNIT_CHECK((uintptr_t)p % alignment == 0);
        return mark(p, bytes, tag);
    default:
        return mark(ink_heap_alloc(bytes), bytes, tag);
    }
}

static void *resize(void *p, uint64_t *seed, uint32_t tag)
{
    size_t old = look(p, 0).bytes, bytes = random_bytes(seed);
    unsigned char body = body_of(look(p, 0).tag);
    size_t kept = (old < bytes ? old : bytes) - sizeof(struct header);

    p = ink_heap_realloc(p, bytes);
    UNIT_CHECK(p != NULL);
    UNIT_CHECK(
        all_are((unsigned char *)p + sizeof(struct header), kept < BODY ? kept : BODY, body));
    return mark(p, bytes, tag);
}

static void drop(void *p)
{
    (void)look(p, 0);
    ink_heap_free(p, "free");
}

/* ---- what threads do ---- */

struct worker {
    uint64_t seed;
    struct unit_timer timer;
    uint32_t tag;
    unsigned long steps; /* at most; 0: as many as there is time for */
    /* A block is here only while it is whole: the child of a fork reads it. */
    _Atomic(void *) held[HELD];
};

static _Atomic(void *) mailboxes[MAILBOXES];

static bool over(const struct worker *worker, unsigned long done)
{
    bool end = (worker->steps != 0 && done >= worker->steps) ||
               (done % 64 == 0 && unit_timer_over(&worker->timer));

    if (end)
        unit_count_operations(done);
    return end;
}

/* Allocates, resizes or frees one of the thread's own blocks. */
static void churn_once(struct worker *worker)
{
    _Atomic(void *) *held = &worker->held[unit_random(&worker->seed) % HELD];
    void *p = ink_exchange_acq_rel(held, NULL);

    if (p == NULL)
        p = alloc_some(&worker->seed, worker->tag);
    else if (unit_random(&worker->seed) % 4 == 0)
        p = resize(p, &worker->seed, worker->tag);
    else {
        UNIT_CHECK(look(p, 0).tag == worker->tag);
        drop(p);
        return;
    }
    ink_store_release(held, p);
}

static void drop_all(struct worker *worker)
{
    for (int i = 0; i < HELD; i++) {
        void *p = ink_exchange_acq_rel(&worker->held[i], NULL);

        if (p != NULL)
            drop(p);
    }
}

static void churn(void *arg)
{
    struct worker *worker = arg;

    for (unsigned long done = 0; !over(worker, done); done++)
        churn_once(worker);
    drop_all(worker);
}

/* Puts a block into a mailbox, and frees or resizes what somebody else had put there. */
static void hand_over_once(struct worker *worker)
{
    void *p = unit_random(&worker->seed) % 8 != 0 ? alloc_some(&worker->seed, worker->tag) : NULL;

    p = ink_exchange_acq_rel(&mailboxes[unit_random(&worker->seed) % MAILBOXES], p);
    if (p != NULL && unit_random(&worker->seed) % 8 == 0)
        p = resize(p, &worker->seed, worker->tag);
    if (p != NULL)
        drop(p);
}

static void hand_over(void *arg)
{
    struct worker *worker = arg;

    for (unsigned long done = 0; !over(worker, done); done++)
        hand_over_once(worker);
}

/* Only takes from mailboxes and frees: its bins see no allocation. */
static void only_free(void *arg)
{
    struct worker *worker = arg;

    for (unsigned long done = 0; !over(worker, done); done++) {
        void *p = ink_exchange_acq_rel(&mailboxes[done % MAILBOXES], NULL);

        if (p != NULL)
            drop(p);
    }
}

static void trim_and_count(void *arg)
{
    struct worker *worker = arg;

    while (!unit_timer_over(&worker->timer)) {
        struct ink_stats stats = ink_stats_collect();

        UNIT_CHECK(stats.mapped % 65536 == 0);
        if (unit_random(&worker->seed) % 4 == 0)
            (void)ink_trim();
    }
}

static void by_role(void *arg)
{
    static void (*const roles[])(void *) = {churn, hand_over, only_free, trim_and_count};

    roles[((struct worker *)arg)->tag % 4](arg);
}

static struct worker workers[THREADS];

static void start(double share, unsigned long steps)
{
    memset(workers, 0, sizeof workers);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].seed = unit_nanoseconds() + i;
        workers[i].timer = unit_timer_start(share);
        workers[i].tag = i;
        workers[i].steps = steps;
    }
}

/* With all threads ended and everything freed, nothing is live, cached or mapped any more. */
static void assert_nothing_is_left(void)
{
    struct ink_stats stats;

    for (int i = 0; i < MAILBOXES; i++) {
        void *p = ink_exchange_acq_rel(&mailboxes[i], NULL);

        if (p != NULL)
            drop(p);
    }
    (void)ink_trim();
    stats = ink_stats_collect();
    assert_int_equal(stats.live_blocks, 0);
    assert_int_equal(stats.large_blocks, 0);
    assert_int_equal(stats.large, 0);
    assert_int_equal(stats.cached_blocks, 0);
    assert_int_equal(stats.mapped, 0);
}

/* Threads that keep to their own blocks do not disturb each other. */
static void churn_in_many_threads_conserves_blocks(void **state)
{
    (void)state;
    start(0.2, 0);
    unit_threads(THREADS, churn, workers, sizeof workers[0]);
    assert_nothing_is_left();
}

/* Blocks freed by others than those who allocated them come back all the same. */
static void hand_over_between_threads_conserves_blocks(void **state)
{
    (void)state;
    start(0.2, 0);
    unit_threads(THREADS, hand_over, workers, sizeof workers[0]);
    assert_nothing_is_left();
}

/* One allocates for others that free, while another one trims and counts. */
static void trim_and_count_beside_load_conserve_blocks(void **state)
{
    (void)state;
    start(0.2, 0);
    unit_threads(THREADS, by_role, workers, sizeof workers[0]);
    assert_nothing_is_left();
}

static void live_shortly(void *arg)
{
    struct worker *worker = arg;

    for (unsigned long done = 0; !over(worker, done); done++) {
        churn_once(worker);
        hand_over_once(worker);
    }
    drop_all(worker);
}

/* Threads that come and go leave nothing behind. */
static void threads_that_come_and_go_conserve_blocks(void **state)
{
    struct unit_timer timer = unit_timer_start(0.2);

    (void)state;
    do {
        start(0.2, 1 + unit_nanoseconds() % 300);
        unit_threads(THREADS, live_shortly, workers, sizeof workers[0]);
    } while (!unit_timer_over(&timer));
    assert_nothing_is_left();
}

/* ---- fork ---- */

enum {
    LOADERS = THREADS - 1,
    CHILD_SECONDS = 60,
    /* What a vanished thread may have had on its way between two places: a batch, and a block in
     * hand. */
    LOST = 63 + 2
};

static void use_child(void *arg)
{
    static struct worker own[2];
    struct ink_stats stats;

    (void)arg;
    alarm(CHILD_SECONDS);
    for (uint32_t i = 0; i < 2; i++)
        own[i] = (struct worker){.seed = unit_nanoseconds() + i,
                                 .timer = unit_timer_start(10),
                                 .tag = 100 + i,
                                 .steps = 400};
    own[0].steps = 200;
    churn(&own[0]);
    own[0].steps = 400;
    if (unit_child_may_start_threads())
        unit_threads(2, churn, own, sizeof own[0]);
    /* What the vanished threads had is whole, though the child has allocated and written all the
     * time, and can be freed. */
    for (int i = 0; i < LOADERS; i++)
        drop_all(&workers[i]);
    (void)ink_trim();
    stats = ink_stats_collect();
    UNIT_CHECK(stats.live_blocks <= (size_t)LOADERS * LOST);
    UNIT_CHECK(stats.large_blocks <= LOADERS);
    UNIT_CHECK(stats.cached_blocks == 0);
}

static void *churn_until_forks_are_over(void *arg)
{
    churn(arg);
    return NULL;
}

/* A fork at any moment gives a child that allocates, frees, starts threads and trims, and finds
 * every block once. */
static void fork_beside_load_gives_working_children(void **state)
{
    pthread_t threads[LOADERS];
    struct unit_timer timer;

    (void)state;
    start(0.4, 0);
    timer = workers[0].timer;
    for (int i = 0; i < LOADERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn_until_forks_are_over, &workers[i]),
                         0);
    do {
        struct unit_end end = unit_child(use_child, NULL);

        if (end.status != 0)
            fail_msg("a child ended with status %#x and said: %s", (unsigned)end.status, end.text);
    } while (!unit_timer_over(&timer));
    for (int i = 0; i < LOADERS; i++)
        pthread_join(threads[i], NULL);
    assert_nothing_is_left();
}

UNIT_MAIN(cmocka_unit_test(churn_in_many_threads_conserves_blocks),
          cmocka_unit_test(hand_over_between_threads_conserves_blocks),
          cmocka_unit_test(trim_and_count_beside_load_conserve_blocks),
          cmocka_unit_test(threads_that_come_and_go_conserve_blocks),
          cmocka_unit_test(fork_beside_load_gives_working_children))
