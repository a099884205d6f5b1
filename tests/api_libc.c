/* What libc allocates itself comes from the same heap: every block it hands out, its relatives
 * and ours may resize, measure and free, and what it allocates inside survives storms. A block
 * of another heap would end in an abort. */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <iconv.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <regex.h>
#include <search.h>
#include <wchar.h>

enum { STORM = 3000, BIG = 300000 };

/* The block is one of ours: as large as one that we would give, and ours to resize and free. */
static void check_ours(void *p, size_t asked)
{
    void *const like = malloc(asked);

    check(p != NULL && like != NULL);
    check_eq(malloc_usable_size(p), malloc_usable_size(like));
    free(like);
    p = realloc(p, asked + 1000);
    check(p != NULL);
    free(p);
}

/* As check_ours, where only libc knows what it has asked for. */
static void check_ours_at_least(void *p, size_t asked)
{
    check(p != NULL);
    check_le(asked, malloc_usable_size(p));
    p = realloc(p, asked + 1000);
    check(p != NULL);
    free(p);
}

/* A32: so with all of this file. */
static void strdup_and_relatives_give_our_blocks(void)
{
    static char text[70000];

    for (size_t n = 0; n < sizeof text - 1; n = n * 2 + 1) {
        memset(text, 'x', n);
        text[n] = '\0';
        char *copy = strdup(text);
        char *prefix = strndup(text, n / 2);

        check(copy != NULL && prefix != NULL);
        check_eq(strlen(copy), n);
        check_eq(strlen(prefix), n / 2);
        check_ours(copy, n + 1);
        check_ours(prefix, n / 2 + 1);
    }
    check_ours(wcsdup(L"inkalloc"), 9 * sizeof(wchar_t));
}

/* A33: libc's own, which calls our realloc. */
static void reallocarray_grows_and_refuses_overflow(void)
{
    int *p = NULL;

    for (size_t n = 1; n < 1000000; n *= 2) {
        p = reallocarray(p, n, sizeof *p);
        check_at(p != NULL, n);
        if (n > 1)
            check_eq(p[n / 2 - 1], (int)n / 2);
        p[n - 1] = (int)n;
    }
    size_t const usable = malloc_usable_size(p);
    errno = 0;
    check(reallocarray(p, keep_size(SIZE_MAX / 2), 4) == NULL);
    check_eq(errno, ENOMEM);
    check_eq(malloc_usable_size(keep_ptr(p)), usable);
    check_ours_at_least(p, 1000);
}

static void asprintf_gives_our_blocks(void)
{
    for (int n = 1; n < 100000; n = n * 3) {
        char *text = NULL;

        check_eq(asprintf(&text, "%*d", n, 7), n);
        check_eq(strlen(text), n);
        check_ours_at_least(text, (size_t)n + 1);
    }
}

static void getline_and_open_memstream_give_our_blocks(void)
{
    char *text = NULL, *line = NULL;
    size_t size = 0, room = 0;
    FILE *f = open_memstream(&text, &size);

    check(f != NULL);
    for (int i = 0; i < STORM; ++i)
        check(fprintf(f, "%0*d\n", 1 + i % 700, i) > 0);
    check_eq(fclose(f), 0);
    f = fmemopen(text, size, "r");
    check(f != NULL);
    for (int i = 0; i < STORM; ++i) {
        check(getline(&line, &room, f) > 0);
        check_eq(atoi(line), i);
    }
    check(getline(&line, &room, f) == -1);
    fclose(f);
    check_ours(line, room);
    check_ours_at_least(text, size);
}

static void fopen_and_fclose_in_storms_work(void)
{
    FILE *f[100];

    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 100; ++i) {
            char c;

            f[i] = fopen("/proc/self/exe", "r");
            check(f[i] != NULL && fread(&c, 1, 1, f[i]) == 1 && c == '\x7f');
        }
        for (int i = 0; i < 100; ++i)
            check_eq(fclose(f[(i * 37 + round) % 100]), 0);
    }
}

static void setenv_in_storms_keeps_every_variable(void)
{
    char name[32], value[600];

    for (int i = 0; i < STORM; ++i) {
        snprintf(name, sizeof name, "INK_STORM_%d", i % 500);
        memset(value, 'a' + i % 26, sizeof value);
        value[i % (int)sizeof value] = '\0';
        check_eq(setenv(name, value, 1), 0);
    }
    for (int i = STORM - 500; i < STORM; ++i) {
        snprintf(name, sizeof name, "INK_STORM_%d", i % 500);
        const char *const got = getenv(name);
        check(got != NULL);
        check_eq(strlen(got), i % (int)sizeof value);
        check(i % (int)sizeof value == 0 || got[0] == 'a' + i % 26);
        check_eq(unsetenv(name), 0);
    }
    check_eq(clearenv(), 0);
}

static int by_value(const void *a, const void *b)
{
    int const left = *(const int *)a, right = *(const int *)b;

    return (left > right) - (left < right);
}

static void qsort_of_much_sorts(void)
{
    int *v = malloc(BIG * sizeof *v);
    uint32_t rng = 9;

    check(v != NULL);
    for (int i = 0; i < BIG; ++i)
        v[i] = (int)(rng_next(&rng) >> 1);
    qsort(v, BIG, sizeof *v, by_value);
    for (int i = 1; i < BIG; ++i)
        if (v[i - 1] > v[i])
            check_fail("not sorted at %d", i);
    check(v[0] <= v[BIG - 1]);
    free(v);
}

static void paths_and_directories_give_our_blocks(void)
{
    struct dirent **names = NULL;
    glob_t g;

    check_ours_at_least(getcwd(NULL, 0), 2);
    check_ours_at_least(realpath("/proc/self/fd", NULL), 2);
    int const n = scandir("/proc/self", &names, NULL, alphasort);
    check(n > 5);
    for (int i = 0; i < n; ++i)
        check_ours_at_least(names[i], strlen(names[i]->d_name));
    check_ours_at_least(names, (size_t)n * sizeof names[0]);
    check_eq(glob("/proc/self/*", 0, NULL, &g), 0);
    check(g.gl_pathc > 5);
    globfree(&g);
}

static void resolver_regex_iconv_and_locale_come_and_go(void)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found = NULL;

    for (int i = 0; i < 30; ++i) {
        regex_t r;

        check_eq(getaddrinfo("127.0.0.1", "80", &hints, &found), 0);
        freeaddrinfo(found);
        check_eq(regcomp(&r, "^(a|b)*c[[:alpha:]]{3,9}$", REG_EXTENDED), 0);
        check_eq(regexec(&r, "ababcxyzxyz", 0, NULL, 0), 0);
        check(regexec(&r, "ababcx", 0, NULL, 0) != 0);
        regfree(&r);
        iconv_t const cd = iconv_open("UTF-16LE", "UTF-8");
        check(cd != (iconv_t)-1);
        check_eq(iconv_close(cd), 0);
        locale_t const l = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        check(l != (locale_t)0);
        freelocale(l);
    }
}

static void tsearch_trees_free_with_ours(void)
{
    void *root = NULL;

    for (int i = 0; i < STORM; ++i) {
        int *const key = malloc(sizeof *key);

        check(key != NULL);
        *key = (int)((unsigned)i * 7919U % 100003U);
        check(*(int **)tsearch(key, &root, by_value) == key);
    }
    tdestroy(root, free);
}

static void popen_reads_what_a_shell_writes(void)
{
    char line[64];
    FILE *f = popen("echo from a shell", "r");

    check(f != NULL && fgets(line, sizeof line, f) != NULL);
    check_eq(strcmp(line, "from a shell\n"), 0);
    check_eq(pclose(f), 0);
}

static long brk_heap_bytes(void)
{
    char line[512];
    unsigned long from, to;
    long bytes = 0;
    FILE *f = fopen("/proc/self/maps", "r");

    check(f != NULL);
    while (fgets(line, sizeof line, f) != NULL)
        if (strstr(line, "[heap]") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2)
            bytes += (long)(to - from);
    fclose(f);
    return bytes;
}

/* A32: with all that libc has allocated in this program, no heap of its own stands beside ours. */
static void no_heap_of_libc_grows_next_to_ours(void)
{
    if (on_inkalloc())
        check_eq(brk_heap_bytes(), 0);
    else
        check(brk_heap_bytes() != 0); /* the measure sees libc's */
}

int main(void)
{
    check_start();
    strdup_and_relatives_give_our_blocks();
    reallocarray_grows_and_refuses_overflow();
    asprintf_gives_our_blocks();
    getline_and_open_memstream_give_our_blocks();
    fopen_and_fclose_in_storms_work();
    qsort_of_much_sorts();
    paths_and_directories_give_our_blocks();
    resolver_regex_iconv_and_locale_come_and_go();
    tsearch_trees_free_with_ours();
    popen_reads_what_a_shell_writes();
    setenv_in_storms_keeps_every_variable();
    no_heap_of_libc_grows_next_to_ours();
    return check_end();
}
