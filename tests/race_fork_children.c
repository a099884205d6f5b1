/* Children that allocate: threads hammer malloc and free, up to 3 MB and freeing each other's
 * blocks, while main forks; every child does what they do, alone and beside a thread that it
 * starts.  INK_TEST_LONG makes it 3000 children.  A child that hangs is ended by its alarm, and a
 * parent that hangs by its own. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

enum {
    HAMMERS = 3,
    SLOTS = 64,
    MOST_BYTES = 3 << 20,
    CHILDREN = 500,
    CHILDREN_LONG = 3000,
    CHILD_ROUNDS = 40,
    CHILD_SECONDS = 30,
    CHILD_STATUS = 42
};

/* A block's first words are its own; whoever takes it from a slot frees it. */
struct block {
    size_t bytes;
    uint32_t seed;
};

static struct block *slots[SLOTS];
static int hammers_stop;

/* Most are small; one in thirty-two is anything up to the largest. */
static size_t hammer_size(uint32_t *rng)
{
    uint32_t const r = rng_next(rng);
    size_t const most = r % 32 == 0 ? MOST_BYTES : r % 4 == 0 ? 64 << 10 : 1 << 10;

    return sizeof(struct block) + (r >> 5) % (most - sizeof(struct block));
}

static struct block *block_new(uint32_t *rng)
{
    size_t const n = hammer_size(rng);
    struct block *const b = malloc(n);

    check_at(b != NULL, n);
    b->bytes = n;
    b->seed = rng_next(rng);
    pattern_fill(b + 1, n - sizeof *b, b->seed);
    return b;
}

static void block_drop(struct block *b)
{
    if (b != NULL)
        check_pattern(b + 1, b->bytes - sizeof *b, b->seed);
    free(b);
}

/* Puts a new block where another stood, which any other thread may have made. */
static void hammer_once(uint32_t *rng)
{
    struct block *const b = block_new(rng);

    block_drop(__atomic_exchange_n(&slots[rng_next(rng) % SLOTS], b, __ATOMIC_ACQ_REL));
}

static void *hammer(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg;

    while (!__atomic_load_n(&hammers_stop, __ATOMIC_RELAXED))
        hammer_once(&rng);
    return NULL;
}

static void *hammer_some(void *arg)
{
    uint32_t rng = (uint32_t)(uintptr_t)arg;

    for (int i = 0; i < CHILD_ROUNDS; ++i)
        hammer_once(&rng);
    return NULL;
}

static void child(uintptr_t seed)
{
    pthread_t id;

    alarm(CHILD_SECONDS);
    hammer_some((void *)seed);
    check_eq(pthread_create(&id, NULL, hammer_some, (void *)(seed + 1)), 0);
    hammer_some((void *)(seed + 2));
    check_eq(pthread_join(id, NULL), 0);
    for (int i = 0; i < SLOTS; ++i)
        block_drop(slots[i]);
    _exit(CHILD_STATUS);
}

/* Whether a child came to its end. */
static int child_succeeds(uintptr_t seed)
{
    int status = 0;

    alarm(2 * CHILD_SECONDS);
    pid_t const pid = fork();
    if (pid == 0)
        child(seed);
    check(pid > 0);
    check_eq(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_STATUS)
        return 1;
    dprintf(2, "a child ended with status 0x%x\n", (unsigned)status);
    return 0;
}

int main(void)
{
    int const children = getenv("INK_TEST_LONG") != NULL ? CHILDREN_LONG : CHILDREN;
    pthread_t id[HAMMERS];
    int failed = 0, good = 0;

    check_start();
    for (uintptr_t i = 0; i < HAMMERS; ++i)
        check_eq(pthread_create(&id[i], NULL, hammer, (void *)(i + 61)), 0);
    while (good + failed < children && failed < 3)
        child_succeeds((uintptr_t)good * 7 + 1) ? ++good : ++failed;
    __atomic_store_n(&hammers_stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < HAMMERS; ++i)
        check_eq(pthread_join(id[i], NULL), 0);
    for (int i = 0; i < SLOTS; ++i)
        block_drop(slots[i]);
    dprintf(2, "%d of %d children did all and ended, %d did not\n", good, children, failed);
    check_forks += (unsigned long)good;
    check_eq(good, children);
    return check_end();
}
