/* The window of class bytes and the map of owner words. */
#include "map.h"
#include "die.h"
#include "meta.h"
#include "os.h"

/* Not aligned to pages: where .bss asks for more than the machine's page, the linker gives it a
 * segment of its own that no file backs, and valgrind then reads no symbol of the library or the
 * static program, so that it sees no malloc. */
_Alignas(INK_LINE_BYTES) struct ink_window ink_window;

/* Of its first and its last page other things may be in. */
static void ink_window_forbid_huge_pages(void)
{
    uintptr_t begin = ink_align_up((uintptr_t)&ink_window, INK_OS_PAGE_BYTES_MAX);
    uintptr_t end = ink_align_down((uintptr_t)(&ink_window + 1), INK_OS_PAGE_BYTES_MAX);

    ink_os_forbid_huge_pages((void *)begin, end - begin);
}

void ink_window_place(const void *address)
{
    uintptr_t unplaced = 0;
    uintptr_t unit = ink_align_down((uintptr_t)address, INK_UNIT_BYTES);
    uintptr_t top = unit + (uintptr_t)INK_WINDOW_UNITS / 2 * INK_UNIT_BYTES - INK_WINDOW_ITEM;

    if (ink_load_relaxed(&ink_window.top) == 0 && ink_cas_acq_rel(&ink_window.top, &unplaced, top))
        ink_window_forbid_huge_pages();
}

void ink_window_set_class(const void *address, size_t units, unsigned class)
{
    uintptr_t last = (ink_load_relaxed(&ink_window.top) - (uintptr_t)address) >> INK_UNIT_SHIFT;

    for (size_t i = 0; i < units; i++)
        if (last - i < INK_WINDOW_UNITS)
            ink_store_relaxed(&ink_window.class_of_unit[last - i], (uint8_t) class);
}

_Atomic(struct ink_leaf *) ink_leaves[INK_LEAF_SLOTS];

/* The first leaf: most processes need no other, and none needs a system call for it. */
static struct ink_leaf ink_leaf_first;
static ink_flag_t ink_leaf_first_taken;

/* Never more than there are slots: whoever has a leaf in hand finds a slot for it. */
static _Atomic uint32_t ink_leaves_made;

/* One leaf put by. */
static _Atomic(struct ink_leaf *) ink_leaf_kept;

struct ink_leaf *ink_leaf_take(void)
{
    struct ink_leaf *leaf = ink_exchange_acq_rel(&ink_leaf_kept, NULL);

    if (leaf != NULL)
        return leaf;
    if (ink_add_relaxed(&ink_leaves_made, 1) < INK_LEAF_SLOTS) {
        if (!ink_exchange_acq_rel(&ink_leaf_first_taken, true))
            return &ink_leaf_first;
        leaf = ink_meta_alloc(sizeof(struct ink_leaf), INK_LINE_BYTES);
    }
    if (leaf == NULL)
        ink_sub_relaxed(&ink_leaves_made, 1);
    return leaf;
}

/* If one is kept already, this one is lost; its pages were never touched. */
void ink_leaf_keep(struct ink_leaf *leaf)
{
    (void)ink_exchange_acq_rel(&ink_leaf_kept, leaf);
}

struct ink_leaf *ink_leaf_probe(uintptr_t key)
{
    size_t slot = ink_leaf_first_slot(key);

    for (size_t i = 0; i < INK_LEAF_SLOTS; i++) {
        struct ink_leaf *leaf = ink_load_acquire(&ink_leaves[(slot + i) % INK_LEAF_SLOTS]);

        if (leaf == NULL || leaf->key == key)
            return leaf;
    }
    return NULL;
}

struct ink_leaf *ink_owners_open_with(const void *address, struct ink_leaf *leaf)
{
    uintptr_t key = ink_leaf_key((uintptr_t)address);
    size_t slot = ink_leaf_first_slot(key);

    leaf->key = key;
    for (size_t i = 0; i < INK_LEAF_SLOTS; i++) {
        struct ink_leaf *there = NULL;

        if (ink_cas_acq_rel(&ink_leaves[(slot + i) % INK_LEAF_SLOTS], &there, leaf))
            return NULL;
        if (there->key == key)
            return leaf;
    }
    ink_die_internal("a leaf in hand has no slot");
}

static bool ink_leaf_add(const void *address)
{
    struct ink_leaf *leaf = ink_leaf_take();

    if (leaf == NULL)
        return false;
    leaf = ink_owners_open_with(address, leaf);
    if (leaf != NULL)
        ink_leaf_keep(leaf);
    return true;
}

bool ink_owners_open(const void *address, size_t bytes)
{
    uintptr_t last = (uintptr_t)address + bytes - 1;

    for (uintptr_t key = ink_leaf_key((uintptr_t)address); key <= ink_leaf_key(last); key++) {
        uintptr_t at = key == ink_leaf_key(last) ? last : (uintptr_t)((uint64_t)key << 32);

        if (ink_leaf_find(at) == NULL && !ink_leaf_add((const void *)at))
            return false;
    }
    return true;
}

void ink_owners_set(const void *address, size_t units, ink_owner_t owner)
{
    for (size_t i = 0; i < units; i++) {
        uintptr_t at = (uintptr_t)address + i * INK_UNIT_BYTES;

        ink_store_release(&ink_leaf_find(at)->owner[at >> INK_UNIT_SHIFT & (INK_LEAF_UNITS - 1)],
                          owner);
    }
}
