/* Large blocks: mappings of their own, their records, and who may free them.
 *
 * The source of the records stands in place of the library's object: tests pretend that there are a
 * great many blocks. */
#include "dirty.c"
#include "large_record.c"
#include "die.h"
#include "large.h"
#include "large_kept.h"
#include "unit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)

static const char *const no_fault = "none";

/* The fault of a free, in words also when there is none. */
static const char *fault_of_free(void *p)
{
    const char *fault = ink_large_free(p);

    return fault != NULL ? fault : no_fault;
}

static _Atomic bool zeroed; /* what the last allocation said */

/* A block or NULL.  What is said to be zero is. */
static void *alloc_any(size_t bytes, size_t alignment)
{
    bool says_zero = false;
    char *p = ink_large_alloc(bytes, alignment, &says_zero);

    if (p != NULL && says_zero)
        UNIT_CHECK(p[0] == 0 && p[ink_large_usable(p) - 1] == 0);
    ink_store_relaxed(&zeroed, says_zero);
    return p;
}

static char *alloc(size_t bytes)
{
    char *p = alloc_any(bytes, 16);

    assert_non_null(p);
    return p;
}

/* A block is zero, aligned to a page, writable to its last usable byte, and gone when freed. */
static void alloc_gives_zeroed_block_until_it_is_freed(void **state)
{
    static const size_t sizes[] = {MIB + 1, 2 * MIB, 3 * MIB - 1, 17 * MIB};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *p = alloc(sizes[i]);
        size_t usable = ink_large_usable(p);

        assert_int_equal((uintptr_t)p % ink_os_page_bytes(), 0);
        assert_in_range(usable, sizes[i], sizes[i] + ink_os_page_bytes() - 1);
        assert_true(unit_is_zero(p, usable));
        memset(p, 0x77, usable);
        assert_string_equal(fault_of_free(p), no_fault);
        assert_false(unit_is_mapped(p, 1));
        assert_int_equal(ink_large_usable(p), 0);
    }
}

/* Blocks of a few bytes are served too (they come with a large alignment), and blocks of none. */
static void alloc_of_few_bytes_gives_a_block(void **state)
{
    char *p = alloc_any(1, 2 * MIB), *q = alloc_any(0, 2 * MIB);

    (void)state;
    assert_true(p != NULL && q != NULL && p != q);
    assert_true(ink_large_usable(p) >= 1 && ink_large_usable(q) >= 1);
    p[0] = 1;
    assert_string_equal(fault_of_free(p), no_fault);
    assert_string_equal(fault_of_free(q), no_fault);
}

/* Alignments go up to 1 GiB. */
static void alloc_of_any_alignment_is_aligned(void **state)
{
    (void)state;
    for (size_t alignment = 16; alignment <= 1024 * MIB; alignment *= 2) {
        char *p = alloc_any(MIB + 5, alignment), *q = alloc_any(100, alignment);

        assert_true(p != NULL && q != NULL);
        assert_int_equal((uintptr_t)p % alignment, 0);
        assert_int_equal((uintptr_t)q % alignment, 0);
        p[MIB + 4] = q[99] = 1;
        assert_string_equal(fault_of_free(p), no_fault);
        assert_string_equal(fault_of_free(q), no_fault);
    }
}

/* What the system refuses is NULL, and is not counted. */
static void alloc_of_too_much_gives_null(void **state)
{
    struct ink_large_sum before = ink_large_sum();

    (void)state;
    for (int i = 0; i < 200; i++) {
        assert_null(alloc_any((size_t)PTRDIFF_MAX - 2 * MIB, 16));
        assert_null(alloc_any(MIB, (size_t)PTRDIFF_MAX / 2 + 1));
    }
    assert_int_equal(ink_large_sum().blocks, before.blocks);
    assert_int_equal(ink_large_sum().bytes, before.bytes);
}

/* More blocks than a block of records has, all at once: each has its own. */
static void alloc_of_many_blocks_keeps_them_apart(void **state)
{
    enum { MANY = 300 };
    char *p[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        p[i] = alloc(MIB + 1);
        memcpy(p[i] + MIB, &i, 1);
        memcpy(p[i], &i, sizeof i);
    }
    for (int i = 0; i < MANY; i++) {
        assert_memory_equal(p[i], &i, sizeof i);
        assert_true(ink_large_usable(p[i]) > MIB);
        assert_string_equal(fault_of_free(p[i]), no_fault);
    }
    assert_int_equal(ink_large_sum().blocks, 0);
}

static void fill(unsigned char *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        p[i] = (unsigned char)(i % 251);
}

static void assert_filled(const unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (p[i] != i % 251)
            fail_msg("byte %zu has changed", i);
}

/* Growing and shrinking keep what fits, wherever the block ends up; a place that was left is no
 * block any more. */
static void realloc_to_any_size_keeps_contents(void **state)
{
    static const size_t sizes[] = {5 * MIB, 12 * MIB, 2 * MIB + 1, 2 * MIB + 2,
                                   MIB + 1, 20 * MIB, MIB + 77};
    size_t bytes = MIB + 100;
    unsigned char *p = (unsigned char *)alloc(bytes);

    (void)state;
    fill(p, 0, bytes);
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        const char *fault = "not written";
        unsigned char *moved = ink_large_realloc(p, sizes[n], &fault);

        assert_non_null(moved);
        assert_null(fault);
        assert_in_range(ink_large_usable(moved), sizes[n], sizes[n] + ink_os_page_bytes() - 1);
        if (moved != p)
            assert_int_equal(ink_large_usable(p), 0);
        assert_filled(moved, bytes < sizes[n] ? bytes : sizes[n]);
        fill(moved, 0, sizes[n]);
        bytes = sizes[n];
        p = moved;
    }
    assert_string_equal(fault_of_free(p), no_fault);
}

/* A block that cannot grow where it is moves; growth into free space does not. */
static void realloc_of_hemmed_in_block_moves_it(void **state)
{
    const char *fault;
    char *p = alloc(4 * MIB), *shrunk, *wall, *moved;

    (void)state;
    memset(p, 0x31, 4 * MIB);
    shrunk = ink_large_realloc(p, 2 * MIB, &fault);
    assert_ptr_equal(shrunk, p);
    assert_false(unit_is_mapped(p + 2 * MIB, 1));
    wall = mmap(p + 2 * MIB, MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_equal(wall, p + 2 * MIB);
    moved = ink_large_realloc(p, 3 * MIB, &fault);
    assert_non_null(moved);
    assert_ptr_not_equal(moved, p);
    assert_int_equal(moved[0], 0x31);
    assert_int_equal(moved[2 * MIB - 1], 0x31);
    assert_true(unit_is_zero(moved + 2 * MIB, MIB));
    assert_false(unit_is_mapped(p, 1));
    /* The place that was left is a freed block's. */
    assert_string_not_equal(fault_of_free(p), no_fault);
    assert_string_equal(fault_of_free(moved), no_fault);
    munmap(wall, MIB);
}

/* What the system refuses leaves the block as it was. */
static void realloc_to_too_much_leaves_block_alone(void **state)
{
    struct ink_large_sum before;
    const char *fault = "not written";
    char *p = alloc(2 * MIB);

    (void)state;
    memset(p, 0x41, 2 * MIB);
    before = ink_large_sum();
    assert_null(ink_large_realloc(p, (size_t)PTRDIFF_MAX - 2 * MIB, &fault));
    assert_null(fault);
    assert_int_equal(ink_large_usable(p), 2 * MIB);
    assert_int_equal(p[2 * MIB - 1], 0x41);
    assert_int_equal(ink_large_sum().bytes, before.bytes);
    assert_string_equal(fault_of_free(p), no_fault);
}

/* Blocks and bytes are counted as they come, change and go; the peaks stay. */
static void sum_follows_every_change(void **state)
{
    struct ink_large_sum start = ink_large_sum(), sum;
    const char *fault;
    char *p = alloc(2 * MIB), *q = alloc(3 * MIB);

    (void)state;
    sum = ink_large_sum();
    assert_int_equal(sum.blocks, start.blocks + 2);
    assert_int_equal(sum.bytes, start.bytes + 5 * MIB);
    p = ink_large_realloc(p, 300 * MIB, &fault);
    assert_non_null(p);
    sum = ink_large_sum();
    assert_int_equal(sum.blocks, start.blocks + 2);
    assert_int_equal(sum.bytes, start.bytes + 303 * MIB);
    assert_true(sum.bytes_peak >= sum.bytes && sum.blocks_peak >= sum.blocks);
    p = ink_large_realloc(p, 2 * MIB, &fault);
    assert_int_equal(ink_large_sum().bytes, start.bytes + 5 * MIB);
    assert_int_equal(ink_large_sum().bytes_peak, sum.bytes_peak);
    assert_null(ink_large_free(p));
    assert_null(ink_large_free(q));
    sum = ink_large_sum();
    assert_int_equal(sum.blocks, start.blocks);
    assert_int_equal(sum.bytes, start.bytes);
    assert_true(sum.bytes_peak >= start.bytes + 303 * MIB);
}

/* A second free is called one. */
static void free_of_freed_block_is_double(void **state)
{
    const char *fault;
    char *p = alloc(2 * MIB);

    (void)state;
    assert_null(ink_large_free(p));
    assert_string_equal(fault_of_free(p), INK_FAULT_DOUBLE);
    assert_null(ink_large_realloc(p, 3 * MIB, &fault));
    assert_string_equal(fault, INK_FAULT_DOUBLE);
    assert_string_equal(ink_large_fault(p), INK_FAULT_DOUBLE);
}

/* A pointer into a block is told from the block, and the block survives it. */
static void free_of_interior_pointer_is_refused(void **state)
{
    const char *fault;
    char *p = alloc(2 * MIB);

    (void)state;
    assert_string_equal(fault_of_free(p + 16), INK_FAULT_INTERIOR);
    assert_string_equal(fault_of_free(p + ink_os_page_bytes()), INK_FAULT_INTERIOR);
    assert_int_equal(ink_large_usable(p + 16), 0);
    assert_null(ink_large_realloc(p + 4096, 5 * MIB, &fault));
    assert_string_equal(fault, INK_FAULT_INTERIOR);
    assert_string_equal(fault_of_free(p), no_fault);
}

/* Neither is a pointer with odd low bits the block: in them stands the state of the record. */
static void free_of_misaligned_pointer_is_refused(void **state)
{
    const char *fault;
    char *p = alloc(2 * MIB);

    (void)state;
    for (int i = 1; i < 16; i++) {
        assert_int_equal(ink_large_usable(p + i), 0);
        assert_string_equal(fault_of_free(p + i), INK_FAULT_MISALIGNED);
        assert_null(ink_large_realloc(p + i, 3 * MIB, &fault));
        assert_string_equal(fault, INK_FAULT_MISALIGNED);
    }
    assert_string_equal(fault_of_free(p), no_fault);
}

/* What was never ours is foreign. */
static void free_of_foreign_pointer_is_refused(void **state)
{
    static _Alignas(16) char mine[16];

    (void)state;
    assert_string_equal(fault_of_free(mine), INK_FAULT_FOREIGN);
    assert_string_equal(fault_of_free(NULL), INK_FAULT_FOREIGN);
    assert_string_equal(fault_of_free((void *)(uintptr_t)16), INK_FAULT_FOREIGN);
    assert_string_equal(fault_of_free((void *)(UINTPTR_MAX - 15)), INK_FAULT_FOREIGN);
    assert_int_equal(ink_large_usable(mine), 0);
}

/* ---- so many blocks that freed ones stay mapped ---- */

static int pretend_many(void **state)
{
    (void)state;
    ink_options.dirty_max = 0;
    ink_add_relaxed(&ink_large_live_blocks, INK_LARGE_UNMAP_BLOCKS);
    return 0;
}

static int pretend_no_more(void **state)
{
    (void)state;
    ink_sub_relaxed(&ink_large_live_blocks, INK_LARGE_UNMAP_BLOCKS);
    (void)ink_large_trim();
    return 0;
}

/* A freed block's mapping is kept, but not what was in it; the next block that fits is there, and
 * zero. */
static void free_among_very_many_keeps_the_mapping_for_the_next(void **state)
{
    struct ink_large_sum before = ink_large_sum();
    char *p = alloc(2 * MIB), *q;

    (void)state;
    memset(p, 0x61, 2 * MIB);
    assert_string_equal(fault_of_free(p), no_fault);
    assert_true(unit_is_mapped(p, 2 * MIB));
    assert_true(unit_is_zero(p, 2 * MIB));
    assert_int_equal(ink_large_usable(p), 0);
    assert_string_equal(fault_of_free(p), INK_FAULT_DOUBLE);
    assert_int_equal(ink_large_sum().bytes, before.bytes);

    q = alloc(2 * MIB - 5000);
    assert_ptr_equal(q, p);
    assert_true(unit_is_zero(q, 2 * MIB));
    assert_true(ink_large_usable(q) >= 2 * MIB - 5000);
    assert_int_equal(ink_large_sum().bytes - before.bytes, ink_large_usable(q));
    assert_int_equal(ink_large_sum().blocks - before.blocks, 1);
    assert_string_equal(fault_of_free(q), no_fault);
}

/* A kept mapping is zero, and as any other, whatever its last owner wrote and asked of the
 * kernel. */
static void alloc_of_kept_mapping_is_zero_and_can_be_written(void **state)
{
    char *p = alloc(2 * MIB), *q;

    (void)state;
    memset(p, 0x62, 2 * MIB);
    assert_int_equal(mprotect(p, MIB, PROT_NONE), 0);
    assert_int_equal(mprotect(p + MIB, MIB, PROT_READ), 0);
    assert_string_equal(fault_of_free(p), no_fault);
    q = alloc(2 * MIB);
    assert_ptr_equal(q, p);
    assert_true(unit_is_zero(q, 2 * MIB));
    memset(q, 0x62, 2 * MIB);
    assert_string_equal(fault_of_free(q), no_fault);
}

/* A kept mapping serves no block that it is too small for, more than half too large, or not aligned
 * for. */
static void alloc_takes_no_kept_mapping_that_does_not_fit(void **state)
{
    char *p = alloc(4 * MIB), *other[3];

    (void)state;
    assert_string_equal(fault_of_free(p), no_fault);
    other[0] = alloc(4 * MIB + 1);
    other[1] = alloc(2 * MIB + 500000);
    other[2] = alloc_any(4 * MIB, (size_t)2 << __builtin_ctzll((uintptr_t)p));
    for (int i = 0; i < 3; i++) {
        assert_non_null(other[i]);
        assert_ptr_not_equal(other[i], p);
    }
    assert_ptr_equal(alloc(3 * MIB), p);
    assert_string_equal(fault_of_free(p), no_fault);
    for (int i = 0; i < 3; i++)
        assert_string_equal(fault_of_free(other[i]), no_fault);
}

/* A trim gives kept mappings back to the system, all of them, and once. */
static void trim_unmaps_what_was_kept(void **state)
{
    enum { KEPT = 20 };
    char *p[KEPT], *live = alloc(2 * MIB);

    (void)state;
    for (int i = 0; i < KEPT; i++)
        p[i] = alloc(MIB + 65536);
    for (int i = 0; i < KEPT; i++)
        assert_string_equal(fault_of_free(p[i]), no_fault);
    assert_int_equal(ink_large_trim(), KEPT * (MIB + 65536));
    for (int i = 0; i < KEPT; i++)
        assert_false(unit_is_mapped(p[i], 1));
    assert_int_equal(ink_large_trim(), 0);
    live[2 * MIB - 1] = 1;
    assert_string_equal(fault_of_free(live), no_fault);
}

static void alloc_with_no_memory_left(void *arg)
{
    struct rlimit none = {0, 0};
    void *p;

    UNIT_CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    UNIT_CHECK(alloc_any(9 * MIB, 16) == NULL);
    p = alloc_any(MIB + 1, 16);
    UNIT_CHECK(p == arg && unit_is_zero(p, 8 * MIB));
    UNIT_CHECK(alloc_any(MIB + 1, 16) == NULL);
    UNIT_CHECK(ink_large_free(p) == NULL);
    UNIT_CHECK(alloc_any(8 * MIB, 16) == p);
}

/* Where the system has no more, a kept mapping of any size will do. */
static void alloc_without_memory_takes_any_kept_mapping(void **state)
{
    char *p = alloc(8 * MIB);

    (void)state;
    memset(p, 0x63, 8 * MIB);
    assert_string_equal(fault_of_free(p), no_fault);
    unit_assert_fine(alloc_with_no_memory_left, p);
}

/* Two threads that free the same block as nearly at once as can be, again and again. */
struct race {
    _Atomic(char *) p;      /* the block of this round */
    _Atomic unsigned round; /* raised when p is there */
    _Atomic unsigned ready, done, wins;
    struct unit_timer timer;
};

static struct race race;

static void wait_for(_Atomic unsigned *count, unsigned value)
{
    while (ink_load_acquire(count) < value)
        ink_os_yield();
}

static void free_when_ready(unsigned round)
{
    atomic_fetch_add_explicit(&race.ready, 1, memory_order_acq_rel);
    while (ink_load_acquire(&race.ready) < 2 * round)
        continue;
    if (ink_large_free(ink_load_relaxed(&race.p)) == NULL)
        ink_add_relaxed(&race.wins, 1);
    atomic_fetch_add_explicit(&race.done, 1, memory_order_acq_rel);
}

static void race_first(void *arg)
{
    unsigned round = 0;

    (void)arg;
    while (!unit_timer_over(&race.timer)) {
        ink_store_relaxed(&race.p, alloc_any(MIB + 1, 16));
        ink_store_release(&race.round, ++round);
        free_when_ready(round);
        wait_for(&race.done, 2 * round);
        UNIT_CHECK(ink_load_relaxed(&race.wins) == round);
    }
    ink_store_release(&race.round, UINT32_MAX);
}

static void race_second(void *arg)
{
    (void)arg;
    for (unsigned round = 1;; round++) {
        wait_for(&race.round, round);
        if (ink_load_acquire(&race.round) == UINT32_MAX)
            return;
        free_when_ready(round);
    }
}

static void race_either(void *arg)
{
    (*(int *)arg == 0 ? race_first : race_second)(arg);
}

/* Of two frees of one block at once, one succeeds. */
static void free_of_one_block_by_two_threads_succeeds_once(void **state)
{
    int which[2] = {0, 1};

    (void)state;
    race.timer = unit_timer_start(0.3);
    unit_threads(2, race_either, which, sizeof which[0]);
    assert_true(ink_load_relaxed(&race.wins) > 0);
}

enum { THREADS = 4, HELD = 8 };

struct worker {
    uint64_t seed;
    struct unit_timer timer;
    unsigned char tag;
};

static void check_ends(struct worker *worker, const unsigned char *p, size_t bytes)
{
    UNIT_CHECK(p[0] == worker->tag && p[bytes - 1] == worker->tag);
}

static void alloc_realloc_free(void *arg)
{
    struct worker *worker = arg;
    unsigned char *held[HELD] = {NULL};
    size_t bytes[HELD] = {0};
    const char *fault;

    while (!unit_timer_over(&worker->timer)) {
        unsigned i = unit_random(&worker->seed) % HELD;
        size_t size = MIB + unit_random(&worker->seed) % (3 * MIB);

        if (held[i] == NULL) {
            held[i] = alloc_any(size, 16);
            UNIT_CHECK(held[i] != NULL);
        } else if (unit_random(&worker->seed) % 2 != 0) {
            check_ends(worker, held[i], bytes[i]);
            held[i] = ink_large_realloc(held[i], size, &fault);
            UNIT_CHECK(held[i] != NULL && fault == NULL && held[i][0] == worker->tag);
        } else {
            check_ends(worker, held[i], bytes[i]);
            UNIT_CHECK(ink_large_free(held[i]) == NULL);
            held[i] = NULL;
            continue;
        }
        UNIT_CHECK(ink_large_usable(held[i]) >= size);
        held[i][0] = held[i][size - 1] = worker->tag;
        bytes[i] = size;
    }
    for (int i = 0; i < HELD; i++)
        if (held[i] != NULL)
            UNIT_CHECK(ink_large_free(held[i]) == NULL);
}

/* Threads that allocate, resize and free at once keep their own blocks, and the sums come out
 * even. */
static void alloc_realloc_free_by_many_threads_keep_blocks_apart(void **state)
{
    struct ink_large_sum before = ink_large_sum();
    struct worker workers[THREADS];

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        workers[i] = (struct worker){i, unit_timer_start(0.3), (unsigned char)(i + 1)};
    unit_threads(THREADS, alloc_realloc_free, workers, sizeof workers[0]);
    assert_int_equal(ink_large_sum().blocks, before.blocks);
    assert_int_equal(ink_large_sum().bytes, before.bytes);
}

/* So they do when mappings are kept and change hands. */
static void alloc_realloc_free_among_very_many_keep_blocks_apart(void **state)
{
    alloc_realloc_free_by_many_threads_keep_blocks_apart(state);
}

/* ---- freed blocks are kept as they are ---- */

static int keep_nothing(void **state)
{
    (void)state;
    ink_options.dirty_max = 0;
    return 0;
}

static int keep_some(void **state)
{
    (void)state;
    ink_options.dirty_max = 12 * MIB;
    ink_store_relaxed(&ink_dirty_regretted, 0);
    return 0;
}

static int keep_no_more(void **state)
{
    (void)ink_large_trim();
    assert_int_equal(ink_dirty_large(), 0);
    return keep_nothing(state);
}

/* A freed block stays for the next one that fits, pages and all; until then it is nobody's. */
static void free_keeps_the_block_for_the_next(void **state)
{
    char *p = alloc(2 * MIB), *q;

    (void)state;
    assert_true(zeroed);
    memset(p, 0x61, 2 * MIB);
    assert_string_equal(fault_of_free(p), no_fault);
    assert_true(unit_is_mapped(p, 2 * MIB));
    assert_int_equal(ink_dirty_large(), 2 * MIB);
    assert_int_equal(ink_large_usable(p), 0);
    assert_string_equal(fault_of_free(p), INK_FAULT_DOUBLE);
    q = alloc(2 * MIB - 5000);
    assert_ptr_equal(q, p);
    assert_false(zeroed);
    assert_int_equal(ink_dirty_large(), 0);
    assert_string_equal(fault_of_free(q), no_fault);
}

/* Not for one that it is too small for, or that would waste more than a quarter, or that is aligned
 * beyond it. */
static void alloc_takes_no_dirty_block_that_does_not_fit(void **state)
{
    char *p = alloc(4 * MIB), *other[3];

    (void)state;
    assert_string_equal(fault_of_free(p), no_fault);
    other[0] = alloc(4 * MIB + 1);
    other[1] = alloc(3 * MIB);
    other[2] = alloc_any(4 * MIB, (size_t)2 << __builtin_ctzll((uintptr_t)p));
    for (int i = 0; i < 3; i++) {
        assert_ptr_not_equal(other[i], p);
        assert_string_equal(fault_of_free(other[i]), no_fault);
    }
}

/* More than is allowed is not kept: neither one block, nor many together. */
static void free_keeps_no_more_than_is_allowed(void **state)
{
    enum { MANY = 30 };
    char *large = alloc(13 * MIB), *p[MANY];

    (void)state;
    assert_string_equal(fault_of_free(large), no_fault);
    assert_false(unit_is_mapped(large, 1));
    for (int i = 0; i < MANY; i++)
        p[i] = alloc(2 * MIB);
    for (int i = 0; i < MANY; i++) {
        assert_string_equal(fault_of_free(p[i]), no_fault);
        assert_true(ink_dirty_large() <= ink_dirty_allowed(2 * MIB));
    }
    assert_in_range(ink_dirty_large(), 2 * MIB, 28 * MIB);
}

/* What was kept for nothing makes room for what is freed now. */
static void free_evicts_what_was_kept_before(void **state)
{
    char *old = alloc(9 * MIB), *new = alloc(5 * MIB);

    (void)state;
    assert_string_equal(fault_of_free(old), no_fault);
    assert_int_equal(ink_dirty_large(), 9 * MIB);
    assert_string_equal(fault_of_free(new), no_fault);
    assert_int_equal(ink_dirty_large(), 5 * MIB);
    assert_false(unit_is_mapped(old, 1));
    assert_ptr_equal(alloc(5 * MIB), new);
    assert_string_equal(fault_of_free(new), no_fault);
}

static void write_all(void *p)
{
    memset(p, 0x64, 2 * MIB);
}

/* Whatever its last owner asked of the kernel, the next one can write to it, and so can its
 * child. */
static void alloc_of_protected_block_can_be_written(void **state)
{
    char *p = alloc(2 * MIB);

    (void)state;
    assert_int_equal(madvise(p, 2 * MIB, MADV_DONTFORK), 0);
    assert_int_equal(mprotect(p, MIB, PROT_NONE), 0);
    assert_int_equal(mprotect(p + MIB, MIB, PROT_READ), 0);
    assert_string_equal(fault_of_free(p), no_fault);
    assert_ptr_equal(alloc(2 * MIB), p);
    write_all(p);
    unit_assert_fine(write_all, p);
    assert_string_equal(fault_of_free(p), no_fault);
}

/* One that its owner has unmapped, in part or whole, serves nobody. */
static void alloc_of_block_with_a_hole_is_another(void **state)
{
    char *p = alloc(3 * MIB), *q;

    (void)state;
    assert_int_equal(munmap(p + MIB, 65536), 0);
    assert_string_equal(fault_of_free(p), no_fault);
    q = alloc(3 * MIB);
    memset(q, 1, 3 * MIB);
    assert_string_equal(fault_of_free(q), no_fault);
}

/* A trim gives all of it back. */
static void trim_unmaps_what_is_dirty(void **state)
{
    char *p = alloc(2 * MIB), *q = alloc(3 * MIB);

    (void)state;
    assert_string_equal(fault_of_free(p), no_fault);
    assert_string_equal(fault_of_free(q), no_fault);
    assert_int_equal(ink_large_trim(), 5 * MIB);
    assert_int_equal(ink_dirty_large(), 0);
    assert_false(unit_is_mapped(p, 1) || unit_is_mapped(q, 1));
    assert_int_equal(ink_large_trim(), 0);
}

/* A program that takes and frees more than may stay, over and over, is allowed more: up to a
 * quarter of what it had in use. */
static void alloc_of_what_was_given_back_lets_more_stay(void **state)
{
    char *live = alloc(64 * MIB);
    size_t before = ink_dirty_allowed(0);

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_string_equal(fault_of_free(alloc(20 * MIB)), no_fault);
    assert_in_range(ink_dirty_allowed(0) - before, 1 * MIB, 21 * MIB);
    assert_int_equal(ink_dirty_large(), 20 * MIB);
    assert_string_equal(fault_of_free(live), no_fault);
}

static void alloc_realloc_free_of_kept_blocks_keep_blocks_apart(void **state)
{
    alloc_realloc_free_by_many_threads_keep_blocks_apart(state);
}

#define KEEPING(f)    cmocka_unit_test_setup_teardown(f, keep_some, keep_no_more)
#define AMONG_MANY(f) cmocka_unit_test_setup_teardown(f, pretend_many, pretend_no_more)

#define GIVING_BACK(f) cmocka_unit_test_setup(f, keep_nothing)

UNIT_MAIN(GIVING_BACK(alloc_gives_zeroed_block_until_it_is_freed),
          GIVING_BACK(alloc_of_few_bytes_gives_a_block),
          GIVING_BACK(alloc_of_any_alignment_is_aligned), GIVING_BACK(alloc_of_too_much_gives_null),
          GIVING_BACK(alloc_of_many_blocks_keeps_them_apart),
          GIVING_BACK(realloc_to_any_size_keeps_contents),
          GIVING_BACK(realloc_of_hemmed_in_block_moves_it),
          GIVING_BACK(realloc_to_too_much_leaves_block_alone),
          GIVING_BACK(sum_follows_every_change), GIVING_BACK(free_of_freed_block_is_double),
          GIVING_BACK(free_of_interior_pointer_is_refused),
          GIVING_BACK(free_of_misaligned_pointer_is_refused),
          GIVING_BACK(free_of_foreign_pointer_is_refused),
          GIVING_BACK(free_of_one_block_by_two_threads_succeeds_once),
          GIVING_BACK(alloc_realloc_free_by_many_threads_keep_blocks_apart),
          AMONG_MANY(free_among_very_many_keeps_the_mapping_for_the_next),
          AMONG_MANY(alloc_of_kept_mapping_is_zero_and_can_be_written),
          AMONG_MANY(alloc_takes_no_kept_mapping_that_does_not_fit),
          AMONG_MANY(trim_unmaps_what_was_kept),
          AMONG_MANY(alloc_without_memory_takes_any_kept_mapping),
          AMONG_MANY(alloc_realloc_free_among_very_many_keep_blocks_apart),
          KEEPING(free_keeps_the_block_for_the_next),
          KEEPING(alloc_takes_no_dirty_block_that_does_not_fit),
          KEEPING(free_keeps_no_more_than_is_allowed), KEEPING(free_evicts_what_was_kept_before),
          KEEPING(alloc_of_protected_block_can_be_written),
          KEEPING(alloc_of_block_with_a_hole_is_another), KEEPING(trim_unmaps_what_is_dirty),
          KEEPING(alloc_of_what_was_given_back_lets_more_stay),
          KEEPING(alloc_realloc_free_of_kept_blocks_keep_blocks_apart))
