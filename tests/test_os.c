/* System calls: fresh memory is zero and aligned, errno is left alone, generations tell parents
 * from children. */
/* The source itself, in place of the library's object: a test sets the last generation. */
#include "os.c"
#include "unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ERRNO_MARK = 4711 };

/* More than any address space has, and no round-off to 0. */
#define TOO_MUCH ((size_t)PTRDIFF_MAX - 65535)

static int mark_errno(void **state)
{
    (void)state;
    errno = ERRNO_MARK;
    return 0;
}

static size_t page(void)
{
    return ink_os_page_bytes();
}

/* Pages of address space that the process has. */
static size_t mapped_pages(void)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, text, sizeof text - 1);

    close(fd);
    assert_true(length > 0);
    text[length] = '\0';
    return strtoul(text, NULL, 10);
}

/* The page size is the kernel's. */
static void page_bytes_is_what_the_system_says(void **state)
{
    (void)state;
    assert_int_equal(ink_os_page_bytes(), sysconf(_SC_PAGESIZE));
    assert_int_equal(errno, ERRNO_MARK);
}

/* Fresh memory is page-aligned, zero and writable; unmapped it is gone. */
static void map_gives_zero_pages_and_unmap_takes_them(void **state)
{
    char *p = ink_os_map(10 * page());

    (void)state;
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % page(), 0);
    assert_true(unit_is_zero(p, 10 * page()));
    memset(p, 0xa5, 10 * page());
    assert_int_equal(errno, ERRNO_MARK);
    assert_true(ink_os_unmap(p, 10 * page()));
    assert_int_equal(errno, ERRNO_MARK);
    assert_false(unit_is_mapped(p, 1));
    assert_false(unit_is_mapped(p + 9 * page(), 1));
}

/* What the system refuses is NULL or false, and errno is as before. */
static void calls_that_are_refused_leave_errno_alone(void **state)
{
    char *p = ink_os_map(page());

    (void)state;
    assert_null(ink_os_map(TOO_MUCH));
    assert_null(ink_os_map_aligned(TOO_MUCH, 1 << 21));
    assert_null(ink_os_map_aligned(1 << 21, (size_t)PTRDIFF_MAX / 2 + 1));
    assert_null(ink_os_remap(p, page(), TOO_MUCH, true));
    assert_null(ink_os_remap(p + 1, page(), 2 * page(), true));
    assert_false(ink_os_unmap(p + 1, page()));
    assert_false(ink_os_purge(p + 1, page()));
    ink_os_forbid_huge_pages(p + 1, page());
    ink_os_write(-1, "x", 1);
    ink_os_yield();
    assert_int_equal(errno, ERRNO_MARK);
    assert_true(ink_os_unmap(p, page()));
}

/* Every alignment from a page to 1 GiB is kept, and nothing but the block stays mapped. */
static void map_aligned_keeps_alignment_and_maps_no_more(void **state)
{
    (void)state;
    for (size_t alignment = page(); alignment <= (size_t)1 << 30; alignment *= 2) {
        size_t before = mapped_pages(), bytes = 3 * page();
        char *p = ink_os_map_aligned(bytes, alignment);

        assert_non_null(p);
        assert_int_equal((uintptr_t)p % alignment, 0);
        assert_true(unit_is_zero(p, bytes));
        assert_int_equal(mapped_pages() - before, 3);
        p[bytes - 1] = 1;
        assert_true(ink_os_unmap(p, bytes));
        assert_int_equal(mapped_pages(), before);
    }
}

/* Lengths that are no multiple of the page are rounded up, not cut off. */
static void map_aligned_of_odd_length_keeps_the_last_page(void **state)
{
    size_t before = mapped_pages();
    char *p = ink_os_map_aligned(2 * page() + 1, 1 << 20);

    (void)state;
    assert_non_null(p);
    p[2 * page()] = 1;
    assert_int_equal(mapped_pages() - before, 3);
    assert_true(ink_os_unmap(p, 2 * page() + 1));
}

/* A mapping with a neighbour cannot grow in place; it is then untouched, and may be moved with what
 * is in it. */
static void remap_of_hemmed_in_mapping_moves_only_if_it_may(void **state)
{
    char *p = ink_os_map(2 * page());
    char *moved;

    (void)state;
    memset(p, 0x11, page());
    memset(p + page(), 0x22, page());
    assert_null(ink_os_remap(p, page(), 2 * page(), false));
    assert_int_equal(errno, ERRNO_MARK);
    assert_int_equal(p[0], 0x11);
    assert_int_equal(p[page()], 0x22);

    moved = ink_os_remap(p, page(), 3 * page(), true);
    assert_non_null(moved);
    assert_ptr_not_equal(moved, p);
    assert_int_equal(moved[0], 0x11);
    assert_int_equal(moved[page() - 1], 0x11);
    assert_true(unit_is_zero(moved + page(), 2 * page()));
    assert_int_equal(p[page()], 0x22);
    assert_true(ink_os_unmap(moved, 3 * page()));
    assert_true(ink_os_unmap(p + page(), page()));
}

/* Shrinking stays in place and gives the end back. */
static void remap_to_less_stays_and_frees_the_end(void **state)
{
    char *p = ink_os_map(4 * page());

    (void)state;
    p[0] = 1;
    p[3 * page()] = 4;
    assert_ptr_equal(ink_os_remap(p, 4 * page(), page(), false), p);
    assert_int_equal(p[0], 1);
    assert_false(unit_is_mapped(p + page(), 3 * page()));
    assert_true(ink_os_unmap(p, page()));
}

/* A purge that says true has made zeros, and of those pages only. */
static void purge_makes_zeros_of_its_pages_only(void **state)
{
    char *p = ink_os_map(4 * page());

    (void)state;
    for (int round = 0; round < 2; round++) {
        memset(p, 0x55, 4 * page());
        assert_true(ink_os_purge(p + page(), 2 * page()));
        assert_int_equal(errno, ERRNO_MARK);
        assert_true(unit_is_zero(p + page(), 2 * page()));
        assert_int_equal(p[page() - 1], 0x55);
        assert_int_equal(p[3 * page()], 0x55);
    }
    assert_true(ink_os_unmap(p, 4 * page()));
}

/* Forbidding huge pages leaves contents and errno alone. */
static void forbid_huge_pages_changes_nothing_else(void **state)
{
    char *p = ink_os_map(page());

    (void)state;
    p[0] = 7;
    ink_os_forbid_huge_pages(p, page());
    assert_int_equal(errno, ERRNO_MARK);
    assert_int_equal(p[0], 7);
    assert_true(ink_os_unmap(p, page()));
}

/* A wait ends although nobody wakes us, and at once if the word is another one. */
static void wait_ends_by_itself(void **state)
{
    static _Atomic uint32_t word = 5;
    uint64_t start = unit_nanoseconds();

    (void)state;
    ink_os_wait(&word, 6);
    ink_os_wait(&word, 5);
    assert_true(unit_nanoseconds() - start < 10000000000u);
    assert_true(unit_nanoseconds() - start > 40000u);
    assert_int_equal(errno, ERRNO_MARK);
}

/* All of a text arrives, also when it is longer than the pipe holds. */
static void write_of_long_text_writes_it_all(void **state)
{
    static char sent[300000], got[300000];
    int ends[2];
    pid_t pid;
    size_t length = 0;
    ssize_t part;

    (void)state;
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (char)(i * 7);
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        ink_os_write(ends[1], sent, sizeof sent);
        _exit(0);
    }
    close(ends[1]);
    while ((part = read(ends[0], got + length, sizeof got - length)) > 0)
        length += (size_t)part;
    close(ends[0]);
    waitpid(pid, NULL, 0);
    assert_int_equal(length, sizeof sent);
    assert_memory_equal(sent, got, sizeof sent);
}

/* What another thread or process sees. */
struct seen {
    uint32_t generation;
    uintptr_t self;
    bool first;
};

static void see(void *arg)
{
    struct seen *seen = arg;

    errno = ERRNO_MARK;
    seen->generation = ink_os_generation();
    seen->self = ink_os_self();
    seen->first = ink_os_is_first_thread();
    UNIT_CHECK(errno == ERRNO_MARK);
}

/* Threads of a process share its generation; each has an id of its own, and one is the first. */
static void threads_share_generation_and_differ_in_self(void **state)
{
    struct seen mine, others[2];

    (void)state;
    see(&mine);
    unit_threads(2, see, others, sizeof others[0]);
    assert_in_range(mine.generation, 1, INK_OS_GENERATIONS - 1);
    assert_true(mine.first);
    assert_int_equal(mine.self, ink_os_self());
    for (int i = 0; i < 2; i++) {
        assert_int_equal(others[i].generation, mine.generation);
        assert_false(others[i].first);
        assert_int_not_equal(others[i].self, mine.self);
    }
    assert_int_not_equal(others[0].self, others[1].self);
    assert_int_equal(errno, ERRNO_MARK);
}

static void check_grandchild(void *arg)
{
    uint32_t *ancestors = arg;
    uint32_t mine = ink_os_generation();

    UNIT_CHECK(mine >= 1 && mine < INK_OS_GENERATIONS);
    UNIT_CHECK(mine != ancestors[0] && mine != ancestors[1]);
    UNIT_CHECK(ink_os_generation() == mine);
    UNIT_CHECK(ink_os_is_first_thread());
}

static void check_child(void *arg)
{
    uint32_t *ancestors = arg;
    struct unit_end end;

    ancestors[1] = ink_os_generation();
    UNIT_CHECK(ancestors[1] >= 1 && ancestors[1] < INK_OS_GENERATIONS);
    UNIT_CHECK(ancestors[1] != ancestors[0]);
    end = unit_child(check_grandchild, ancestors);
    UNIT_CHECK(end.status == 0);
    UNIT_CHECK(ink_os_generation() == ancestors[1]);
}

/* A child has another generation than its ancestors, and its parent keeps its own. */
static void generation_in_child_differs_from_all_ancestors(void **state)
{
    uint32_t ancestors[2] = {ink_os_generation()};

    (void)state;
    unit_assert_fine(check_child, ancestors);
    assert_int_equal(ink_os_generation(), ancestors[0]);
}

static void fork_without_asking(void *arg)
{
    struct unit_end end = unit_child(check_grandchild, arg);

    UNIT_CHECK(end.status == 0);
}

/* Also when the generation in between never asked for its own. */
static void generation_after_two_forks_without_asking_differs(void **state)
{
    uint32_t ancestors[2];

    (void)state;
    ancestors[0] = ancestors[1] = ink_os_generation();
    unit_assert_fine(fork_without_asking, ancestors);
}

static void fork_at_the_last_number(void *arg)
{
    uint32_t ancestors[2] = {INK_OS_GENERATIONS - 1, INK_OS_GENERATIONS - 1};
    struct unit_end end;

    (void)arg;
    ink_store_relaxed(&ink_last_generation, INK_OS_GENERATIONS - 1);
    ink_store_relaxed(ink_os_generation_word(), INK_OS_GENERATIONS - 1);
    end = unit_child(check_grandchild, ancestors);
    UNIT_CHECK(end.status == 0);
}

/* Behind the last number comes the first, and never 0. */
static void generation_after_the_last_number_begins_again(void **state)
{
    (void)state;
    unit_assert_fine(fork_at_the_last_number, NULL);
}

static int see_generation(void *arg)
{
    *(uint32_t *)arg = ink_os_generation();
    return 0;
}

/* A child that shares our memory, as vfork makes it, is of our generation: the allocator's state is
 * the same. */
static void generation_in_vforked_child_is_the_parents(void **state)
{
    static _Alignas(64) char stack[65536];
    uint32_t mine = ink_os_generation(), seen = 0;
    pid_t pid;

    (void)state;
    if (!unit_child_may_share_memory())
        skip();
    pid = clone(see_generation, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &seen);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(seen, mine);
    assert_int_equal(ink_os_generation(), mine);
}

#define TEST(f) cmocka_unit_test_setup(f, mark_errno)

UNIT_MAIN(TEST(page_bytes_is_what_the_system_says), TEST(map_gives_zero_pages_and_unmap_takes_them),
          TEST(calls_that_are_refused_leave_errno_alone),
          TEST(map_aligned_keeps_alignment_and_maps_no_more),
          TEST(map_aligned_of_odd_length_keeps_the_last_page),
          TEST(remap_of_hemmed_in_mapping_moves_only_if_it_may),
          TEST(remap_to_less_stays_and_frees_the_end), TEST(purge_makes_zeros_of_its_pages_only),
          TEST(forbid_huge_pages_changes_nothing_else), TEST(wait_ends_by_itself),
          TEST(write_of_long_text_writes_it_all), TEST(threads_share_generation_and_differ_in_self),
          TEST(generation_in_child_differs_from_all_ancestors),
          TEST(generation_after_two_forks_without_asking_differs),
          TEST(generation_after_the_last_number_begins_again),
          TEST(generation_in_vforked_child_is_the_parents))
