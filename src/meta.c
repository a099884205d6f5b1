/* A bump allocator over mapped regions.  One word is contended: the current region's offset. */
#include "meta.h"
#include "os.h"

enum { INK_META_REGION_BYTES = 1024 * 1024 };

struct ink_meta_region {
    size_t bytes;
    /* Offset of the first free byte; grows only.  Written by any thread by compare-and-swap;
     * relaxed, as it hands out memory that is fresh from the kernel. */
    _Atomic size_t used;
};

/* The region in use.  Replaced by whoever finds it too full; what was left of the old one is given
 * up. */
static _Atomic(struct ink_meta_region *) ink_meta_current;
static _Atomic size_t ink_meta_mapped;

static void *ink_meta_bump(struct ink_meta_region *region, size_t bytes, size_t alignment)
{
    size_t used = ink_load_relaxed(&region->used);
    uintptr_t start;

    do {
        start = ink_align_up((uintptr_t)region + used, alignment);
        if (start + bytes > (uintptr_t)region + region->bytes)
            return NULL;
    } while (!ink_cas_relaxed(&region->used, &used, start + bytes - (uintptr_t)region));
    return (void *)start;
}

static struct ink_meta_region *ink_meta_new_region(void)
{
    struct ink_meta_region *region = ink_os_map(INK_META_REGION_BYTES);

    if (region != NULL) {
        ink_os_forbid_huge_pages(region, INK_META_REGION_BYTES);
        region->bytes = INK_META_REGION_BYTES;
        ink_store_relaxed(&region->used, sizeof *region);
    }
    return region;
}

/* What would use up most of a region, or does not fit into one, gets a mapping of its own. */
static void *ink_meta_alloc_alone(size_t bytes, size_t alignment)
{
    size_t page = ink_os_page_bytes();
    void *block =
        ink_os_map_aligned(ink_align_up(bytes, page), alignment > page ? alignment : page);

    if (block != NULL)
        ink_add_relaxed(&ink_meta_mapped, ink_align_up(bytes, page));
    return block;
}

void *ink_meta_alloc(size_t bytes, size_t alignment)
{
    if (bytes + alignment > INK_META_REGION_BYTES / 4 * 3)
        return ink_meta_alloc_alone(bytes, alignment);
    for (;;) {
        struct ink_meta_region *current = ink_load_acquire(&ink_meta_current);
        struct ink_meta_region *region;
        void *block = current != NULL ? ink_meta_bump(current, bytes, alignment) : NULL;

        if (block != NULL)
            return block;
        region = ink_meta_new_region();
        if (region == NULL)
            return NULL;
        if (ink_cas_acq_rel(&ink_meta_current, &current, region))
            ink_add_relaxed(&ink_meta_mapped, region->bytes);
        else
            (void)ink_os_unmap(region, region->bytes);
    }
}

size_t ink_meta_mapped_bytes(void)
{
    return ink_load_relaxed(&ink_meta_mapped);
}
