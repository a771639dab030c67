#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fetch: from a server of the test's own on loopback, and what is refused.
. "$(dirname "$0")/lib.sh"
mkdir -p hub/owner/tiny/resolve
cp -r "$LIMN_DATA_DIR/models/emoji-clip" hub/owner/tiny/resolve/main
mkdir -p hub/empty/resolve/main
python3 -u - hub >port 2>/dev/null <<'END' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1])
server.serve_forever()
END
server=$!
trap 'kill $server 2>/dev/null; cleanup' EXIT
for _ in $(seq 100); do [ -s port ] && break; sleep 0.05; done
base=http://127.0.0.1:$(cat port)
expect "fetch" 0 '.*' fetch owner/tiny --to got --base "$base"
is "prints the folder" got "$(cat "$work/stdout")"
check "weights are whole" cmp got/model.safetensors "$LIMN_DATA_DIR/models/emoji-clip/model.safetensors"
expect "what was fetched works" 0 "" run grad-eclip model=got image="$samples/dog-and-car.png" text="a dog" --out A
expect "and is the same model" 0 "" run grad-eclip image="$samples/dog-and-car.png" text="a dog" --out B
check "with the same map" cmp A/map.npy B/map.npy
expect "again" 0 '.*' fetch --base "$base" owner/tiny --to got --progress json
expect "into the user's data folder" 0 '.*' fetch owner/tiny --base "$base"
check "which is printed" test -s "$(cat "$work/stdout")/model.safetensors"
expect "a checkpoint that is not there" 1 'nobody/nothing' fetch nobody/nothing --to no --base "$base"
expect "one without weights" '[13]' 'empty' fetch empty --to no --base "$base"
expect "no server" 1 '127.0.0.1:9' fetch owner/tiny --to no --base http://127.0.0.1:9
expect "no name" 2 'the name of one checkpoint' fetch
expect "a name that is none" 2 '\.\.' fetch ../../etc --base "$base" --to no
expect "a base that is none" 2 'ftp' fetch owner/tiny --to no --base ftp://x
check "nothing half-written" bash -c '! ls no/*.safetensors'
finish
