/* The window of class bytes and the map of owner words.  Addresses are only numbers here: nothing
 * is touched. */
#include "map.h"
#include "unit.h"

#include <stdlib.h>

/* Where the window is put: in the middle of what the address space has. */
#define PLACE  ((uintptr_t)(UINTPTR_MAX > 0xffffffffu ? 0x7f1234560000u : 0x80000000u))
#define HALF   ((uintptr_t)INK_WINDOW_UNITS / 2)
#define UNIT   ((uintptr_t)INK_UNIT_BYTES)
/* The lowest unit of the window, and the one behind its highest. */
#define LOWEST (PLACE - HALF * UNIT)
#define BEHIND (PLACE + HALF * UNIT)

static void *at(uintptr_t address)
{
    return (void *)address;
}

static size_t class_at(uintptr_t address)
{
    return ink_window_class(at(address));
}

/* Pointers that no window holds. */
static const uintptr_t far[] = {0,
                                16,
                                4096,
                                65536,
                                UINTPTR_MAX,
                                UINTPTR_MAX - 15,
                                UINTPTR_MAX - 65535,
                                UINTPTR_MAX / 2 + 1,
                                UINTPTR_MAX / 2 & ~(uintptr_t)15,
                                (uintptr_t)0xdeadbeefdeadbee0u,
                                (uintptr_t)0x1000000000000u,
                                (uintptr_t)0x800000000000u};

static bool in_window(uintptr_t address)
{
    return address >= LOWEST && (BEHIND < LOWEST || address < BEHIND);
}

/* Before there is a window every pointer is of class 0. */
static void class_without_window_is_0(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        assert_int_equal(class_at(far[i]), 0);
    assert_int_equal(class_at(PLACE), 0);
    /* Nor does setting a byte then reach anything. */
    ink_window_set_class(at(PLACE), 1, 9);
    assert_int_equal(class_at(PLACE), 0);
    ink_window_set_class(at(PLACE), 1, 0);
}

/* The first chunk decides where the window is; later ones do not move it. */
static void place_of_second_chunk_does_not_move_window(void **state)
{
    uintptr_t top;

    (void)state;
    ink_window_place(at(PLACE + 8 * UNIT / 16));
    top = ink_load_relaxed(&ink_window.top);
    ink_window_place(at(PLACE + 1000 * UNIT));
    assert_true(ink_load_relaxed(&ink_window.top) == top);
}

/* All aligned pointers into a unit have its class, from its first byte to its last; the units
 * beside it do not. */
static void class_of_unit_holds_for_its_aligned_pointers_only(void **state)
{
    uintptr_t unit = PLACE + 5 * UNIT;

    (void)state;
    ink_window_set_class(at(unit), 1, 17);
    for (uintptr_t p = unit - UNIT; p < unit + 2 * UNIT; p++) {
        size_t expected = p >= unit && p < unit + UNIT && p % INK_WINDOW_ITEM == 0 ? 17 : 0;

        if (class_at(p) != expected)
            fail_msg("%#jx has class %zu instead of %zu", (uintmax_t)p, class_at(p), expected);
    }
    ink_window_set_class(at(unit), 1, 0);
    assert_int_equal(class_at(unit), 0);
}

/* Several units are set at once, each with its own pointers, and taken back one by one. */
static void set_class_of_several_units_sets_just_those(void **state)
{
    uintptr_t first = PLACE - 7 * UNIT;

    (void)state;
    ink_window_set_class(at(first), 5, 40);
    for (uintptr_t i = 0; i < 7; i++) {
        assert_int_equal(class_at(first + (i - 1) * UNIT), i >= 1 && i <= 5 ? 40 : 0);
        assert_int_equal(class_at(first + (i - 1) * UNIT + UNIT - 16), i >= 1 && i <= 5 ? 40 : 0);
    }
    ink_window_set_class(at(first + 2 * UNIT), 1, 0);
    assert_int_equal(class_at(first + UNIT), 40);
    assert_int_equal(class_at(first + 2 * UNIT), 0);
    assert_int_equal(class_at(first + 3 * UNIT), 40);
    ink_window_set_class(at(first), 5, 0);
}

/* The window's first and last units work, and what reaches over its ends is cut off there. */
static void set_class_over_the_ends_sets_what_is_inside(void **state)
{
    (void)state;
    ink_window_set_class(at(LOWEST - 2 * UNIT), 4, 3);
    ink_window_set_class(at(BEHIND - 2 * UNIT), 4, 4);
    assert_int_equal(class_at(LOWEST), 3);
    assert_int_equal(class_at(LOWEST + UNIT), 3);
    assert_int_equal(class_at(LOWEST + 2 * UNIT), 0);
    assert_int_equal(class_at(BEHIND - 16), 4);
    assert_int_equal(class_at(BEHIND - UNIT), 4);
    assert_int_equal(class_at(BEHIND - 2 * UNIT), 4);
    assert_int_equal(class_at(BEHIND - 3 * UNIT), 0);
    if (!in_window(LOWEST - 16))
        assert_int_equal(class_at(LOWEST - 16), 0);
    if (!in_window(BEHIND))
        assert_int_equal(class_at(BEHIND), 0);
    ink_window_set_class(at(LOWEST), 2, 0);
    ink_window_set_class(at(BEHIND - 2 * UNIT), 2, 0);
}

/* A window that is full of classes still has none for pointers that do not belong to it. */
static void class_of_pointers_elsewhere_is_0(void **state)
{
    uint64_t seed = 1;

    (void)state;
    ink_window_set_class(at(LOWEST), INK_WINDOW_UNITS, 1);
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        assert_int_equal(class_at(far[i]), in_window(far[i]) && far[i] % 16 == 0);
    for (int i = 0; i < 1000000; i++) {
        uintptr_t p = (uintptr_t)((uint64_t)unit_random(&seed) << 33 ^
                                  (uint64_t)unit_random(&seed) << 7 ^ unit_random(&seed));

        /* Anywhere, in the window, and with bits that no address has. */
        if (i % 3 == 1)
            p = LOWEST + p % (INK_WINDOW_UNITS / 2 * UNIT);
        if (i % 3 == 2)
            p = PLACE ^ (uintptr_t)1 << unit_random(&seed) % (8 * sizeof p);
        if (class_at(p) != (in_window(p) && p % 16 == 0))
            fail_msg("%#jx has class %zu", (uintmax_t)p, class_at(p));
    }
    ink_window_set_class(at(LOWEST), INK_WINDOW_UNITS, 0);
    assert_int_equal(class_at(PLACE), 0);
}

/* What was never ours has no owner, whatever the pointer. */
static void owner_of_foreign_pointer_is_0(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        assert_int_equal(ink_owner_of(at(far[i])), 0);
    assert_true(ink_owners_open(at(PLACE), UNIT));
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        assert_int_equal(ink_owner_of(at(far[i])), 0);
    assert_int_equal(ink_owner_of(at(PLACE)), 0);
}

/* An owner word counts for every byte of its units, on both sides of a 4 GiB border, and no unit
 * beside them. */
static void owner_of_units_over_a_leaf_border_holds_for_them_only(void **state)
{
    uintptr_t border = (uintptr_t)0x40000000u << (UINTPTR_MAX > 0xffffffffu ? 4 : 0);
    uintptr_t first = border - 3 * UNIT;

    (void)state;
    assert_true(ink_owners_open(at(first), 7 * UNIT));
    ink_owners_set(at(first), 7, 0xabc0);
    for (uintptr_t i = 0; i < 9; i++) {
        uintptr_t unit = first + (i - 1) * UNIT;
        ink_owner_t expected = i >= 1 && i <= 7 ? 0xabc0 : 0;

        assert_int_equal(ink_owner_of(at(unit)), expected);
        assert_int_equal(ink_owner_of(at(unit + 12345)), expected);
        assert_int_equal(ink_owner_of(at(unit + UNIT - 1)), expected);
    }
    ink_owners_set(at(border), 1, 0x1230);
    assert_int_equal(ink_owner_of(at(border - 1)), 0xabc0);
    assert_int_equal(ink_owner_of(at(border)), 0x1230);
    assert_int_equal(ink_owner_of(at(border + UNIT)), 0xabc0);
    ink_owners_set(at(first), 7, 0);
    assert_int_equal(ink_owner_of(at(border)), 0);
}

#if UINTPTR_MAX > 0xffffffffu
/* Addresses that agree in all but the upper half have owners of their own, however many upper
 * halves there are. */
static void owners_of_many_leaves_do_not_mix(void **state)
{
    enum { LEAVES = 300 };

    (void)state;
    for (uintptr_t i = 0; i < LEAVES; i++) {
        uintptr_t address = (0x1000 + i * 7) << 32 | 0x560000;

        assert_int_equal(ink_owner_of(at(address)), 0);
        assert_true(ink_owners_open(at(address), UNIT));
        ink_owners_set(at(address), 1, i * 16 + 16);
    }
    for (uintptr_t i = 0; i < LEAVES; i++)
        assert_int_equal(ink_owner_of(at((0x1000 + i * 7) << 32 | 0x560000)), i * 16 + 16);
    assert_int_equal(ink_owner_of(at((uintptr_t)0xfff << 32 | 0x560000)), 0);
}

/* Leaves whose first place in the table is the same have owners of their own all the same. */
static void owners_of_leaves_that_collide_do_not_mix(void **state)
{
    enum { LEAVES = 5 };
    uintptr_t key[LEAVES], next = 0x30000;

    (void)state;
    for (uintptr_t i = 0; i < LEAVES; i++) {
        do
            next++;
        while (i > 0 && ink_leaf_first_slot(next) != ink_leaf_first_slot(key[0]));
        key[i] = next;
        assert_int_equal(ink_owner_of(at(key[i] << 32)), 0);
        assert_true(ink_owners_open(at(key[i] << 32), UNIT));
        ink_owners_set(at(key[i] << 32), 1, i * 16 + 16);
    }
    for (uintptr_t i = 0; i < LEAVES; i++)
        assert_int_equal(ink_owner_of(at(key[i] << 32)), i * 16 + 16);
}

/* Room is made for all leaves that a range touches, those in the middle too. */
static void open_of_a_range_of_many_leaves_opens_each(void **state)
{
    uintptr_t first = (uintptr_t)0x2345fffffff0 & ~(UNIT - 1);

    (void)state;
    assert_true(ink_owners_open(at(first), ((size_t)3 << 32) + 2 * UNIT));
    for (uintptr_t i = 0; i < 4; i++) {
        ink_owners_set(at(first + (i << 32)), 2, 32 + i);
        assert_int_equal(ink_owner_of(at(first + (i << 32) + UNIT)), 32 + i);
    }
}
#endif

#if UINTPTR_MAX > 0xffffffffu
/* A leaf in hand opens the leaf of an address that has none, and comes back if the address has
 * one. */
static void open_with_leaf_in_hand_uses_it_only_if_needed(void **state)
{
    void *address = at((uintptr_t)0x77 << 40), *beside = at(((uintptr_t)0x77 << 40) + 5 * UNIT);
    struct ink_leaf *leaf = ink_leaf_take(), *kept;

    (void)state;
    assert_non_null(leaf);
    assert_null(ink_owners_open_with(address, leaf));
    ink_owners_set(address, 1, 0x550);
    leaf = ink_leaf_take();
    assert_ptr_equal(ink_owners_open_with(beside, leaf), leaf);
    ink_owners_set(beside, 1, 0x660);
    assert_int_equal(ink_owner_of(address), 0x550);
    assert_int_equal(ink_owner_of(beside), 0x660);

    /* What is put by is taken next, and may serve another address then. */
    ink_leaf_keep(leaf);
    kept = ink_leaf_take();
    assert_ptr_equal(kept, leaf);
    assert_null(ink_owners_open_with(at((uintptr_t)0x78 << 40), kept));
    ink_owners_set(at((uintptr_t)0x78 << 40), 1, 0x770);
    assert_int_equal(ink_owner_of(at((uintptr_t)0x78 << 40)), 0x770);
    assert_int_equal(ink_owner_of(address), 0x550);
}
#endif

/* For a row of pointers the owners are the same as one by one, whatever leaf served the last. */
static void owner_of_next_in_a_row_is_the_owner(void **state)
{
    const struct ink_leaf *leaf = NULL;
    uintptr_t near = PLACE + 3 * UNIT, other = PLACE / 2 & ~(UNIT - 1);
    const uintptr_t row[] = {near,   near + 7, far[5],     other, near,
                             far[7], far[7],   other + 16, 0,     near};

    (void)state;
    assert_true(ink_owners_open(at(near), UNIT) && ink_owners_open(at(other), UNIT));
    ink_owners_set(at(near), 1, 0x110);
    ink_owners_set(at(other), 1, 0x220);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        assert_int_equal(ink_owner_of_next(at(row[i]), &leaf), ink_owner_of(at(row[i])));
    assert_int_equal(ink_owner_of(at(near)), 0x110);
    assert_int_equal(ink_owner_of(at(other)), 0x220);
}

enum { THREADS = 4, OPENED = 200 };

struct opener {
    uintptr_t number;
};

static uintptr_t shared_address(uintptr_t leaf, uintptr_t thread)
{
    return (uintptr_t)((uint64_t)(0x9000 + leaf) << 32 | (thread + 1) * UNIT);
}

static void open_and_set(void *arg)
{
    struct opener *opener = arg;

    for (uintptr_t leaf = 0; leaf < OPENED; leaf++) {
        void *address = at(shared_address(leaf, opener->number));

        UNIT_CHECK(ink_owners_open(address, UNIT));
        ink_owners_set(address, 1, (leaf + 1) << 8 | opener->number << 4);
        UNIT_CHECK(ink_owner_of(address) == ((leaf + 1) << 8 | opener->number << 4));
    }
}

/* Threads that open the same leaf at once all get the same one: no word is lost. */
static void open_by_many_threads_at_once_loses_no_owner(void **state)
{
    struct opener openers[THREADS];

    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        openers[i].number = i;
    unit_threads(THREADS, open_and_set, openers, sizeof openers[0]);
    for (uintptr_t leaf = 0; leaf < (UINTPTR_MAX > 0xffffffffu ? OPENED : 0); leaf++)
        for (uintptr_t i = 0; i < THREADS; i++)
            assert_int_equal(ink_owner_of(at(shared_address(leaf, i))), (leaf + 1) << 8 | i << 4);
}

UNIT_MAIN(cmocka_unit_test(class_without_window_is_0),
          cmocka_unit_test(place_of_second_chunk_does_not_move_window),
          cmocka_unit_test(class_of_unit_holds_for_its_aligned_pointers_only),
          cmocka_unit_test(set_class_of_several_units_sets_just_those),
          cmocka_unit_test(set_class_over_the_ends_sets_what_is_inside),
          cmocka_unit_test(class_of_pointers_elsewhere_is_0),
          cmocka_unit_test(owner_of_foreign_pointer_is_0),
          cmocka_unit_test(owner_of_units_over_a_leaf_border_holds_for_them_only),
#if UINTPTR_MAX > 0xffffffffu
          cmocka_unit_test(owners_of_many_leaves_do_not_mix),
          cmocka_unit_test(owners_of_leaves_that_collide_do_not_mix),
          cmocka_unit_test(open_of_a_range_of_many_leaves_opens_each),
          cmocka_unit_test(open_with_leaf_in_hand_uses_it_only_if_needed),
#endif
          cmocka_unit_test(owner_of_next_in_a_row_is_the_owner),
          cmocka_unit_test(open_by_many_threads_at_once_loses_no_owner))
