#!/bin/sh
# Makes the time stamps of tests/test_lock.py with OpenSSL: a throw-away authority stamps two hashes.
#     sh tests/reference/timestamp/make.sh          (OpenSSL 3.0.19; the keys are not kept)
# hashes.txt holds what was stamped and when, as `openssl ts -reply -text` says it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >tsa.cnf <<'END'
[req]
distinguished_name = name
prompt = no
[name]
CN = Throw-away authority of a test
[ext]
extendedKeyUsage = critical,timeStamping
[tsa]
default_tsa = own
[own]
serial = ./serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
END
echo 01 >serial
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 3650 -config tsa.cnf -extensions ext 2>/dev/null
: >"$here/hashes.txt"
for name in one other; do
    hash=$(printf '%s' "$name" | sha256sum | cut -d' ' -f1)
    openssl ts -query -sha256 -digest "$hash" -cert -out query.tsq 2>/dev/null
    openssl ts -reply -config tsa.cnf -queryfile query.tsq -inkey key.pem -signer cert.pem -out "$here/$name.tsr" 2>/dev/null
    when=$(openssl ts -reply -in "$here/$name.tsr" -text 2>/dev/null | sed -n 's/^Time stamp: //p')
    echo "$name $hash $when" >>"$here/hashes.txt"
done
openssl ts -reply -in "$here/one.tsr" -token_out -out "$here/one.token" 2>/dev/null
