# Tests of the exported functions: api_*, race_*, die_*; tests/local.mk initialises the variables.
# None of them links inkalloc: tests/run-test.sh preloads it.

ink_api_tests = \
	tests/api_align \
	tests/api_basic \
	tests/api_ifunc \
	tests/api_libc \
	tests/api_limits \
	tests/api_oom \
	tests/api_perturb \
	tests/api_plugin_host \
	tests/api_query \
	tests/race_fork \
	tests/race_fork_children \
	tests/race_siglongjmp \
	tests/race_signal \
	tests/race_threads

ink_cxx_tests = tests/api_cxx

ink_die_tests = \
	tests/die_double_large \
	tests/die_double_last \
	tests/die_double_later \
	tests/die_double_medium \
	tests/die_double_medium_other_thread \
	tests/die_double_other \
	tests/die_double_other_thread \
	tests/die_double_realloc_medium \
	tests/die_double_sized \
	tests/die_double_warm \
	tests/die_foreign_brk \
	tests/die_foreign_mmap \
	tests/die_foreign_stack \
	tests/die_foreign_static \
	tests/die_foreign_unmapped \
	tests/die_foreign_wild \
	tests/die_interior_large \
	tests/die_interior_medium \
	tests/die_interior_medium_near \
	tests/die_interior_perturbed \
	tests/die_interior_small_drained \
	tests/die_misaligned_1 \
	tests/die_misaligned_8 \
	tests/die_misaligned_large \
	tests/die_misaligned_medium \
	tests/die_misaligned_static \
	tests/die_realloc_foreign \
	tests/die_realloc_freed_large \
	tests/die_realloc_misaligned \
	tests/die_usable_foreign

# No built-in knowledge of malloc: a pair that the compiler removes tests nothing.
ink_api_cflags = -std=gnu11 -fno-builtin -pthread $(INK_WARN_CFLAGS) $(INK_SANITIZER_FLAGS)
ink_api_cxxflags = -std=gnu++17 -fno-builtin -fsized-deallocation -pthread $(AM_CXXFLAGS)

tests_api_align_CFLAGS = $(ink_api_cflags)
tests_api_basic_CFLAGS = $(ink_api_cflags)
tests_api_cxx_SOURCES = tests/api_cxx.cc tests/cxx_operators.h tests/check.h
tests_api_cxx_CXXFLAGS = $(ink_api_cxxflags)
tests_api_ifunc_CFLAGS = $(ink_api_cflags)
tests_api_libc_CFLAGS = $(ink_api_cflags)
tests_api_limits_CFLAGS = $(ink_api_cflags)
tests_api_oom_CFLAGS = $(ink_api_cflags)
tests_api_perturb_CFLAGS = $(ink_api_cflags)
tests_api_plugin_host_CFLAGS = $(ink_api_cflags)
tests_api_query_CFLAGS = $(ink_api_cflags)
tests_race_fork_CFLAGS = $(ink_api_cflags)
tests_race_fork_children_CFLAGS = $(ink_api_cflags)
tests_race_siglongjmp_CFLAGS = $(ink_api_cflags)
tests_race_signal_CFLAGS = $(ink_api_cflags)
tests_race_threads_CFLAGS = $(ink_api_cflags)
tests_die_double_large_CFLAGS = $(ink_api_cflags)
tests_die_double_last_CFLAGS = $(ink_api_cflags)
tests_die_double_later_CFLAGS = $(ink_api_cflags)
tests_die_double_medium_CFLAGS = $(ink_api_cflags)
tests_die_double_medium_other_thread_CFLAGS = $(ink_api_cflags)
tests_die_double_other_CFLAGS = $(ink_api_cflags)
tests_die_double_other_thread_CFLAGS = $(ink_api_cflags)
tests_die_double_realloc_medium_CFLAGS = $(ink_api_cflags)
tests_die_double_sized_CFLAGS = $(ink_api_cflags)
tests_die_double_warm_CFLAGS = $(ink_api_cflags)
tests_die_foreign_brk_CFLAGS = $(ink_api_cflags)
tests_die_foreign_mmap_CFLAGS = $(ink_api_cflags)
tests_die_foreign_stack_CFLAGS = $(ink_api_cflags)
tests_die_foreign_static_CFLAGS = $(ink_api_cflags)
tests_die_foreign_unmapped_CFLAGS = $(ink_api_cflags)
tests_die_foreign_wild_CFLAGS = $(ink_api_cflags)
tests_die_interior_large_CFLAGS = $(ink_api_cflags)
tests_die_interior_medium_CFLAGS = $(ink_api_cflags)
tests_die_interior_medium_near_CFLAGS = $(ink_api_cflags)
tests_die_interior_perturbed_CFLAGS = $(ink_api_cflags)
tests_die_interior_small_drained_CFLAGS = $(ink_api_cflags)
tests_die_misaligned_1_CFLAGS = $(ink_api_cflags)
tests_die_misaligned_8_CFLAGS = $(ink_api_cflags)
tests_die_misaligned_large_CFLAGS = $(ink_api_cflags)
tests_die_misaligned_medium_CFLAGS = $(ink_api_cflags)
tests_die_misaligned_static_CFLAGS = $(ink_api_cflags)
tests_die_realloc_foreign_CFLAGS = $(ink_api_cflags)
tests_die_realloc_freed_large_CFLAGS = $(ink_api_cflags)
tests_die_realloc_misaligned_CFLAGS = $(ink_api_cflags)
tests_die_usable_foreign_CFLAGS = $(ink_api_cflags)

# Loaded by api_plugin_host; the path that is never installed makes libtool build a shared object.
check_LTLIBRARIES += tests/cxx_plugin.la
tests_cxx_plugin_la_SOURCES = tests/cxx_plugin.cc tests/cxx_operators.h tests/check.h
tests_cxx_plugin_la_CXXFLAGS = $(ink_api_cxxflags)
tests_cxx_plugin_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere

check_PROGRAMS += $(ink_api_tests) $(ink_cxx_tests) $(ink_die_tests)
TESTS += $(ink_api_tests) $(ink_cxx_tests) $(ink_die_tests) tests/cxx_static.sh
EXTRA_DIST += tests/check.h tests/interrupt.h tests/misuse.h tests/cxx_static.sh
