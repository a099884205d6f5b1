# glibc's own malloc tests, built from Debian's glibc-source: on inkalloc as part of make check, and by
# make glibc-tests as a table of all classes, with the system's malloc and the peers beside it.

ink_glibc_tests = tests/glibc_malloc.sh tests/glibc_fork.sh
TESTS += $(ink_glibc_tests)
EXTRA_DIST += $(ink_glibc_tests) tests/glibc/programs tests/glibc/internal.h tests/glibc/build.sh tests/glibc/run.sh \
	tests/glibc/compare.sh

.PHONY: glibc-tests
glibc-tests: libinkalloc.la
	@$(AM_TESTS_ENVIRONMENT) $(BASH) $(srcdir)/tests/glibc/compare.sh $${ALLOCATORS}

# The programs and the unpacked sources.
clean-local:
	rm -rf tests/glibc-programs
