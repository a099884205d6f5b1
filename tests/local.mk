# What make check runs.  Each group of tests has its own fragment, which appends to the variables below.
#
#   tests/test_<module>.c   unit test: links libinkcore.la, runs on libc's malloc      tests/unit.mk
#   tests/*_<tier>          the same, of what stands on the head, for each tier        tests/heads.mk
#   tests/api_*.c race_*.c  program that must run on inkalloc: not linked, preloaded   tests/api.mk
#   tests/die_*.c           misuse: must abort with the line given in its first line   tests/api.mk
#   tests/*.sh              script; finds everything through the environment below     tests/programs.mk
#
# One test:      make check TESTS=tests/test_map
# Longer:        make check INK_TEST_SECONDS=10
# Everything:    make check-long (an hour)
# Programs have no suffix, so tests/run-test.sh tells by the name how to run one.

check_PROGRAMS =
check_LIBRARIES =
check_LTLIBRARIES =
check_SCRIPTS =
TESTS =
TEST_EXTENSIONS = .sh
BASH = bash
# A test that hangs is ended and fails.
INK_TEST_LIMIT = 600
LOG_COMPILER = timeout -k 10 $(INK_TEST_LIMIT) $(BASH) $(srcdir)/tests/run-test.sh
SH_LOG_COMPILER = timeout -k 10 $(INK_TEST_LIMIT) $(BASH)

AM_TESTS_ENVIRONMENT = \
	INK_SRCDIR='$(abs_top_srcdir)'; export INK_SRCDIR; \
	INK_BUILDDIR='$(abs_top_builddir)'; export INK_BUILDDIR; \
	INK_LIB='$(abs_top_builddir)/.libs/libinkalloc.so'; export INK_LIB; \
	INK_STATIC_LIB='$(abs_top_builddir)/.libs/libinkalloc.a'; export INK_STATIC_LIB; \
	INK_HEAD='$(INK_HEAD)'; export INK_HEAD; \
	INK_WIDE_LIBS='$(INK_WIDE_LIBS)'; export INK_WIDE_LIBS; \
	INK_SANITIZER='$(INK_SANITIZER)'; export INK_SANITIZER; \
	INK_HOST_IS_BUILD='$(INK_HOST_IS_BUILD)'; export INK_HOST_IS_BUILD; \
	INK_TEST_SECONDS="$${INK_TEST_SECONDS:-2}"; export INK_TEST_SECONDS; \
	CC='$(CC)'; export CC; CXX='$(CXX)'; export CXX; \
	NM='$(NM)'; export NM; READELF='$(READELF)'; export READELF; \
	OBJDUMP='$(OBJDUMP)'; export OBJDUMP; \
	PKG_CONFIG='$(PKG_CONFIG)'; export PKG_CONFIG;

# For a unit test: tests_test_x_CFLAGS = $(INK_UNIT_CFLAGS), tests_test_x_LDADD = $(INK_UNIT_LIBS).
INK_UNIT_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
INK_UNIT_LIBS = libinkcore.la $(CMOCKA_LIBS)

# Without cmocka no test is left out silently: make check says what is missing and fails.  The target's
# name is held in a variable so that Automake, which makes the rule itself, lets it have this one too.
ink_before_check = check-am
$(ink_before_check): ink-cmocka-is-there
.PHONY: ink-cmocka-is-there
ink-cmocka-is-there:
if !HAVE_CMOCKA
	@echo "make check needs cmocka 1.1 or newer (Debian: libcmocka-dev); install it and run configure again." >&2
	@exit 1
endif

.PHONY: check-long
check-long: all
	INK_SRCDIR='$(abs_top_srcdir)' INK_BUILDDIR='$(abs_top_builddir)' $(BASH) $(srcdir)/tests/check-long.sh

.PHONY: list-tests
list-tests:
	@echo $(TESTS)

ink_build_tests = tests/exports.sh tests/head.sh tests/preloaded.sh tests/floors.sh tests/configure.sh tests/wide_probe.sh \
	tests/field_reports.sh
TESTS += $(ink_build_tests)
EXTRA_DIST += $(ink_build_tests) tests/run-test.sh tests/check-long.sh tests/under-inkalloc.sh tests/die-check.sh

include $(top_srcdir)/tests/unit.mk
include $(top_srcdir)/tests/heads.mk
include $(top_srcdir)/tests/api.mk
include $(top_srcdir)/tests/programs.mk
include $(top_srcdir)/tests/guard.mk
include $(top_srcdir)/tests/glibc.mk
