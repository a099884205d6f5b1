/* Generation locks: who may take a word over, who must wait, and that nobody waits for long. */
#include "lock.h"
#include "unit.h"

#include <stdlib.h>

static const struct ink_locker alice = {.owner = 1, .outermost = true};
static const struct ink_locker bob = {.owner = 2, .outermost = true};
static const struct ink_locker bob_inside = {.owner = 2, .outermost = false};
static const struct ink_locker nobody = {.owner = INK_LOCK_ANONYMOUS, .outermost = true};
static const struct ink_locker nobody_inside = {.owner = INK_LOCK_ANONYMOUS, .outermost = false};

/* A free lock is taken at once, a held one is not, a released one is free again. */
static void try_of_lock_succeeds_only_while_it_is_free(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, alice), INK_LOCK_TAKEN);
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_BUSY);
    assert_int_equal(ink_lock_try(&lock, nobody), INK_LOCK_BUSY);
    ink_lock_release(&lock, alice);
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
    ink_lock_release(&lock, bob);
    assert_int_equal(ink_lock_take(&lock, alice), INK_LOCK_TAKEN);
    ink_lock_release(&lock, alice);
}

/* Who does not hold the lock does not free it. */
static void release_by_somebody_else_changes_nothing(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, alice), INK_LOCK_TAKEN);
    ink_lock_release(&lock, bob);
    ink_lock_release(&lock, nobody);
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_BUSY);
    ink_lock_release(&lock, alice);
    ink_lock_release(&lock, alice);
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
}

/* An outermost operation that finds its own name there was left by a jump: it takes the word over,
 * to repair. */
static void try_of_own_lock_when_outermost_is_stale(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
    assert_false(ink_lock_is_beneath(&lock, bob));
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_STALE);
    assert_int_equal(ink_lock_take(&lock, bob), INK_LOCK_STALE);
    ink_lock_release(&lock, bob);
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
}

/* The word of threads without a name is never one's own. */
static void try_of_anonymous_lock_by_anonymous_is_busy(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, nobody), INK_LOCK_TAKEN);
    assert_int_equal(ink_lock_try(&lock, nobody), INK_LOCK_BUSY);
    assert_int_equal(ink_lock_try(&lock, nobody_inside), INK_LOCK_BUSY);
    assert_false(ink_lock_is_beneath(&lock, nobody_inside));
    ink_lock_release(&lock, nobody);
    assert_int_equal(ink_lock_try(&lock, nobody_inside), INK_LOCK_TAKEN);
}

/* Nanoseconds of the fastest of some takes that must all find the lock busy. */
static uint64_t fastest_busy_take(struct ink_lock *lock, struct ink_locker me)
{
    uint64_t fastest = UINT64_MAX;

    for (int i = 0; i < 20; i++) {
        uint64_t start = unit_nanoseconds(), spent;

        assert_int_equal(ink_lock_take(lock, me), INK_LOCK_BUSY);
        spent = unit_nanoseconds() - start;
        fastest = spent < fastest ? spent : fastest;
    }
    return fastest;
}

/* A lock that lies interrupted beneath cannot be given back while we wait: the answer comes at
 * once.  A full wait has 40 sleeps of 50 us. */
static void take_of_lock_beneath_is_busy_at_once(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
    assert_true(ink_lock_is_beneath(&lock, bob_inside));
    assert_int_equal(ink_lock_try(&lock, bob_inside), INK_LOCK_BUSY);
    assert_true(fastest_busy_take(&lock, bob_inside) < 1000000);
}

/* A lock that is never given back costs some milliseconds, not for ever. */
static void take_of_lock_never_released_gives_up(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, alice), INK_LOCK_TAKEN);
    assert_false(ink_lock_is_beneath(&lock, bob_inside));
    assert_in_range(fastest_busy_take(&lock, bob), 1000000, 1000000000);
    assert_in_range(fastest_busy_take(&lock, bob_inside), 1000000, 1000000000);
}

struct relay {
    struct ink_lock lock;
    _Atomic bool waiting;
    _Atomic bool got;
};

static void wait_for_lock(void *arg)
{
    struct relay *relay = arg;
    enum ink_lock_answer answer;

    UNIT_CHECK(ink_lock_try(&relay->lock, bob) == INK_LOCK_BUSY);
    ink_store_release(&relay->waiting, true);
    /* Each take waits a bounded time; on a busy machine the holder may need longer. */
    do
        answer = ink_lock_take(&relay->lock, bob);
    while (answer == INK_LOCK_BUSY);
    UNIT_CHECK(answer == INK_LOCK_TAKEN);
    ink_store_release(&relay->got, true);
    ink_lock_release(&relay->lock, bob);
}

static void hold_until_waited_for(void *arg)
{
    struct relay *relay = arg;

    while (!ink_load_acquire(&relay->waiting))
        continue;
    UNIT_CHECK(!ink_load_acquire(&relay->got));
    ink_lock_release(&relay->lock, alice);
}

static void wait_or_hold(void *arg)
{
    struct relay **relay = arg;

    if (relay[0] != NULL)
        wait_for_lock(relay[0]);
    else
        hold_until_waited_for(relay[-1]);
}

/* Who waits gets the lock when it is given back. */
static void take_of_held_lock_waits_for_its_release(void **state)
{
    struct relay relay = {0};
    struct relay *args[2] = {&relay, NULL};

    (void)state;
    assert_int_equal(ink_lock_try(&relay.lock, alice), INK_LOCK_TAKEN);
    unit_threads(2, wait_or_hold, args, sizeof args[0]);
    assert_true(ink_load_relaxed(&relay.got));
    assert_int_equal(ink_lock_try(&relay.lock, alice), INK_LOCK_TAKEN);
}

enum { COUNTERS = 3, ROUNDS = 20000 };

struct counted {
    struct ink_lock lock;
    unsigned count; /* plain: the lock alone orders it */
};

struct counter {
    struct counted *counted;
    struct ink_locker me;
};

static void count_under_lock(void *arg)
{
    struct counter *counter = arg;

    for (int i = 0; i < ROUNDS; i++) {
        while (ink_lock_take(&counter->counted->lock, counter->me) != INK_LOCK_TAKEN)
            continue;
        counter->counted->count++;
        ink_lock_release(&counter->counted->lock, counter->me);
    }
}

/* One thread at a time, and each sees what the one before it wrote. */
static void lock_of_many_threads_excludes(void **state)
{
    struct counted counted = {.count = 0};
    struct counter counters[COUNTERS];

    (void)state;
    for (unsigned i = 0; i < COUNTERS; i++)
        counters[i] = (struct counter){&counted, {.owner = i + 1, .outermost = true}};
    unit_threads(COUNTERS, count_under_lock, counters, sizeof counters[0]);
    assert_int_equal(counted.count, COUNTERS * ROUNDS);
}

static void check_lock_from_before_fork(void *arg)
{
    struct ink_lock *lock = arg;

    UNIT_CHECK(ink_lock_try(lock, bob_inside) == INK_LOCK_BUSY);
    UNIT_CHECK(ink_lock_take(lock, bob_inside) == INK_LOCK_BUSY);
    UNIT_CHECK(ink_lock_is_beneath(lock, bob_inside));
    UNIT_CHECK(ink_lock_try(lock, alice) == INK_LOCK_STALE);
    UNIT_CHECK(ink_lock_try(lock, bob) == INK_LOCK_BUSY);
    /* The old owner goes on in this child, in what it had locked, and comes to its end. */
    ink_lock_release(lock, bob_inside);
    UNIT_CHECK(ink_lock_try(lock, bob) == INK_LOCK_BUSY);
    ink_lock_release(lock, alice);
    UNIT_CHECK(ink_lock_try(lock, bob) == INK_LOCK_TAKEN);
}

/* In a child, what was held before the fork is anybody's, but for the thread that lies interrupted
 * in it. */
static void try_in_child_of_lock_from_before_fork_is_stale(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
    unit_assert_fine(check_lock_from_before_fork, &lock);
    assert_int_equal(ink_lock_try(&lock, alice), INK_LOCK_BUSY);
}

static void check_own_lock_from_before_fork(void *arg)
{
    UNIT_CHECK(ink_lock_try(arg, bob) == INK_LOCK_STALE);
    ink_lock_release(arg, bob);
    UNIT_CHECK(ink_lock_try(arg, alice) == INK_LOCK_TAKEN);
}

/* So it is for the thread that held it itself, once nothing lies beneath. */
static void try_in_child_of_own_lock_when_outermost_is_stale(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
    unit_assert_fine(check_own_lock_from_before_fork, &lock);
}

static void release_lock_from_before_fork(void *arg)
{
    UNIT_CHECK(ink_lock_try(arg, bob_inside) == INK_LOCK_BUSY);
    ink_lock_release(arg, bob_inside);
    UNIT_CHECK(ink_lock_try(arg, alice) == INK_LOCK_TAKEN);
}

/* A handler that forks inside an operation returns into it in the child: that gives back what it
 * has, of whatever generation. */
static void release_in_child_of_lock_from_before_fork_frees_it(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
    unit_assert_fine(release_lock_from_before_fork, &lock);
}

static void check_lock_of_anonymous_from_before_fork(void *arg)
{
    UNIT_CHECK(ink_lock_try(arg, nobody_inside) == INK_LOCK_STALE);
}

/* A thread without a name that held a lock at a fork is gone like any other. */
static void try_in_child_of_anonymous_lock_is_stale(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, nobody), INK_LOCK_TAKEN);
    unit_assert_fine(check_lock_of_anonymous_from_before_fork, &lock);
}

static void check_lock_of_suspended_owner(void *arg)
{
    ink_lock_owner_is_suspended(bob.owner);
    UNIT_CHECK(ink_lock_try(arg, alice) == INK_LOCK_BUSY);
    UNIT_CHECK(ink_lock_take(arg, alice) == INK_LOCK_BUSY);
    ink_lock_owner_is_back();
    UNIT_CHECK(ink_lock_try(arg, alice) == INK_LOCK_STALE);
}

/* A handler that forks inside an operation: the child's other threads leave alone what that
 * operation holds, until it is through. */
static void try_in_child_of_lock_of_suspended_owner_is_busy(void **state)
{
    struct ink_lock lock = {0};

    (void)state;
    assert_int_equal(ink_lock_try(&lock, bob), INK_LOCK_TAKEN);
    unit_assert_fine(check_lock_of_suspended_owner, &lock);
}

UNIT_MAIN(cmocka_unit_test(try_of_lock_succeeds_only_while_it_is_free),
          cmocka_unit_test(release_by_somebody_else_changes_nothing),
          cmocka_unit_test(try_of_own_lock_when_outermost_is_stale),
          cmocka_unit_test(try_of_anonymous_lock_by_anonymous_is_busy),
          cmocka_unit_test(take_of_lock_beneath_is_busy_at_once),
          cmocka_unit_test(take_of_lock_never_released_gives_up),
          cmocka_unit_test(take_of_held_lock_waits_for_its_release),
          cmocka_unit_test(lock_of_many_threads_excludes),
          cmocka_unit_test(try_in_child_of_lock_from_before_fork_is_stale),
          cmocka_unit_test(try_in_child_of_own_lock_when_outermost_is_stale),
          cmocka_unit_test(release_in_child_of_lock_from_before_fork_frees_it),
          cmocka_unit_test(try_in_child_of_anonymous_lock_is_stale),
          cmocka_unit_test(try_in_child_of_lock_of_suspended_owner_is_busy))
