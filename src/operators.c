/* C++'s operators new and delete, in C.  The C++ runtime is not linked: it is looked for only when
 * memory has run out, for its new_handler and to throw std::bad_alloc. */
#include "cache_fast.h"
#include "cc.h"
#include "die.h"
#include "heap.h"
#include "os.h"
#include "sizeclass.h"

#include <dlfcn.h>

/* ---- the C++ runtime, as the common C++ ABI has it ---- */

typedef void ink_new_handler(void);

typedef void *ink_nothrow_new(size_t, const void *);
typedef void *ink_nothrow_new_aligned(size_t, size_t, const void *);

struct ink_cxx_runtime {
    ink_new_handler *(*get_new_handler)(void);       /* std::get_new_handler */
    void *(*allocate_exception)(size_t);             /* __cxa_allocate_exception */
    void (*throw_exception)(void *, void *, void *); /* __cxa_throw: exception, type, destructor */
    void *bad_alloc_type;                            /* typeinfo of std::bad_alloc */
    void **bad_alloc_vtable;
    void *bad_alloc_destructor;
};

/* Weak: present if the program was linked with a C++ runtime or loaded one for all to see. */
extern __attribute__((weak)) ink_new_handler *_ZSt15get_new_handlerv(void);
extern __attribute__((weak)) void *__cxa_allocate_exception(size_t);
extern __attribute__((weak)) void __cxa_throw(void *, void *, void *);
extern __attribute__((weak)) char _ZTISt9bad_alloc[];
extern __attribute__((weak)) void *_ZTVSt9bad_alloc[];
extern __attribute__((weak)) void _ZNSt9bad_allocD1Ev(void *);
extern __attribute__((weak)) int dlclose(void *);
extern __attribute__((weak)) void *dlsym(void *restrict, const char *restrict);
extern __attribute__((weak)) int dladdr(const void *, Dl_info *);

/* A handle of the loaded object that holds address, to be closed again; NULL: there is none, or
 * there is no loader.  dlopen is looked up by name: a mere reference to it makes the linker warn in
 * every static program. */
static void *ink_object_open(const void *address)
{
    void *(*open_object)(const char *, int) = NULL;
    Dl_info object;

    if (dladdr == NULL || dlclose == NULL || dlsym == NULL)
        return NULL;
    *(void **)&open_object = dlsym(RTLD_DEFAULT, "dlopen");
    if (open_object == NULL || dladdr(address, &object) == 0 || object.dli_fname == NULL)
        return NULL;
    return open_object(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static bool ink_cxx_complete(const struct ink_cxx_runtime *cxx)
{
    return cxx->allocate_exception != NULL && cxx->throw_exception != NULL &&
           cxx->bad_alloc_type != NULL && cxx->bad_alloc_vtable != NULL &&
           cxx->bad_alloc_destructor != NULL;
}

static struct ink_cxx_runtime ink_cxx_linked(void)
{
    return (struct ink_cxx_runtime){
        .get_new_handler = _ZSt15get_new_handlerv,
        .allocate_exception = __cxa_allocate_exception,
        .throw_exception = __cxa_throw,
        .bad_alloc_type = _ZTISt9bad_alloc,
        .bad_alloc_vtable = _ZTVSt9bad_alloc,
        .bad_alloc_destructor = (void *)_ZNSt9bad_allocD1Ev,
    };
}

static struct ink_cxx_runtime ink_cxx_in(void *handle)
{
    struct ink_cxx_runtime cxx;

    *(void **)&cxx.get_new_handler = dlsym(handle, "_ZSt15get_new_handlerv");
    *(void **)&cxx.allocate_exception = dlsym(handle, "__cxa_allocate_exception");
    *(void **)&cxx.throw_exception = dlsym(handle, "__cxa_throw");
    cxx.bad_alloc_type = dlsym(handle, "_ZTISt9bad_alloc");
    cxx.bad_alloc_vtable = dlsym(handle, "_ZTVSt9bad_alloc");
    cxx.bad_alloc_destructor = dlsym(handle, "_ZNSt9bad_allocD1Ev");
    return cxx;
}

/* The runtime that the caller's object sees: a plugin that was loaded with RTLD_LOCAL has one that
 * nobody else does. */
static struct ink_cxx_runtime ink_cxx_find(const void *caller)
{
    struct ink_cxx_runtime cxx = ink_cxx_linked();
    void *handle;

    if (ink_cxx_complete(&cxx) || dlsym == NULL)
        return cxx;
    cxx = ink_cxx_in(RTLD_DEFAULT);
    if (ink_cxx_complete(&cxx))
        return cxx;
    handle = ink_object_open(caller);
    if (handle != NULL) {
        cxx = ink_cxx_in(handle);
        (void)dlclose(handle); /* it was loaded before, and stays */
    }
    return cxx;
}

static INK_NORETURN void ink_cxx_throw_bad_alloc(const struct ink_cxx_runtime *cxx)
{
    void **exception;

    if (!ink_cxx_complete(cxx))
        ink_die_internal(
            "out of memory in operator new, and no C++ runtime to throw std::bad_alloc");
    exception = cxx->allocate_exception(sizeof(void *));
    /* An object of a class without members is its pointer to the virtual functions, which stand
     * behind offset and type. */
    *exception = cxx->bad_alloc_vtable + 2;
    cxx->throw_exception(exception, cxx->bad_alloc_type, cxx->bad_alloc_destructor);
    ink_die_internal("__cxa_throw returned");
}

/* A function of the object that the runtime stands in, or NULL. */
static void *ink_cxx_own(const struct ink_cxx_runtime *cxx, const char *name)
{
    void *handle = cxx->throw_exception != NULL
                       ? ink_object_open(*(void *const *)&cxx->throw_exception)
                       : NULL;
    void *function;
    Dl_info object, ours;

    if (handle == NULL)
        return NULL;
    function = dlsym(handle, name);
    (void)dlclose(handle);
    /* A runtime within the program leads back to us. */
    if (function == NULL || dladdr(function, &object) == 0 ||
        dladdr((void *)ink_cxx_own, &ours) == 0)
        return NULL;
    return object.dli_fbase != ours.dli_fbase ? function : NULL;
}

/* ---- new ---- */

#if __SIZEOF_SIZE_T__ == 8
#define INK_NAME_NOTHROW         "_ZnwmRKSt9nothrow_t"
#define INK_NAME_ALIGNED_NOTHROW "_ZnwmSt11align_val_tRKSt9nothrow_t"
#else
#define INK_NAME_NOTHROW         "_ZnwjRKSt9nothrow_t"
#define INK_NAME_ALIGNED_NOTHROW "_ZnwjSt11align_val_tRKSt9nothrow_t"
#endif

/* A handler may end by throwing, and a nothrow new must then return NULL: C cannot catch, but the
 * runtime's own nothrow operators are a catch around our throwing ones.  False if there are none (a
 * static program): the handler is then called from here, and must not throw. */
static bool ink_new_nothrow(const struct ink_cxx_runtime *cxx, size_t size, size_t alignment,
                            void **p)
{
    bool aligned = alignment > INK_ALIGNMENT;
    void *function = ink_cxx_own(cxx, aligned ? INK_NAME_ALIGNED_NOTHROW : INK_NAME_NOTHROW);

    if (function == NULL)
        return false;
    *p = aligned ? ((ink_nothrow_new_aligned *)function)(size, alignment, NULL)
                 : ((ink_nothrow_new *)function)(size, NULL);
    return true;
}

/* What the standard asks of a new that finds no memory: call the new_handler and try again, until
 * there is none. */
static INK_COLD void *ink_new_again(size_t size, size_t alignment, bool nothrow, const void *caller)
{
    struct ink_cxx_runtime cxx = ink_cxx_find(caller);
    void *caught;

    if (nothrow && cxx.get_new_handler != NULL && cxx.get_new_handler() != NULL &&
        ink_new_nothrow(&cxx, size, alignment, &caught))
        return caught;
    for (;;) {
        ink_new_handler *handler = cxx.get_new_handler != NULL ? cxx.get_new_handler() : NULL;
        void *p;

        if (!ink_is_pow2(alignment))
            handler = NULL; /* no memory will ever do */
        if (handler == NULL && nothrow)
            return NULL;
        if (handler == NULL)
            ink_cxx_throw_bad_alloc(&cxx);
        handler();
        p = ink_heap_alloc_aligned(size, alignment);
        if (p != NULL)
            return p;
    }
}

/* class as good as the size that it was found by. */
static INK_NOINLINE void *ink_new_slow(size_t class, intptr_t taken, bool nothrow,
                                       const void *caller)
{
    void *p = ink_heap_alloc_taken(class, taken);

    return ink_likely(p != NULL)
               ? p
               : ink_new_again(ink_size_classes[class].size, INK_ALIGNMENT, nothrow, caller);
}

static INK_NOINLINE void *ink_new_larger(size_t size, bool nothrow, const void *caller)
{
    void *p = ink_heap_alloc(size);

    return ink_likely(p != NULL) ? p : ink_new_again(size, INK_ALIGNMENT, nothrow, caller);
}

static INK_ALWAYS_INLINE void *ink_new(size_t size, bool nothrow)
{
    size_t class;
    intptr_t taken;
    void *p;

    if (ink_unlikely(size > INK_TINY_MAX))
        return ink_new_larger(size, nothrow, __builtin_return_address(0));
    p = ink_cache_try_alloc_tiny(size, &class, &taken);
    return ink_likely(p != NULL) ? p
                                 : ink_new_slow(class, taken, nothrow, __builtin_return_address(0));
}

static INK_ALWAYS_INLINE void *ink_new_aligned(size_t size, size_t alignment, bool nothrow)
{
    void *p = ink_is_pow2(alignment) ? ink_heap_alloc_aligned(size, alignment) : NULL;

    return ink_likely(p != NULL)
               ? p
               : ink_new_again(size, alignment, nothrow, __builtin_return_address(0));
}

/* ---- delete: sizes and alignments are not trusted ---- */

static INK_NOINLINE void ink_delete_slow(void *p, size_t class, intptr_t taken)
{
    ink_heap_free_taken(p, class, taken, "operator delete");
}

static INK_ALWAYS_INLINE void ink_delete(void *p)
{
    size_t class;
    intptr_t taken;

    if (ink_unlikely(!ink_cache_try_free(p, &class, &taken)))
        ink_delete_slow(p, class, taken);
}

/* ---- the operators, by their mangled names; S is how size_t is mangled ---- */

#define INK_NEW(name, arguments, expression) \
    INK_EXPORT void *name arguments;         \
    void *name arguments                     \
    {                                        \
        return expression;                   \
    }

#define INK_DELETE(name, ...)                     \
    INK_EXPORT void name(void *p, ##__VA_ARGS__); \
    void name(void *p, ##__VA_ARGS__)             \
    {                                             \
        ink_delete(p);                            \
    }

#define INK_OPERATORS(S)                                                        \
    INK_NEW(_Znw##S, (size_t size), ink_new(size, false))                       \
    INK_NEW(_Zna##S, (size_t size), ink_new(size, false))                       \
    INK_NEW(_Znw##S##RKSt9nothrow_t, (size_t size, const void *tag),            \
            ((void)tag, ink_new(size, true)))                                   \
    INK_NEW(_Zna##S##RKSt9nothrow_t, (size_t size, const void *tag),            \
            ((void)tag, ink_new(size, true)))                                   \
    INK_NEW(_Znw##S##St11align_val_t, (size_t size, size_t alignment),          \
            ink_new_aligned(size, alignment, false))                            \
    INK_NEW(_Zna##S##St11align_val_t, (size_t size, size_t alignment),          \
            ink_new_aligned(size, alignment, false))                            \
    INK_NEW(_Znw##S##St11align_val_tRKSt9nothrow_t,                             \
            (size_t size, size_t alignment, const void *tag),                   \
            ((void)tag, ink_new_aligned(size, alignment, true)))                \
    INK_NEW(_Zna##S##St11align_val_tRKSt9nothrow_t,                             \
            (size_t size, size_t alignment, const void *tag),                   \
            ((void)tag, ink_new_aligned(size, alignment, true)))                \
    INK_DELETE(_ZdlPv##S, size_t size __attribute__((unused)))                  \
    INK_DELETE(_ZdaPv##S, size_t size __attribute__((unused)))                  \
    INK_DELETE(_ZdlPv##S##St11align_val_t, size_t size __attribute__((unused)), \
               size_t alignment __attribute__((unused)))                        \
    INK_DELETE(_ZdaPv##S##St11align_val_t, size_t size __attribute__((unused)), \
               size_t alignment __attribute__((unused)))

#if __SIZEOF_SIZE_T__ == 8
INK_OPERATORS(m)
#else
INK_OPERATORS(j)
#endif

INK_DELETE(_ZdlPv)
INK_DELETE(_ZdaPv)
INK_DELETE(_ZdlPvRKSt9nothrow_t, const void *tag __attribute__((unused)))
INK_DELETE(_ZdaPvRKSt9nothrow_t, const void *tag __attribute__((unused)))
INK_DELETE(_ZdlPvSt11align_val_t, size_t alignment __attribute__((unused)))
INK_DELETE(_ZdaPvSt11align_val_t, size_t alignment __attribute__((unused)))
INK_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, size_t alignment __attribute__((unused)),
           const void *tag __attribute__((unused)))
INK_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, size_t alignment __attribute__((unused)),
           const void *tag __attribute__((unused)))
