/* Frames: names, states, and stacks that neither lose a frame nor give one to two. */
#include "frame.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 3 * INK_SEGMENT_FRAMES };

static int compare_pointers(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

    return x < y ? -1 : x > y;
}

static void assert_distinct(struct ink_frame *const *frames, size_t count)
{
    struct ink_frame **sorted = malloc(count * sizeof *sorted);

    assert_non_null(sorted);
    memcpy(sorted, frames, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_pointers);
    for (size_t i = 1; i < count; i++)
        assert_ptr_not_equal(sorted[i - 1], sorted[i]);
    free(sorted);
}

/* Empty frames are aligned to their size, idle, nobody else's, and their index leads back to
 * them. */
static void take_empty_gives_distinct_frames_with_their_index(void **state)
{
    struct ink_frame *frames[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        frames[i] = ink_frame_take_empty();
        assert_non_null(frames[i]);
        assert_int_equal((uintptr_t)frames[i] % INK_FRAME_BYTES, 0);
        assert_int_equal(ink_frame_kind(frames[i]), INK_FRAME_IDLE);
        assert_int_not_equal(ink_frame_index(frames[i]), 0);
        assert_ptr_equal(ink_frame_at(ink_frame_index(frames[i])), frames[i]);
        assert_true(ink_segment_number_of(frames[i]) >= INK_SEGMENT_FIRST);
    }
    assert_distinct(frames, MANY);
    assert_true(ink_frame_segments() >= 4);
    for (int i = 0; i < MANY; i++)
        ink_frame_give_empty(frames[i]);
}

/* What is given back is taken again before a new segment is mapped. */
static void take_empty_after_give_maps_nothing(void **state)
{
    struct ink_frame *frames[MANY];
    size_t segments;

    (void)state;
    for (int i = 0; i < MANY; i++)
        frames[i] = ink_frame_take_empty();
    segments = ink_frame_segments();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            ink_frame_give_empty(frames[i]);
        for (int i = 0; i < MANY; i++)
            frames[i] = ink_frame_take_empty();
        assert_distinct(frames, MANY);
    }
    assert_int_equal(ink_frame_segments(), segments);
    for (int i = 0; i < MANY; i++)
        ink_frame_give_empty(frames[i]);
}

/* Each slot of a frame leads to its frame. */
static void frame_of_slot_is_its_frame(void **state)
{
    struct ink_frame *frame = ink_frame_take_empty();

    (void)state;
    for (int i = 0; i < INK_FRAME_SLOTS; i++)
        assert_ptr_equal(ink_frame_of_slot(&frame->slot[i]), frame);
    ink_frame_give_empty(frame);
}

/* A batch says its class and its number of items, and its row ends behind them. */
static void set_batch_of_every_class_and_length_is_read_back(void **state)
{
    struct ink_frame *frame = ink_frame_take_empty(), *other = ink_frame_take_empty();

    (void)state;
    for (unsigned class = 1; class < 64; class ++)
        for (unsigned items = 1; items <= INK_FRAME_ITEMS_MAX; items++) {
            ink_store_relaxed(&frame->slot[items], frame);
            ink_frame_set_batch(frame, class, items);
            assert_int_equal(ink_frame_kind(frame), INK_FRAME_BATCH);
            assert_int_equal(ink_frame_class(frame), class);
            assert_int_equal(ink_frame_items(frame), items);
            assert_null(ink_load_relaxed(&frame->slot[items]));
            assert_int_equal(ink_load_relaxed(ink_frame_state(frame)) >> INK_STATE_GENERATION_SHIFT,
                             ink_os_generation());
        }
    assert_int_equal(ink_frame_kind(other), INK_FRAME_IDLE);
    ink_frame_set_bin(frame);
    assert_int_equal(ink_frame_kind(frame), INK_FRAME_BIN);
    ink_frame_set_idle(frame);
    assert_int_equal(ink_frame_kind(frame), INK_FRAME_IDLE);
    ink_frame_give_empty(frame);
    ink_frame_give_empty(other);
}

/* Giving a frame back makes it idle, whatever it was. */
static void give_empty_makes_frame_idle(void **state)
{
    struct ink_frame *frame = ink_frame_take_empty();

    (void)state;
    ink_frame_set_bin(frame);
    ink_frame_give_empty(frame);
    assert_int_equal(ink_frame_kind(frame), INK_FRAME_IDLE);
}

/* A stack gives the last frame first and counts what it holds. */
static void pop_gives_last_pushed_first_and_depth_follows(void **state)
{
    static struct ink_stack stack;
    struct ink_frame *frames[MANY];

    (void)state;
    assert_null(ink_stack_pop(&stack));
    assert_null(ink_stack_top(&stack));
    assert_int_equal(ink_stack_depth(&stack), 0);
    for (unsigned i = 0; i < MANY; i++) {
        frames[i] = ink_frame_take_empty();
        ink_stack_push(&stack, frames[i]);
        assert_int_equal(ink_stack_depth(&stack), i + 1);
        assert_ptr_equal(ink_stack_top(&stack), frames[i]);
    }
    for (unsigned i = MANY; i-- > 0;) {
        assert_ptr_equal(ink_stack_pop(&stack), frames[i]);
        assert_int_equal(ink_stack_depth(&stack), i);
        ink_frame_give_empty(frames[i]);
    }
    assert_null(ink_stack_pop(&stack));
}

/* Taking all gives a chain from the last to the first, and leaves the stack empty and in order. */
static void pop_all_gives_chain_and_leaves_nothing(void **state)
{
    static struct ink_stack stack;
    struct ink_frame *frames[MANY], *frame;

    (void)state;
    assert_null(ink_stack_pop_all(&stack));
    for (int i = 0; i < MANY; i++) {
        frames[i] = ink_frame_take_empty();
        ink_stack_push(&stack, frames[i]);
    }
    frame = ink_stack_pop_all(&stack);
    assert_int_equal(ink_stack_depth(&stack), 0);
    assert_null(ink_stack_pop(&stack));
    for (int i = MANY; i-- > 0; frame = ink_frame_next(frame))
        assert_ptr_equal(frame, frames[i]);
    assert_null(frame);
    ink_stack_push(&stack, frames[5]);
    assert_int_equal(ink_stack_depth(&stack), 1);
    assert_ptr_equal(ink_stack_pop(&stack), frames[5]);
    assert_null(ink_stack_pop(&stack));
    for (int i = 0; i < MANY; i++)
        ink_frame_give_empty(frames[i]);
}

/* A bounded push stops at the bound, touches nothing then, and works again when there is room. */
static void push_below_at_bound_does_nothing(void **state)
{
    static struct ink_stack stack;
    struct ink_frame *frames[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        frames[i] = ink_frame_take_empty();
    assert_false(ink_stack_push_below(&stack, frames[0], 0));
    for (int i = 0; i < 3; i++)
        assert_true(ink_stack_push_below(&stack, frames[i], 3));
    assert_false(ink_stack_push_below(&stack, frames[3], 3));
    assert_int_equal(ink_stack_depth(&stack), 3);
    assert_ptr_equal(ink_stack_pop(&stack), frames[2]);
    assert_true(ink_stack_push_below(&stack, frames[3], 3));
    assert_ptr_equal(ink_stack_pop(&stack), frames[3]);
    assert_ptr_equal(ink_stack_pop(&stack), frames[1]);
    assert_ptr_equal(ink_stack_pop(&stack), frames[0]);
    for (int i = 0; i < 4; i++)
        ink_frame_give_empty(frames[i]);
}

/* A popper that was interrupted between its look and its commit must not bring back a frame that
 * has gone elsewhere. */
static void pop_interrupted_by_pops_and_push_of_same_frame_is_refused(void **state)
{
    static struct ink_stack stack, elsewhere;
    struct ink_frame *a = ink_frame_take_empty(), *b = ink_frame_take_empty();
    ink_head_snapshot_t late;
    uint32_t next;

    (void)state;
    ink_stack_push(&stack, a);
    ink_stack_push(&stack, b);
    late = ink_head_snapshot(&stack.head);
    next = ink_load_relaxed(&ink_segment_of(b)->link[ink_segment_number_of(b)]);
    assert_int_equal(next, ink_frame_index(a));

    assert_ptr_equal(ink_stack_pop(&stack), b);
    assert_ptr_equal(ink_stack_pop(&stack), a);
    ink_stack_push(&elsewhere, a);
    ink_stack_push(&stack, b);

    assert_false(ink_head_commit_pop(&stack.head, &late, next));
    assert_ptr_equal(ink_stack_pop(&stack), b);
    assert_null(ink_stack_pop(&stack));
    assert_ptr_equal(ink_stack_pop(&elsewhere), a);
    ink_frame_give_empty(a);
    ink_frame_give_empty(b);
}

enum { THREADS = 4, STACKS = 2, TOKENS = 24 };

static struct ink_stack stacks[STACKS];

/* Per frame: whether a thread has it in hand, and a word that only that thread writes. */
struct token {
    _Atomic bool held;
    unsigned uses;
};
static struct token tokens[64 * INK_SEGMENT_FRAMES];

struct player {
    uint64_t seed;
    struct unit_timer timer;
    unsigned long uses;
};

static void use(struct player *player, struct ink_frame *frame)
{
    struct token *token = &tokens[ink_frame_index(frame)];

    UNIT_CHECK(!ink_exchange_acq_rel(&token->held, true));
    token->uses++;
    player->uses++;
}

static void put(struct ink_frame *frame, struct ink_stack *stack, unsigned bound)
{
    UNIT_CHECK(ink_exchange_acq_rel(&tokens[ink_frame_index(frame)].held, false));
    if (!ink_stack_push_below(stack, frame, bound))
        ink_stack_push(stack, frame);
}

static void play(void *arg)
{
    struct player *player = arg;

    while (!unit_timer_over(&player->timer))
        for (int i = 0; i < 1000; i++) {
            uint32_t dice = unit_random(&player->seed);
            struct ink_stack *from = &stacks[dice % STACKS], *to = &stacks[dice / 8 % STACKS];
            struct ink_frame *frame, *next;

            if (dice / 64 % 16 != 0) {
                frame = ink_stack_pop(from);
                if (frame != NULL) {
                    use(player, frame);
                    put(frame, to, dice / 1024 % 2 != 0 ? UINT32_MAX : 3);
                }
                continue;
            }
            for (frame = ink_stack_pop_all(from); frame != NULL; frame = next) {
                next = ink_frame_next(frame);
                use(player, frame);
                put(frame, to, UINT32_MAX);
            }
        }
}

/* However many pop and push at once, each frame is in one hand at a time and all are there in the
 * end. */
static void stacks_under_load_keep_every_frame_once(void **state)
{
    struct player players[THREADS];
    unsigned long uses = 0, counted = 0;
    unsigned found = 0;

    (void)state;
    for (int i = 0; i < TOKENS; i++) {
        struct ink_frame *frame = ink_frame_take_empty();

        assert_true(ink_frame_index(frame) < sizeof tokens / sizeof tokens[0]);
        ink_stack_push(&stacks[i % STACKS], frame);
    }
    for (unsigned i = 0; i < THREADS; i++)
        players[i] = (struct player){.seed = i, .timer = unit_timer_start(0.5)};
    unit_threads(THREADS, play, players, sizeof players[0]);
    for (int i = 0; i < THREADS; i++)
        uses += players[i].uses;
    for (int i = 0; i < STACKS; i++) {
        unsigned depth = ink_stack_depth(&stacks[i]);

        for (struct ink_frame *frame; (frame = ink_stack_pop(&stacks[i])) != NULL;
             depth--, found++) {
            struct token *token = &tokens[ink_frame_index(frame)];

            assert_false(ink_exchange_acq_rel(&token->held, true));
            counted += token->uses;
            ink_frame_give_empty(frame);
        }
        assert_int_equal(depth, 0);
    }
    assert_int_equal(found, TOKENS);
    assert_true(uses > 0 && uses == counted);
}

static void take_and_give(void *arg)
{
    struct player *player = arg;
    struct ink_frame *mine[40];
    unsigned held = 0;

    while (!unit_timer_over(&player->timer))
        for (int i = 0; i < 1000; i++) {
            if (held < 40 && (held == 0 || unit_random(&player->seed) % 2 != 0)) {
                mine[held] = ink_frame_take_empty();
                UNIT_CHECK(mine[held] != NULL);
                use(player, mine[held++]);
            } else {
                held--;
                UNIT_CHECK(ink_exchange_acq_rel(&tokens[ink_frame_index(mine[held])].held, false));
                ink_frame_give_empty(mine[held]);
            }
        }
    while (held-- > 0) {
        UNIT_CHECK(ink_exchange_acq_rel(&tokens[ink_frame_index(mine[held])].held, false));
        ink_frame_give_empty(mine[held]);
    }
}

/* Threads that take empty frames at once, new segments among them, never get the same. */
static void take_empty_by_many_threads_gives_each_frame_to_one(void **state)
{
    struct player players[THREADS];

    (void)state;
    memset(tokens, 0, sizeof tokens);
    while (ink_stack_pop(&ink_frame_pool) != NULL)
        continue;
    for (unsigned i = 0; i < THREADS; i++)
        players[i] = (struct player){.seed = 100 + i, .timer = unit_timer_start(0.25)};
    unit_threads(THREADS, take_and_give, players, sizeof players[0]);
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++)
        assert_false(tokens[i].held);
}

UNIT_MAIN(cmocka_unit_test(take_empty_gives_distinct_frames_with_their_index),
          cmocka_unit_test(take_empty_after_give_maps_nothing),
          cmocka_unit_test(frame_of_slot_is_its_frame),
          cmocka_unit_test(set_batch_of_every_class_and_length_is_read_back),
          cmocka_unit_test(give_empty_makes_frame_idle),
          cmocka_unit_test(pop_gives_last_pushed_first_and_depth_follows),
          cmocka_unit_test(pop_all_gives_chain_and_leaves_nothing),
          cmocka_unit_test(push_below_at_bound_does_nothing),
          cmocka_unit_test(pop_interrupted_by_pops_and_push_of_same_frame_is_refused),
          cmocka_unit_test(stacks_under_load_keep_every_frame_once),
          cmocka_unit_test(take_empty_by_many_threads_gives_each_frame_to_one))
