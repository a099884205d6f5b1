/* The facts about operator new and delete that hold in a program and in a plugin alike. Each
 * returns normally or ends the program through check. */
#ifndef INK_TESTS_CXX_OPERATORS_H
#define INK_TESTS_CXX_OPERATORS_H

#include "check.h"

#include <cerrno>
#include <malloc.h>
#include <new>

static int handler_calls;

static void handler_that_gives_up_at_the_third_call()
{
    if (++handler_calls == 3)
        std::set_new_handler(nullptr);
}

struct own_bad_alloc : std::bad_alloc {
    int value = 77;
};

static void handler_that_throws()
{
    ++handler_calls;
    throw own_bad_alloc();
}

static size_t const impossible[] = {PTRDIFF_MAX, SIZE_MAX, SIZE_MAX - 16, SIZE_MAX / 2 + 1};
static std::align_val_t const wide = std::align_val_t(4096);

/* Every form of new by number, so that one loop covers them all. */
enum { THROWING_FORMS = 4, FORMS = 8 };

static void *new_by_form(int form, size_t n)
{
    switch (form) {
    case 0:
        return ::operator new(n);
    case 1:
        return ::operator new[](n);
    case 2:
        return ::operator new(n, wide);
    case 3:
        return ::operator new[](n, wide);
    case 4:
        return ::operator new(n, std::nothrow);
    case 5:
        return ::operator new[](n, std::nothrow);
    case 6:
        return ::operator new(n, wide, std::nothrow);
    default:
        return ::operator new[](n, wide, std::nothrow);
    }
}

static void delete_by_form(int form, int sized, void *p, size_t n)
{
    bool const array = form % 2 != 0, aligned = form % 4 >= 2,
               nothrow = form >= THROWING_FORMS && sized == 0;

    if (nothrow && array && aligned)
        ::operator delete[](p, wide, std::nothrow);
    else if (nothrow && array)
        ::operator delete[](p, std::nothrow);
    else if (nothrow && aligned)
        ::operator delete(p, wide, std::nothrow);
    else if (nothrow)
        ::operator delete(p, std::nothrow);
    else if (sized == 1 && array && aligned)
        ::operator delete[](p, n, wide);
    else if (sized == 1 && array)
        ::operator delete[](p, n);
    else if (sized == 1 && aligned)
        ::operator delete(p, n, wide);
    else if (sized == 1)
        ::operator delete(p, n);
    else if (array && aligned)
        ::operator delete[](p, wide);
    else if (array)
        ::operator delete[](p);
    else if (aligned)
        ::operator delete(p, wide);
    else
        ::operator delete(p);
}

/* A24: all forms, nothrow, aligned, sized, in all combinations. */
static void new_in_every_form_is_aligned_and_every_delete_takes_it()
{
    for (int sized = 0; sized < 3; ++sized)
        for (int form = 0; form < FORMS; ++form) {
            for (size_t n = 0; n < 3000000; n = n * 2 + 1) {
                void *const p = keep_ptr(new_by_form(form, keep_size(n)));
                size_t const align = form % 4 >= 2 ? 4096 : 16;

                check_at(p != nullptr && reinterpret_cast<uintptr_t>(p) % align == 0, n);
                check_le(n, malloc_usable_size(p));
                pattern_fill(p, n, 3);
                check_pattern(p, n, 3);
                errno = 4242;
                delete_by_form(form, sized, p, n);
                check_eq(errno, 4242);
            }
            delete_by_form(form, sized, nullptr, 0);
        }
}

/* A27: blocks of no bytes at wide alignments, freed by sized deletes, come from where they go to:
 * none is handed out twice; A25: nor with a size that is wrong. */
static void delete_of_nothing_or_with_a_wrong_size_does_no_harm()
{
    enum { EACH = 100 };
    static size_t const asked[] = {0, 1, 40, 3000}, wrong[] = {0, 1, 100, 5000, 100000, SIZE_MAX};
    void *p[EACH];

    for (size_t const n : asked)
        for (int form = 0; form < FORMS; ++form)
            for (size_t const told : wrong) {
                for (int i = 0; i < EACH; ++i) {
                    p[i] = keep_ptr(new_by_form(form, keep_size(n)));
                    check_at(p[i] != nullptr, n);
                    pattern_fill(p[i], malloc_usable_size(p[i]), uint32_t(i));
                }
                for (int i = 0; i < EACH; i += 2)
                    delete_by_form(form, 1, p[i], told);
                for (int i = 0; i < EACH; i += 2) {
                    p[i] = keep_ptr(new_by_form(form, keep_size(n)));
                    pattern_fill(p[i], malloc_usable_size(p[i]), uint32_t(i));
                }
                for (int i = 0; i < EACH; ++i) {
                    check_pattern(p[i], malloc_usable_size(p[i]), uint32_t(i));
                    delete_by_form(form, 1, p[i], told);
                }
            }
}

/* 1: bad_alloc itself; 2: own_bad_alloc; 3: something else; 0: nothing was thrown. */
static int what_new_throws(int form, size_t n)
{
    try {
        void *const p = keep_ptr(new_by_form(form, keep_size(n)));
        check(p == nullptr);
        return 0;
    } catch (own_bad_alloc const &e) {
        return e.value == 77 ? 2 : 3;
    } catch (std::bad_alloc const &e) {
        return strcmp(e.what(), "std::bad_alloc") == 0 ? 1 : 3;
    } catch (...) {
        return 3;
    }
}

/* A24. */
static void new_that_fails_without_a_handler_throws_bad_alloc_or_is_null()
{
    std::set_new_handler(nullptr);
    for (int form = 0; form < FORMS; ++form)
        for (size_t n : impossible) {
            if (!on_inkalloc() && n > SIZE_MAX - 4096)
                continue; /* libstdc++'s own aligned new overflows while it rounds up */
            for (int again = 0; again < 3; ++again)
                check_eq(what_new_throws(form, n), form < THROWING_FORMS ? 1 : 0);
        }
}

/* A24: the loop of the new_handler. */
static void new_that_fails_calls_the_handler_until_it_gives_up()
{
    for (int form = 0; form < FORMS; ++form) {
        handler_calls = 0;
        std::set_new_handler(handler_that_gives_up_at_the_third_call);
        check_eq(what_new_throws(form, impossible[0]), form < THROWING_FORMS ? 1 : 0);
        check_eq(handler_calls, 3);
    }
}

static void new_that_fails_lets_the_exception_of_the_handler_through()
{
    for (int form = 0; form < FORMS; ++form) {
        handler_calls = 0;
        std::set_new_handler(handler_that_throws);
/* No runtime of its own stands behind our nothrow operators: README, Limits. */
#ifdef INK_TEST_STATIC
        check_eq(what_new_throws(form, impossible[0]), 2);
#else
        check_eq(what_new_throws(form, impossible[0]),
                 form < THROWING_FORMS ? 2 : 0); /* nothrow swallows it */
#endif
        check_eq(handler_calls, 1);
    }
    std::set_new_handler(nullptr);
}

static void run_operator_facts()
{
    new_in_every_form_is_aligned_and_every_delete_takes_it();
    delete_of_nothing_or_with_a_wrong_size_does_no_harm();
    new_that_fails_without_a_handler_throws_bad_alloc_or_is_null();
    new_that_fails_calls_the_handler_until_it_gives_up();
    new_that_fails_lets_the_exception_of_the_handler_through();
}

#endif
