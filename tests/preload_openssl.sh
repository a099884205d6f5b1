#!/bin/bash
# openssl: digests, ciphers, signatures, a certificate authority with its list of what it revoked, messages
# encrypted and read again, keys made anew, primes, an engine of old algorithms, and errors.

. "${INK_SRCDIR:?}/tests/lib.sh"
need openssl awk sha256sum
export OPENSSL_CONF=$scratch/conf RANDFILE=$scratch/rnd

text 30000 >"$scratch/text"
cat >"$scratch/conf" <<'END'
[req]
distinguished_name = name
prompt = no
[name]
CN = somebody
[ca]
default_ca = own
[own]
new_certs_dir = issued
database = database
serial = serial
crlnumber = crlnumber
default_md = sha256
default_days = 10
default_crl_days = 10
policy = anything
x509_extensions = extensions
unique_subject = no
[anything]
commonName = supplied
[extensions]
basicConstraints = CA:FALSE
subjectAltName = DNS:a.example.org,DNS:b.example.org
END
# Keys are made once, so that what is signed with them is the same in both settings.
cd "$scratch" || exit 1
openssl genrsa -out ca.key 2048 2>/dev/null &&
    openssl req -x509 -new -key ca.key -subj /CN=authority -days 3650 -set_serial 1 -out ca.crt &&
    openssl genrsa -out user.key 2048 2>/dev/null &&
    openssl req -new -key user.key -out user.csr || fail "no keys could be made"

work() {
    local digest
    for digest in md5 sha256 sha512 sha3-256 blake2b512 ripemd160; do
        openssl dgst -$digest "$scratch/text"
    done
    openssl dgst -sha256 -hmac key "$scratch/text"
    openssl dgst -provider legacy -provider default -whirlpool "$scratch/text"
    openssl enc -aes-256-cbc -pbkdf2 -iter 20000 -S 0102030405060708 -k secret -a -in "$scratch/text" -out sealed
    sha256sum sealed
    openssl enc -d -aes-256-cbc -pbkdf2 -iter 20000 -k secret -a -in sealed -S 0102030405060708 | sha256sum
    openssl dgst -sha256 -sign "$scratch/user.key" -out signature "$scratch/text"
    sha256sum signature
    openssl rsa -in "$scratch/user.key" -pubout -out user.pub
    openssl dgst -sha256 -verify user.pub -signature signature "$scratch/text"

    mkdir issued
    : >database
    echo 1000 >serial
    echo 01 >crlnumber
    yes "$scratch/user.csr" | head -n 20 | xargs openssl ca -batch -notext -cert "$scratch/ca.crt" \
        -keyfile "$scratch/ca.key" -startdate 20200101000000Z -enddate 20400101000000Z -infiles >issue 2>&1
    grep -E 'unable|error|updated' issue
    find issued -type f | sort | xargs cat | sha256sum
    openssl ca -cert "$scratch/ca.crt" -keyfile "$scratch/ca.key" -revoke issued/1005.pem 2>&1 | grep Revoking
    openssl ca -cert "$scratch/ca.crt" -keyfile "$scratch/ca.key" -gencrl -out list.crl
    openssl crl -in list.crl -noout -text | grep -A 1 'Serial Number' | head -n 1
    openssl verify -no_check_time -CAfile "$scratch/ca.crt" issued/*.pem
    openssl x509 -in issued/1001.pem -noout -text -certopt no_pubkey,no_sigdump

    openssl cms -encrypt -binary -aes256 -in "$scratch/text" -outform PEM -out letter issued/1002.pem issued/1003.pem
    openssl cms -decrypt -in letter -inform PEM -inkey "$scratch/user.key" -recip issued/1003.pem | sha256sum
    openssl pkcs12 -export -in issued/1002.pem -inkey "$scratch/user.key" -passout pass:secret -out both.p12
    openssl pkcs12 -in both.p12 -passin pass:secret -nodes -nocerts | openssl pkey -pubout | sha256sum

    openssl genrsa -out new.key 1024
    openssl pkey -in new.key -check -noout
    openssl ecparam -name secp384r1 -genkey -noout | openssl ec -check -noout
    openssl prime "$(openssl prime -generate -bits 512)" | sed 's/.*is/is/'
    openssl prime -hex 10000000000000000000000000000000000000000000000000000000000000001

    # The lines of its errors begin with the number of a thread.
    {
        openssl x509 -in "$scratch/conf" -noout
        openssl dgst -sha256 -verify user.pub -signature signature "$scratch/conf"
        openssl dgst -sha256 /missing/file
    } 2>&1 | sed 's/^[0-9A-F]*:error/error/'
    openssl verify -no_check_time -CAfile issued/1001.pem issued/1002.pem
}

compare 2 work
prove openssl openssl dgst -sha256 "$scratch/text"
