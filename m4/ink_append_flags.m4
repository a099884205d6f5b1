# INK_APPEND_FLAGS(VARIABLE, FLAGS): appends to VARIABLE those of FLAGS that the C compiler takes.
# -Werror makes clang refuse what it would only warn about.
AC_DEFUN([INK_APPEND_FLAGS], [
  for ink_flag in $2; do
    AS_VAR_PUSHDEF([ink_cache], [ink_cv_cc_flag_$ink_flag])
    AC_CACHE_CHECK([whether $CC takes $ink_flag], [ink_cache], [
      ink_saved_CFLAGS=$CFLAGS
      CFLAGS="$CFLAGS -Werror $ink_flag"
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
        [AS_VAR_SET([ink_cache], [yes])], [AS_VAR_SET([ink_cache], [no])])
      CFLAGS=$ink_saved_CFLAGS])
    AS_VAR_IF([ink_cache], [yes], [AS_VAR_APPEND([$1], [" $ink_flag"])])
    AS_VAR_POPDEF([ink_cache])
  done
])
