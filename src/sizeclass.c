/* The class table, computed by the compiler. */
#include "sizeclass.h"

enum {
    INK_UNIT = 65536,
};

/* Up to 8 KiB a run is one unit; above, the smallest number of units that wastes at most 6 %. */
#define INK_RUN_WASTE_OK(size, units) \
    ((INK_UNIT * (units)) % (size) <= INK_UNIT * (units) / 100 * 6)
#define INK_RUN_UNITS(size)            \
    ((size) <= 8192                ? 1 \
     : INK_RUN_WASTE_OK((size), 1) ? 1 \
     : INK_RUN_WASTE_OK((size), 2) ? 2 \
     : INK_RUN_WASTE_OK((size), 3) ? 3 \
     : INK_RUN_WASTE_OK((size), 4) ? 4 \
                                   : 5)

#define INK_CLASS_ENTRY(class, bytes, below)                                \
    [class] = {                                                             \
        .size = (bytes),                                                    \
        .inverse = (uint32_t)((((uint64_t)1 << 32) + (bytes)-1) / (bytes)), \
        .least = (class) == 1 ? 0 : (bytes) / 2,                            \
        .run_items = (uint16_t)(INK_UNIT * INK_RUN_UNITS(bytes) / (bytes)), \
        .run_units = (uint8_t)INK_RUN_UNITS(bytes),                         \
        .batch_items = (uint8_t)INK_BATCH_ITEMS(bytes),                     \
    },

const struct ink_size_class ink_size_classes[INK_CLASS_SLOTS] = {INK_SIZE_CLASSES(INK_CLASS_ENTRY)};

#define INK_CLASS_CHECK(class, bytes, below)                                          \
    static_assert((bytes) > (below), "classes grow");                                 \
    static_assert((bytes) % INK_ALIGNMENT == 0, "every item is aligned");             \
    static_assert((bytes) <= 8192 || INK_RUN_WASTE_OK((bytes), INK_RUN_UNITS(bytes)), \
                  "a run wastes at most 6 %");                                        \
    static_assert(INK_UNIT * INK_RUN_UNITS(bytes) / (bytes) <= 4096,                  \
                  "an item's number fits 12 bits");                                   \
    static_assert((class) < INK_CLASS_COUNT, "class numbers are dense");
INK_SIZE_CLASSES(INK_CLASS_CHECK)

unsigned ink_class_for_aligned(size_t bytes, size_t alignment)
{
    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++) {
        size_t size = ink_size_classes[class].size;

        if (size >= bytes && (size & (alignment - 1)) == 0)
            return class;
    }
    return INK_CLASS_NONE;
}
