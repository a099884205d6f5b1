/* Size classes: the smallest that fits, what is wasted, and the arithmetic from offset to item. */
#include "sizeclass.h"
#include "map.h"
#include "thread.h"
#include "unit.h"

/* What the table should say, computed the slow way. */
static unsigned smallest_class(size_t bytes, size_t alignment)
{
    unsigned class = 1;

    while (class < INK_CLASS_COUNT &&
           (ink_size_classes[class].size < bytes || ink_size_classes[class].size % alignment != 0))
        class ++;
    return class < INK_CLASS_COUNT ? class : INK_CLASS_NONE;
}

/* Sizes grow from 16 to 32768 in multiples of 16; class 0 and those behind the last have none. */
static void table_grows_from_smallest_to_largest(void **state)
{
    (void)state;
    assert_int_equal(ink_size_classes[1].size, 16);
    assert_int_equal(ink_size_classes[INK_CLASS_COUNT - 1].size, INK_SMALL_MAX);
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        assert_int_equal(ink_size_classes[class].size % INK_ALIGNMENT, 0);
        if (class > 1)
            assert_true(ink_size_classes[class].size > ink_size_classes[class - 1].size);
    }
    assert_int_equal(ink_size_classes[0].size, 0);
    for (unsigned class = INK_CLASS_COUNT; class < INK_CLASS_SLOTS; class ++)
        assert_int_equal(ink_size_classes[class].size, 0);
}

/* Every size goes to the smallest class that holds it, by both tables. */
static void class_for_every_size_is_smallest_that_fits(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= INK_SMALL_MAX; bytes++) {
        assert_int_equal(ink_class_for(bytes), smallest_class(bytes, 1));
        if (bytes <= INK_TINY_MAX)
            assert_int_equal(ink_constants.class_of_byte[bytes], smallest_class(bytes, 1));
    }
}

/* Above 128 bytes an item is less than a quarter larger than what was asked for; that bound is
 * tight. */
static void class_above_128_bytes_wastes_less_than_a_quarter(void **state)
{
    (void)state;
    for (size_t bytes = 129; bytes <= INK_SMALL_MAX; bytes++)
        assert_true(4 * (ink_size_classes[ink_class_for(bytes)].size - bytes) < bytes);
    for (size_t base = 128; base < INK_SMALL_MAX; base *= 2)
        assert_int_equal(4 * (ink_size_classes[ink_class_for(base + 1)].size - base), base);
}

/* Up to 128 bytes the waste is what 16-byte steps cost. */
static void class_up_to_128_bytes_is_next_multiple_of_16(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes <= 128; bytes++)
        assert_int_equal(ink_size_classes[ink_class_for(bytes)].size, (bytes + 15) / 16 * 16);
}

/* An aligned request gets the smallest class whose items all stand aligned, or none. */
static void class_for_aligned_is_smallest_that_fits_and_aligns(void **state)
{
    (void)state;
    for (size_t alignment = 1; alignment <= 4 * (size_t)INK_SMALL_MAX; alignment *= 2)
        for (size_t bytes = 0; bytes <= INK_SMALL_MAX + 100; bytes++)
            assert_int_equal(ink_class_for_aligned(bytes, alignment),
                             smallest_class(bytes, alignment));
    assert_int_equal(ink_class_for_aligned(SIZE_MAX, 16), INK_CLASS_NONE);
    assert_int_equal(ink_class_for_aligned(0, (SIZE_MAX >> 1) + 1), INK_CLASS_NONE);
}

/* A run holds as many items as fit into its units.  Over is at most a sixteenth of one unit, and 6
 * % of larger runs. */
static void run_of_every_class_is_full_of_items(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        const struct ink_size_class *sizes = &ink_size_classes[class];
        size_t bytes = (size_t)sizes->run_units * INK_UNIT_BYTES,
               used = (size_t)sizes->run_items * sizes->size;

        assert_in_range(sizes->run_units, 1, 5);
        assert_true(used <= bytes && bytes - used < sizes->size);
        if (sizes->size <= 8192) {
            assert_int_equal(sizes->run_units, 1);
            assert_true((bytes - used) * 16 <= bytes);
        } else {
            assert_true((bytes - used) * 100 <= bytes * 6);
        }
    }
}

/* Batches are full-grown at 32 KiB or 63 items, with at least 4, or 2 of the largest. */
static void batch_of_every_class_has_its_number_of_items(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        size_t size = ink_size_classes[class].size, items = ink_size_classes[class].batch_items;
        size_t most = 32768 / size > 63 ? 63 : 32768 / size;

        assert_int_equal(items, size > 16384 ? 2 : most < 4 ? 4 : most);
    }
}

/* Realloc keeps an item for half its bytes and more; the smallest for any number. */
static void least_of_every_class_is_half_its_size(void **state)
{
    (void)state;
    assert_int_equal(ink_size_classes[1].least, 0);
    for (unsigned class = 2; class < INK_CLASS_COUNT; class ++)
        assert_int_equal(ink_size_classes[class].least, ink_size_classes[class].size / 2);
}

/* At an item's first byte its number is exact; inside an item the number betrays by its offset that
 * it is no boundary. */
static void item_of_every_offset_is_exact_at_boundaries_only(void **state)
{
    (void)state;
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        const struct ink_size_class *sizes = &ink_size_classes[class];

        for (uint32_t offset = 0; offset < sizes->run_units * (uint32_t)INK_UNIT_BYTES; offset++) {
            uint32_t item = ink_class_item(offset, sizes->inverse), truth = offset / sizes->size;

            if (offset % sizes->size == 0 ? item != truth : item * sizes->size == offset)
                fail_msg("offset %u in class %u gives item %u", offset, class, item);
            if (item != truth && item != truth + 1)
                fail_msg("offset %u in class %u gives item %u, far from %u", offset, class, item,
                         truth);
        }
    }
}

UNIT_MAIN(cmocka_unit_test(table_grows_from_smallest_to_largest),
          cmocka_unit_test(class_for_every_size_is_smallest_that_fits),
          cmocka_unit_test(class_above_128_bytes_wastes_less_than_a_quarter),
          cmocka_unit_test(class_up_to_128_bytes_is_next_multiple_of_16),
          cmocka_unit_test(class_for_aligned_is_smallest_that_fits_and_aligns),
          cmocka_unit_test(run_of_every_class_is_full_of_items),
          cmocka_unit_test(batch_of_every_class_has_its_number_of_items),
          cmocka_unit_test(least_of_every_class_is_half_its_size),
          cmocka_unit_test(item_of_every_offset_is_exact_at_boundaries_only))
