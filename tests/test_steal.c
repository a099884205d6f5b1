/* Stealing from other threads' caches: idle ones lose what they have loaded, busy ones keep it, and
 * either goes on as before. */
#include "steal.h"
#include "cache_fast.h"
#include "heap.h"
#include "os.h"
#include "run.h"
#include "run_bytes.h"
#include "stats.h"
#include "trim.h"
#include "turn.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 500 };

/* A victim does one step at a time: the test says which, and waits until it is done. */
struct victim {
    pthread_t thread;
    pthread_barrier_t go, done;
    void (*step)(struct victim *);
    struct ink_thread *record;
    void *p[MANY];
    struct ink_turn turn;
};

static void *obey(void *arg)
{
    struct victim *victim = arg;

    for (;;) {
        pthread_barrier_wait(&victim->go);
        if (victim->step == NULL)
            return NULL;
        victim->step(victim);
        victim->record = ink_tls_thread;
        pthread_barrier_wait(&victim->done);
    }
}

static void tell(struct victim *victim, void (*step)(struct victim *))
{
    victim->step = step;
    pthread_barrier_wait(&victim->go);
    if (step != NULL)
        pthread_barrier_wait(&victim->done);
}

static void start(struct victim *victim)
{
    (void)ink_trim();
    pthread_barrier_init(&victim->go, NULL, 2);
    pthread_barrier_init(&victim->done, NULL, 2);
    assert_int_equal(pthread_create(&victim->thread, NULL, obey, victim), 0);
}

/* Nothing is live or lost when the victim has ended. */
static void finish(struct victim *victim)
{
    tell(victim, NULL);
    pthread_join(victim->thread, NULL);
    pthread_barrier_destroy(&victim->go);
    pthread_barrier_destroy(&victim->done);
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().live_blocks, 0);
    assert_int_equal(ink_stats_collect().cached_blocks, 0);
    assert_int_equal(ink_run_out_bytes(), 0);
}

static void take(struct victim *victim)
{
    for (int i = 0; i < MANY; i++) {
        victim->p[i] = ink_heap_alloc(64);
        UNIT_CHECK(victim->p[i] != NULL);
        memset(victim->p[i], 7, 64);
    }
}

static void give(struct victim *victim)
{
    for (int i = 0; i < MANY; i++)
        ink_heap_free(victim->p[i], "free");
}

static void take_and_give(struct victim *victim)
{
    take(victim);
    give(victim);
}

static void take_one(struct victim *victim)
{
    victim->p[0] = ink_heap_alloc(64);
    UNIT_CHECK(victim->p[0] != NULL);
}

static void give_one(struct victim *victim)
{
    ink_heap_free(victim->p[0], "free");
}

static void begin_operation(struct victim *victim)
{
    victim->turn = ink_turn_begin(ink_cache_take());
}

static void end_operation(struct victim *victim)
{
    ink_turn_end(&victim->turn);
}

static void steal(void)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());

    ink_steal_caches(turn.me);
    ink_turn_end(&turn);
}

static ink_slot_t *cursor(const struct victim *victim)
{
    return ink_load_relaxed(&victim->record->c1.cursor[ink_class_for(64)]);
}

static uintptr_t claim(const struct victim *victim)
{
    return ink_load_relaxed(&victim->record->c1.claim[ink_class_for(64)]);
}

/* Emulators have no barrier; then nothing is stolen, and nothing here can be tested. */
static void skip_without_barrier(void)
{
    if (!ink_os_barrier())
        skip();
}

static void idle_thread_loses_all_and_goes_on(void **state)
{
    static struct victim victim;

    (void)state;
    skip_without_barrier();
    start(&victim);
    for (int round = 0; round < 3; round++) {
        tell(&victim, take_and_give);
        assert_true(ink_stats_collect().cached_blocks >= 63);
        steal();
        assert_ptr_equal(cursor(&victim), INK_NO_CURSOR);
        assert_int_equal(claim(&victim), 0);
    }
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().cached_blocks, 0);
    assert_int_equal(ink_run_out_bytes(), 0);
    tell(&victim, take_one);
    steal();
    assert_int_equal(ink_stats_collect().live_blocks, 1);
    tell(&victim, give_one);
    tell(&victim, take_and_give);
    finish(&victim);
}

/* What it has allocated stays its own. */
static void blocks_in_use_are_not_touched(void **state)
{
    static struct victim victim;

    (void)state;
    skip_without_barrier();
    start(&victim);
    tell(&victim, take);
    steal();
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().live_blocks, MANY);
    for (int i = 0; i < MANY; i++)
        for (int b = 0; b < 64; b++)
            assert_int_equal(((unsigned char *)victim.p[i])[b], 7);
    tell(&victim, give);
    finish(&victim);
}

/* A thief does not even mark what belongs to a thread that is in an operation. */
static void busy_thread_keeps_what_it_has_loaded(void **state)
{
    static struct victim victim;
    ink_slot_t *before;

    (void)state;
    start(&victim);
    tell(&victim, take_and_give);
    before = cursor(&victim);
    tell(&victim, begin_operation);
    steal();
    assert_ptr_equal(cursor(&victim), before);
    assert_int_equal(claim(&victim), 0);
    tell(&victim, end_operation);
    finish(&victim);
}

/* As a thief leaves a bin whose owner became busy after the mark. */
static void mark(struct victim *victim)
{
    unsigned class = ink_class_for(64);
    ink_slot_t *slot = cursor(victim);

    assert_ptr_not_equal(slot, INK_NO_CURSOR);
    ink_store_relaxed(&victim->record->c1.claim[class], (uintptr_t)slot);
    ink_store_release(&victim->record->c1.cursor[class], INK_STOLEN_CURSOR);
}

/* The owner that meets a mark has its frame back, whatever it does first. */
static void owner_takes_a_marked_bin_back(void **state)
{
    static struct victim victim;
    static void (*const firsts[])(struct victim *) = {take_one, take, take_and_give};

    (void)state;
    start(&victim);
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        tell(&victim, take_and_give);
        mark(&victim);
        tell(&victim, firsts[i]);
        assert_int_equal(claim(&victim), 0);
        assert_ptr_not_equal(cursor(&victim), INK_STOLEN_CURSOR);
        if (firsts[i] == take_one)
            tell(&victim, give_one);
        if (firsts[i] == take)
            tell(&victim, give);
    }
    tell(&victim, take_one);
    mark(&victim);
    tell(&victim, give_one);
    assert_int_equal(claim(&victim), 0);
    finish(&victim);
}

/* Statistics count what is in a marked bin. */
static void marked_bin_is_counted(void **state)
{
    static struct victim victim;
    size_t cached;

    (void)state;
    start(&victim);
    tell(&victim, take_and_give);
    cached = ink_stats_collect().cached_blocks;
    mark(&victim);
    assert_int_equal(ink_stats_collect().cached_blocks, cached);
    assert_int_equal(ink_stats_collect().live_blocks, 0);
    finish(&victim);
}

/* A thief goes on where another one left off. */
static void pending_mark_is_resumed(void **state)
{
    static struct victim victim;

    (void)state;
    skip_without_barrier();
    start(&victim);
    tell(&victim, take_and_give);
    mark(&victim);
    steal();
    assert_ptr_equal(cursor(&victim), INK_NO_CURSOR);
    assert_int_equal(claim(&victim), 0);
    assert_int_equal(ink_stats_collect().live_blocks, 0);
    finish(&victim);
}

/* The owner has stored over the mark: the claim lapses, and the frame stays. */
static void claim_without_a_mark_lapses(void **state)
{
    static struct victim victim;
    ink_slot_t *slot;

    (void)state;
    skip_without_barrier();
    start(&victim);
    tell(&victim, take_and_give);
    slot = cursor(&victim);
    mark(&victim);
    ink_store_release(&victim.record->c1.cursor[ink_class_for(64)], slot);
    steal();
    assert_ptr_equal(cursor(&victim), slot);
    assert_int_equal(claim(&victim), 0);
    finish(&victim);
}

/* A thread that ends with a mark in its bins gives back what is in them. */
static void thread_with_a_mark_ends(void **state)
{
    static struct victim victim;

    (void)state;
    start(&victim);
    tell(&victim, take_and_give);
    mark(&victim);
    finish(&victim);
}

static void work_in_child(void *arg)
{
    struct victim *victim = arg;
    void *p = ink_heap_alloc(64);

    ink_heap_free(p, "free");
    (void)ink_trim();
    UNIT_CHECK(claim(victim) == 0);
    UNIT_CHECK(cursor(victim) == INK_NO_CURSOR);
    UNIT_CHECK(ink_stats_collect().live_blocks == 0);
    UNIT_CHECK(ink_run_out_bytes() == 0);
}

/* Forked with a mark set, the child gives back what the vanished victim had, and what no thief will
 * come for is the victim's. */
static void child_settles_marks(void **state)
{
    static struct victim victim;

    (void)state;
    start(&victim);
    tell(&victim, take_and_give);
    mark(&victim);
    unit_assert_fine(work_in_child, &victim);
    finish(&victim);
}

UNIT_MAIN(cmocka_unit_test(idle_thread_loses_all_and_goes_on),
          cmocka_unit_test(blocks_in_use_are_not_touched),
          cmocka_unit_test(busy_thread_keeps_what_it_has_loaded),
          cmocka_unit_test(owner_takes_a_marked_bin_back),
          cmocka_unit_test(marked_bin_is_counted), cmocka_unit_test(pending_mark_is_resumed),
          cmocka_unit_test(claim_without_a_mark_lapses), cmocka_unit_test(thread_with_a_mark_ends),
          cmocka_unit_test(child_settles_marks))
