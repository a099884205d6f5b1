#!/bin/bash
# bash: arrays, strings, functions and patterns, and many forks and pipes.

. "${INK_SRCDIR:?}/tests/lib.sh"
need bash

cat >"$scratch/script" <<'END'
for ((i = 0; i < 60; i++)); do
    value=$(echo $i | { read -r x; echo $((x * x)); })
    sum=$((sum + value))
done
echo $sum
declare -A count
declare -a list
text=
for ((i = 0; i < 30000; i++)); do
    word=w$((i * 7919 % 1009))
    count[$word]=$((${count[$word]:-0} + i))
    list+=("$word-${i}")
    text+=${word:1:2}
done
echo ${#count[@]} ${#list[@]} ${#text}
echo "${count[w17]} ${list[@]: -3} ${text:1000:40}"
list=("${list[@]//w1/W}")
echo "${list[*]:100:8}"
[[ ${list[*]:0:2000} =~ (W0[0-9]*-[0-9]+) ]] && echo "${BASH_REMATCH[1]}"
mapfile -t sorted < <(printf '%s\n' "${list[@]:0:5000}" | while read -r line; do echo "${line##*-} $line"; done)
echo "${#sorted[@]} ${sorted[4999]}"
depth() { local held=$1$1; (($1)) && depth $(($1 - 1)) || echo "$held"; }
depth 800
for ((i = 0; i < 4; i++)); do (: "${list[@]/1/2}") & done
wait
trap 'echo "bye with ${#text}"' EXIT
echo ${text@Q} | { read -r line; echo ${#line}; }
declare -r fixed=1
unset fixed
no_such_command
exit 3
END

work() {
    bash "$scratch/script"
}

compare 3 work
prove bash bash -c 'echo "${BASH_VERSION@Q}"'
