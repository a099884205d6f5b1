# INK_ENABLE_DEBUG: --enable-debug[=paranoid] compiles the internal checks in.
AC_DEFUN([INK_ENABLE_DEBUG], [
  AC_ARG_ENABLE([debug],
    [AS_HELP_STRING([--enable-debug@<:@=paranoid@:>@],
      [compile internal checks in; paranoid: whole-structure checks too @<:@no@:>@])],
    [ink_debug=$enableval], [ink_debug=no])
  AS_CASE([$ink_debug],
    [no], [ink_debug_level=0],
    [yes], [ink_debug_level=1],
    [paranoid], [ink_debug_level=2],
    [AC_MSG_ERROR([--enable-debug=$ink_debug is not known; the valid values are no, yes and paranoid.])])
  AC_SUBST([INK_DEBUG], [$ink_debug])
  AC_DEFINE_UNQUOTED([INK_DEBUG_LEVEL], [$ink_debug_level],
    [0: asserts at trust boundaries, 1: internal checks too, 2: whole-structure checks too.])
])
