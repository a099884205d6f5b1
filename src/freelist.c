/* The shared freelists and their bound. */
#include "freelist.h"
#include "run.h"
#include "run_bytes.h"
#include "sizeclass.h"

enum {
    INK_FREELIST_PAGE_BYTES = 4096,
    /* Batches: a producer and a consumer meet there whatever else there is. */
    INK_FREELIST_BOUND_MIN = 2,
    INK_FREELIST_STEP = 4,
    INK_FREELIST_SHARE = 8,
};

/* What the batches of all lists may pin together: a fixed part or a share of what is out, whichever
 * is more. */
#define INK_FREELIST_PINNED_MIN ((size_t)4 * INK_MIB)
#define INK_FREELIST_PINNED_MAX ((size_t)64 * INK_MIB)

/* What one batch pins: each cached item may keep a page of its own resident, however small it
 * is. */
#define INK_FREELIST_WEIGHT(class, size, below)                                       \
    [class] = ((size) > INK_FREELIST_PAGE_BYTES ? (size) : INK_FREELIST_PAGE_BYTES) * \
              INK_BATCH_ITEMS(size),

static const uint32_t ink_freelist_weight[INK_CLASS_COUNT] = {
    INK_SIZE_CLASSES(INK_FREELIST_WEIGHT)};

#define INK_FREELIST_FIRST(class, size, below) [class] = {.bound = INK_FREELIST_BOUND_MIN},

struct ink_freelist ink_freelists[INK_CLASS_COUNT] = {INK_SIZE_CLASSES(INK_FREELIST_FIRST)};

static size_t ink_freelists_budget(void)
{
    size_t share = ink_run_out_bytes() / INK_FREELIST_SHARE;

    return share < INK_FREELIST_PINNED_MIN   ? INK_FREELIST_PINNED_MIN
           : share > INK_FREELIST_PINNED_MAX ? INK_FREELIST_PINNED_MAX
                                             : share;
}

/* A list cannot pin more than its class has. */
static size_t ink_freelist_pinned(unsigned class)
{
    size_t depth = ink_freelist_depth(class), pinned = depth * ink_freelist_weight[class];
    size_t runs = depth != 0 ? ink_run_class_bytes(class) : 0;

    return pinned < runs ? pinned : runs;
}

static size_t ink_freelists_pinned_but(unsigned except)
{
    size_t sum = 0;

    for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
        if (class != except)
            sum += ink_freelist_pinned(class);
    return sum;
}

size_t ink_freelists_pinned(void)
{
    return ink_freelists_pinned_but(INK_CLASS_NONE);
}

static ink_flag_t ink_freelists_narrow;

void ink_freelists_set_narrow(bool narrow)
{
    ink_store_relaxed(&ink_freelists_narrow, narrow);
    if (narrow)
        for (unsigned class = 1; class < INK_CLASS_COUNT; class ++)
            ink_store_relaxed(&ink_freelists[class].bound, INK_FREELIST_BOUND_MIN);
}

/* Room for more batches on the list of class if all lists together leave some: twice as many, as
 * what a list has never needed it should not keep; in short steps where only the small number of
 * its runs keeps it from pinning too much. */
static void ink_freelist_widen(unsigned class)
{
    size_t budget = ink_load_relaxed(&ink_freelists_narrow) ? 0 : ink_freelists_budget();
    size_t others = ink_freelists_pinned_but(class);
    size_t left = budget > others ? budget - others : 0;
    size_t room = left / ink_freelist_weight[class];
    size_t depth = ink_freelist_depth(class), bound = 2 * depth;

    if (bound > room)
        bound =
            ink_run_class_bytes(class) > left || room > depth ? room : depth + INK_FREELIST_STEP;
    ink_store_relaxed(&ink_freelists[class].bound,
                      (uint32_t)(bound > INK_FREELIST_BOUND_MIN ? bound : INK_FREELIST_BOUND_MIN));
}

/* Drains the batch to the runs; what could not be drained moves to its first slots and stays a
 * batch.  True if it is empty, and IDLE. */
static bool ink_batch_drain(unsigned class, struct ink_frame *batch, bool wait,
                            struct ink_locker me)
{
    ink_slot_t *rest = ink_run_drain(class, batch->slot, wait, me);
    unsigned left = 0;
    void *p;

    /* IDLE while items change places in it: a child of a fork must not find one twice. */
    ink_frame_set_idle(batch);
    for (; (p = ink_load_relaxed(rest)) != NULL; rest++)
        ink_store_relaxed(&batch->slot[left++], p);
    if (left != 0) {
        ink_frame_set_batch(batch, class, left);
        return false;
    }
    return true;
}

struct ink_frame *ink_freelist_push_or_drain(unsigned class, struct ink_frame *batch,
                                             struct ink_locker me)
{
    if (ink_freelist_push_below(class, batch))
        return NULL;
    ink_freelist_widen(class);
    if (ink_freelist_push_below(class, batch))
        return NULL;
    if (ink_batch_drain(class, batch, false, me))
        return batch;
    ink_stack_push(&ink_freelists[class].stack, batch);
    return NULL;
}

void ink_freelist_push(unsigned class, struct ink_frame *batch, struct ink_locker me)
{
    struct ink_frame *emptied = ink_freelist_push_or_drain(class, batch, me);

    if (emptied != NULL)
        ink_frame_give_empty(emptied);
}

/* One at a time: a fork in between finds all but one on the list. */
void ink_freelist_drain(unsigned class, struct ink_locker me)
{
    ink_store_relaxed(&ink_freelists[class].bound, INK_FREELIST_BOUND_MIN);
    for (unsigned left = ink_freelist_depth(class); left != 0; left--) {
        struct ink_frame *batch = ink_freelist_pop(class);

        if (batch == NULL)
            return;
        if (!ink_batch_drain(class, batch, true, me)) {
            ink_stack_push(&ink_freelists[class].stack, batch);
            return;
        }
        ink_frame_give_empty(batch);
    }
}

unsigned ink_freelist_depth(unsigned class)
{
    return ink_stack_depth(&ink_freelists[class].stack);
}

/* Walks links that others may be rewriting: frames are always readable, and the depth bounds the
 * walk. */
size_t ink_freelist_items(unsigned class)
{
    size_t items = 0;
    struct ink_frame *batch = ink_stack_top(&ink_freelists[class].stack);

    for (unsigned left = ink_freelist_depth(class); batch != NULL && left != 0; left--) {
        items += ink_frame_items(batch);
        batch = ink_frame_next(batch);
    }
    return items;
}
