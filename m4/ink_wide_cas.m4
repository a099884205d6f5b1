# INK_WIDE_CAS: how the compiler does a compare-and-swap of two machine words, found by linking, since a compiler that
# has no instruction for it compiles a call to a function that may not be there.  The ways, best first:
#
#   inline          __sync as it is
#   inline -mcx16   __sync when the compiler may use cmpxchg16b (x86-64)
#   libatomic       __atomic, with -latomic
#   none
#
# Sets ink_wide_cas, INK_WIDE_CFLAGS and INK_WIDE_LIBS; defines INK_WIDE_INLINE or INK_WIDE_LIBATOMIC.
AC_DEFUN([INK_WIDE_CAS], [
  AC_CACHE_CHECK([how $CC does a double-width compare-and-swap], [ink_cv_wide_cas], [
    ink_cv_wide_cas=none
    INK_WIDE_TRY([inline], [], [], [__sync_val_compare_and_swap (&head, (pair) 1, (pair) 2)])
    INK_WIDE_TRY([inline -mcx16], [-mcx16], [], [__sync_val_compare_and_swap (&head, (pair) 1, (pair) 2)])
    INK_WIDE_TRY([libatomic], [], [-latomic],
      [(__atomic_compare_exchange_n (&head, &seen, (pair) 2, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
        ? seen : __atomic_load_n (&head, __ATOMIC_ACQUIRE))])
  ])
  ink_wide_cas=$ink_cv_wide_cas
  INK_WIDE_CFLAGS= INK_WIDE_LIBS=
  AS_CASE([$ink_wide_cas],
    ["inline -mcx16"], [INK_WIDE_CFLAGS=-mcx16],
    [libatomic], [INK_WIDE_LIBS=-latomic])
  AS_CASE([$ink_wide_cas],
    [inline*], [AC_DEFINE([INK_WIDE_INLINE], [1], [head_wide.h: the compiler has an instruction for a double-width CAS.])],
    [libatomic], [AC_DEFINE([INK_WIDE_LIBATOMIC], [1], [head_wide.h: libatomic does the double-width CAS.])])
  AC_SUBST([INK_WIDE_CFLAGS])
  AC_SUBST([INK_WIDE_LIBS])
  AM_CONDITIONAL([HAVE_WIDE_HEAD], [test "$ink_wide_cas" != none])
])
