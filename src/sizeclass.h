/* Size <-> class.  40 classes: every 16 bytes up to 128, then four to a doubling up to 32 KiB.
 * Class 0 means "not small".
 *
 * A class whose size is a multiple of 2^k aligns its items to 2^k, since runs begin at 64 KiB
 * boundaries. */
#ifndef INK_SIZECLASS_H
#define INK_SIZECLASS_H

#include "cc.h"

/* X(class, size in bytes, size of the class below); up to INK_TINY_MAX */
#define INK_TINY_SIZE_CLASSES(X)                    \
    X(1, 16, 0)                                     \
    X(2, 32, 16)                                    \
    X(3, 48, 32)                                    \
    X(4, 64, 48)                                    \
    X(5, 80, 64)                                    \
    X(6, 96, 80)                                    \
    X(7, 112, 96)                                   \
    X(8, 128, 112)                                  \
    INK_SIZE_CLASS_DOUBLING(X, 9, 10, 11, 12, 128)  \
    INK_SIZE_CLASS_DOUBLING(X, 13, 14, 15, 16, 256) \
    INK_SIZE_CLASS_DOUBLING(X, 17, 18, 19, 20, 512)

/* All of them. */
#define INK_SIZE_CLASSES(X)                          \
    INK_TINY_SIZE_CLASSES(X)                         \
    INK_SIZE_CLASS_DOUBLING(X, 21, 22, 23, 24, 1024) \
    INK_SIZE_CLASS_DOUBLING(X, 25, 26, 27, 28, 2048) \
    INK_SIZE_CLASS_DOUBLING(X, 29, 30, 31, 32, 4096) \
    INK_SIZE_CLASS_DOUBLING(X, 33, 34, 35, 36, 8192) \
    INK_SIZE_CLASS_DOUBLING(X, 37, 38, 39, 40, 16384)

#define INK_SIZE_CLASS_DOUBLING(X, a, b, c, d, base) \
    X(a, base / 4 * 5, base)                         \
    X(b, base / 4 * 6, base / 4 * 5)                 \
    X(c, base / 4 * 7, base / 4 * 6)                 \
    X(d, base / 4 * 8, base / 4 * 7)

/* Items of a full-grown batch: 32 KiB, as far as 4 to 63 items allow; above 16 KiB two. */
#define INK_BATCH_ITEMS(size) \
    ((size) > 16384 ? 2 : 32768 / (size) > 63 ? 63 : 32768 / (size) < 4 ? 4 : 32768 / (size))

enum {
    INK_CLASS_NONE = 0,
    INK_CLASS_COUNT = 41, /* 0 included */
    /* Length of arrays indexed by class: a byte from the map never points far outside. */
    INK_CLASS_SLOTS = 64,
    INK_ALIGNMENT = 16, /* of every block */
    INK_SMALL_MAX = 32768,
    INK_CLASS_STEPS = INK_SMALL_MAX / INK_ALIGNMENT + 1,
    INK_TINY_MAX = 1024, /* up to here the class is looked up by the byte */
};

struct ink_size_class {
    uint32_t size;    /* bytes of an item */
    uint32_t inverse; /* ceil(2^32 / size), see ink_class_item */
    /* For fewer bytes realloc moves an item to a smaller class: half the size, but none is
     * smaller than the first. */
    uint32_t least;
    uint16_t run_items;  /* items of a run */
    uint8_t run_units;   /* 64 KiB units of a run */
    uint8_t batch_items; /* capacity of a full-grown batch */
};

extern INK_HIDDEN const struct ink_size_class ink_size_classes[INK_CLASS_SLOTS];

/* The number of the item at offset bytes into its run; for an offset inside an item it may be one
 * too many, so compare number * size with offset.  At a boundary offset = m * size it is exact: the
 * rounding of inverse adds m * size / 2^32 < 1. */
static inline uint32_t ink_class_item(uint32_t offset, uint32_t inverse)
{
    return (uint32_t)(((uint64_t)offset * inverse) >> 32);
}

/* Index of the steps of 16 bytes that ink_constants.class_of_step is looked up by; bytes <=
 * INK_SMALL_MAX. */
static inline size_t ink_class_step(size_t bytes)
{
    return (bytes + INK_ALIGNMENT - 1) / INK_ALIGNMENT;
}

/* The smallest class that holds bytes at this alignment (a power of two), or INK_CLASS_NONE if no
 * class does. */
unsigned ink_class_for_aligned(size_t bytes, size_t alignment);

#endif
