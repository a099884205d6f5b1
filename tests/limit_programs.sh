#!/bin/bash
# With 64 MiB of address space (ulimit -v 65536) bash, perl, git and python3 still start under
# inkalloc and print the right thing: nothing in it reserves more than a small program may have.

. "${INK_SRCDIR:?}/tests/lib.sh"
need bash perl git python3

export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
export PYTHONDONTWRITEBYTECODE=1
limit_kib=65536

limited() {
    ulimit -v $limit_kib || exit 1
    "$@"
}

run_bash() {
    bash -c 'for ((i = 0; i < 20000; i++)); do list[i]=item$i; done; (echo ${#list[@]} ${list[19999]})'
}

run_perl() {
    perl -e 'my %h = map { $_ => "v$_" x 10 } 1 .. 20000; print scalar(keys %h), " $h{20000}\n"'
}

run_git() {
    git init -q . && echo text >file && git add file &&
        git -c user.name=A -c user.email=a@example.org commit -q -m first &&
        git log -p --format='%h %s' && git -c pack.threads=2 gc -q && git fsck --strict
}

run_python3() {
    python3 -c 'import json; print(len(json.dumps([{"n": n} for n in range(20000)])))'
}

checked=0
for run in run_bash run_perl run_git run_python3; do
    program=${run#run_}
    run_as system limited "$run"
    if [ "$(cat "$scratch/system.code")" != 0 ] || [ ! -s "$scratch/system.out" ]; then
        say "$program: left out, it cannot do this in $limit_kib KiB under the system's malloc either"
        continue
    fi
    compare 0 limited "$run"
    prove "$program" limited "$run"
    say "$program: $(head -n 1 "$scratch/inkalloc.out")"
    checked=$((checked + 1))
done
[ $checked -gt 0 ] || skip "no program can run in $limit_kib KiB here"
