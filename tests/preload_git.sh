#!/bin/bash
# git: a repository made on the spot, with many commits, a conflict, clone, log, blame and gc.

. "${INK_SRCDIR:?}/tests/lib.sh"
need git awk sha256sum

export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$scratch/gitconfig GIT_PAGER=cat
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C
export GIT_COMMITTER_EMAIL=c@example.org GIT_AUTHOR_DATE='1700000000 +0000'
export GIT_COMMITTER_DATE='1700000000 +0000'
git config --global init.defaultBranch trunk
git config --global pack.threads 2
git config --global index.threads 2
git config --global gc.auto 0

# 300 commits that each write two of 40 files.
text 1500 >"$scratch/text"
awk '{ line[NR] = $0 }
    END {
        for (i = 1; i <= 300; i++) {
            print "commit refs/heads/imported\ncommitter C <c@example.org> " 1600000000 + i " +0000"
            message = "number " i
            print "data " length(message) "\n" message
            for (f = 0; f < 2; f++) {
                body = ""
                for (l = 1; l <= 200; l++) {
                    body = body line[1 + (l * 7 + (l % 20 == i % 20 ? i : 0)) % NR] "\n"
                }
                print "M 100644 inline dir" i % 5 "/file" (i * 2 + f) % 40
                print "data " length(body) "\n" body
            }
        }
    }' "$scratch/text" >"$scratch/import"

work() {
    git init -q origin
    cd origin || return
    git fast-import --quiet <"$scratch/import"
    git checkout -q -b mine imported
    for n in 1 2 3; do
        sed "1,20s/a/$n/" "$scratch/text" >new
        git add new
        git commit -q -m "commit $n"
    done
    git checkout -q -b theirs mine~2
    sed '1,20s/a/other/' "$scratch/text" >new
    git commit -q -a -m 'on the other branch'
    git merge mine
    echo "merge: $?"
    git diff | sha256sum
    git reset -q --hard
    git log --oneline --graph | sha256sum
    git log -p --stat -M imported | sha256sum
    git log -5 --format='%h %an %ad %s' --all
    git blame new | sha256sum
    git grep -c 'ab[0-9]' imported | sha256sum
    git gc --quiet --aggressive --prune=now
    git fsck --full --strict
    cd .. || return
    git clone -q --no-local origin copy
    git -C copy log --all --format=%H | sha256sum
    git -C copy rev-list --objects --all | sha256sum
    git -C copy archive HEAD | sha256sum
    git -C copy checkout no-such-branch
}

compare 1 work
prove git git --version
