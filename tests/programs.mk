# The library under real programs, real links and small limits; the table in bootstrap lists the
# Debian packages that they need.

EXTRA_DIST += tests/lib.sh

# Real work, once under the system's malloc and once preloaded: the same output, errors and exit code.
# The slowest comes first, so that the others run beside it.
ink_preload_tests = \
	tests/preload_make.sh \
	tests/preload_python3.sh \
	tests/preload_gxx.sh \
	tests/preload_gcc.sh \
	tests/preload_git.sh \
	tests/preload_perl.sh \
	tests/preload_bash.sh \
	tests/preload_sort.sh \
	tests/preload_grep.sh \
	tests/preload_sed.sh \
	tests/preload_awk.sh \
	tests/preload_tar.sh \
	tests/preload_interposed.sh \
	tests/preload_sqlite3.sh \
	tests/preload_python3_c.sh \
	tests/preload_python3_cxx.sh \
	tests/preload_mariadb.sh \
	tests/preload_redis.sh \
	tests/preload_rustc.sh \
	tests/preload_java.sh \
	tests/preload_clang.sh \
	tests/preload_nginx.sh \
	tests/preload_memcached.sh \
	tests/preload_node.sh \
	tests/preload_gdb.sh \
	tests/preload_php.sh \
	tests/preload_ruby.sh \
	tests/preload_lua.sh \
	tests/preload_openssl.sh \
	tests/preload_ssh_keygen.sh \
	tests/preload_valgrind.sh \
	tests/preload_children.sh

TESTS += $(ink_preload_tests)
EXTRA_DIST += $(ink_preload_tests) tests/python3_ext.c tests/python3_ext.cc tests/children_probe.c

# Programs linked with the installed library.
ink_link_tests = \
	tests/link_shared.sh \
	tests/link_static.sh \
	tests/link_pkgconfig.sh \
	tests/link_cxx.sh \
	tests/link_matrix.sh \
	tests/link_dlopen.sh \
	tests/link_setuid.sh

TESTS += $(ink_link_tests)
EXTRA_DIST += $(ink_link_tests) tests/link_program.c tests/link_program.cc

# What a program may cost at its start, and where there is little address space.
ink_limit_tests = tests/limit_programs.sh tests/limit_startup.sh tests/limit_memory.sh tests/limit_user.sh \
	tests/purge_thread.sh

TESTS += $(ink_limit_tests)
EXTRA_DIST += $(ink_limit_tests) tests/startup_probe.c tests/purge_thread.c
