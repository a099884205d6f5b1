/* InkAtomicList, on the wide and on the locked head: what goes in comes out, in order, once; remove
 * finds an item wherever it stands. */
#include "atomiclist.h"
#include "unit.h"

#include <string.h>

struct thing {
    char before[24];
    ink_atomiclist_link_t link;
    unsigned number;
};

enum { THINGS = 8 };

static struct thing things[THINGS];

static struct ink_atomiclist list_of(unsigned count)
{
    struct ink_atomiclist list;

    ink_atomiclist_init(&list, "things", offsetof(struct thing, link));
    for (unsigned i = 0; i < count; i++)
        (void)ink_atomiclist_push(&list, &things[i]);
    return list;
}

/* A list of nothing has nothing to give, and nothing to remove. */
static void operations_on_empty_list_find_nothing(void **state)
{
    struct ink_atomiclist list = list_of(0);

    (void)state;
    assert_string_equal(list.name, "things");
    assert_true(ink_atomiclist_empty(&list));
    assert_null(ink_atomiclist_pop(&list));
    assert_null(ink_atomiclist_pop_all(&list));
    assert_null(ink_atomiclist_remove(&list, &things[0]));
    assert_null(ink_atomiclist_remove(&list, NULL));
    assert_true(ink_atomiclist_empty(&list));
}

/* Push says what was on top: NULL tells the pusher that somebody may be waiting for the first
 * item. */
static void push_returns_what_was_on_top(void **state)
{
    struct ink_atomiclist list = list_of(0);

    (void)state;
    assert_null(ink_atomiclist_push(&list, &things[0]));
    assert_false(ink_atomiclist_empty(&list));
    assert_ptr_equal(ink_atomiclist_push(&list, &things[1]), &things[0]);
    assert_ptr_equal(ink_atomiclist_push(&list, &things[2]), &things[1]);
}

/* What was pushed last is popped first, with its link cleared and nothing else touched. */
static void pop_gives_last_first_and_clears_link(void **state)
{
    struct ink_atomiclist list;

    (void)state;
    memset(things, 0x5a, sizeof things);
    list = list_of(THINGS);
    for (unsigned i = THINGS; i-- > 0;) {
        assert_ptr_equal(ink_atomiclist_pop(&list), &things[i]);
        assert_true(ink_load_relaxed(&things[i].link) == 0);
        assert_int_equal(things[i].before[23], 0x5a);
        assert_int_equal(things[i].number, 0x5a5a5a5a);
    }
    assert_null(ink_atomiclist_pop(&list));
}

/* All of them, last first; the list is empty and can be filled again at once. */
static void pop_all_gives_chain_last_first(void **state)
{
    struct ink_atomiclist list = list_of(THINGS);
    struct thing *thing = ink_atomiclist_pop_all(&list);
    unsigned i = THINGS;

    (void)state;
    assert_true(ink_atomiclist_empty(&list));
    for (; thing != NULL; thing = ink_atomiclist_next(&list, thing))
        assert_ptr_equal(thing, &things[--i]);
    assert_int_equal(i, 0);
    assert_null(ink_atomiclist_push(&list, &things[3]));
    assert_ptr_equal(ink_atomiclist_pop(&list), &things[3]);
}

/* From the top, from the middle and from the end; the others stay in order. */
static void remove_takes_item_from_anywhere(void **state)
{
    (void)state;
    for (unsigned gone = 0; gone < THINGS; gone++) {
        struct ink_atomiclist list = list_of(THINGS);

        assert_ptr_equal(ink_atomiclist_remove(&list, &things[gone]), &things[gone]);
        assert_true(ink_load_relaxed(&things[gone].link) == 0);
        assert_null(ink_atomiclist_remove(&list, &things[gone]));
        for (unsigned i = THINGS; i-- > 0;)
            if (i != gone)
                assert_ptr_equal(ink_atomiclist_pop(&list), &things[i]);
        assert_null(ink_atomiclist_pop(&list));
    }
}

/* An item of another list is not found, and that list keeps it. */
static void remove_of_item_on_another_list_finds_nothing(void **state)
{
    struct ink_atomiclist list = list_of(2), other;

    (void)state;
    ink_atomiclist_init(&other, "other", offsetof(struct thing, link));
    (void)ink_atomiclist_push(&other, &things[5]);
    assert_null(ink_atomiclist_remove(&list, &things[5]));
    assert_ptr_equal(ink_atomiclist_pop(&other), &things[5]);
    assert_ptr_equal(ink_atomiclist_pop(&list), &things[1]);
    assert_ptr_equal(ink_atomiclist_pop(&list), &things[0]);
}

/* A link at the very beginning of an item works as well. */
static void link_may_be_first_in_item(void **state)
{
    struct ink_atomiclist list;
    ink_atomiclist_link_t items[2];

    (void)state;
    ink_atomiclist_init(&list, NULL, 0);
    (void)ink_atomiclist_push(&list, &items[0]);
    (void)ink_atomiclist_push(&list, &items[1]);
    assert_ptr_equal(ink_atomiclist_remove(&list, &items[0]), &items[0]);
    assert_ptr_equal(ink_atomiclist_pop(&list), &items[1]);
    assert_true(ink_atomiclist_empty(&list));
}

/* ---- one remover, many pushers ---- */

enum { PUSHERS = 3, EACH = 20000 };

static struct ink_atomiclist inbox;
static struct thing mail[PUSHERS][EACH];

static void push_mail(void *arg)
{
    struct thing *mine = *(struct thing **)arg;

    for (unsigned i = 0; i < EACH; i++)
        (void)ink_atomiclist_push(&inbox, &mine[i]);
}

/* Takes what is there by all three ways, until everything has come. */
static void take_mail(void)
{
    unsigned came = 0;
    struct thing *thing, *next;

    while (came < PUSHERS * EACH) {
        if ((thing = ink_atomiclist_pop(&inbox)) != NULL)
            thing->number++, came++;
        thing = &mail[came % PUSHERS][came / PUSHERS % EACH];
        if (ink_atomiclist_remove(&inbox, thing) != NULL)
            thing->number++, came++;
        if (came % 64 == 0)
            for (thing = ink_atomiclist_pop_all(&inbox); thing != NULL; thing = next, came++) {
                next = ink_atomiclist_next(&inbox, thing);
                thing->number++;
            }
    }
}

static void push_or_take(void *arg)
{
    if (*(struct thing **)arg != NULL)
        push_mail(arg);
    else
        take_mail();
}

/* Each item comes once, however it is taken, while others push. */
static void remover_beside_pushers_gets_each_item_once(void **state)
{
    struct thing *args[PUSHERS + 1] = {mail[0], mail[1], mail[2], NULL};

    (void)state;
    ink_atomiclist_init(&inbox, "inbox", offsetof(struct thing, link));
    unit_threads(PUSHERS + 1, push_or_take, args, sizeof args[0]);
    assert_true(ink_atomiclist_empty(&inbox));
    for (unsigned i = 0; i < PUSHERS * EACH; i++)
        assert_int_equal(mail[i / EACH][i % EACH].number, 1);
}

UNIT_MAIN(cmocka_unit_test(operations_on_empty_list_find_nothing),
          cmocka_unit_test(push_returns_what_was_on_top),
          cmocka_unit_test(pop_gives_last_first_and_clears_link),
          cmocka_unit_test(pop_all_gives_chain_last_first),
          cmocka_unit_test(remove_takes_item_from_anywhere),
          cmocka_unit_test(remove_of_item_on_another_list_finds_nothing),
          cmocka_unit_test(link_may_be_first_in_item),
          cmocka_unit_test(remover_beside_pushers_gets_each_item_once))
