# What stands on the versioned head, with each tier of it, whichever serves the library: the floors up to the shared freelists are built
# once per tier, and the same tests linked with each.  tests/local.mk initialises the variables.

ink_head_tests =

ink_index_cppflags = $(AM_CPPFLAGS) -DINK_HEAD=index
check_LIBRARIES += tests/libinkindex.a
tests_libinkindex_a_SOURCES = $(INK_SHARED_SOURCES)
tests_libinkindex_a_CPPFLAGS = $(ink_index_cppflags)
ink_index_ldadd = tests/libinkunit.la tests/libinkindex.a $(CMOCKA_LIBS)

ink_head_tests += \
	tests/test_head_index \
	tests/test_frame_index \
	tests/test_freelist_index \
	tests/test_large_index \
	tests/test_aba_index \
	tests/race_heads_index
tests_test_head_index_SOURCES = tests/test_head.c
tests_test_head_index_CPPFLAGS = $(ink_index_cppflags)
tests_test_head_index_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_head_index_LDADD = $(ink_index_ldadd)
tests_test_frame_index_SOURCES = tests/test_frame.c
tests_test_frame_index_CPPFLAGS = $(ink_index_cppflags)
tests_test_frame_index_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_frame_index_LDADD = $(ink_index_ldadd)
tests_test_freelist_index_SOURCES = tests/test_freelist.c
tests_test_freelist_index_CPPFLAGS = $(ink_index_cppflags)
tests_test_freelist_index_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_freelist_index_LDADD = $(ink_index_ldadd)
tests_test_large_index_SOURCES = tests/test_large.c
tests_test_large_index_CPPFLAGS = $(ink_index_cppflags)
tests_test_large_index_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_large_index_LDADD = $(ink_index_ldadd)
tests_test_aba_index_SOURCES = tests/test_aba.c
tests_test_aba_index_CPPFLAGS = $(ink_index_cppflags)
tests_test_aba_index_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_aba_index_LDADD = $(ink_index_ldadd)
tests_race_heads_index_SOURCES = tests/race_heads.c
tests_race_heads_index_CPPFLAGS = $(ink_index_cppflags)
tests_race_heads_index_CFLAGS = $(INK_UNIT_CFLAGS)
tests_race_heads_index_LDADD = $(ink_index_ldadd)

if HAVE_WIDE_HEAD
ink_wide_cppflags = $(AM_CPPFLAGS) -DINK_HEAD=wide -DINK_LIST_HEAD=wide
check_LIBRARIES += tests/libinkwide.a
tests_libinkwide_a_SOURCES = $(INK_SHARED_SOURCES)
tests_libinkwide_a_CPPFLAGS = $(ink_wide_cppflags)
ink_wide_ldadd = tests/libinkunit.la tests/libinkwide.a $(CMOCKA_LIBS) $(INK_WIDE_LIBS)

ink_head_tests += \
	tests/test_head_wide \
	tests/test_frame_wide \
	tests/test_freelist_wide \
	tests/test_large_wide \
	tests/test_aba_wide \
	tests/race_heads_wide \
	tests/test_atomiclist_wide
tests_test_head_wide_SOURCES = tests/test_head.c
tests_test_head_wide_CPPFLAGS = $(ink_wide_cppflags)
tests_test_head_wide_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_head_wide_LDADD = $(ink_wide_ldadd)
tests_test_frame_wide_SOURCES = tests/test_frame.c
tests_test_frame_wide_CPPFLAGS = $(ink_wide_cppflags)
tests_test_frame_wide_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_frame_wide_LDADD = $(ink_wide_ldadd)
tests_test_freelist_wide_SOURCES = tests/test_freelist.c
tests_test_freelist_wide_CPPFLAGS = $(ink_wide_cppflags)
tests_test_freelist_wide_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_freelist_wide_LDADD = $(ink_wide_ldadd)
tests_test_large_wide_SOURCES = tests/test_large.c
tests_test_large_wide_CPPFLAGS = $(ink_wide_cppflags)
tests_test_large_wide_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_large_wide_LDADD = $(ink_wide_ldadd)
tests_test_aba_wide_SOURCES = tests/test_aba.c
tests_test_aba_wide_CPPFLAGS = $(ink_wide_cppflags)
tests_test_aba_wide_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_aba_wide_LDADD = $(ink_wide_ldadd)
tests_race_heads_wide_SOURCES = tests/race_heads.c
tests_race_heads_wide_CPPFLAGS = $(ink_wide_cppflags)
tests_race_heads_wide_CFLAGS = $(INK_UNIT_CFLAGS)
tests_race_heads_wide_LDADD = $(ink_wide_ldadd)
tests_test_atomiclist_wide_SOURCES = tests/test_atomiclist.c
tests_test_atomiclist_wide_CPPFLAGS = $(ink_wide_cppflags)
tests_test_atomiclist_wide_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_atomiclist_wide_LDADD = $(ink_wide_ldadd)
endif

ink_locked_cppflags = $(AM_CPPFLAGS) -DINK_HEAD=locked -DINK_LIST_HEAD=locked
check_LIBRARIES += tests/libinklocked.a
tests_libinklocked_a_SOURCES = $(INK_SHARED_SOURCES)
tests_libinklocked_a_CPPFLAGS = $(ink_locked_cppflags)
ink_locked_ldadd = tests/libinkunit.la tests/libinklocked.a $(CMOCKA_LIBS)

ink_head_tests += \
	tests/test_head_locked \
	tests/test_frame_locked \
	tests/test_freelist_locked \
	tests/test_large_locked \
	tests/test_aba_locked \
	tests/race_heads_locked \
	tests/test_atomiclist_locked
tests_test_head_locked_SOURCES = tests/test_head.c
tests_test_head_locked_CPPFLAGS = $(ink_locked_cppflags)
tests_test_head_locked_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_head_locked_LDADD = $(ink_locked_ldadd)
tests_test_frame_locked_SOURCES = tests/test_frame.c
tests_test_frame_locked_CPPFLAGS = $(ink_locked_cppflags)
tests_test_frame_locked_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_frame_locked_LDADD = $(ink_locked_ldadd)
tests_test_freelist_locked_SOURCES = tests/test_freelist.c
tests_test_freelist_locked_CPPFLAGS = $(ink_locked_cppflags)
tests_test_freelist_locked_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_freelist_locked_LDADD = $(ink_locked_ldadd)
tests_test_large_locked_SOURCES = tests/test_large.c
tests_test_large_locked_CPPFLAGS = $(ink_locked_cppflags)
tests_test_large_locked_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_large_locked_LDADD = $(ink_locked_ldadd)
tests_test_aba_locked_SOURCES = tests/test_aba.c
tests_test_aba_locked_CPPFLAGS = $(ink_locked_cppflags)
tests_test_aba_locked_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_aba_locked_LDADD = $(ink_locked_ldadd)
tests_race_heads_locked_SOURCES = tests/race_heads.c
tests_race_heads_locked_CPPFLAGS = $(ink_locked_cppflags)
tests_race_heads_locked_CFLAGS = $(INK_UNIT_CFLAGS)
tests_race_heads_locked_LDADD = $(ink_locked_ldadd)
tests_test_atomiclist_locked_SOURCES = tests/test_atomiclist.c
tests_test_atomiclist_locked_CPPFLAGS = $(ink_locked_cppflags)
tests_test_atomiclist_locked_CFLAGS = $(INK_UNIT_CFLAGS)
tests_test_atomiclist_locked_LDADD = $(ink_locked_ldadd)

check_PROGRAMS += $(ink_head_tests)
TESTS += $(ink_head_tests)
