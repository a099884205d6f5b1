/* The exported C functions, all in one object: in a static link every name of libc's malloc.o must
 * come from the same place, or the linker takes that one in as well.  Thin: checks of arguments,
 * errno, the fast paths; the rest is the heap's. */
#include "cache_fast.h"
#include "cc.h"
#include "heap.h"
#include "inkalloc.h"
#include "options.h"
#include "os.h"
#include "purger.h"
#include "sizeclass.h"
#include "stats.h"
#include "trim.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not declared by every C library. */
INK_EXPORT void cfree(void *p);
INK_EXPORT void free_sized(void *p, size_t size);
INK_EXPORT void free_aligned_sized(void *p, size_t alignment, size_t size);

static INK_COLD void *ink_no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

static inline void *ink_or_no_memory(void *p)
{
    return ink_likely(p != NULL) ? p : ink_no_memory();
}

/* ---- the fast paths ---- */

static INK_NOINLINE void *ink_malloc_slow(size_t class, intptr_t taken)
{
    return ink_or_no_memory(ink_heap_alloc_taken(class, taken));
}

/* More than INK_TINY_MAX bytes. */
static INK_NOINLINE void *ink_malloc_larger(size_t size)
{
    size_t class;
    intptr_t taken;
    void *p;

    if (ink_unlikely(size > INK_SMALL_MAX))
        return ink_or_no_memory(ink_heap_alloc_big(size));
    p = ink_cache_try_alloc(size, &class, &taken);
    return ink_likely(p != NULL) ? p : ink_malloc_slow(class, taken);
}

static INK_ALWAYS_INLINE void *ink_malloc(size_t size)
{
    size_t class;
    intptr_t taken;
    void *p;

    if (ink_unlikely(size > INK_TINY_MAX))
        return ink_malloc_larger(size);
    p = ink_cache_try_alloc_tiny(size, &class, &taken);
    return ink_likely(p != NULL) ? p : ink_malloc_slow(class, taken);
}

static INK_NOINLINE void ink_free_slow(void *p, size_t class, intptr_t taken)
{
    ink_heap_free_taken(p, class, taken, "free");
}

static INK_ALWAYS_INLINE void ink_free(void *p)
{
    size_t class;
    intptr_t taken;

    if (ink_unlikely(!ink_cache_try_free(p, &class, &taken)))
        ink_free_slow(p, class, taken);
}

INK_EXPORT void *malloc(size_t size)
{
    return ink_malloc(size);
}

INK_EXPORT void free(void *p)
{
    ink_free(p);
}

static INK_NOINLINE void *ink_calloc_big(size_t size)
{
    return ink_or_no_memory(ink_heap_alloc_zeroed(size));
}

INK_EXPORT void *calloc(size_t count, size_t size)
{
    size_t bytes;
    void *p;

    if (ink_unlikely(__builtin_mul_overflow(count, size, &bytes)))
        return ink_no_memory();
    if (ink_unlikely(bytes > INK_SMALL_MAX))
        return ink_calloc_big(bytes);
    p = ink_malloc(bytes);
    return ink_likely(p != NULL) ? memset(p, 0, bytes) : NULL;
}

/* A block that need only shrink may stay as it is. */
static INK_COLD void *ink_realloc_failed(void *p, size_t usable, size_t size)
{
    return size <= usable ? p : NULL;
}

/* Items that move to an item, without a look at anything but the class. */
static INK_ALWAYS_INLINE void *ink_realloc_item(void *p, const struct ink_size_class *class,
                                                size_t size)
{
    void *moved;

    if (size <= class->size && size >= class->least)
        return p;
    moved = ink_malloc(size);
    if (ink_unlikely(moved == NULL))
        return ink_realloc_failed(p, class->size, size);
    memcpy(moved, p, class->size < size ? class->size : size);
    ink_free(p);
    return moved;
}

static INK_NOINLINE void *ink_realloc_odd(void *p, size_t size)
{
    if (p == NULL)
        return ink_malloc(size);
    if (size == 0) {
        ink_heap_free(p, "realloc");
        return NULL;
    }
    return ink_or_no_memory(ink_heap_realloc(p, size));
}

INK_EXPORT void *realloc(void *p, size_t size)
{
    size_t class = ink_window_class(p);

    if (ink_unlikely(class == 0 || size - 1 >= INK_SMALL_MAX))
        return ink_realloc_odd(p, size);
    return ink_realloc_item(p, &ink_size_classes[class], size);
}

/* ---- aligned ---- */

INK_EXPORT int posix_memalign(void **result, size_t alignment, size_t size)
{
    void *p;

    if (!ink_is_pow2(alignment) || alignment % sizeof(void *) != 0)
        return EINVAL;
    p = ink_or_no_memory(ink_heap_alloc_aligned(
        size, alignment)); /* errno, too: glibc sets it, and programs look there */
    if (p == NULL)
        return ENOMEM;
    *result = p;
    return 0;
}

INK_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    if (!ink_is_pow2(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return ink_or_no_memory(ink_heap_alloc_aligned(size, alignment));
}

/* The next power of two; 0 if there is none. */
static size_t ink_round_alignment(size_t alignment)
{
    size_t power = INK_ALIGNMENT;

    while (power != 0 && power < alignment)
        power *= 2;
    return power;
}

INK_EXPORT void *memalign(size_t alignment, size_t size)
{
    size_t power = ink_round_alignment(alignment);

    if (power == 0) {
        errno = EINVAL;
        return NULL;
    }
    return ink_or_no_memory(ink_heap_alloc_aligned(size, power));
}

INK_EXPORT void *valloc(size_t size)
{
    return ink_or_no_memory(ink_heap_alloc_aligned(size, ink_os_page_bytes()));
}

INK_EXPORT void *pvalloc(size_t size)
{
    size_t page = ink_os_page_bytes();

    if (size > SIZE_MAX - page)
        return ink_no_memory();
    return ink_or_no_memory(
        ink_heap_alloc_aligned(size == 0 ? page : ink_align_up(size, page), page));
}

/* ---- freeing with a size: the size is not trusted ---- */

INK_EXPORT void cfree(void *p)
{
    ink_free(p);
}

INK_EXPORT void free_sized(void *p, size_t size)
{
    (void)size;
    ink_free(p);
}

INK_EXPORT void free_aligned_sized(void *p, size_t alignment, size_t size)
{
    (void)alignment;
    (void)size;
    ink_free(p);
}

INK_EXPORT size_t malloc_usable_size(void *p)
{
    return ink_heap_usable(p, "malloc_usable_size");
}

/* ---- control and statistics, as glibc's manual has them ---- */

INK_EXPORT int malloc_trim(size_t pad)
{
    (void)pad; /* there is no top that could be left standing */
    return ink_trim() != 0;
}

/* glibc's numbers, which not every C library's header has. */
enum {
    INK_MALLOPT_MXFAST = 1,
    INK_MALLOPT_PERTURB = -6,
    INK_MALLOPT_MXFAST_MAX = 80 * sizeof(size_t) / 4
};

/* Programs take a 0 for an error, and glibc says it of a single case: a size for its fast bins that
 * they do not have.  Of the other parameters only M_PERTURB has a counterpart. */
INK_EXPORT int mallopt(int parameter, int value)
{
    if (parameter == INK_MALLOPT_PERTURB)
        ink_heap_perturb(value);
    return parameter != INK_MALLOPT_MXFAST || (value >= 0 && value <= INK_MALLOPT_MXFAST_MAX);
}

#ifdef __GLIBC__

/* The older struct: its fields are int and wrap, as in glibc. */
INK_EXPORT struct mallinfo mallinfo(void)
{
    struct ink_stats stats = ink_stats_collect();

    return (struct mallinfo){
        .arena = (int)stats.mapped,
        .ordblks = (int)(stats.free_blocks + stats.cached_blocks),
        .hblks = (int)stats.large_blocks,
        .hblkhd = (int)stats.large,
        .uordblks = (int)stats.live,
        .fordblks = (int)(stats.free + stats.cached),
        .keepcost = (int)(stats.dirty + stats.large_kept),
    };
}

#if __GLIBC_PREREQ(2, 33)
typedef struct mallinfo2 ink_mallinfo2_t;
#else
typedef struct {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
} ink_mallinfo2_t;
INK_EXPORT ink_mallinfo2_t mallinfo2(void);
#endif

INK_EXPORT ink_mallinfo2_t mallinfo2(void)
{
    struct ink_stats stats = ink_stats_collect();

    return (ink_mallinfo2_t){
        .arena = stats.mapped,
        .ordblks = stats.free_blocks + stats.cached_blocks,
        .hblks = stats.large_blocks,
        .hblkhd = stats.large,
        .uordblks = stats.live,
        .fordblks = stats.free + stats.cached,
        .keepcost = stats.dirty + stats.large_kept,
    };
}

/* Glibc's lines for one arena between ours: first the one that names us, last what glibc does not
 * count.  Written to stderr in one piece, past stdio. */
INK_EXPORT void malloc_stats(void)
{
    struct ink_stats stats = ink_stats_collect();
    char text[1024];
    int length = snprintf(text, sizeof text,
                          "%s"
                          "Arena 0:\n"
                          "system bytes     = %10zu\n"
                          "in use bytes     = %10zu\n"
                          "Total (incl. mmap):\n"
                          "system bytes     = %10zu\n"
                          "in use bytes     = %10zu\n"
                          "max mmap regions = %10zu\n"
                          "max mmap bytes   = %10zu\n"
                          "cached bytes     = %10zu\n"
                          "dirty bytes      = %10zu\n"
                          "kept mmap bytes  = %10zu\n"
                          "metadata bytes   = %10zu\n",
                          ink_stats_banner, stats.mapped, stats.live, stats.mapped + stats.large,
                          stats.live + stats.large, stats.large_blocks_peak, stats.large_peak,
                          stats.cached, stats.dirty, stats.large_kept, stats.metadata);

    if (length > 0)
        ink_os_write(2, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Returns its error and leaves errno, as glibc does, whatever its manual says. */
INK_EXPORT int malloc_info(int options, FILE *stream)
{
    struct ink_stats stats;

    if (options != 0)
        return EINVAL;
    stats = ink_stats_collect();
    fprintf(stream,
            "<malloc version=\"1\">\n"
            "<inkalloc version=\"%s\"/>\n"
            "<heap nr=\"0\">\n"
            "<sizes>\n"
            "</sizes>\n"
            "<total type=\"fast\" count=\"%zu\" size=\"%zu\"/>\n"
            "<total type=\"rest\" count=\"%zu\" size=\"%zu\"/>\n"
            "<system type=\"current\" size=\"%zu\"/>\n"
            "<system type=\"max\" size=\"%zu\"/>\n"
            "<aspace type=\"total\" size=\"%zu\"/>\n"
            "<aspace type=\"mprotect\" size=\"%zu\"/>\n"
            "</heap>\n"
            "<total type=\"fast\" count=\"%zu\" size=\"%zu\"/>\n"
            "<total type=\"rest\" count=\"%zu\" size=\"%zu\"/>\n"
            "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n"
            "<system type=\"current\" size=\"%zu\"/>\n"
            "<system type=\"max\" size=\"%zu\"/>\n"
            "<aspace type=\"total\" size=\"%zu\"/>\n"
            "<aspace type=\"mprotect\" size=\"%zu\"/>\n"
            "</malloc>\n",
            inkalloc_version(), stats.cached_blocks, stats.cached, stats.free_blocks, stats.free,
            stats.mapped, stats.mapped, stats.mapped, stats.mapped, stats.cached_blocks,
            stats.cached, stats.free_blocks, stats.free, stats.large_blocks, stats.large,
            stats.mapped, stats.mapped, stats.mapped, stats.mapped);
    return 0;
}

/* glibc's names for its own use; without them a block of its allocator could reach our free. */
#if __has_attribute(copy)
#define INK_SAME_ATTRIBUTES(name) , copy(name)
#else
#define INK_SAME_ATTRIBUTES(name)
#endif
#define INK_ALIAS(alias_name, name)    \
    extern __typeof__(name) alias_name \
        __attribute__((alias(#name), visibility("default"), used INK_SAME_ATTRIBUTES(name)))

INK_ALIAS(__libc_malloc, malloc);
INK_ALIAS(__libc_free, free);
INK_ALIAS(__libc_calloc, calloc);
INK_ALIAS(__libc_realloc, realloc);
INK_ALIAS(__libc_memalign, memalign);
INK_ALIAS(__libc_valloc, valloc);
INK_ALIAS(__libc_pvalloc, pvalloc);
INK_ALIAS(__posix_memalign, posix_memalign);
/* Spelled out, as naming mallinfo is deprecated. */
extern struct mallinfo __libc_mallinfo(void)
    __attribute__((alias("mallinfo"), visibility("default"), used));
INK_ALIAS(__libc_mallopt, mallopt);

#endif /* __GLIBC__ */

INK_EXPORT const char *inkalloc_version(void)
{
    return PACKAGE_VERSION;
}

static const char ink_no_purger[] = "inkalloc: INKALLOC_CONF: purge_thread: the thread cannot be "
                                    "started; free memory decays with later calls\n";

/* Everything works before this has run, and without it. */
static __attribute__((constructor)) void ink_start(void)
{
    const char *conf =
        secure_getenv("INKALLOC_CONF"); /* not what a set-user-ID program's caller says */

    if (ink_likely(conf == NULL))
        return;
    ink_options_parse(conf);
    if (ink_options.banner)
        ink_os_write(2, ink_stats_banner, strlen(ink_stats_banner));
    if (ink_options.purge_thread && ink_options.decay != 0 && !ink_purger_start())
        ink_os_write(2, ink_no_purger, strlen(ink_no_purger));
}
