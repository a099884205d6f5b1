# INK_WITH_SANITIZER: --with-sanitizer=none|address|undefined|thread.  Sets ink_sanitizer and
# INK_SANITIZER_FLAGS, for compiling and linking; whether the compiler takes them is tried later.
AC_DEFUN([INK_WITH_SANITIZER], [
  AC_ARG_WITH([sanitizer],
    [AS_HELP_STRING([--with-sanitizer=none|address|undefined|thread],
      [build library and tests with a sanitizer @<:@none@:>@])],
    [ink_sanitizer=$withval], [ink_sanitizer=none])
  AS_CASE([$ink_sanitizer],
    [none|no], [ink_sanitizer=none INK_SANITIZER_FLAGS=],
    [address|undefined|thread],
      [INK_SANITIZER_FLAGS="-fsanitize=$ink_sanitizer -fno-omit-frame-pointer -fno-sanitize-recover=all"],
    [AC_MSG_ERROR([--with-sanitizer=$ink_sanitizer is not known; the valid values are none, address, undefined and thread.])])
  AC_SUBST([INK_SANITIZER], [$ink_sanitizer])
  AC_SUBST([INK_SANITIZER_FLAGS])
  AM_CONDITIONAL([INK_SANITIZED], [test "$ink_sanitizer" != none])
])
