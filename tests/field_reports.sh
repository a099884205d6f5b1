#!/bin/bash
# Holds docs/field-reports.md against the tree: every id stands there once, and whatever it names is there and runs.
cd "$INK_SRCDIR" || exit 1
table=docs/field-reports.md
errors=0
complain() {
    echo "$id: $1"
    errors=$((errors + 1))
}

# held FILE: a test, or what tests include, must be one that make check knows.
held() {
    case $1 in
    tests/*.c | tests/*.cc) grep -q -F "${1%.*}" tests/*.mk ;;
    tests/*.sh | tests/*.h) grep -q -F "$1" tests/*.mk ;;
    esac
}

# there FILE WORD: a function of a program must be defined and called; any other word must stand in the file.
there() {
    local file=$1 word=$2
    [ -f "$file" ] || file=tests/$1
    [ -f "$file" ] || { complain "there is no $1"; return; }
    case $file in tests/*) held "$file" || complain "$file is no test that make check runs" ;; esac
    if [[ $word =~ ^[a-z0-9]+(_[a-z0-9]+){2,}$ ]] && [[ $file != *.sh ]]; then
        grep -q "^static void $word(" "$file" || complain "$file defines no $word"
        [ "$(grep -c -w "$word" "$file")" -ge 2 ] || complain "$file does not call $word"
    else
        tr -s ' \n' '  ' <"$file" | grep -q -F -e "$word" || complain "'$word' is not in $file"
    fi
}

checked=0
for id in A{1..34} P{1..36} O{1..22} M{1..14} T{1..8} B{1..10} X{1..8}; do
    rows=$(grep "^| $id |" "$table")
    [ -n "$rows" ] && [ "$(wc -l <<<"$rows")" -eq 1 ] || { complain "it must stand in $table once"; continue; }
    where=${rows%|} where=${where##*|}
    named=0
    while IFS= read -r reference; do
        there "${reference%%: *}" "${reference#*: }"
        named=$((named + 1))
    done < <(grep -o '`[^`]*`' <<<"$where" | tr -d '`')
    [ $named -gt 0 ] || grep -q 'step [3-7]' <<<"$where" || complain "it names neither a test nor a document nor a step"
    # Of the interface, whoever greps tests/ for the id finds it.
    [ "${id:0:1}" != A ] || [ $named -eq 0 ] || [ "$where" != "${where/docs\/refused/}" ] ||
        grep -q -w "$id" tests/*.c tests/*.cc tests/*.h tests/*.sh || complain "no test says that it is the one"
    checked=$((checked + named))
done
echo "$checked references, $errors errors"
[ $checked -gt 100 ] && [ $errors -eq 0 ]
