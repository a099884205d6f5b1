/* Turns: which cache an operation may use when it interrupts another, after its thread has ended,
 * and after a fork. */
#include "turn.h"
#include "cache_fast.h"
#include "freelist.h"
#include "heap.h"
#include "stats.h"
#include "trim.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int begin(void **state)
{
    (void)state;
    ink_heap_free(ink_heap_alloc(64), "free");
    return 0;
}

static intptr_t mine(void)
{
    return ink_cache_distance(&ink_tls_thread->c1);
}

/* An operation that interrupts none uses the thread's own cache, and puts it back. */
static void begin_of_outermost_turn_gives_own_cache(void **state)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());

    (void)state;
    assert_ptr_equal(turn.thread, ink_tls_thread);
    assert_ptr_equal(turn.cache, &ink_tls_thread->c1);
    assert_true(turn.me.outermost);
    assert_int_equal(turn.me.owner, ink_tls_thread->number);
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), INK_CACHE_BUSY);
    ink_turn_end(&turn);
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), mine());
}

static void one_turn(void)
{
    struct ink_turn turn = ink_turn_begin(ink_cache_take());

    assert_ptr_equal(turn.cache, &ink_tls_thread->c1);
    assert_true(turn.me.outermost);
    ink_turn_end(&turn);
}

/* While every operation is to be a turn, none finds the cache where the fast paths look, and each
 * uses it all the same; inner ones leave as they came; afterwards it is as before. */
static void end_of_turn_while_all_must_be_turns_hides_the_cache(void **state)
{
    struct ink_turn outer, inner;

    (void)state;
    ink_store_relaxed(&ink_turn_always, 1);
    one_turn();
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), INK_CACHE_EMPTY);
    one_turn();
    ink_heap_free(ink_heap_alloc(64), "free");
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), INK_CACHE_EMPTY);
    outer = ink_turn_begin(ink_cache_take());
    inner = ink_turn_begin(ink_cache_take());
    ink_turn_end(&inner);
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), INK_CACHE_BUSY);
    ink_turn_end(&outer);
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), INK_CACHE_EMPTY);
    ink_store_relaxed(&ink_turn_always, 0);
    one_turn();
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), mine());
}

/* One inside another uses the second cache, the next the third, and all others none; each leaves as
 * it came. */
static void begin_of_inner_turns_gives_second_then_third_then_none(void **state)
{
    struct ink_turn turn[5];

    (void)state;
    for (int i = 0; i < 5; i++)
        turn[i] = ink_turn_begin(ink_cache_take());
    assert_ptr_equal(turn[1].cache, ink_load_relaxed(&ink_tls_thread->c2));
    assert_ptr_equal(turn[2].cache, ink_load_relaxed(&ink_tls_thread->c3));
    assert_non_null(turn[1].cache);
    assert_non_null(turn[2].cache);
    assert_null(turn[3].cache);
    assert_null(turn[4].cache);
    for (int i = 1; i < 5; i++) {
        assert_false(turn[i].me.outermost);
        assert_int_equal(turn[i].me.owner, ink_tls_thread->number);
        assert_ptr_equal(turn[i].thread, ink_tls_thread);
    }
    for (int i = 5; i-- > 1;) {
        ink_turn_end(&turn[i]);
        assert_int_equal(ink_load_relaxed(&ink_tls_cache), INK_CACHE_BUSY);
    }
    assert_false(ink_load_relaxed(&turn[1].cache->taken));
    assert_false(ink_load_relaxed(&turn[2].cache->taken));
    ink_turn_end(&turn[0]);
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), mine());
}

enum { LEVELS = 5, EACH = 200 };

static void fill(void **p, size_t size)
{
    for (int i = 0; i < EACH; i++) {
        p[i] = ink_heap_alloc(size);
        UNIT_CHECK(p[i] != NULL);
        memset(p[i], i + 1, size);
    }
}

static void check_and_free(void **p, size_t size)
{
    for (int i = 0; i < EACH; i++) {
        UNIT_CHECK(((unsigned char *)p[i])[0] == i + 1 &&
                   ((unsigned char *)p[i])[size - 1] == i + 1);
        ink_heap_free(p[i], "free");
    }
}

/* Allocating and freeing works at every depth: blocks are distinct, and freed at another depth than
 * they came from. */
static void alloc_and_free_at_every_depth_conserve_blocks(void **state)
{
    static const size_t sizes[] = {64, 5000, 100000};
    static void *p[LEVELS][EACH];
    size_t live = ink_stats_collect().live_blocks;

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct ink_turn turn[LEVELS];

        for (int i = 0; i < LEVELS; i++) {
            fill(p[i], sizes[s]);
            turn[i] = ink_turn_begin(ink_cache_take());
        }
        assert_int_equal(ink_stats_collect().live_blocks, live + LEVELS * EACH);
        check_and_free(p[0], sizes[s]);
        fill(p[0], sizes[s]);
        for (int i = LEVELS; i-- > 0;) {
            ink_turn_end(&turn[i]);
            check_and_free(p[LEVELS - 1 - i], sizes[s]);
        }
        assert_int_equal(ink_stats_collect().live_blocks, live);
    }
    (void)ink_trim();
    assert_int_equal(ink_stats_collect().live_blocks, live);
}

/* An operation that was left by a jump costs speed, not blocks: the thread goes on without its own
 * cache. */
static void alloc_after_jump_out_of_a_turn_still_works(void **state)
{
    static void *p[EACH];
    size_t live = ink_stats_collect().live_blocks;
    intptr_t taken = ink_cache_take();

    (void)state;
    fill(p, 64);
    assert_int_equal(ink_load_relaxed(&ink_tls_cache), INK_CACHE_BUSY);
    check_and_free(p, 64);
    fill(p, 48);
    check_and_free(p, 48);
    assert_int_equal(ink_stats_collect().live_blocks, live);
    ink_cache_put_back(taken);
}

/* Whether each batch and item of the thread is on lists or in runs; its record is free. */
static void assert_empty(struct ink_thread *thread)
{
    struct ink_cache *caches[] = {&thread->c1, ink_load_relaxed(&thread->c2),
                                  ink_load_relaxed(&thread->c3)};

    assert_int_equal(ink_load_relaxed(&thread->state), INK_THREAD_FREE);
    for (int i = 0; i < 3; i++)
        for (unsigned class = 1; caches[i] != NULL && class < INK_CLASS_COUNT; class ++) {
            assert_ptr_equal(ink_load_relaxed(&caches[i]->cursor[class]), INK_NO_CURSOR);
            assert_null(ink_load_relaxed(&caches[i]->bin[class].spare));
            assert_int_equal(ink_load_relaxed(&caches[i]->empties), 0);
            assert_false(ink_load_relaxed(&caches[i]->taken));
        }
}

static void use_caches(void *arg)
{
    struct ink_thread **record = arg;
    static __thread void *p[EACH];
    struct ink_turn outer, inner;

    UNIT_CHECK(ink_load_relaxed(&ink_tls_cache) == INK_CACHE_EMPTY);
    fill(p, 64);
    *record = ink_tls_thread;
    check_and_free(p, 64);
    outer = ink_turn_begin(ink_cache_take());
    fill(p, 64);
    inner = ink_turn_begin(ink_cache_take());
    check_and_free(p, 64);
    ink_turn_end(&inner);
    ink_turn_end(&outer);
}

/* When a thread ends, its caches are empty and its record is anybody's; the next thread takes
 * it. */
static void end_of_thread_empties_its_caches(void **state)
{
    struct ink_thread *first = NULL, *second = NULL;
    size_t live = ink_stats_collect().live_blocks;

    (void)state;
    unit_threads(1, use_caches, &first, sizeof first);
    assert_empty(first);
    unit_threads(1, use_caches, &second, sizeof second);
    assert_ptr_equal(second, first);
    assert_empty(second);
    assert_int_equal(ink_stats_collect().live_blocks, live);
}

static pthread_key_t late_key;
static int late_rounds;

/* Runs again and again among the destructors, before and after the allocator's own. */
static void alloc_and_free_late(void *arg)
{
    static void *p[EACH];

    fill(p, 64);
    check_and_free(p, 64);
    fill(p, 100000);
    check_and_free(p, 100000);
    if (++late_rounds < 3)
        UNIT_CHECK(pthread_setspecific(late_key, arg) == 0);
    else
        UNIT_CHECK(ink_load_relaxed(&ink_tls_cache) == INK_CACHE_DEAD && ink_tls_thread == NULL);
}

static void set_late_key(void *arg)
{
    struct ink_thread **record = arg;

    UNIT_CHECK(pthread_setspecific(late_key, arg) == 0);
    use_caches(record);
}

/* Destructors that run after the allocator's allocate and free as a dead thread's: that works, and
 * leaves no cache behind. */
static void alloc_after_end_of_thread_works_without_cache(void **state)
{
    struct ink_thread *thread = NULL;
    size_t live = ink_stats_collect().live_blocks;

    (void)state;
    late_rounds = 0;
    assert_int_equal(pthread_key_create(&late_key, alloc_and_free_late), 0);
    unit_threads(1, set_late_key, &thread, sizeof thread);
    pthread_key_delete(late_key);
    assert_int_equal(late_rounds, 3);
    assert_empty(thread);
    assert_int_equal(ink_stats_collect().live_blocks, live);
}

static void lose_tls(void *arg)
{
    struct ink_thread *before;
    void *p = ink_heap_alloc(64);

    (void)arg;
    before = ink_tls_thread;
    ink_store_relaxed(&ink_tls_cache, INK_CACHE_EMPTY);
    ink_tls_thread = NULL;
    ink_heap_free(p, "free");
    /* That was a free into a bin that it had: no state need have been made. */
    p = ink_heap_alloc(100000);
    UNIT_CHECK(ink_tls_thread == before);
    ink_heap_free(p, "free");
    UNIT_CHECK(ink_load_relaxed(&ink_tls_cache) == mine());
}

/* A thread whose TLS image was copied over its words finds its record again. */
static void begin_after_tls_was_overwritten_finds_the_record(void **state)
{
    int unused[1];

    (void)state;
    unit_threads(1, lose_tls, unused, sizeof unused[0]);
}

/* ---- fork ---- */

static void use_in_child(void *arg)
{
    struct ink_thread *thread = ink_tls_thread;
    uint32_t *parent = arg;
    void *p[EACH];

    fill(p, 64);
    UNIT_CHECK(ink_tls_thread == thread);
    p[0] = ink_heap_realloc(p[0], 100000);
    UNIT_CHECK(ink_load_relaxed(&thread->generation) == ink_os_generation());
    UNIT_CHECK(ink_load_relaxed(&thread->generation) != parent[0]);
    UNIT_CHECK(ink_load_relaxed(&thread->self) == ink_os_self());
    UNIT_CHECK(ink_load_relaxed(&ink_tls_cache) == mine());
}

/* In the child, the thread that forked keeps its record and its cache, under its new name. */
static void begin_in_child_renews_the_record(void **state)
{
    uint32_t parent[1] = {ink_os_generation()};

    (void)state;
    unit_assert_fine(use_in_child, parent);
    assert_int_equal(ink_load_relaxed(&ink_tls_thread->generation), ink_os_generation());
}

static void use_in_child_without_record(void *arg)
{
    (void)arg;
    UNIT_CHECK(ink_tls_thread == NULL);
    ink_heap_free(ink_heap_alloc(64), "free");
    UNIT_CHECK(ink_tls_thread != NULL &&
               ink_load_relaxed(&ink_tls_thread->generation) == ink_os_generation());
}

static void fork_in_thread(void *arg)
{
    struct unit_end end = unit_child(use_in_child_without_record, NULL);

    (void)arg;
    UNIT_CHECK(end.status == 0);
}

/* A thread that forks before it ever allocated gets its record in the child. */
static void begin_in_child_of_thread_without_record_makes_one(void **state)
{
    int unused[1];

    (void)state;
    unit_threads(1, fork_in_thread, unused, sizeof unused[0]);
}

struct cacher {
    pthread_barrier_t filled, done;
};

/* Fills its cache, and keeps it until the fork is over. */
static void *keep_cached(void *arg)
{
    struct cacher *cacher = arg;
    static __thread void *p[EACH];

    fill(p, 64);
    check_and_free(p, 64);
    pthread_barrier_wait(&cacher->filled);
    pthread_barrier_wait(&cacher->done);
    return NULL;
}

/* Runs body in a child of a process in which two threads have cached something. */
static void assert_fine_beside_cachers(void (*body)(void *))
{
    struct cacher cacher;
    struct unit_end end;
    pthread_t threads[2];

    pthread_barrier_init(&cacher.filled, NULL, 3);
    pthread_barrier_init(&cacher.done, NULL, 3);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_cached, &cacher), 0);
    pthread_barrier_wait(&cacher.filled);
    end = unit_child(body, NULL);
    pthread_barrier_wait(&cacher.done);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&cacher.filled);
    pthread_barrier_destroy(&cacher.done);
    unit_assert_ended_fine(&end);
}

static void adopt_in_child(void *arg)
{
    struct ink_stats before = ink_stats_collect(), after;
    unsigned others = 0;

    (void)arg;
    UNIT_CHECK(before.cached_blocks >= 2 * EACH);
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        others += thread != ink_tls_thread && ink_load_relaxed(&thread->state) == INK_THREAD_LIVE;
    UNIT_CHECK(others == 2);

    /* Not served from a bin: the first slow operation notices the fork. */
    ink_heap_free(ink_heap_alloc(100000), "free");

    after = ink_stats_collect();
    UNIT_CHECK(after.live_blocks == before.live_blocks);
    UNIT_CHECK(after.cached_blocks < before.cached_blocks);
    UNIT_CHECK(after.free_blocks - before.free_blocks ==
               before.cached_blocks - after.cached_blocks);
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next) {
        UNIT_CHECK(thread == ink_tls_thread || ink_load_relaxed(&thread->state) == INK_THREAD_FREE);
        for (unsigned class = 1; thread != ink_tls_thread && class < INK_CLASS_COUNT; class ++)
            UNIT_CHECK(ink_load_relaxed(&thread->c1.cursor[class]) == INK_NO_CURSOR);
    }
    (void)ink_trim();
    UNIT_CHECK(ink_stats_collect().live_blocks == before.live_blocks);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        UNIT_CHECK(ink_freelist_depth(class) == 0);
}

/* What vanished threads had cached is the child's: it goes to the lists and runs, and all of it can
 * be given back. */
static void begin_in_child_adopts_what_vanished_threads_cached(void **state)
{
    (void)state;
    assert_fine_beside_cachers(adopt_in_child);
}

static void start_threads_first(void *arg)
{
    struct ink_thread *record[2];
    unsigned orphans = 0;

    (void)arg;
    /* Threads of the child work before its first one has noticed the fork: they adopt nothing. */
    unit_threads(2, use_caches, record, sizeof record[0]);
    for (struct ink_thread *thread = ink_thread_first(); thread != NULL; thread = thread->next)
        orphans += ink_load_relaxed(&thread->state) == INK_THREAD_LIVE;
    UNIT_CHECK(orphans == 3);
    ink_heap_free(ink_heap_alloc(100000), "free");
    UNIT_CHECK(ink_load_relaxed(&ink_tls_thread->state) == INK_THREAD_LIVE);
    (void)ink_trim();
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        UNIT_CHECK(ink_freelist_depth(class) == 0);
}

struct sibling {
    pthread_barrier_t cached, adopted;
};

/* A thread of the child, with something in its cache while the first one adopts. */
static void *stay_cached(void *arg)
{
    struct sibling *sibling = arg;
    void *p = ink_heap_alloc(80);
    struct ink_thread *mine;

    mine = ink_tls_thread;
    ink_heap_free(p, "free");
    pthread_barrier_wait(&sibling->cached);
    pthread_barrier_wait(&sibling->adopted);
    UNIT_CHECK(ink_load_relaxed(&mine->state) == INK_THREAD_LIVE);
    UNIT_CHECK(ink_load_relaxed(&mine->c1.cursor[ink_class_for(80)]) != INK_NO_CURSOR);
    UNIT_CHECK(ink_heap_alloc(80) == p);
    ink_heap_free(p, "free");
    return NULL;
}

static void adopt_beside_live_sibling(void *arg)
{
    struct sibling sibling;
    pthread_t thread;

    (void)arg;
    pthread_barrier_init(&sibling.cached, NULL, 2);
    pthread_barrier_init(&sibling.adopted, NULL, 2);
    UNIT_CHECK(pthread_create(&thread, NULL, stay_cached, &sibling) == 0);
    pthread_barrier_wait(&sibling.cached);
    ink_heap_free(ink_heap_alloc(100000), "free");
    UNIT_CHECK(ink_load_relaxed(&ink_tls_thread->generation) == ink_os_generation());
    pthread_barrier_wait(&sibling.adopted);
    UNIT_CHECK(pthread_join(thread, NULL) == 0);
}

/* What a living thread of the child has cached is not taken from it. */
static void begin_in_child_leaves_its_own_threads_alone(void **state)
{
    (void)state;
    if (!unit_child_may_start_threads())
        skip();
    assert_fine_beside_cachers(adopt_beside_live_sibling);
}

/* A child that starts threads before it allocates itself: its first thread's record is not taken
 * for an orphan. */
static void begin_in_threads_of_child_adopts_nothing(void **state)
{
    (void)state;
    if (!unit_child_may_start_threads())
        skip();
    assert_fine_beside_cachers(start_threads_first);
}

#define TEST(f) cmocka_unit_test_setup(f, begin)

UNIT_MAIN(TEST(begin_of_outermost_turn_gives_own_cache),
          TEST(end_of_turn_while_all_must_be_turns_hides_the_cache),
          TEST(begin_of_inner_turns_gives_second_then_third_then_none),
          TEST(alloc_and_free_at_every_depth_conserve_blocks),
          TEST(alloc_after_jump_out_of_a_turn_still_works), TEST(end_of_thread_empties_its_caches),
          TEST(alloc_after_end_of_thread_works_without_cache),
          TEST(begin_after_tls_was_overwritten_finds_the_record),
          TEST(begin_in_child_renews_the_record),
          TEST(begin_in_child_of_thread_without_record_makes_one),
          TEST(begin_in_child_adopts_what_vanished_threads_cached),
          TEST(begin_in_child_leaves_its_own_threads_alone),
          TEST(begin_in_threads_of_child_adopts_nothing))
