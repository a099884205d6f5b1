# Benches: built with the tree so that they do not rot, run by hand, never by make check.
#
#   make bench-instructions   instructions per operation (valgrind's callgrind)
#   make bench-coldfree       3 M blocks of 48 bytes freed in random order, CPU time
#   make bench-freelist       the origin's loop: the three heads, batches, malloc, a mutex; 1, 2, 6 threads
#   make bench-shards         the heads of the shared lists, one and eight of them
#   make bench-report         everything bench/compare has, as HTML, Markdown and JSON: docs/benchmarks.md
#
# ALLOCATORS="inkalloc system libjemalloc2 mine=/opt/libmine.so" chooses who runs, ROUNDS=3 how
# often.

noinst_PROGRAMS = bench/bench_coldfree bench/bench_freelist bench/bench_shards bench/measure \
	bench/touch
bench_bench_shards_SOURCES = bench/bench_shards.c bench/bench.h
bench_bench_shards_LDADD = libinkcore.la $(INK_WIDE_LIBS)
bench_measure_SOURCES = bench/measure.c
bench_touch_SOURCES = bench/touch.c bench/bench.h
bench_bench_coldfree_SOURCES = bench/bench_coldfree.c bench/bench.h
bench_bench_freelist_SOURCES = bench/bench_freelist.c bench/bench.h
bench_bench_freelist_LDADD = libinkalloc.la libinkcore.la $(INK_WIDE_LIBS)

EXTRA_DIST += bench/lib.sh bench/interleave.sh bench/instructions.sh bench/instructions.bounds \
	bench/bench_instructions.c

# Flags of its own, as its loops are part of the figures: see the file.
noinst_DATA = bench/bench_instructions
CLEANFILES = bench/bench_instructions
bench/bench_instructions: bench/bench_instructions.c bench/bench.h
	$(AM_V_CC)$(MKDIR_P) bench && \
	$(CC) -std=gnu11 -O2 -fno-builtin $(INK_WARN_CFLAGS) -o $@ $(srcdir)/bench/bench_instructions.c

ink_bench = INK_BUILDDIR='$(abs_top_builddir)' CC='$(CC)' \
	INK_LIB='$(abs_top_builddir)/.libs/libinkalloc.so'
ink_interleave = $(ink_bench) $(BASH) $(srcdir)/bench/interleave.sh -r "$${ROUNDS:-7}"
ink_peers = system libjemalloc2 libmimalloc2.0 libtcmalloc-minimal4

.PHONY: bench-instructions bench-coldfree bench-freelist bench-shards bench-report
bench-instructions: libinkalloc.la bench/bench_instructions
	@$(ink_bench) $(BASH) $(srcdir)/bench/instructions.sh $${ALLOCATORS:-inkalloc}

bench-coldfree: libinkalloc.la bench/bench_coldfree
	@for memory in warm fresh; do \
	    $(ink_interleave) -b free:0.8 $${ALLOCATORS:-inkalloc $(ink_peers)} -- \
	        bench/bench_coldfree $$memory || exit 1; \
	done

bench-freelist: bench/bench_freelist
	@$(ink_bench) $(BASH) -c '. $(srcdir)/bench/lib.sh && machine_line' && bench/bench_freelist $${ROUNDS:-9}

bench-shards: bench/bench_shards
	@$(ink_bench) $(BASH) -c '. $(srcdir)/bench/lib.sh && machine_line' && bench/bench_shards $${ROUNDS:-9}

# In benchmarks/ of the build, or where OUT says; ROWS chooses rows and groups.
ink_report_out = $${OUT:-benchmarks}
bench-report: all bench/libinkcounting.la
	@$(MKDIR_P) "$(ink_report_out)" && \
	$(ink_bench) $(srcdir)/bench/compare --rounds "$${ROUNDS:-15}" --instructions --shared bench/.libs/libinkcounting.so \
	    --json "$(ink_report_out)/report.json" $${ROWS} $${ALLOCATORS}; failed=$$?; \
	$(srcdir)/bench/report "$(ink_report_out)/report.json" --html "$(ink_report_out)/report.html" \
	    --markdown "$(ink_report_out)/report.md" && \
	echo "written: $(ink_report_out)/report.html, report.md and report.json" && exit $$failed

include $(top_srcdir)/bench/work.mk

# The library again, with its read-modify-writes counted: for bench/compare --shared and tests/shared_operations.sh.
check_LTLIBRARIES += bench/libinkcounting.la
bench_libinkcounting_la_SOURCES = $(INK_CORE_SOURCES) src/malloc.c src/operators.c bench/count.c
bench_libinkcounting_la_CPPFLAGS = $(AM_CPPFLAGS) -DINK_COUNTING
bench_libinkcounting_la_LIBADD = $(INK_HEAD_LIBS)
bench_libinkcounting_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere \
	-Wl,--version-script=$(srcdir)/src/inkalloc.map

EXTRA_DIST += bench/compare bench/report bench/rows.ini bench/benchtests.sh $(ink_instrument) $(ink_rows_programs)
ink_instrument = bench/instrument/__init__.py bench/instrument/allocators.py bench/instrument/inputs.py \
	bench/instrument/instructions.py bench/instrument/machine.py bench/instrument/result.py \
	bench/instrument/rows.py bench/instrument/runner.py bench/instrument/shared.py bench/instrument/stats.py \
	bench/instrument/text.py bench/instrument/report.py bench/instrument/report_data.py \
	bench/instrument/report_tables.py bench/instrument/plots.py bench/instrument/page.html bench/instrument/page.css \
	bench/instrument/test_report.py bench/instrument/test_compare.py
ink_rows_programs = bench/programs/objects.py bench/programs/words.pl bench/programs/words.rb bench/programs/words.lua \
	bench/programs/buffers.js bench/programs/words.awk bench/programs/tables.sql bench/programs/client.py
