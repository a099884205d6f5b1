/* Keeping, giving back, finding again. */
#include "large_kept.h"
#include "chunk.h"
#include "dirty.h"
#include "os.h"

#include <limits.h>

enum {
    INK_LARGE_KEPT_LOOK = 8,   /* kept mappings looked at for one that fits */
    INK_LARGE_DIRTY_SLACK = 4, /* a dirty one may be larger by this part of what is asked for */
    INK_LARGE_EVICTIONS = 4,   /* kept for nothing, given back to make room for one */
};

static struct ink_head ink_large_kept;  /* purged, or fresh in place of what was unmapped */
static struct ink_head ink_large_dirty; /* as they were freed */
/* Given back and not mapped again since; a glance. */
static _Atomic size_t ink_large_unmapped_bytes;

/* Unmaps a block that nobody knows any more; false if the system refuses. */
static bool ink_large_unmap(struct ink_large *large)
{
    size_t bytes = ink_load_relaxed(&large->bytes);

    /* The owner word stays and leads to a record that says FREE.  Nobody else writes it before the
     * kernel gives the address out again. */
    if (ink_large_live() >= INK_LARGE_UNMAP_BLOCKS ||
        !ink_os_unmap(ink_large_address(large), bytes))
        return false;
    ink_add_relaxed(&ink_large_unmapped_bytes, bytes);
    ink_large_spare_record(large);
    return true;
}

void ink_large_give_back(struct ink_large *large)
{
    char *address = ink_large_address(large);
    size_t bytes = ink_load_relaxed(&large->bytes);

    if (ink_large_unmap(large))
        return;
    if (ink_os_map_again(address, bytes) || ink_os_purge(address, bytes))
        ink_large_push(&ink_large_kept, large);
    else
        ink_large_spare_record(large);
}

/* ---- kept as they were ---- */

static bool ink_large_may_keep(size_t bytes)
{
    return ink_chunk_dirty_bytes() + ink_dirty_large() + bytes <=
           ink_dirty_allowed(ink_chunk_used_bytes());
}

static struct ink_large *ink_large_forget_dirty(struct ink_large *large)
{
    if (large != NULL)
        ink_dirty_add_large(0 - ink_load_relaxed(&large->bytes));
    return large;
}

bool ink_large_keep_dirty(struct ink_large *large)
{
    size_t bytes = ink_load_relaxed(&large->bytes);

    if (bytes > ink_dirty_allowed(ink_chunk_used_bytes())) {
        ink_dirty_forgive();
        return false;
    }
    for (int i = 0; i < INK_LARGE_EVICTIONS && !ink_large_may_keep(bytes); i++) {
        struct ink_large *evicted = ink_large_forget_dirty(ink_large_pop(&ink_large_dirty));

        if (evicted == NULL)
            break;
        ink_large_give_back(evicted);
    }
    /* Now, not when it is handed out again: a child of a fork in between must find all that is kept
     * mapped. */
    if (!ink_large_may_keep(bytes) || !ink_os_reset(ink_large_address(large), bytes)) {
        ink_dirty_forgive();
        return false;
    }
    ink_dirty_add_large(bytes);
    ink_large_push(&ink_large_dirty, large);
    return true;
}

void ink_large_recount_kept(void)
{
    struct ink_large *large, *all = NULL;

    while ((large = ink_large_pop(&ink_large_dirty)) != NULL) {
        large->aside = all;
        all = large;
    }
    ink_dirty_add_large(0 - ink_dirty_large());
    for (; all != NULL; all = large) {
        large = all->aside;
        ink_dirty_add_large(ink_load_relaxed(&all->bytes));
        ink_large_push(&ink_large_dirty, all);
    }
}

void ink_large_make_room(void)
{
    struct ink_large *evicted;

    /* So many at once: another free or allocation goes on. */
    for (int i = 0; i < INK_LARGE_EVICTIONS && ink_dirty_large() != 0 &&
                    ink_dirty_large() + ink_chunk_dirty_bytes() >
                        ink_dirty_allowed_beside(ink_chunk_used_bytes());
         i++) {
        evicted = ink_large_forget_dirty(ink_large_pop(&ink_large_dirty));
        if (evicted == NULL)
            return;
        ink_large_give_back(evicted);
    }
}

void ink_large_make_fewer(size_t bytes)
{
    size_t before = ink_dirty_large(), stays = before > bytes ? before - bytes : 0;

    while (ink_dirty_large() > stays) {
        struct ink_large *evicted = ink_large_forget_dirty(ink_large_pop(&ink_large_dirty));

        if (evicted == NULL)
            return;
        ink_large_give_back(evicted);
    }
}

/* ---- taken again ---- */

static bool ink_large_fits(const struct ink_large *large, size_t mapping, size_t alignment,
                           size_t most)
{
    size_t bytes = ink_load_relaxed(&large->bytes);

    return bytes >= mapping && bytes <= most &&
           ((uintptr_t)ink_large_address(large) & (alignment - 1)) == 0;
}

/* A kept mapping that fits, among the first look; those that do not are put back.  NULL if there is
 * none. */
static struct ink_large *ink_large_take_from(struct ink_head *kept, size_t mapping,
                                             size_t alignment, size_t most, unsigned look)
{
    struct ink_large *seen = NULL, *fitting = NULL;

    for (; look != 0 && fitting == NULL; look--) {
        struct ink_large *large = ink_large_pop(kept);

        if (large == NULL)
            break;
        if (ink_large_fits(large, mapping, alignment, most)) {
            fitting = large;
        } else {
            large->aside = seen;
            seen = large;
        }
    }
    for (struct ink_large *next; seen != NULL; seen = next) {
        next = seen->aside;
        ink_large_push(kept, seen);
    }
    return fitting;
}

struct ink_large *ink_large_take_dirty(size_t mapping, size_t alignment)
{
    size_t slack = mapping / INK_LARGE_DIRTY_SLACK;
    bool roomy = ink_dirty_may_take(slack, ink_chunk_used_bytes());

    return ink_large_forget_dirty(ink_large_take_from(&ink_large_dirty, mapping, alignment,
                                                      roomy ? mapping + slack : mapping,
                                                      INK_LARGE_KEPT_LOOK));
}

struct ink_large *ink_large_take_purged(size_t mapping, size_t alignment)
{
    return ink_large_take_from(&ink_large_kept, mapping, alignment, mapping + mapping / 2,
                               INK_LARGE_KEPT_LOOK);
}

struct ink_large *ink_large_take_any(size_t mapping, size_t alignment)
{
    return ink_large_take_from(&ink_large_kept, mapping, alignment, SIZE_MAX, UINT_MAX);
}

void ink_large_regret(size_t mapping)
{
    size_t unmapped = ink_load_relaxed(&ink_large_unmapped_bytes);
    size_t regretted = mapping < unmapped ? mapping : unmapped;

    if (regretted == 0)
        return;
    ink_store_relaxed(&ink_large_unmapped_bytes, unmapped - regretted);
    ink_dirty_regret(regretted, ink_chunk_used_bytes());
}

/* ---- trim ---- */

/* All that is kept dirty is kept purged, or not at all.  Bytes unmapped. */
static size_t ink_large_trim_dirty(void)
{
    struct ink_large *large;
    size_t before = ink_load_relaxed(&ink_large_unmapped_bytes), after;

    while ((large = ink_large_forget_dirty(ink_large_pop(&ink_large_dirty))) != NULL)
        ink_large_give_back(large);
    after =
        ink_exchange_acq_rel(&ink_large_unmapped_bytes, 0); /* asked for: no reason for regret */
    return after > before ? after - before : 0;
}

/* One pass over the kept mappings; bytes given back.  *left: some were refused. */
static size_t ink_large_trim_once(bool *left)
{
    struct ink_large *large, *refused = NULL;
    size_t bytes = 0;

    while ((large = ink_large_pop(&ink_large_kept)) != NULL) {
        if (ink_os_unmap(ink_large_address(large), ink_load_relaxed(&large->bytes))) {
            bytes += ink_load_relaxed(&large->bytes);
            ink_large_spare_record(large);
        } else {
            large->aside = refused;
            refused = large;
        }
    }
    *left = refused != NULL;
    for (; refused != NULL; refused = large) {
        large = refused->aside;
        ink_large_push(&ink_large_kept, refused);
    }
    return bytes;
}

/* What one pass gives back makes room for the pieces that another would leave. */
size_t ink_large_trim(void)
{
    size_t bytes = ink_large_trim_dirty(), pass;
    bool left;

    do {
        pass = ink_large_trim_once(&left);
        bytes += pass;
    } while (left && pass != 0);
    return bytes;
}
