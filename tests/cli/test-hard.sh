#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Hard cases that touch the command line (names as in the list of hard cases).
. "$(dirname "$0")/lib.sh"
dog=$samples/dog-and-car.png
small=$LIMN_TEST_DATA/golden/grad_eclip/case_a/hf

# ---- B22: names of every kind
mkdir -p 'Ünïcode/テスト'
long=$(printf '%0251d' 0).png
for name in 'Ünïcode/テスト/é 1.png' $'two\nlines.png' $'in\xff\xfevalid.png' '-dash.png' 'a=b.png' "$long" ' .png'; do
    cp "$dog" "./$name"
    expect "B22 opens $(printf '%q' "${name:0:40}")" 0 "" run grad-eclip image="./$name" text="a dog" --out N --force
    expect "B22 repeats it" 0 "" run N/study.json --out N2 --force
    same_study "B22 the same" N N2
    rm "./$name"
    expect "B22 missing: the message can be shown" 3 'No such file' run grad-eclip image="./$name" text="a dog" --out X
    is "B22 one line of UTF-8" "1 0" "$(wc -l <stderr) $(iconv -f utf-8 -t utf-8 stderr >/dev/null 2>&1; echo $?)"
done
out=$(printf '%0255d' 1)
expect "B22 a folder of 255 bytes" 0 "" run grad-eclip image="$dog" text="a dog" --out "$out"
expect "B22 a figure of 255 bytes" 0 "" figure "$out" --out "$(printf '%0251d' 2).png"
expect "B22 a folder of 256 bytes" 1 'File name too long' run grad-eclip image="$dog" text="a dog" --out "1$out"
expect "B22 output with newline" 0 "" run grad-eclip image="$dog" text="a dog" --out $'out\nput'
expect "B22 output that is not UTF-8" 0 "" run grad-eclip image="$dog" text="a dog" --out $'out\xff'
check "B22 and it is there" test -s $'out\xff/result.json'
argument=$(printf 'dog %.0s' $(seq 1250))
expect "B22 an argument of 5 kB" 0 'longer than the model' run grad-eclip image="$dog" text="$argument" --out kilo
expect "B22 a path of 5 kB" 3 'File name too long' run grad-eclip image="$(printf 'x%.0s' $(seq 5000))" text=a --out X
mkdir folder
cp "$dog" $'folder/bad\xff.png'
cp "$dog" $'folder/new\nline.png'
expect "B22 a folder of such names" 0 "" run clip-classify image=folder text=a text=b --out folder-out
is "B22 shown so that they can be told" 'bad\xff.png new\nline.png' "$(tail -n +2 folder-out/scores.csv | cut -d, -f1 | uniq | paste -sd' ')"

# ---- B24, B06: sizes and contents, not names
"$here/make-file" header bomb.png 2147483647 2147483647
expect "B24 a header that claims 2^31 - 1" 3 'bomb.png: .*2147483647' run grad-eclip image=bomb.png text=a --out X
"$here/make-file" header large.png 30000 30000
expect "30000 x 30000 without the pixels" 3 'large.png: ' run grad-eclip image=large.png text=a --out X
cp "$dog" dog.jpg
expect "B06 the content counts, not the name" 0 "" run grad-eclip image=dog.jpg text="a dog" --out jpg
"$here/make-file" png one.png 1 1
expect "a picture of one pixel" 0 '.*' run grad-eclip image=one.png text="a dog" --out one

# ---- B36 to B43: weights
mkdir model && cp "$small"/*.json model
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 605156676\n' 7 >model/model.safetensors
expect "B36 a Git LFS pointer" 3 'model.safetensors: .*Git LFS pointer' run grad-eclip model=model image="$dog" text=a --out X
head -c 4000 "$small/model.safetensors" >model/model.safetensors
expect "B36 cut inside the header" 3 'model.safetensors: ' run grad-eclip model=model image="$dog" text=a --out X
head -c 100000 "$small/model.safetensors" >model/model.safetensors
expect "B36 cut inside the data" 3 'model.safetensors: .*(short|missing|bytes)' run grad-eclip model=model image="$dog" text=a --out X
"$here/make-file" tensors model/model.safetensors '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}' 8
expect "B37 a tensor named twice" 3 'model.safetensors: .*"?a"?' run grad-eclip model=model image="$dog" text=a --out X
"$here/make-file" tensors model/model.safetensors '{}' 0
expect "B38 no tensors" 3 'model' run grad-eclip model=model image="$dog" text=a --out X
printf '\xff\xff\xff\xff\xff\xff\xff\x7f{}' >model/model.safetensors
expect "B40 a header of 2^63 bytes" 3 'model.safetensors: ' run grad-eclip model=model image="$dog" text=a --out X
"$here/make-file" tensors model/model.safetensors '{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}}' 4
expect "B41 a shape that overflows" 3 'model.safetensors: .*a' run grad-eclip model=model image="$dog" text=a --out X
rm model/model.safetensors
printf '{"weight_map": {"visual_projection.weight": "model-00001-of-00003.safetensors", "logit_scale": "other.safetensors"}}' >model/model.safetensors.index.json
expect "B43 a missing shard" 3 '(model-00001-of-00003|other).safetensors' run grad-eclip model=model image="$dog" text=a --out X
for name in pytorch_model.bin model.onnx model.gguf; do
    rm -rf other && mkdir other && printf 'PK\3\4' >"other/$name"
    expect "refused with advice: $name" 3 'other.*safetensors' run grad-eclip model=other image="$dog" text=a --out X
done
"$here/make-file" png p.png 8 8
mkdir odd && "$here/make-file" clip odd 24 4
"$here/make-file" npy ids.npy "<i8" 1x4 298 5 6 299
expect "heads that cannot be derived" 2 'heads' run grad-eclip model=odd image=p.png tokens=ids.npy --out X
expect "heads that are given" 0 '.*' run grad-eclip model=odd heads=4 image=p.png tokens=ids.npy --out heads
expect "heads that do not divide" '[24]' 'heads' run grad-eclip model=odd heads=5 image=p.png tokens=ids.npy --out X

# ---- B46: texts too long and empty
numbers=$(seq -s ' ' 1000 1043)
expect "B46 44 numbers" 0 'longer than the model.*32 tokens' run grad-eclip image="$dog" text="$numbers" --out long
is "B46 what was not used is marked" "True True" \
    "$(value long/words.json '" ".join(str(x) for x in (d[0]["truncated"], 0 < d[0]["used_bytes"] < len(d[0]["text"])))')"
is "B46 weights of used words only" True \
    "$(value long/words.json 'all(w["bytes"][1] <= d[0]["used_bytes"] for w in d[0]["words"])')"
expect "B46 an empty sentence" 0 'warning: text: sentence 1 is empty' run grad-eclip image="$dog" text= --out void
is "B46 has no words" "[]" "$(value void/words.json 'd[0]["words"]')"

# ---- B27, B28: maps without information
"$here/make-file" npy zero.npy "<f4" 3x112x112 0
expect "B28 pixels without content" 0 '.*' run attention-maps method=rollout pixels=zero.npy --out flat
"$here/make-file" npy nan.npy "<f4" 3x112x112 nan
expect "B27 pixels that are not finite" '[34]' 'not finite|NaN' run grad-eclip pixels=nan.npy text=a --out X

# ---- B65: the locale changes nothing
expect "B65 with the locale C" 0 "" run explain-evaluate image="$dog" --out plain-locale
if ! locale -a 2>/dev/null | grep -qi '^de_DE.utf-\?8$' && command -v localedef >/dev/null; then
    localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >/dev/null 2>&1 && locpath="LOCPATH=$work"
fi
printf '#!/bin/sh\nexec env LC_ALL=de_DE.UTF-8 %s "%s" "$@"\n' "${locpath:-}" "$cli" >german-cli
chmod +x german-cli
mark=$(env LC_ALL=de_DE.UTF-8 ${locpath:-} python3 -c 'import locale
try:
    locale.setlocale(locale.LC_ALL, "")
    print(locale.localeconv()["decimal_point"])
except locale.Error:
    pass')
if [ "$mark" = , ]; then
    english=$cli
    cli=$work/german-cli
    expect "B65 with a decimal comma" 0 "" run explain-evaluate image="$dog" threshold=0.5 --out german
    same_study "B65 the same bytes" plain-locale german
    expect "B65 a figure with a decimal comma" 0 "" figure german --artifact map --out a.svg --range 0.1,0.9
    expect "B65 a comma is no number" 2 'threshold=0,5: .*not a number' run explain-evaluate image="$dog" threshold=0,5 --out X
    cli=$english
    expect "B65 a figure without" 0 "" figure plain-locale --artifact map --out b.svg --range 0.1,0.9
    check "B65 the same figure" cmp a.svg b.svg
else
    skip "B65 with a decimal comma" "there is no German locale"
fi

# ---- B56: the output folder vanishes while the program runs
mkdir vanishing
"$cli" run attention-maps method=rise rise-masks=400 image="$dog" text=a --out vanishing/x >stdout 2>stderr &
slow=$!
sleep 0.2
rm -rf vanishing
wait $slow
status=$?
check "B56 a folder that vanishes is made again, or the loss is told" \
    test $status -eq 0 -a -s vanishing/x/result.json -o $status -eq 1 -a -s stderr
check "no refused command wrote anything" test ! -e X
nothing_left "nothing temporary is left" .
finish
