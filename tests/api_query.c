/* The functions that ask about the heap or tune it, and the environment variable: what they
 * return and print. */
#include "check.h"

#include <malloc.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { TEXT_MAX = 65536, MANY = 20000, SMALL = 1000, HUGE_BYTES = 64 << 20 };

extern char **environ;

static size_t in_use_bytes(void)
{
    struct mallinfo2 const m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

/* A30. */
static void mallinfo2_follows_a_large_block(void)
{
    size_t const before = in_use_bytes();
    void *const p = malloc(HUGE_BYTES);

    check(p != NULL);
    check_le(before + HUGE_BYTES, in_use_bytes());
    free(p);
    check_le(in_use_bytes(), before + 1048576);
}

/* A30. */
static void mallinfo2_follows_many_small_blocks(void)
{
    static void *p[MANY];
    size_t const before = in_use_bytes();

    for (int i = 0; i < MANY; ++i)
        check((p[i] = malloc(SMALL)) != NULL);
    check_le(before + (size_t)MANY * SMALL, in_use_bytes());
    check_le(in_use_bytes(), before + (size_t)MANY * SMALL * 5 / 4 + 1048576);
    for (int i = 0; i < MANY; ++i)
        free(p[i]);
    check_le(in_use_bytes(), before + 1048576);
}

static void mallinfo2_sums_agree(void)
{
    struct mallinfo2 const m = mallinfo2();

    check_eq(m.uordblks + m.fordblks, m.arena);
    check_le(1, m.arena + m.hblkhd);
    check_eq(m.hblks == 0, m.hblkhd == 0);
}

static void mallinfo_says_the_same_in_ints(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    struct mallinfo const m = mallinfo();
#pragma GCC diagnostic pop
    struct mallinfo2 const m2 = mallinfo2();

    check_eq(m.arena, (int)m2.arena);
    check_eq(m.uordblks, (int)m2.uordblks);
    check_eq(m.hblkhd, (int)m2.hblkhd);
}

static void mallopt_accepts_the_parameters_of_glibc(void)
{
    check_eq(mallopt(M_MXFAST, 64), 1);
    check_eq(mallopt(M_TRIM_THRESHOLD, 128 << 10), 1);
    check_eq(mallopt(M_TOP_PAD, 0), 1);
    check_eq(mallopt(M_MMAP_THRESHOLD, 256 << 10), 1);
    check_eq(mallopt(M_MMAP_MAX, 65536), 1);
    check_eq(mallopt(M_CHECK_ACTION, 3), 1);
    check_eq(mallopt(M_PERTURB, 0), 1);
    check_eq(mallopt(M_ARENA_TEST, 2), 1);
    check_eq(mallopt(M_ARENA_MAX, 1), 1);
    free(malloc(100));
}

static void malloc_usable_size_of_null_is_zero(void)
{
    check_eq(malloc_usable_size(keep_ptr(NULL)), 0);
}

/* A31. */
static void malloc_trim_gives_small_blocks_back_and_says_so(void)
{
    enum { KEPT_APART = 64 };
    static void *p[KEPT_APART * 1024];
    size_t const count = sizeof p / sizeof p[0];

    for (size_t i = 0; i < count; ++i) {
        check((p[i] = malloc(1024)) != NULL);
        memset(p[i], 1, 1024);
    }
    size_t const full = resident_bytes();
    for (size_t i = 0; i < count; ++i)
        free(p[i]);
    int const first = malloc_trim(0);
    check(first == 0 || first == 1);
    check_le(resident_bytes(), full - (48 << 20));
    int const second = malloc_trim(0);
    check(second == 0 || second == 1);
}

static void malloc_trim_without_anything_to_give_returns_zero(void)
{
    if (!on_inkalloc())
        return; /* glibc finds something for ever */
    malloc_trim(0);
    malloc_trim(0);
    check_eq(malloc_trim(0), 0);
}

/* What fd holds from its start, as text. */
static void read_back(int fd, char *text)
{
    ssize_t const got = pread(fd, text, TEXT_MAX - 1, 0);

    check(got >= 0);
    text[got] = '\0';
}

static void stats_text(char *text)
{
    int const fd = memfd_create("stats", 0);
    int const saved = dup(2);

    check(fd >= 0 && saved >= 0);
    dup2(fd, 2);
    malloc_stats();
    dup2(saved, 2);
    close(saved);
    read_back(fd, text);
    close(fd);
}

static void malloc_stats_begins_with_the_name(void)
{
    static char text[TEXT_MAX];

    stats_text(text);
    if (on_inkalloc())
        check(strncmp(text, "inkalloc ", 9) == 0);
    check(strchr(text, '\n') != NULL);
}

/* Every tag is closed in its order, and the whole is one element. */
static bool is_one_element(const char *s)
{
    const char *open[64];
    size_t length[64];
    int depth = 0, roots = 0;

    while (*s != '\0') {
        if (*s != '<') {
            if (depth == 0 && *s != '\n' && *s != ' ')
                return false;
            ++s;
            continue;
        }
        const char *const end = strchr(s, '>');
        bool const last = s[1] == '/';
        if (end == NULL || memchr(s + 1, '<', (size_t)(end - s - 1)) != NULL)
            return false;
        s += 1 + last;
        size_t const n = strcspn(s, " />");
        if (n == 0)
            return false;
        if (last) {
            if (depth == 0 || length[depth - 1] != n || strncmp(open[depth - 1], s, n) != 0)
                return false;
            --depth;
        } else if (end[-1] != '/') {
            if (depth == 64)
                return false;
            roots += depth == 0;
            open[depth] = s;
            length[depth] = n;
            ++depth;
        }
        s = end + 1;
    }
    return depth == 0 && roots == 1;
}

static void malloc_info_writes_one_element(void)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    check(!is_one_element("<a><b></a></b>") && is_one_element("<a x=\"1\"><b/></a>\n") &&
          !is_one_element("<a>"));
    check(f != NULL);
    check_eq(malloc_info(0, f), 0);
    check_eq(fclose(f), 0);
    check(strncmp(text, "<malloc", 7) == 0);
    if (!is_one_element(text))
        check_fail("not one element: %s", text);
    free(text);
}

static void malloc_info_with_options_is_refused(void)
{
    FILE *const f = fopen("/dev/null", "w");

    check(f != NULL);
    check(malloc_info(1, f) != 0);
    fclose(f);
}

/* Runs this program as "api_query child" with the variable set; its stderr comes back. It must work
 * whatever the value. */
static void run_with_conf(const char *conf, char *text)
{
    char name[] = "api_query", child[] = "child";
    char *argv[] = {name, child, NULL};
    int fd = memfd_create("stderr", 0);
    int status = 0;
    pid_t pid = 0;

    posix_spawn_file_actions_t actions;

    check(fd >= 0);
    check_eq(setenv("INKALLOC_CONF", conf, 1), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 2);
    check_eq(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    unsetenv("INKALLOC_CONF");
    check_eq(waitpid(pid, &status, 0), pid);
    check_eq(status, 0);
    read_back(fd, text);
    close(fd);
}

static int count_lines(const char *text)
{
    int n = 0;

    for (; *text != '\0'; ++text)
        n += *text == '\n';
    return n;
}

static void conf_banner_prints_the_first_line_of_malloc_stats(void)
{
    static char banner[TEXT_MAX], stats[TEXT_MAX];

    run_with_conf("banner:true", banner);
    stats_text(stats);
    check_eq(count_lines(banner), 1);
    if (strncmp(banner, stats, strlen(banner)) != 0)
        check_fail("banner \"%s\", statistics \"%s\"", banner, stats);
}

static void conf_that_asks_for_nothing_prints_nothing(void)
{
    static char text[TEXT_MAX];

    run_with_conf("banner:false", text);
    check_eq(strlen(text), 0);
    run_with_conf("", text);
    check_eq(strlen(text), 0);
}

static void check_one_sentence(const char *conf, const char *about)
{
    static char text[TEXT_MAX];

    run_with_conf(conf, text);
    if (count_lines(text) != 1 || strncmp(text, "inkalloc: ", 10) != 0 ||
        strstr(text, about) == NULL || strstr(text, "banner") == NULL)
        check_fail("INKALLOC_CONF=%s says \"%s\"", conf, text);
    check(count_lines(text) == 1);
}

static void conf_with_an_unknown_option_lists_the_valid_ones_and_runs(void)
{
    check_one_sentence("frobnicate:1", "frobnicate");
    check_one_sentence("frobnicate", "frobnicate");
    check_one_sentence("bannerx:true", "bannerx");
}

static void conf_with_a_wrong_value_says_the_valid_ones_and_runs(void)
{
    check_one_sentence("banner:maybe", "maybe");
    check_one_sentence("banner:maybe", "true");
    check_one_sentence("banner:", "true");
    check_one_sentence("banner", "true");
}

/* In the child of run_with_conf: real work, in silence. */
static int child_works(void)
{
    for (size_t n = 1; n < 5000000; n *= 3) {
        char *const p = calloc(1, n);

        if (p == NULL || p[n - 1] != 0)
            return 1;
        free(p);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_works();
    check_start();
    mallinfo2_follows_a_large_block();
    mallinfo2_follows_many_small_blocks();
    mallinfo2_sums_agree();
    mallinfo_says_the_same_in_ints();
    malloc_usable_size_of_null_is_zero();
    malloc_trim_gives_small_blocks_back_and_says_so();
    malloc_trim_without_anything_to_give_returns_zero();
    malloc_stats_begins_with_the_name();
    malloc_info_writes_one_element();
    malloc_info_with_options_is_refused();
    if (on_inkalloc()) {
        conf_banner_prints_the_first_line_of_malloc_stats();
        conf_that_asks_for_nothing_prints_nothing();
        conf_with_an_unknown_option_lists_the_valid_ones_and_runs();
        conf_with_a_wrong_value_says_the_valid_ones_and_runs();
    }
    mallopt_accepts_the_parameters_of_glibc();
    return check_end();
}
