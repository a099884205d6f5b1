/* Linked structures of small nodes: work_tree [tree|list [ROUNDS]].
 *
 * tree: a binary search tree of 20 000 random keys is built, then ROUNDS times a quarter of the
 * keys is deleted and as many new ones are inserted, then it is freed.  Insertion and deletion
 * are those of Hibbard, "Some combinatorial properties of certain trees" (1962), not balanced.
 * list: nodes are pushed on the fronts of 1000 random lists or removed from a random list, one of
 * its first four.  That most blocks of a program are few sizes of small nodes was measured by
 * Zorn & Grunwald, "Empirical measurements of six allocation-intensive C programs" (1992).
 *
 * Walking the nodes is much of the time, and depends on where the allocator puts them: that is
 * meant to count.  A node is 40 bytes in the tree and 24 in the lists. */
#include "work.h"

enum {
    KEYS = 20000,
    TREE_ROUNDS_DEFAULT = 75,
    LISTS = 1000,
    LIST_ROUNDS_DEFAULT = 70,
    LIST_STEPS = 50000,
    LIST_DEPTH = 4
};

static size_t operations;

static void *take(size_t bytes)
{
    operations++;
    return bench_check(malloc(bytes));
}

static void give(void *p)
{
    operations++;
    free(p);
}

/* ---- the tree ---- */

struct node {
    struct node *left, *right;
    uint64_t key, value[2];
};

static uint64_t keys[KEYS];

static struct node **find(struct node **at, uint64_t key)
{
    while (*at != NULL && (*at)->key != key)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    return at;
}

static void insert(struct node **root, uint64_t key)
{
    struct node **at = find(root, key);

    if (*at == NULL) {
        *at = take(sizeof **at);
        **at = (struct node){.key = key, .value = {key, ~key}};
    }
}

static void unlink_node(struct node **at)
{
    struct node *old = *at, **heir = &old->right, *next;

    if (old->left == NULL || old->right == NULL) {
        *at = old->left == NULL ? old->right : old->left;
        return;
    }
    while ((*heir)->left != NULL)
        heir = &(*heir)->left;
    next = *heir;
    *heir = next->right;
    next->left = old->left;
    next->right = old->right;
    *at = next;
}

static void erase(struct node **root, uint64_t key)
{
    struct node **at = find(root, key), *old = *at;

    if (old != NULL) {
        unlink_node(at);
        give(old);
    }
}

/* Random keys keep the tree flat enough for recursion. */
static void free_tree(struct node *node)
{
    if (node == NULL)
        return;
    free_tree(node->left);
    free_tree(node->right);
    give(node);
}

static void run_tree(struct bench_rng *rng, size_t rounds)
{
    struct node *root = NULL;

    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = bench_rng_next(rng);
        insert(&root, keys[i]);
    }
    for (size_t round = 0; round < rounds; round++) {
        size_t start = bench_rng_below(rng, KEYS);

        for (size_t i = 0; i < KEYS / 4; i++)
            erase(&root, keys[(start + i) % KEYS]);
        for (size_t i = 0; i < KEYS / 4; i++) {
            keys[(start + i) % KEYS] = bench_rng_next(rng);
            insert(&root, keys[(start + i) % KEYS]);
        }
    }
    free_tree(root);
}

/* ---- the lists ---- */

struct link {
    struct link *next;
    uint64_t value[2];
};

static struct link *lists[LISTS];

static void push(struct link **list, uint64_t value)
{
    struct link *link = take(sizeof *link);

    link->next = *list;
    link->value[0] = value;
    *list = link;
}

static void remove_at(struct link **at, size_t depth)
{
    struct link *old;

    for (; depth > 0 && *at != NULL; depth--)
        at = &(*at)->next;
    old = *at;
    if (old != NULL) {
        *at = old->next;
        give(old);
    }
}

static void run_lists(struct bench_rng *rng, size_t rounds)
{
    for (size_t i = 0; i < LIST_STEPS; i++)
        push(&lists[bench_rng_below(rng, LISTS)], i);
    for (size_t i = 0; i < rounds * LIST_STEPS; i++) {
        push(&lists[bench_rng_below(rng, LISTS)], i);
        remove_at(&lists[bench_rng_below(rng, LISTS)], bench_rng_below(rng, LIST_DEPTH));
    }
    for (size_t i = 0; i < LISTS; i++)
        while (lists[i] != NULL)
            remove_at(&lists[i], 0);
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"tree", "list", NULL};
    struct work_arguments a = work_begin(argc, argv, "work_tree [tree|list [ROUNDS]]");
    bool list = work_word(&a, words) == 1;
    size_t rounds = work_number(&a, list ? LIST_ROUNDS_DEFAULT : TREE_ROUNDS_DEFAULT, 1000000);
    struct bench_rng rng = bench_rng_seeded(1);

    work_end(&a);
    if (list)
        run_lists(&rng, rounds);
    else
        run_tree(&rng, rounds);
    bench_result("operations", (double)operations, "count");
    return 0;
}
