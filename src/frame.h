/* Frames: the arrays of item pointers that bins are made of and that batches travel in; and the
 * versioned stacks of frames.
 *
 *   segment (32 KiB, aligned to its size, mapped on demand, never unmapped)
 *   +--------------------+---------+---------+-- --+----------+
 *   | header: number,    | frame 2 | frame 3 | ... | frame 63 |
 *   | links, states, ... |         |         |     |          |
 *   +--------------------+---------+---------+-- --+----------+
 *
 * A frame has 64 slots and is aligned to its size.  It is named by an index {segment | frame:6}; 0
 * names none.  Links and states stand in the header, so that the arrays of idle frames need not be
 * resident and a sweep over all frames reads one page per segment.
 *
 * In a frame the items stand in one row that ends with a NULL slot.  A batch's row begins at slot
 * 0. */
#ifndef INK_FRAME_H
#define INK_FRAME_H

#include "cc.h"
#include "head.h"
#include "os.h"

enum {
    INK_FRAME_SLOTS = 64,
    INK_FRAME_ITEMS_MAX = INK_FRAME_SLOTS - 1, /* and the NULL behind them */
    INK_FRAME_BYTES = INK_FRAME_SLOTS * sizeof(void *),
    INK_SEGMENT_FRAMES = 64, /* the header's place counted */
    INK_SEGMENT_BYTES = INK_SEGMENT_FRAMES * INK_FRAME_BYTES,
};

/* Written by the thread that holds the frame; relaxed: a frame changes hands through a head
 * (release, acquire). */
typedef _Atomic(void *) ink_slot_t;

struct ink_frame {
    _Alignas(INK_FRAME_BYTES) ink_slot_t slot[INK_FRAME_SLOTS];
};

/* Where a frame is, for whoever finds it in the child of a fork.  Written by the thread that holds
 * the frame, *before* the frame leaves its place, so that a BATCH on no list, spare or bin is known
 * to be in transit. */
enum ink_frame_kind {
    INK_FRAME_IDLE,  /* empty: in the pool or in a thread's hand */
    INK_FRAME_BIN,   /* loaded in a bin: the cursor tells what is in it */
    INK_FRAME_BATCH, /* items [0, n) of one class, for one owner to take whole */
};

struct ink_segment {
    /* link[n]: index of the frame under frame n on a stack; written while frame n is on none, read
     * by poppers that may be late: relaxed, the head's version decides.  link[0] holds the
     * segment's number. */
    _Atomic uint32_t link[INK_SEGMENT_FRAMES];
    /* state[n]: {generation | class:6 | items:6 | kind:2} */
    _Atomic uint32_t state[INK_SEGMENT_FRAMES];
    /* depth[n]: frames on the stack from frame n down.  Written like link[n], and true whenever
     * link[n] is. */
    _Atomic uint32_t depth[INK_SEGMENT_FRAMES];
};

enum {
    INK_SEGMENT_FIRST = (sizeof(struct ink_segment) + INK_FRAME_BYTES - 1) / INK_FRAME_BYTES,
    INK_FRAME_SHIFT = 6, /* of an index: frame number within the segment */
    INK_SEGMENT_LEAF = 1024,
    INK_SEGMENT_ROOT = 8192,
    INK_STATE_ITEMS_SHIFT = 2,
    INK_STATE_CLASS_SHIFT = 8,
    INK_STATE_GENERATION_SHIFT = 14,
};

/* Number -> segment, in two levels.  Published by release, read by acquire, never removed.  A
 * number that was taken and never published (no memory, or a fork in between) stays NULL. */
typedef _Atomic(struct ink_segment *) ink_segment_slot_t;
extern INK_HIDDEN _Atomic(ink_segment_slot_t *) ink_segment_root[INK_SEGMENT_ROOT];

static inline struct ink_segment *ink_segment_of(const struct ink_frame *frame)
{
    return (struct ink_segment *)ink_align_down((uintptr_t)frame, INK_SEGMENT_BYTES);
}

static inline uint32_t ink_segment_number_of(const struct ink_frame *frame)
{
    return (uint32_t)((uintptr_t)frame / INK_FRAME_BYTES % INK_SEGMENT_FRAMES);
}

/* The index of a frame and the frame of an index. */
static inline uint32_t ink_frame_index(const struct ink_frame *frame)
{
    return ink_load_relaxed(&ink_segment_of(frame)->link[0]) << INK_FRAME_SHIFT |
           ink_segment_number_of(frame);
}

static inline struct ink_frame *ink_frame_at(uint32_t index)
{
    uint32_t number = index >> INK_FRAME_SHIFT;
    ink_segment_slot_t *leaf = ink_load_acquire(&ink_segment_root[number / INK_SEGMENT_LEAF]);
    struct ink_segment *segment = ink_load_acquire(&leaf[number % INK_SEGMENT_LEAF]);

    return (struct ink_frame *)(void *)segment + (index & (INK_SEGMENT_FRAMES - 1));
}

static inline _Atomic uint32_t *ink_frame_state(const struct ink_frame *frame)
{
    return &ink_segment_of(frame)->state[ink_segment_number_of(frame)];
}

static inline void ink_frame_set_idle(struct ink_frame *frame)
{
    ink_store_relaxed(ink_frame_state(frame), INK_FRAME_IDLE);
    ink_signal_fence();
}

static inline void ink_frame_set_bin(struct ink_frame *frame)
{
    ink_store_relaxed(ink_frame_state(frame), INK_FRAME_BIN);
    ink_signal_fence();
}

/* Ends the row behind items items, and says that the frame is a batch of class. */
static inline void ink_frame_set_batch(struct ink_frame *frame, unsigned class, unsigned items)
{
    ink_store_relaxed(&frame->slot[items], NULL);
    ink_signal_fence();
    ink_store_relaxed(ink_frame_state(frame), ink_os_generation() << INK_STATE_GENERATION_SHIFT |
                                                  class << INK_STATE_CLASS_SHIFT |
                                                  items << INK_STATE_ITEMS_SHIFT | INK_FRAME_BATCH);
    ink_signal_fence();
}

static inline enum ink_frame_kind ink_frame_kind(const struct ink_frame *frame)
{
    return (enum ink_frame_kind)(ink_load_relaxed(ink_frame_state(frame)) & 3);
}

/* Of a batch: how many items. */
static inline unsigned ink_frame_items(const struct ink_frame *frame)
{
    return ink_load_relaxed(ink_frame_state(frame)) >> INK_STATE_ITEMS_SHIFT & 63;
}

/* Of a batch: of which class. */
static inline unsigned ink_frame_class(const struct ink_frame *frame)
{
    return ink_load_relaxed(ink_frame_state(frame)) >> INK_STATE_CLASS_SHIFT & 63;
}

/* The frame that holds the slot. */
static inline struct ink_frame *ink_frame_of_slot(ink_slot_t *slot)
{
    return (struct ink_frame *)ink_align_down((uintptr_t)slot, INK_FRAME_BYTES);
}

/* A versioned stack of frames.  Any thread, lock-free, signal handlers too. */
struct ink_stack {
    _Alignas(INK_LINE_BYTES) struct ink_head head;
};

/* Of the stack whose top frame has this index.  May be of a frame that has just been popped: then
 * the commit that relies on it fails. */
static inline unsigned ink_frame_depth(uint32_t index)
{
    struct ink_frame *frame;

    if (index == 0)
        return 0;
    frame = ink_frame_at(index);
    return ink_load_relaxed(&ink_segment_of(frame)->depth[ink_segment_number_of(frame)]);
}

/* False, and nothing done, if the stack holds bound frames already. */
static inline bool ink_stack_push_below(struct ink_stack *stack, struct ink_frame *frame,
                                        unsigned bound)
{
    struct ink_segment *segment = ink_segment_of(frame);
    uint32_t number = ink_segment_number_of(frame);
    ink_head_snapshot_t snapshot = ink_head_snapshot(&stack->head);
    unsigned depth;

    do {
        depth = ink_frame_depth(ink_head_top_index(snapshot));
        if (depth >= bound)
            return false;
        ink_store_relaxed(&segment->link[number], ink_head_top_index(snapshot));
        ink_store_relaxed(&segment->depth[number], depth + 1);
        INK_BETWEEN();
    } while (!ink_head_commit_push(&stack->head, &snapshot, ink_frame_index(frame)));
    return true;
}

static inline void ink_stack_push(struct ink_stack *stack, struct ink_frame *frame)
{
    (void)ink_stack_push_below(stack, frame, UINT32_MAX);
}

/* The frame on top, or NULL.  The link may be read late, of a frame that somebody else has popped
 * and pushed elsewhere: the segment is mapped for ever, the read is atomic, and the version makes
 * the commit fail. */
static inline struct ink_frame *ink_stack_pop(struct ink_stack *stack)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(&stack->head);
    struct ink_frame *top;
    uint32_t next;

    do {
        if (ink_head_top_index(snapshot) == 0)
            return NULL;
        top = ink_frame_at(ink_head_top_index(snapshot));
        next = ink_load_relaxed(&ink_segment_of(top)->link[ink_segment_number_of(top)]);
        INK_BETWEEN();
    } while (!ink_head_commit_pop(&stack->head, &snapshot, next));
    return top;
}

/* All frames, chained by ink_frame_next; NULL if there are none. */
static inline struct ink_frame *ink_stack_pop_all(struct ink_stack *stack)
{
    ink_head_snapshot_t snapshot = ink_head_snapshot(&stack->head);

    do {
        if (ink_head_top_index(snapshot) == 0)
            return NULL;
        INK_BETWEEN();
    } while (!ink_head_commit_pop(&stack->head, &snapshot, 0));
    return ink_frame_at(ink_head_top_index(snapshot));
}

/* The frame on top, left there: to look at, no more. */
struct ink_frame *ink_stack_top(struct ink_stack *stack);
/* About how many frames the stack holds: exact if nobody changes it meanwhile. */
unsigned ink_stack_depth(struct ink_stack *stack);
/* The next frame of a chain, or NULL. */
struct ink_frame *ink_frame_next(const struct ink_frame *frame);

/* Empty frames that no thread has at hand. */
extern INK_HIDDEN struct ink_stack ink_frame_pool;

/* An empty frame, IDLE; NULL when there is no memory for one.  Any thread, lock-free. */
struct ink_frame *ink_frame_take_empty(void);
/* Gives an empty frame back. */
void ink_frame_give_empty(struct ink_frame *frame);

/* Segments mapped so far, for sweeps and statistics. */
size_t ink_frame_segments(void);

#endif
