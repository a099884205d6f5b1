#!/bin/bash
# Every source includes only headers that stand before its own module in src/FLOORS.
cd "$INK_SRCDIR/src" || exit 1
declare -A floor
while IFS=: read -r number modules; do
    case $number in '' | \#*) continue ;; esac
    for module in $modules; do
        floor[$module]=$((number * 100 + ++position))
    done
    position=0
done <FLOORS

errors=0
complain() {
    echo "$1"
    errors=$((errors + 1))
}

checked=0
for file in *.c *.h; do
    module=${file%.*}
    [ -n "${floor[$module]}" ] || { complain "$file stands on no floor of src/FLOORS"; continue; }
    while read -r header; do
        [ -f "$header" ] || continue # inkalloc.h and config.h are no modules
        checked=$((checked + 1))
        other=${header%.h}
        [ "$other" = "$module" ] && continue
        [ -n "${floor[$other]}" ] || continue # complained of above
        [ "${floor[$other]}" -lt "${floor[$module]}" ] ||
            complain "$file includes $header, which does not stand below it"
    done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$file")
done
[ $checked -gt 20 ] || complain "only $checked includes were seen; the test looks at the wrong place"
for module in "${!floor[@]}"; do
    [ -f "$module.c" ] || [ -f "$module.h" ] || complain "src/FLOORS names $module, which is not there"
done

echo "$checked includes, $errors against the floors"
[ $errors -eq 0 ]
