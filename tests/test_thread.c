/* Thread records: whose they are, when they change hands, and the constant caches. */
#include "thread.h"
#include "unit.h"

#include <stdlib.h>

static struct ink_thread *acquire(uintptr_t self, uint32_t generation)
{
    bool orphans;
    struct ink_thread *thread = ink_thread_acquire(self, generation, &orphans);

    assert_non_null(thread);
    return thread;
}

static unsigned records(void)
{
    unsigned count = 0;

    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        count++;
    return count;
}

/* A new record is live, of this thread and generation, on the list, and its cache is empty. */
static void acquire_of_new_thread_gives_live_record_with_empty_cache(void **state)
{
    struct ink_thread *thread = acquire(100, 1), *at = ink_thread_first();

    (void)state;
    assert_int_equal(ink_load_relaxed(&thread->state), INK_THREAD_LIVE);
    assert_int_equal(ink_load_relaxed(&thread->self), 100);
    assert_int_equal(ink_load_relaxed(&thread->generation), 1);
    assert_in_range(thread->number, 1, INK_LOCK_ANONYMOUS - 1);
    while (at != NULL && at != thread)
        at = at->next;
    assert_ptr_equal(at, thread);
    for (unsigned class = 0; class < INK_CLASS_SLOTS; class ++)
        assert_ptr_equal(ink_load_relaxed(&thread->c1.cursor[class]), INK_NO_CURSOR);
    ink_thread_release(thread);
}

/* A thread whose TLS was overwritten finds its record again. */
static void acquire_again_gives_the_same_record(void **state)
{
    struct ink_thread *thread = acquire(101, 1), *other = acquire(102, 1);

    (void)state;
    assert_ptr_not_equal(thread, other);
    assert_ptr_equal(acquire(101, 1), thread);
    assert_ptr_equal(acquire(102, 1), other);
    ink_thread_release(thread);
    ink_thread_release(other);
}

/* A record that was given up serves the next thread; no two live ones have one number. */
static void acquire_after_release_uses_records_again(void **state)
{
    struct ink_thread *threads[20];
    unsigned count;

    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        threads[i] = acquire(200 + i, 1);
    count = records();
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(threads[i]->number, threads[j]->number);
    for (int i = 0; i < 20; i++) {
        ink_thread_release(threads[i]);
        assert_int_equal(ink_load_relaxed(&threads[i]->state), INK_THREAD_FREE);
    }
    for (uint32_t i = 0; i < 20; i++)
        threads[i] = acquire(300 + i, 1);
    assert_int_equal(records(), count);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(ink_load_relaxed(&threads[i]->self), 300 + i);
        ink_thread_release(threads[i]);
    }
}

/* The record of an older generation with the same control block is another thread's: it is told of
 * and left alone. */
static void acquire_in_new_generation_tells_of_orphans(void **state)
{
    struct ink_thread *old = acquire(400, 1), *new;
    bool orphans = true;

    (void)state;
    new = ink_thread_acquire(401, 1, &orphans);
    assert_false(orphans);
    ink_thread_release(new);
    new = ink_thread_acquire(400, 2, &orphans);
    assert_true(orphans);
    assert_ptr_not_equal(new, old);
    assert_int_equal(ink_load_relaxed(&old->state), INK_THREAD_LIVE);
    assert_int_equal(ink_load_relaxed(&old->generation), 1);
    ink_thread_release(new);
    ink_thread_release(old);
    new = ink_thread_acquire(402, 2, &orphans);
    assert_false(orphans);
    ink_thread_release(new);
}

/* Two inner caches, each to one operation at a time, then none. */
static void take_inner_cache_gives_two_then_none(void **state)
{
    struct ink_thread *thread = acquire(500, 1);
    struct ink_cache *second, *third;

    (void)state;
    second = ink_thread_take_inner_cache(thread);
    third = ink_thread_take_inner_cache(thread);
    assert_true(second != NULL && third != NULL && second != third);
    assert_true(second != &thread->c1 && third != &thread->c1);
    assert_ptr_equal(second, ink_load_relaxed(&thread->c2));
    assert_ptr_equal(third, ink_load_relaxed(&thread->c3));
    assert_null(ink_thread_take_inner_cache(thread));
    for (unsigned class = 0; class < INK_CLASS_SLOTS; class ++) {
        assert_ptr_equal(ink_load_relaxed(&second->cursor[class]), INK_NO_CURSOR);
        assert_ptr_equal(ink_load_relaxed(&third->cursor[class]), INK_NO_CURSOR);
    }
    ink_store_release(&third->taken, false);
    assert_ptr_equal(ink_thread_take_inner_cache(thread), third);
    ink_store_release(&second->taken, false);
    ink_store_release(&third->taken, false);
    assert_ptr_equal(ink_thread_take_inner_cache(thread), second);
    ink_store_release(&second->taken, false);
    ink_thread_release(thread);
}

/* The constant caches look empty to whoever takes and full to whoever gives, in every class. */
static void constant_caches_are_empty_and_full_at_once(void **state)
{
    static const intptr_t constant[] = {INK_CACHE_EMPTY, INK_CACHE_BUSY, INK_CACHE_DEAD};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct ink_cache *cache =
            (const struct ink_cache *)((uintptr_t)ink_constants.empty + (uintptr_t)constant[i]);

        assert_int_equal(ink_cache_distance(cache), constant[i]);
        for (unsigned class = 0; class < INK_CLASS_SLOTS; class ++) {
            ink_slot_t *slot = ink_load_relaxed(&cache->cursor[class]);

            assert_ptr_equal(slot, INK_NO_CURSOR);
            assert_int_equal((uintptr_t)slot % INK_FRAME_BYTES, 0);
            assert_null(ink_load_relaxed(slot));
        }
    }
    assert_ptr_equal(ink_constants.busy, (const char *)ink_constants.empty + INK_CACHE_BUSY);
    assert_ptr_equal(ink_constants.dead, (const char *)ink_constants.empty + INK_CACHE_DEAD);
}

/* Before its first operation a thread's word is zero, as TLS is before its image is copied. */
static void tls_before_first_operation_is_empty(void **state)
{
    (void)state;
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), INK_CACHE_EMPTY);
    assert_int_equal(INK_CACHE_EMPTY, 0);
    assert_null(ink_tls_thread);
}

enum { THREADS = 4 };

struct worker {
    uintptr_t self;
    struct unit_timer timer;
    unsigned long rounds;
};

/* Whose record it is, by number, as far as the workers say. */
static _Atomic uintptr_t user[1024];

static void acquire_and_release(void *arg)
{
    struct worker *worker = arg;
    bool orphans;

    while (!unit_timer_over(&worker->timer)) {
        struct ink_thread *thread = ink_thread_acquire(worker->self, 1, &orphans);
        uintptr_t nobody = 0;

        UNIT_CHECK(thread != NULL && thread->number < 1024);
        UNIT_CHECK(ink_cas_acq_rel(&user[thread->number], &nobody, worker->self));
        UNIT_CHECK(ink_load_relaxed(&thread->self) == worker->self);
        UNIT_CHECK(ink_thread_acquire(worker->self, 1, &orphans) == thread);
        UNIT_CHECK(!orphans);
        ink_store_release(&user[thread->number], 0);
        ink_thread_release(thread);
        worker->rounds++;
    }
}

/* Threads that come and go at once never share a record, and need no more of them than there are
 * threads. */
static void acquire_by_many_threads_gives_each_its_own(void **state)
{
    struct worker workers[THREADS];
    unsigned before = records();

    (void)state;
    for (uint32_t i = 0; i < THREADS; i++)
        workers[i] = (struct worker){600 + i, unit_timer_start(0.2), 0};
    unit_threads(THREADS, acquire_and_release, workers, sizeof workers[0]);
    for (int i = 0; i < THREADS; i++)
        assert_true(workers[i].rounds > 0);
    assert_true(records() <= before + THREADS);
}

UNIT_MAIN(cmocka_unit_test(tls_before_first_operation_is_empty),
          cmocka_unit_test(acquire_of_new_thread_gives_live_record_with_empty_cache),
          cmocka_unit_test(acquire_again_gives_the_same_record),
          cmocka_unit_test(acquire_after_release_uses_records_again),
          cmocka_unit_test(acquire_in_new_generation_tells_of_orphans),
          cmocka_unit_test(take_inner_cache_gives_two_then_none),
          cmocka_unit_test(constant_caches_are_empty_and_full_at_once),
          cmocka_unit_test(acquire_by_many_threads_gives_each_its_own))
