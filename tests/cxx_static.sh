#!/bin/bash
# A C++ program linked with -static and libinkalloc.a: malloc and the operators come from the
# archive, nothing is defined twice, and the program passes what it passes under LD_PRELOAD.
if [ "${INK_SANITIZER:-none}" != none ] || [ "${INK_HOST_IS_BUILD:-yes}" != yes ]; then
    echo "skipped: static links with a sanitizer, and programs for other machines, cannot run"
    exit 77
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
traced=(malloc free _Znwm _ZdlPv _ZnwmRKSt9nothrow_t)

# shellcheck disable=SC2086
${CXX:-g++} -std=gnu++17 -O1 -fno-builtin -fsized-deallocation -DINK_TEST_STATIC -static \
    "${traced[@]/#/-Wl,-y,}" -o "$dir/program" "$INK_SRCDIR/tests/api_cxx.cc" "$INK_STATIC_LIB" >"$dir/log" 2>&1 ||
    { cat "$dir/log"; exit 1; }
for name in "${traced[@]}"; do
    grep -q "libinkalloc\.a.*: definition of $name\$" "$dir/log" ||
        { echo "$name is not from libinkalloc.a:"; cat "$dir/log"; exit 1; }
done
"$dir/program"
