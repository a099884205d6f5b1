# INK_WIDE_TRY(WAY, CFLAGS, LIBS, EXPRESSION): unless a way is known, ink_cv_wide_cas becomes WAY if EXPRESSION, on head and
# seen of type pair, links with these flags,
# which stand before the user's, as in the Makefile.
AC_DEFUN([INK_WIDE_TRY], [
  AS_IF([test "$ink_cv_wide_cas" = none], [
    ink_saved_CFLAGS=$CFLAGS ink_saved_LIBS=$LIBS
    CFLAGS="$2 $CFLAGS" LIBS="$LIBS $3"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[
        #include <stdint.h>
        #if UINTPTR_MAX > UINT32_MAX
        typedef unsigned __int128 pair;
        #else
        typedef uint64_t pair;
        #endif
        static _Alignas (2 * sizeof (void *)) volatile pair head;
      ]], [[
        pair seen = 1;
        return (int) ($4) + (int) seen;
      ]])], [ink_cv_wide_cas="$1"])
    CFLAGS=$ink_saved_CFLAGS LIBS=$ink_saved_LIBS
  ])
])
