/* The functions that ask about the heap or tune it, and the environment variable: what they
 * return and print. */
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { TEXT_MAX = 65536, MANY = 20000, SMALL = 1000, MEDIUM = 100000, HUGE_BYTES = 64 << 20 };

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

/* What glibc 2.36 answers: 1 for its own parameters with any value and for those it does not know,
 * and 0 for fast bins of a size that there is not. */
static void mallopt_answers_as_glibc(void)
{
    static const int any[] = {M_TRIM_THRESHOLD,
                              M_TOP_PAD,
                              M_MMAP_THRESHOLD,
                              M_MMAP_MAX,
                              M_CHECK_ACTION,
                              M_PERTURB,
                              M_ARENA_TEST,
                              M_ARENA_MAX,
                              M_NLBLKS,
                              M_GRAIN,
                              M_KEEP,
                              0,
                              5,
                              -9,
                              1000,
                              INT_MIN,
                              INT_MAX};
    static const int values[] = {INT_MAX, 33554433, 131072, 161, 2, 1, -1, INT_MIN, 0};
    int const fast_max = (int)(80 * sizeof(size_t) / 4);

    for (size_t i = 0; i < sizeof any / sizeof any[0]; ++i)
        for (size_t v = 0; v < sizeof values / sizeof values[0]; ++v)
            if (mallopt(any[i], values[v]) != 1)
                check_fail("mallopt(%d, %d) is not 1", any[i], values[v]);
    check_eq(mallopt(M_MXFAST, -1), 0);
    check_eq(mallopt(M_MXFAST, fast_max + 1), 0);
    check_eq(mallopt(M_MXFAST, fast_max), 1);
    check_eq(mallopt(M_MXFAST, 0), 1);
    check_eq(mallopt(M_MXFAST, 64), 1);
    check_eq(mallopt(M_PERTURB, 0), 1);
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

/* The number in the line "name = number" that must come next. */
static size_t stats_line(const char **text, const char *name)
{
    size_t const n = strlen(name);
    unsigned long value = 0;
    int used = 0;

    if (strncmp(*text, name, n) != 0 || sscanf(*text + n, " = %lu%n", &value, &used) != 1 ||
        (*text)[n] != ' ' || (*text)[n + (size_t)used] != '\n')
        check_fail("\"%s\" should come here: %s", name, *text);
    *text += n + (size_t)used + 1;
    return value;
}

static void stats_title(const char **text, const char *title)
{
    if (strncmp(*text, title, strlen(title)) != 0)
        check_fail("\"%s\" should come here: %s", title, *text);
    *text += strlen(title);
}

struct stats_of_glibc {
    size_t arena_system, arena_in_use, system, in_use, mmap_regions, mmap_bytes;
};

static struct stats_of_glibc parse_stats(void)
{
    static char buffer[TEXT_MAX];
    struct stats_of_glibc s;
    const char *text = buffer;

    stats_text(buffer);
    if (on_inkalloc())
        text = strchr(text, '\n') + 1;
    stats_title(&text, "Arena 0:\n");
    s.arena_system = stats_line(&text, "system bytes    ");
    s.arena_in_use = stats_line(&text, "in use bytes    ");
    stats_title(&text, "Total (incl. mmap):\n");
    s.system = stats_line(&text, "system bytes    ");
    s.in_use = stats_line(&text, "in use bytes    ");
    s.mmap_regions = stats_line(&text, "max mmap regions");
    s.mmap_bytes = stats_line(&text, "max mmap bytes  ");
    return s;
}

/* A30: tools read these lines, in this order. */
static void malloc_stats_has_the_lines_of_glibc_and_follows_what_is_allocated(void)
{
    struct stats_of_glibc before = parse_stats(), after;
    void *const medium = malloc(MEDIUM), *const large = malloc(HUGE_BYTES);

    check(medium != NULL && large != NULL);
    after = parse_stats();
    check_le(before.arena_in_use, before.arena_system);
    check_le(before.in_use, before.system);
    check_le(before.arena_in_use + MEDIUM, after.arena_in_use);
    check_le(before.in_use + MEDIUM + HUGE_BYTES, after.in_use);
    check_le(after.in_use, after.system);
    check_le(1, after.mmap_regions);
    check_le(HUGE_BYTES, after.mmap_bytes);
    free(medium);
    free(large);
    check_le(parse_stats().in_use, before.in_use + MEDIUM);
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

/* The size in the last element that begins so; the elements of the whole process come after those
 * of the heap. */
static size_t info_size(const char *text, const char *element)
{
    unsigned long count, size = 0;
    const char *last = NULL;

    for (const char *at = text; (at = strstr(at, element)) != NULL; ++at)
        last = at + strlen(element);
    if (last == NULL || (sscanf(last, " count=\"%lu\" size=\"%lu\"/>", &count, &size) != 2 &&
                         sscanf(last, " size=\"%lu\"/>", &size) != 1))
        check_fail("no %s in %s", element, text);
    return size;
}

static size_t info_mmap_bytes(void)
{
    static const char *const elements[] = {"<heap nr=\"0\">",
                                           "<sizes>",
                                           "</sizes>",
                                           "<total type=\"fast\"",
                                           "<total type=\"rest\"",
                                           "<system type=\"current\"",
                                           "<system type=\"max\"",
                                           "<aspace type=\"total\"",
                                           "<aspace type=\"mprotect\"",
                                           "</heap>",
                                           "<total type=\"fast\"",
                                           "<total type=\"rest\"",
                                           "<total type=\"mmap\"",
                                           "<system type=\"current\"",
                                           "<system type=\"max\"",
                                           "<aspace type=\"total\"",
                                           "<aspace type=\"mprotect\""};
    char *text = NULL;
    size_t n = 0, bytes;
    FILE *f = open_memstream(&text, &n);

    check(f != NULL);
    check_eq(malloc_info(0, f), 0);
    check_eq(fclose(f), 0);
    check(strncmp(text, "<malloc version=\"1\">\n", 21) == 0);
    const char *at = text;
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; ++i)
        if ((at = strstr(at + 1, elements[i])) == NULL)
            check_fail("%s is not in its place: %s", elements[i], text);
    check_le(info_size(text, "<total type=\"rest\""), info_size(text, "<system type=\"current\""));
    check_le(info_size(text, "<system type=\"current\""), info_size(text, "<system type=\"max\""));
    bytes = info_size(text, "<total type=\"mmap\"");
    free(text);
    return bytes;
}

/* A30. */
static void malloc_info_has_the_elements_of_glibc_and_follows_what_is_allocated(void)
{
    size_t const before = info_mmap_bytes();
    void *const p = malloc(HUGE_BYTES);

    check(p != NULL);
    if (on_inkalloc()) /* glibc may have it from its top */
        check_le(before + HUGE_BYTES, info_mmap_bytes());
    free(p);
    check_eq(info_mmap_bytes(), before);
}

/* Its manual says -1 and errno; what it does is return the error. */
static void malloc_info_with_options_returns_einval_and_writes_nothing(void)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    check(f != NULL);
    errno = 4242;
    check_eq(malloc_info(1, f), EINVAL);
    check_eq(malloc_info(-1, f), EINVAL);
    check_eq(errno, 4242);
    check_eq(fclose(f), 0);
    check_eq(n, 0);
    free(text);
}

/* Runs this program as "api_query child" with the variable set; its stderr comes back. It must work
 * whatever the value. */
static void run_with(const char *variable, const char *value, char *text)
{
    char name[] = "api_query", child[] = "child";
    char *argv[] = {name, child, NULL};
    int fd = memfd_create("stderr", 0);
    int status = 0;
    pid_t pid = 0;

    posix_spawn_file_actions_t actions;

    check(fd >= 0);
    check_eq(setenv(variable, value, 1), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 2);
    check_eq(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    unsetenv(variable);
    check_eq(waitpid(pid, &status, 0), pid);
    check_eq(status, 0);
    read_back(fd, text);
    close(fd);
}

static void run_with_conf(const char *conf, char *text)
{
    run_with("INKALLOC_CONF", conf, text);
}

/* Of glibc and of other allocators, set for a whole session or by a test harness: not for us, so
 * not a word. */
static void environment_of_other_allocators_is_accepted_in_silence(void)
{
    static const char *const foreign[][2] = {
        {"MALLOC_ARENA_MAX", "2"},
        {"MALLOC_ARENA_TEST", "1"},
        {"MALLOC_PERTURB_", "153"},
        {"MALLOC_CHECK_", "3"},
        {"MALLOC_TOP_PAD_", "131072"},
        {"MALLOC_MMAP_MAX_", "0"},
        {"MALLOC_MMAP_THRESHOLD_", "4096"},
        {"MALLOC_TRIM_THRESHOLD_", "0"},
        {"MALLOC_TRACE", "/nonexistent/trace"},
        {"MALLOC_CONF", "narenas:1,bogus:yes"},
        {"_RJEM_MALLOC_CONF", "prof:true"},
        {"JE_MALLOC_CONF", "junk:true"},
        {"GLIBC_TUNABLES",
         "glibc.malloc.perturb=77:glibc.malloc.tcache_count=0:glibc.malloc.check=3"},
        {"TCMALLOC_SAMPLE_PARAMETER", "524288"},
        {"TCMALLOC_RELEASE_RATE", "10"},
        {"HEAPPROFILE", "/nonexistent/heap"},
        {"MIMALLOC_VERBOSE", "1"},
        {"MIMALLOC_SHOW_STATS", "1"},
        {"MIMALLOC_LARGE_OS_PAGES", "1"},
        {"SCUDO_OPTIONS", "bogus=1"},
        {"MALLOC_OPTIONS", "CFGJ"},
        {"SNMALLOC_CONF", "1"},
    };
    static char text[TEXT_MAX];

    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; ++i) {
        run_with(foreign[i][0], foreign[i][1], text);
        if (text[0] != '\0')
            check_fail("%s=%s makes it say: %s", foreign[i][0], foreign[i][1], text);
    }
    check_eq(strlen(text), 0);
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
    malloc_stats_has_the_lines_of_glibc_and_follows_what_is_allocated();
    malloc_info_writes_one_element();
    malloc_info_has_the_elements_of_glibc_and_follows_what_is_allocated();
    malloc_info_with_options_returns_einval_and_writes_nothing();
    environment_of_other_allocators_is_accepted_in_silence();
    if (on_inkalloc()) {
        conf_banner_prints_the_first_line_of_malloc_stats();
        conf_that_asks_for_nothing_prints_nothing();
        conf_with_an_unknown_option_lists_the_valid_ones_and_runs();
        conf_with_a_wrong_value_says_the_valid_ones_and_runs();
    }
    mallopt_answers_as_glibc();
    return check_end();
}
