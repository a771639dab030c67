#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every class of exit status, with messages that name key, value and file.
. "$(dirname "$0")/lib.sh"
dog=$samples/dog-and-car.png

# ---- 2: usage
expect "no operation" 2 'the operation is missing' run --out X
expect "unknown operation" 2 "no operation 'grad-eclp' \(did you mean 'grad-eclip'\?" run grad-eclp --out X
expect "no output" 2 'the output folder is missing' run grad-eclip image="$dog" text=a
expect "empty output" 2 'the output folder is missing' run grad-eclip image="$dog" text=a --out ''
expect "output without value" 2 '--out: the value is missing' run grad-eclip image="$dog" text=a --out
expect "unknown key" 2 "layer=3: grad-eclip has no such key \(did you mean 'layers'\? allowed: model," run grad-eclip image="$dog" text=a layer=3 --out X
expect "no key" 2 "'dog.png' is not understood \(expected key=value\)" run grad-eclip dog.png --out X
expect "value out of range" 2 'layers=0: .*from 1 to 1000 blocks' run grad-eclip image="$dog" text=a layers=0 --out X
expect "more layers than blocks" 2 'layers=6: .*from 1 to 5' run grad-eclip image="$dog" text=a layers=6 --out X
expect "more text layers" 2 'text-layers=4: .*from 1 to 3' run grad-eclip image="$dog" text=a text-layers=4 --out X
expect "no choice" 2 "mode=faithfull: .*did you mean 'faithful'\? allowed: faithful, authors" run grad-eclip image="$dog" text=a mode=faithfull --out X
expect "a switch is yes or no" 2 'display=true: .*allowed: no, yes' run grad-eclip image="$dog" text=a display=true --out X
expect "a repeated key" 2 'mode=authors: the key was given before' run grad-eclip image="$dog" text=a mode=authors mode=authors --out X
expect "a repeated input" 2 'image=.*given before' run grad-eclip image="$dog" image="$dog" text=a --out X
expect "missing picture" 2 'expected one of image=, pixels=' run grad-eclip text=a --out X
expect "missing sentence" 2 'expected one of text=, texts=, tokens=' run grad-eclip image="$dog" --out X
expect "two kinds of sentence" 2 'text and texts exclude each other' run grad-eclip image="$dog" text=a texts=b --out X
expect "seed as a key" 2 'seed=3: .*--seed 3' run grad-eclip image="$dog" text=a seed=3 --out X
expect "a seed that is none" 2 '--seed -1: .*integer from 0' run grad-eclip image="$dog" text=a --seed -1 --out X
expect "threads that are none" 2 '--threads many' run grad-eclip image="$dog" text=a --threads many --out X
expect "a shard that is none" 2 '--shard 4/3: .*for example 1/4' run clip-classify image="$dog" text=a --shard 4/3 --out X
expect "a sentence that is not UTF-8" 2 'text=a.xff: .*byte 2 is 0xff' run grad-eclip image="$dog" text=$'a\xff' --out X
expect "nothing to resume" 2 '--resume: grad-eclip keeps nothing' run grad-eclip image="$dog" text=a --resume --out X
expect "templates for prompts" 2 'templates=' run clip-classify image="$dog" text=a templates="$dog" --out X
expect "heads against the configuration" 2 'heads=3' run grad-eclip image="$dog" text=a heads=3 --out X

# ---- 3: missing, unreadable, malformed, unsupported
expect "missing picture file" 3 "$work/no.png: .*No such file" run grad-eclip image=no.png text=a --out X
expect "missing model" 3 'no-model: ' run grad-eclip model=no-model image="$dog" text=a --out X
expect "missing list" 3 'no.txt: .*No such file' run grad-eclip image="$dog" texts=no.txt --out X
: >empty
expect "empty picture" 3 "$work/empty: " run grad-eclip image=empty text=a --out X
expect "empty list" 3 "$work/empty: " run grad-eclip image="$dog" texts=empty --out X
expect "empty model" 3 "$work/empty: " run grad-eclip model=empty image="$dog" text=a --out X
printf 'good\nbad \xff\n' >bad.txt
expect "a list that is not UTF-8" 3 'bad.txt: line 2 is not valid UTF-8' run grad-eclip image="$dog" texts=bad.txt --out X
expect "a picture in place of pixels" 3 'dog-and-car.png: ' run grad-eclip pixels="$dog" text=a --out X
printf 'GIF89a' >x.gif
expect "a kind that is not supported" 3 'x.gif: .*GIF' run grad-eclip image=x.gif text=a --out X
mkdir folder
expect "a folder in place of a list" 3 "$work/folder: " run grad-eclip image="$dog" texts=folder --out X
expect "a folder without pictures" 3 "$work/folder: the folder holds no pictures \(expected PNG" run clip-classify image=folder text=a --out X
expect "a folder without a model" 3 "$work/folder: " run grad-eclip model=folder image="$dog" text=a --out X
printf 'nothing to fill\n' >templates.txt
expect "a template without place" 3 'templates.txt: template 1 has no place' run clip-classify image="$dog" class=a templates=templates.txt --out X
printf '{"operation": "grad-eclip", "inputs": 3}' >broken.json
expect "a broken study" 3 'broken.json: inputs is 3' run broken.json --out X
expect "a missing study" 3 'no.json: .*No such file' run no.json --out X
printf '{"operation": "unknown-thing"}' >unknown.json
expect "a study of an unknown operation" 2 "unknown.json: the operation 'unknown-thing'" run unknown.json --out X

# ---- 4: do not fit, changed
"$here/make-file" npy flat.npy "<f4" 5x5 1
expect "pixels of another shape" 4 'flat.npy: .*found \[5, 5\], expected \[3, height, width\]' run grad-eclip pixels=flat.npy text=a --out X
"$here/make-file" npy odd.npy "<f4" 3x100x112 1
expect "pixels that are no whole patches" 4 '112 x 100 .*multiples of its patch, 8' run grad-eclip pixels=odd.npy text=a --out X
"$here/make-file" npy ids.npy "<i8" 1x3 2513 9999 2514
expect "a token outside the table" 4 '9999.*0 to 2514' run grad-eclip image="$dog" tokens=ids.npy --out X
"$here/make-file" npy cube.npy "<i8" 2x2x2 1
expect "tokens of another shape" 4 'cube.npy: .*\[sentences, tokens\]' run grad-eclip image="$dog" tokens=cube.npy --out X
"$here/make-file" npy half.npy "<f4" 1x3 2513 0.5 2514
expect "tokens that are no integers" 3 'half.npy: ' run grad-eclip image="$dog" tokens=half.npy --out X
cp "$dog" mine.png
expect "a study" 0 '.*' run grad-eclip image=mine.png text=a --out S
printf '\0' | dd of=mine.png bs=1 seek=100 conv=notrunc 2>/dev/null
expect "a changed input" 4 "mine.png: the input 'image' changed since .*study.json was written" run S/study.json --out X
rm mine.png
expect "an input that is gone" 3 'mine.png: .*No such file' run S/study.json --out X
cp "$samples/desk.png" mine.png
"$here/make-file" labels mask.png 100 100
expect "a mask of another size" 4 'mask.png.*100 x 100.*448 x 448|mask.png' run explain-evaluate image="$dog" mask=mask.png text=a --out X
expect "nothing to evaluate" 4 'nothing says what is in the picture|no label map' run explain-evaluate image=mine.png --out X
check "nothing was written" test ! -e X
nothing_left "nothing temporary is left" .
finish
