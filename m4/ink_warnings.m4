# INK_WARNINGS(VARIABLE): puts into VARIABLE the warnings the tree is clean of, on gcc and clang.
# Deprecated functions are ours to define, mallinfo for one.
AC_DEFUN([INK_WARNINGS], [
  INK_APPEND_FLAGS([$1], [-Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes \
    -Wold-style-definition -Wvla -Wcast-align -Wpointer-arith -Wwrite-strings -Wundef -Wformat=2 \
    -Wlogical-op -Wduplicated-cond -Wnull-dereference -Wno-deprecated-declarations])
  AC_SUBST([$1])
])
