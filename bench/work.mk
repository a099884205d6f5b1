# The workloads: one program each, linked with no allocator, so that it runs on the one it is started with
# (LD_PRELOAD) or on libc's.  Each does a fixed amount of work; CPU time, memory and page faults are the
# runner's to measure.  What each is and whose description it follows stands in its file.
#
# -O2 whatever the tree's flags are, but a -O in CFLAGS comes last and wins; after -O0 the programs say so.

work_cflags = $(AM_CFLAGS) -O2 -pthread
work_sources = bench/work.h bench/bench.h

noinst_PROGRAMS += bench/work_larson bench/work_xmalloc bench/work_mstress bench/work_sh bench/work_false \
	bench/work_large bench/work_realloc bench/work_calloc bench/work_aligned bench/work_cold \
	bench/work_tree bench/work_cxxmap bench/work_threads bench/work_heap bench/work_origin \
	bench/work_limit bench/work_memory

bench_work_larson_SOURCES = bench/work_larson.c $(work_sources)
bench_work_larson_CFLAGS = $(work_cflags)
bench_work_xmalloc_SOURCES = bench/work_xmalloc.c $(work_sources)
bench_work_xmalloc_CFLAGS = $(work_cflags)
bench_work_mstress_SOURCES = bench/work_mstress.c $(work_sources)
bench_work_mstress_CFLAGS = $(work_cflags)
bench_work_sh_SOURCES = bench/work_sh.c $(work_sources)
bench_work_sh_CFLAGS = $(work_cflags)
bench_work_false_SOURCES = bench/work_false.c $(work_sources)
bench_work_false_CFLAGS = $(work_cflags)
bench_work_large_SOURCES = bench/work_large.c $(work_sources)
bench_work_large_CFLAGS = $(work_cflags)
bench_work_realloc_SOURCES = bench/work_realloc.c $(work_sources)
bench_work_realloc_CFLAGS = $(work_cflags)
bench_work_calloc_SOURCES = bench/work_calloc.c $(work_sources)
bench_work_calloc_CFLAGS = $(work_cflags)
bench_work_aligned_SOURCES = bench/work_aligned.c $(work_sources)
bench_work_aligned_CFLAGS = $(work_cflags)
bench_work_memory_SOURCES = bench/work_memory.c $(work_sources)
bench_work_memory_CFLAGS = $(work_cflags)
bench_work_memory_LDADD = -ldl
bench_work_cold_SOURCES = bench/work_cold.c $(work_sources)
bench_work_cold_CFLAGS = $(work_cflags)
bench_work_tree_SOURCES = bench/work_tree.c $(work_sources)
bench_work_tree_CFLAGS = $(work_cflags)
bench_work_cxxmap_SOURCES = bench/work_cxxmap.cc $(work_sources)
bench_work_cxxmap_CXXFLAGS = $(AM_CXXFLAGS) -std=gnu++17 -O2 -fno-builtin -pthread
bench_work_threads_SOURCES = bench/work_threads.c $(work_sources)
bench_work_threads_CFLAGS = $(work_cflags)
bench_work_heap_SOURCES = bench/work_heap.c $(work_sources)
bench_work_heap_CFLAGS = $(work_cflags)
bench_work_origin_SOURCES = bench/work_origin.c $(work_sources)
bench_work_origin_CFLAGS = $(work_cflags)
bench_work_limit_SOURCES = bench/work_limit.c $(work_sources)
bench_work_limit_CFLAGS = $(work_cflags)
