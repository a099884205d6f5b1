# INK_NEED_LIBATOMIC: sets INK_HEAD_LIBS, what the library itself must be linked with for the chosen head, after INK_WITH_HEAD and INK_WIDE_CAS: only the
# wide head, and only where the compiler has no instruction for it, brings libatomic into every process.
AC_DEFUN([INK_NEED_LIBATOMIC], [
  INK_HEAD_LIBS=
  AS_IF([test "$ink_head" = wide], [
    AS_IF([test "$ink_wide_cas" = none],
      [AC_MSG_ERROR([--with-head=wide needs a double-width compare-and-swap, which $CC cannot link here, not even with -latomic; take index or locked.])])
    INK_HEAD_LIBS=$INK_WIDE_LIBS
  ])
  AC_SUBST([INK_HEAD_LIBS])
])
