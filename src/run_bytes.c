/* Sums over the runs of all classes, and of each. */
#include "run_bytes.h"
#include "dirty.h"
#include "os.h"
#include "sizeclass.h"

enum { INK_RUN_COLLAPSE = 4 /* so many times less than the most is a collapse */ };

static _Atomic size_t ink_run_bytes_of_class[INK_CLASS_COUNT];

/* Of runs; of items that are out; of pages purged under free items. */
static struct {
    _Alignas(INK_LINE_BYTES) _Atomic size_t total;
    _Atomic size_t out;
    _Atomic size_t out_mark; /* the most that was out since it was last lowered */
    _Atomic size_t purged;
} ink_run_bytes_of;

size_t ink_run_out_bytes(void)
{
    size_t out = ink_load_relaxed(&ink_run_bytes_of.out);

    return out < SIZE_MAX - 64 * INK_MIB ? out : 0;
}

void ink_run_add_bytes(unsigned class, size_t bytes)
{
    ink_add_relaxed(&ink_run_bytes_of.total, bytes);
    ink_add_relaxed(&ink_run_bytes_of_class[class], bytes);
}

void ink_run_add_out(ptrdiff_t bytes)
{
    size_t out = ink_add_relaxed(&ink_run_bytes_of.out, (size_t)bytes) + (size_t)bytes;

    if (out > ink_load_relaxed(&ink_run_bytes_of.out_mark) && out < SIZE_MAX - 64 * INK_MIB)
        ink_store_relaxed(&ink_run_bytes_of.out_mark, out);
}

size_t ink_run_set_purged(struct ink_run *run, unsigned pages)
{
    size_t page = ink_os_page_bytes(), before = run->purged_pages * page;

    if (before != pages * page)
        ink_add_relaxed(&ink_run_bytes_of.purged, pages * page - before);
    run->purged_pages = (uint8_t)pages;
    return before;
}

size_t ink_run_class_bytes(unsigned class)
{
    return ink_load_relaxed(&ink_run_bytes_of_class[class]);
}

size_t ink_run_dirty_bytes(void)
{
    size_t kept = ink_run_out_bytes() + ink_load_relaxed(&ink_run_bytes_of.purged);
    size_t total = ink_load_relaxed(&ink_run_bytes_of.total);

    return total > kept ? total - kept : 0;
}

bool ink_run_has_collapsed(void)
{
    size_t out = ink_run_out_bytes(), dirty = ink_run_dirty_bytes();

    return out < ink_load_relaxed(&ink_run_bytes_of.out_mark) / INK_RUN_COLLAPSE &&
           dirty > ink_dirty_allowed(out) / 4 &&
           dirty + ink_chunk_dirty_bytes() > ink_dirty_allowed(out);
}

void ink_run_lower_mark(void)
{
    ink_store_relaxed(&ink_run_bytes_of.out_mark, ink_run_out_bytes());
}
