#!/bin/bash
# ssh-keygen: public keys out of private ones, with and without passphrases, fingerprints, other formats,
# signatures, long lists of known hosts and of revoked keys, new keys, and errors.

. "${INK_SRCDIR:?}/tests/lib.sh"
need ssh-keygen awk sha256sum

# Keys are made once; what is made of them is the same in both settings.
for type in rsa ecdsa ed25519; do
    ssh-keygen -q -t $type -N '' -C "$type key" -f "$scratch/$type" &&
        ssh-keygen -q -t $type -N secret -a 16 -C "locked $type" -f "$scratch/locked_$type" ||
        fail "no $type key could be made"
done
awk -v rsa="$(cut -d ' ' -f 1,2 "$scratch/rsa.pub")" -v ed="$(cut -d ' ' -f 1,2 "$scratch/ed25519.pub")" 'BEGIN {
    for (i = 0; i < 3000; i++) {
        printf "host%d.example.org,10.0.%d.%d %s\n", i, i / 256, i % 256, i % 2 ? rsa : ed
    }
}' >"$scratch/known_hosts"
awk 'BEGIN {
    for (i = 0; i < 20000; i++) {
        printf "serial: %d\n", 1 + i * i % 1000003
    }
    for (i = 0; i < 5000; i++) {
        printf "id: user %d\n", i
    }
}' >"$scratch/revoked"

work() {
    local type
    for type in rsa ecdsa ed25519; do
        ssh-keygen -y -f "$scratch/$type"
        ssh-keygen -y -P secret -f "$scratch/locked_$type"
        ssh-keygen -l -v -f "$scratch/$type.pub"
        ssh-keygen -e -m RFC4716 -f "$scratch/$type.pub" >other
        ssh-keygen -i -m RFC4716 -f other
        cp "$scratch/$type" copy
        chmod 600 copy
        ssh-keygen -q -p -N new -a 4 -f copy >/dev/null && ssh-keygen -y -P new -f copy
    done
    ssh-keygen -e -m PEM -f "$scratch/rsa.pub"

    cp "$scratch/known_hosts" signed
    ssh-keygen -q -Y sign -n file -f "$scratch/ed25519" signed
    sha256sum signed.sig
    echo "me $(cat "$scratch/ed25519.pub")" >allowed
    ssh-keygen -Y verify -f allowed -I me -n file -s signed.sig <signed

    cp "$scratch/known_hosts" .
    ssh-keygen -l -f known_hosts | sha256sum
    ssh-keygen -F host2999.example.org -f known_hosts
    ssh-keygen -H -f known_hosts >/dev/null 2>&1
    ssh-keygen -F host2998.example.org -f known_hosts | cut -d ' ' -f 2-3
    ssh-keygen -R host17.example.org -f known_hosts
    wc -l <known_hosts

    ssh-keygen -q -k -s "$scratch/rsa.pub" -f list "$scratch/revoked" "$scratch/ecdsa.pub"
    ssh-keygen -Q -l -f list | sed '/Generated/d' | sha256sum
    ssh-keygen -q -s "$scratch/rsa" -I 'user 7' -V 20200101:20400101 -z 5 -n me "$scratch/ed25519.pub"
    mv "$scratch/ed25519-cert.pub" .
    ssh-keygen -L -f ed25519-cert.pub
    ssh-keygen -Q -f list ed25519-cert.pub "$scratch/ecdsa.pub" "$scratch/ed25519.pub"

    ssh-keygen -q -t rsa -b 1024 -N '' -f new && ssh-keygen -l -f new.pub | cut -d ' ' -f 1
    ssh-keygen -y -P wrong -f "$scratch/locked_rsa"
    ssh-keygen -y -f "$scratch/revoked"
}

compare 255 work
prove ssh-keygen ssh-keygen -y -f "$scratch/rsa"
