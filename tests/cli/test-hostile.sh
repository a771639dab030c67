#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What somebody tries who wants the program to do damage or to fall over.
. "$(dirname "$0")/lib.sh"
dog=$samples/dog-and-car.png
model=$LIMN_TEST_DATA/golden/grad_eclip/case_a/hf
"$here/make-file" png p.png 40 30
"$here/make-file" npy ids.npy "<i8" 1x4 598 5 9 599
tiny=(grad-eclip "model=$model" image=p.png tokens=ids.npy)

# ---- standard streams that are closed: nothing gets their numbers
expect "a study" 0 ".*" run "${tiny[@]}" --out open
closed() { # NAME REDIRECTIONS
    bash -c 'exec "$0" "$@" '"$2" "$cli" run "${tiny[@]}" --out "closed-$1" >/dev/null 2>&1
    is "with $1 closed it ends as with it open" 0 $?
    same_study "and the files are the same" open "closed-$1"
}
closed stdin '<&-'
closed stdout '>&-'
closed both '<&- >&-'
closed all '<&- >&- 2>&-'

# ---- messages stay one line, whatever is in a file
mkdir named && cp "$model"/*.json named
"$here/make-file" tensors named/model.safetensors '{"a\nlimn-cli: b\u202e":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}' 8
expect "a tensor's name with a line break" 3 'tensor "a.nlimn-cli: b.u202e"' run grad-eclip model=named image=p.png tokens=ids.npy --out X
is "is one line" 1 "$(wc -l <stderr)"

check "nothing refused was written" test ! -e X
nothing_left "nothing temporary is left" .
finish
