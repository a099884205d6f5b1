# INK_WITH_HEAD: --with-head=index|wide|locked chooses the versioned head of the shared freelists.  Sets ink_head.
AC_DEFUN([INK_WITH_HEAD], [
  AC_ARG_WITH([head],
    [AS_HELP_STRING([--with-head=index|wide|locked],
      [versioned head of the shared freelists @<:@index@:>@])],
    [ink_head=$withval], [ink_head=index])
  AS_CASE([$ink_head],
    [index|wide|locked], [],
    [AC_MSG_ERROR([--with-head=$ink_head is not known; the valid values are index, wide and locked.])])
  AC_DEFINE_UNQUOTED([INK_DEFAULT_HEAD], [$ink_head], [Head of the shared freelists: index, wide or locked.])
  AC_SUBST([INK_HEAD], [$ink_head])
])
