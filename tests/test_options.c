/* INKALLOC_CONF: what counts, what is complained of, and in which words. */
#include "options.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VALID                                                                             \
    "; valid options are banner:false|true, thp:auto|always|never, dirty_max:BYTES[K|M|G], " \
    "limit_soft:BYTES[K|M|G], limit_hard:BYTES[K|M|G], decay:SECONDS, "                      \
    "purge:dontneed|free, hugetlb:false|true, purge_thread:false|true\n"

static void parse(void *text)
{
    ink_options_parse(text);
    dprintf(STDERR_FILENO, "banner is %s\n", ink_options.banner ? "true" : "false");
}

static void parse_memory(void *text)
{
    ink_options_parse(text);
    dprintf(STDERR_FILENO, "thp %d, dirty_max %zu\n", (int)ink_options.thp, ink_options.dirty_max);
}

static void assert_memory_says(const char *text, const char *expected)
{
    assert_string_equal(unit_child(parse_memory, (void *)(uintptr_t)text).text, expected);
}

/* In a child, as options are read once in a process. */
static void assert_says(const char *text, const char *expected)
{
    struct unit_end end = unit_child(parse, (void *)(uintptr_t)text);

    assert_string_equal(end.text, expected);
    assert_true(WIFEXITED(end.status));
}

/* No text, and a text without options, leave the defaults and say nothing. */
static void parse_of_nothing_keeps_defaults(void **state)
{
    (void)state;
    assert_says(NULL, "banner is false\n");
    assert_says("", "banner is false\n");
    assert_says(",", "banner is false\n");
    assert_says(",,,", "banner is false\n");
}

/* Each value is taken, the last one counts. */
static void parse_of_valid_values_sets_them(void **state)
{
    (void)state;
    assert_says("banner:true", "banner is true\n");
    assert_says("banner:false", "banner is false\n");
    assert_says("banner:true,banner:false", "banner is false\n");
    assert_says(",banner:false,,banner:true,", "banner is true\n");
}

/* Huge pages by a word, memory that may stay by a number with or without a unit. */
static void parse_of_memory_options_sets_them(void **state)
{
    (void)state;
    assert_memory_says(NULL, "thp 0, dirty_max 12582912\n");
    assert_memory_says("thp:never", "thp 2, dirty_max 12582912\n");
    assert_memory_says("thp:always,dirty_max:0", "thp 1, dirty_max 0\n");
    assert_memory_says("thp:always,thp:auto,dirty_max:123", "thp 0, dirty_max 123\n");
    assert_memory_says("dirty_max:5K", "thp 0, dirty_max 5120\n");
    assert_memory_says("dirty_max:64M", "thp 0, dirty_max 67108864\n");
    assert_memory_says("dirty_max:1G", "thp 0, dirty_max 1073741824\n");
}

static void parse_limits(void *text)
{
    ink_options_parse(text);
    dprintf(STDERR_FILENO, "soft %zu, hard %zu, decay %u\n", ink_options.limit_soft,
            ink_options.limit_hard, ink_options.decay);
}

/* There is no limit unless one is asked for; a time beyond all sense is a long one. */
static void parse_of_limits_and_times_sets_them(void **state)
{
    static char all[] = "limit_soft:48M,limit_hard:64M,decay:3", long_time[] = "decay:9999999999";

    (void)state;
    assert_string_equal(unit_child(parse_limits, NULL).text, "soft 0, hard 0, decay 10\n");
    assert_string_equal(unit_child(parse_limits, all).text,
                        "soft 50331648, hard 67108864, decay 3\n");
    assert_string_equal(unit_child(parse_limits, long_time).text,
                        "soft 0, hard 0, decay 1000000\n");
}

/* No number, no unit of ours, too much for an address: refused, and the default stays. */
static void parse_of_wrong_bytes_keeps_the_default(void **state)
{
    static const char *const wrong[] = {"dirty_max:",   "dirty_max:M",  "dirty_max:-1",
                                        "dirty_max:1k", "dirty_max:1 ", "dirty_max:0x10",
                                        "dirty_max:99999999999999999999", "dirty_max:99999999999G",
                                        "decay:", "decay:1s", "decay:-1", "decay:1K"};
    char expected[512];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(expected, sizeof expected,
                 "inkalloc: INKALLOC_CONF: wrong value in '%s'" VALID "thp 0, dirty_max 12582912\n",
                 wrong[i]);
        assert_memory_says(wrong[i], expected);
    }
}

/* A name that is not known is named, with what is. */
static void parse_of_unknown_name_lists_valid_options(void **state)
{
    (void)state;
    assert_says("colour:blue",
                "inkalloc: INKALLOC_CONF: unknown option 'colour:blue'" VALID "banner is false\n");
    assert_says("colour",
                "inkalloc: INKALLOC_CONF: unknown option 'colour'" VALID "banner is false\n");
    assert_says("banne:true",
                "inkalloc: INKALLOC_CONF: unknown option 'banne:true'" VALID "banner is false\n");
    assert_says("banners:true",
                "inkalloc: INKALLOC_CONF: unknown option 'banners:true'" VALID "banner is false\n");
    assert_says(" banner:true",
                "inkalloc: INKALLOC_CONF: unknown option ' banner:true'" VALID "banner is false\n");
    assert_says(":true",
                "inkalloc: INKALLOC_CONF: unknown option ':true'" VALID "banner is false\n");
}

/* So is a value. */
static void parse_of_wrong_value_lists_valid_options(void **state)
{
    (void)state;
    assert_says("banner:maybe",
                "inkalloc: INKALLOC_CONF: wrong value in 'banner:maybe'" VALID "banner is false\n");
    assert_says("banner:TRUE",
                "inkalloc: INKALLOC_CONF: wrong value in 'banner:TRUE'" VALID "banner is false\n");
    assert_says("banner:tru",
                "inkalloc: INKALLOC_CONF: wrong value in 'banner:tru'" VALID "banner is false\n");
    assert_says("banner:trues",
                "inkalloc: INKALLOC_CONF: wrong value in 'banner:trues'" VALID "banner is false\n");
    assert_says("banner:true:false",
                "inkalloc: INKALLOC_CONF: wrong value in 'banner:true:false'" VALID
                "banner is false\n");
    assert_says("banner:",
                "inkalloc: INKALLOC_CONF: wrong value in 'banner:'" VALID "banner is false\n");
    assert_says("banner",
                "inkalloc: INKALLOC_CONF: wrong value in 'banner'" VALID "banner is false\n");
}

/* A wrong option is no reason to ignore the others, before and behind it. */
static void parse_with_wrong_options_among_valid_ones_counts_the_valid(void **state)
{
    (void)state;
    assert_says("one:1,banner:true,two:2",
                "inkalloc: INKALLOC_CONF: unknown option 'one:1'" VALID
                "inkalloc: INKALLOC_CONF: unknown option 'two:2'" VALID "banner is true\n");
    assert_says("banner:true,banner:perhaps",
                "inkalloc: INKALLOC_CONF: wrong value in 'banner:perhaps'" VALID
                "banner is true\n");
}

/* An item of any length costs one sentence, which quotes its beginning. */
static void parse_of_long_item_quotes_its_beginning(void **state)
{
    static char text[100000];
    char expected[1024];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    snprintf(expected, sizeof expected,
             "inkalloc: INKALLOC_CONF: unknown option '%.64s'" VALID "banner is false\n", text);
    assert_says(text, expected);
}

UNIT_MAIN(cmocka_unit_test(parse_of_nothing_keeps_defaults),
          cmocka_unit_test(parse_of_valid_values_sets_them),
          cmocka_unit_test(parse_of_memory_options_sets_them),
          cmocka_unit_test(parse_of_limits_and_times_sets_them),
          cmocka_unit_test(parse_of_wrong_bytes_keeps_the_default),
          cmocka_unit_test(parse_of_unknown_name_lists_valid_options),
          cmocka_unit_test(parse_of_wrong_value_lists_valid_options),
          cmocka_unit_test(parse_with_wrong_options_among_valid_ones_counts_the_valid),
          cmocka_unit_test(parse_of_long_item_quotes_its_beginning))
