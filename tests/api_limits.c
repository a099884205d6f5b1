/* What the system limits: the number of mappings a process may have, and memory that is locked. */
#include "check.h"

#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>

enum { LARGE = 1150000, LOCKED = 1 << 20, ERRNO_MARK = 4242 };

static long mappings_allowed(void)
{
    FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
    long allowed = 65530;

    if (f != NULL) {
        check(fscanf(f, "%ld", &allowed) == 1);
        fclose(f);
    }
    return allowed;
}

static void **large_blocks(long count)
{
    void **blocks = calloc((size_t)count, sizeof *blocks);

    check(blocks != NULL);
    for (long i = 0; i < count; i++)
        if ((blocks[i] = malloc(LARGE)) == NULL)
            return NULL; /* less address space than this needs: nothing to see */
    return blocks;
}

/* More holes than a process may have mappings, and small and large blocks are still to be had; all
 * goes back in the end. */
/* O6; A17: errno stays where munmap is refused. */
static void many_large_blocks_freed_alternately_leave_room_for_others(void)
{
    long count = 2 * mappings_allowed() + 10000;
    void **blocks = large_blocks(count);

    if (blocks == NULL || mappings_allowed() > 200000) {
        printf("left out: the mappings of a process cannot be used up here\n");
        return;
    }
    for (long i = 0; i < count; i += 2) {
        errno = ERRNO_MARK;
        free(blocks[i]);
        check(errno == ERRNO_MARK);
    }
    for (int i = 0; i < 2000; i++)
        check(keep_ptr(malloc(50000)) != NULL);
    for (long i = 0; i < count; i += 2) {
        blocks[i] = malloc(LARGE);
        check(blocks[i] != NULL);
    }
    for (long i = 0; i < count; i++)
        free(blocks[i]);
    free(blocks);
    malloc_trim(0);
}

/* A block that was kept instead of unmapped reads as zero when calloc hands it out again. */
/* A18. */
static void calloc_after_many_large_blocks_is_zero(void)
{
    enum { MANY = 17000, DIRTY = 50 };
    static unsigned char *blocks[MANY];

    for (int i = 0; i < MANY; i++)
        if ((blocks[i] = malloc(LARGE)) == NULL)
            return;
    for (int i = 0; i < DIRTY; i++) {
        memset(blocks[i], 0xa5, LARGE);
        free(blocks[i]);
    }
    for (int i = 0; i < DIRTY; i++) {
        blocks[i] = calloc(1, LARGE);
        check(blocks[i] != NULL);
        for (size_t j = 0; j < LARGE; j++)
            check(blocks[i][j] == 0);
    }
    for (int i = 0; i < MANY; i++)
        free(blocks[i]);
}

/* Locked pages cannot be purged: free must not insist, and calloc must not believe them zero. */
/* A18: madvise fails. */
static void free_of_locked_memory_returns_and_calloc_is_zero(void)
{
    enum { BLOCKS = 100 };
    unsigned char *blocks[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(LOCKED);
        check(blocks[i] != NULL);
        memset(blocks[i], 0x5a, LOCKED);
    }
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        printf("left out: memory cannot be locked here: %s\n", strerror(errno));
        return;
    }
    errno = ERRNO_MARK;
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    check_eq(errno, ERRNO_MARK);
    malloc_trim(0);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = calloc(1, LOCKED);
        check(blocks[i] != NULL);
        for (size_t j = 0; j < LOCKED; j++)
            check(blocks[i][j] == 0);
    }
    check(munlockall() == 0);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

/* The kernel refuses to move what consists of several mappings; the contents get across all the
 * same. */
static void realloc_of_a_block_with_advice_on_a_part_keeps_its_contents(void)
{
    size_t size = 8 << 20, grown = 16 << 20;
    unsigned char *p = malloc(size);
    uintptr_t page = ((uintptr_t)p + 2 * CHECK_PAGE) & ~(uintptr_t)(CHECK_PAGE - 1);

    check(p != NULL);
    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)(i * 7 / 5);
    (void)madvise((void *)page, size / 2, MADV_DONTDUMP);
    p = realloc(p, grown);
    check(p != NULL);
    for (size_t i = 0; i < size; i++)
        check(p[i] == (unsigned char)(i * 7 / 5));
    free(p);
}

/* Each in 4 GiB of its own: what the allocator knows by address must not run out before the
 * addresses do. */
static void blocks_in_thousands_of_regions_are_given(void)
{
    enum { BLOCKS = 4500 };
    void **const p = calloc(BLOCKS, sizeof *p);

    check(p != NULL);
    if (sizeof(size_t) < 8)
        return;
    for (int i = 0; i < BLOCKS; ++i)
        check_eq(posix_memalign(&p[i], (size_t)4 << 30, 1), 0);
    for (int i = 0; i < BLOCKS; ++i)
        free(p[i]);
    free(p);
}

int main(void)
{
    check_start();
    blocks_in_thousands_of_regions_are_given();
    realloc_of_a_block_with_advice_on_a_part_keeps_its_contents();
    calloc_after_many_large_blocks_is_zero();
    many_large_blocks_freed_alternately_leave_room_for_others();
    free_of_locked_memory_returns_and_calloc_is_zero();
    return check_end();
}
