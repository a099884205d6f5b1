# Unit tests, one per module; tests/local.mk initialises the variables.

check_LTLIBRARIES += tests/libinkunit.la
tests_libinkunit_la_SOURCES = tests/unit.c tests/unit.h
tests_libinkunit_la_CFLAGS = $(INK_UNIT_CFLAGS)
INK_UNIT_LDADD = tests/libinkunit.la $(INK_UNIT_LIBS)

ink_unit_tests = \
	tests/test_options \
	tests/test_os \
	tests/test_meta \
	tests/test_lock \
	tests/test_sizeclass \
	tests/test_map \
	tests/test_buckets \
	tests/test_chunk \
	tests/test_run \
	tests/test_thread \
	tests/test_cache \
	tests/test_steal \
	tests/test_turn \
	tests/test_heap \
	tests/test_stats \
	tests/test_trim \
	tests/test_limits \
	tests/test_decay \
	tests/test_refusals \
	tests/race_core \
	tests/race_steal \
	tests/race_steal_bare
check_PROGRAMS += $(ink_unit_tests)
TESTS += $(ink_unit_tests)

tests_test_options_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_options_LDADD = $(INK_UNIT_LDADD)
tests_test_os_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_os_LDADD = $(INK_UNIT_LDADD)
tests_test_meta_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_meta_LDADD = $(INK_UNIT_LDADD)
tests_test_lock_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_lock_LDADD = $(INK_UNIT_LDADD)
tests_test_sizeclass_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_sizeclass_LDADD = $(INK_UNIT_LDADD)
tests_test_map_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_map_LDADD = $(INK_UNIT_LDADD)
tests_test_buckets_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_buckets_LDADD = $(INK_UNIT_LDADD)
tests_test_chunk_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_chunk_LDADD = $(INK_UNIT_LDADD)
tests_test_run_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_run_LDADD = $(INK_UNIT_LDADD)
tests_test_thread_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_thread_LDADD = $(INK_UNIT_LDADD)
tests_test_cache_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_cache_LDADD = $(INK_UNIT_LDADD)
tests_test_steal_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_steal_LDADD = $(INK_UNIT_LDADD)
tests_test_turn_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_turn_LDADD = $(INK_UNIT_LDADD)
tests_test_heap_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_heap_LDADD = $(INK_UNIT_LDADD)
tests_test_stats_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_stats_LDADD = $(INK_UNIT_LDADD)
tests_test_limits_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_limits_LDADD = $(INK_UNIT_LDADD)
tests_test_decay_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_decay_LDADD = $(INK_UNIT_LDADD)
tests_test_trim_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_trim_LDADD = $(INK_UNIT_LDADD)
tests_test_refusals_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_refusals_LDADD = $(INK_UNIT_LDADD)
tests_race_core_CFLAGS = $(INK_UNIT_CFLAGS)
tests_race_core_LDADD = $(INK_UNIT_LDADD)
tests_race_steal_CFLAGS = $(INK_UNIT_CFLAGS)
tests_race_steal_LDADD = $(INK_UNIT_LDADD)
# The control: the same race with a thief that leaves out the barrier.
tests_race_steal_bare_SOURCES = tests/race_steal.c src/steal.c
tests_race_steal_bare_CPPFLAGS = $(AM_CPPFLAGS) -DINK_STEAL_WITHOUT_BARRIER
tests_race_steal_bare_CFLAGS = $(INK_UNIT_CFLAGS)
tests_race_steal_bare_LDADD = $(INK_UNIT_LDADD)
