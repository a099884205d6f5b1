/* Segments of frames, their states, and stacks of them. */
#include "frame.h"
#include "meta.h"
#include "os.h"

static_assert(1 << INK_FRAME_SHIFT == INK_SEGMENT_FRAMES,
              "an index has room for the frame's number");
static_assert(INK_FRAME_ITEMS_MAX < 1 << (INK_STATE_CLASS_SHIFT - INK_STATE_ITEMS_SHIFT),
              "items fit the state");
static_assert(INK_STATE_GENERATION_SHIFT + INK_OS_GENERATION_BITS <= 32,
              "the generation fits the state");

_Atomic(ink_segment_slot_t *) ink_segment_root[INK_SEGMENT_ROOT];
struct ink_stack ink_frame_pool;

static _Atomic uint32_t ink_segment_count;

struct ink_frame *ink_frame_next(const struct ink_frame *frame)
{
    uint32_t link = ink_load_relaxed(&ink_segment_of(frame)->link[ink_segment_number_of(frame)]);

    return link != 0 ? ink_frame_at(link) : NULL;
}

unsigned ink_stack_depth(struct ink_stack *stack)
{
    return ink_frame_depth(ink_head_top_index(ink_head_snapshot(&stack->head)));
}

struct ink_frame *ink_stack_top(struct ink_stack *stack)
{
    uint32_t index = ink_head_top_index(ink_head_snapshot(&stack->head));

    return index != 0 ? ink_frame_at(index) : NULL;
}

static ink_segment_slot_t *ink_segment_leaf(uint32_t number)
{
    _Atomic(ink_segment_slot_t *) *slot = &ink_segment_root[number / INK_SEGMENT_LEAF];
    ink_segment_slot_t *leaf = ink_load_acquire(slot);
    ink_segment_slot_t *fresh;

    if (leaf != NULL)
        return leaf;
    fresh = ink_meta_alloc(INK_SEGMENT_LEAF * sizeof(ink_segment_slot_t), INK_LINE_BYTES);
    if (fresh == NULL)
        return NULL;
    return ink_cas_acq_rel(slot, &leaf, fresh) ? fresh : leaf;
}

/* Maps and publishes a segment, keeps one of its frames and pools the others. */
static INK_COLD struct ink_frame *ink_segment_add(void)
{
    struct ink_segment *segment = ink_meta_alloc(INK_SEGMENT_BYTES, INK_SEGMENT_BYTES);
    struct ink_frame *frames = (struct ink_frame *)(void *)segment;
    ink_segment_slot_t *leaf;
    uint32_t number;

    if (segment == NULL)
        return NULL;
    number = ink_add_relaxed(&ink_segment_count, 1);
    leaf = number < INK_SEGMENT_LEAF * INK_SEGMENT_ROOT ? ink_segment_leaf(number) : NULL;
    if (leaf == NULL)
        return NULL;
    ink_store_relaxed(&segment->link[0], number);
    ink_store_release(&leaf[number % INK_SEGMENT_LEAF], segment);
    for (uint32_t n = INK_SEGMENT_FRAMES - 1; n > INK_SEGMENT_FIRST; n--)
        ink_stack_push(&ink_frame_pool, frames + n);
    return frames + INK_SEGMENT_FIRST;
}

struct ink_frame *ink_frame_take_empty(void)
{
    struct ink_frame *frame = ink_stack_pop(&ink_frame_pool);

    return frame != NULL ? frame : ink_segment_add();
}

void ink_frame_give_empty(struct ink_frame *frame)
{
    ink_frame_set_idle(frame);
    ink_stack_push(&ink_frame_pool, frame);
}

size_t ink_frame_segments(void)
{
    return ink_load_relaxed(&ink_segment_count);
}
