#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Folders of pictures: bad items among good ones, shards, resuming.

# For root no file is unreadable: be somebody else, if everything can be reached then.
if [ "$(id -u)" -eq 0 ] && [ -z "${LIMN_STAY_ROOT:-}" ] && command -v setpriv >/dev/null; then
    nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
    if $nobody test -r "$0" -a -r "$LIMN_DATA_DIR/samples/desk.png" 2>/dev/null &&
        $nobody "$LIMN_CLI" --version >/dev/null 2>&1; then
        exec $nobody env TMPDIR=/tmp bash "$0"
    fi
fi
. "$(dirname "$0")/lib.sh"
mkdir pictures
cp "$samples"/dog-and-car.png "$samples"/desk.png "$samples"/night.png "$samples"/music.png pictures

# ---- B26: broken items are listed, the rest works
cp -r pictures broken
: >broken/a-empty.png
echo 'no picture' >broken/b-text.png
head -c 3000 "$samples/desk.png" >broken/c-cut.png
ln -s /nowhere broken/d-dangling.png
mkdir broken/e-folder.png
: >broken/.hidden.png
n_bad=4
if [ "$(id -u)" -ne 0 ]; then
    cp "$samples/desk.png" broken/f-locked.png
    chmod 000 broken/f-locked.png
    n_bad=5
fi
for operation in clip-classify grad-eclip; do
    expect "B26 $operation" 5 "$n_bad items were skipped \(listed in B-$operation/result.json\)" \
        run $operation image=broken text="a dog" text="a camera" --out "B-$operation"
    is "B26 $operation lists them" "$n_bad" "$(value "B-$operation/result.json" 'len(d["skipped"])')"
    is "B26 $operation gives reasons" True \
        "$(value "B-$operation/result.json" 'all(len(s["reason"]) > 20 and s["item"] in s["reason"] for s in d["skipped"])')"
    expect "B26 $operation on the good ones" 0 '.*' run $operation image=pictures text="a dog" text="a camera" --out "G-$operation"
done
check "B26 the others' scores are untouched" cmp B-clip-classify/scores.csv G-clip-classify/scores.csv
check "B26 nor are their maps" cmp B-grad-eclip/map.npy G-grad-eclip/map.npy
mkdir only-bad && : >only-bad/a.png && echo x >only-bad/b.png
expect "B26 nothing but broken items" 3 'none of the 2 items could be used; the first: .*a.png' \
    run clip-classify image=only-bad text=a --out X
mkdir none
expect "B26 an empty folder" 3 'none: the folder holds no pictures \(expected' run clip-classify image=none text=a --out X
check "B26 no folder for nothing" test ! -e X

# ---- B50: the scores of a picture do not depend on the others
for name in dog-and-car desk night music; do
    limn run clip-classify image="pictures/$name.png" text="a dog" text="a camera" --out "one-$name"
    tail -n +2 "one-$name/scores.csv"
done | sort >single.csv
tail -n +2 G-clip-classify/scores.csv | sort >together.csv
check "B50 alone and in a folder" cmp single.csv together.csv
"$here/make-file" npy five.npy "<f4" 5x3x112x112 0.5 -1 0.25 2 1.5 0.3 -0.7
"$here/make-file" npy three.npy "<f4" 3x3x112x112 0.5 -1 0.25 2 1.5 0.3 -0.7
limn run grad-eclip pixels=five.npy text="a dog" --out five
limn run grad-eclip pixels=three.npy text="a dog" --out three
is "B50 whatever the number of tensors" True "$(python3 - <<'END'
a, b = (open(f + "/map.npy", "rb").read()[128:] for f in ("five", "three"))
print(len(b) == 3 * 14 * 14 * 4 and a.startswith(b))
END
)"
expect "maps of a folder" 0 '.*' run grad-eclip image=pictures text="a dog" text="a cat" side=image --out maps
is "are [B,T,gh,gw]" "[4, 2, 14, 14]" "$(value maps/result.json 'd["artifacts"][0]["shape"]')"
is "with a label each" "desk.png: a dog" "$(value maps/result.json 'd["artifacts"][0]["labels"][0]')"
is "and their pictures" 4 "$(value maps/result.json 'len(d["artifacts"][0]["pictures"])')"
expect "a folder of different sizes" 2 'preprocess=keep' run grad-eclip image=pictures text=a preprocess=keep --out X
expect "and display" 2 'display=yes' run grad-eclip image=pictures text=a display=yes --out X

# ---- shards
for operation in clip-classify grad-eclip; do
    folders=()
    for i in 1 2 3; do
        expect "$operation --shard $i/3" '[05]' '.*' run $operation image=broken text="a dog" text="a camera" --shard $i/3 --out "$operation-$i"
        folders=("$operation-$i" "${folders[@]}")
    done
    expect "merge $operation" 5 "$n_bad items were skipped" merge "${folders[@]}" --out "merged-$operation"
    same_study "gives the bytes of one run" "B-$operation" "merged-$operation"
done
expect "counting from 0" 5 "skipped" run clip-classify image=broken text="a dog" text="a camera" --shard 0/3 --out zero
same_study "shard 0 is shard N" zero clip-classify-3
expect "a missing shard" 4 'not all shards were given \(missing: 2/3\)' merge clip-classify-1 clip-classify-3 --out X
expect "a double shard" 4 'zero: is the same shard 0/3 as .*clip-classify-3' merge clip-classify-1 clip-classify-2 clip-classify-3 zero --out X
expect "shards of different studies" 4 'grad-eclip-2: is a shard of another study than .*clip-classify-1' merge clip-classify-1 grad-eclip-2 --out X
expect "no shard at all" 4 'G-clip-classify: is not the folder of a shard' merge G-clip-classify --out X
expect "no folders" 2 'the folders of the shards are missing' merge --out X
expect "no output" 2 'the output folder is missing' merge clip-classify-1
expect "a folder that is no study" 3 'pictures: is not the folder of a finished study' merge pictures --out X
expect "an output that exists" 2 'zero: exists already' merge clip-classify-1 clip-classify-2 clip-classify-3 --out zero

# ---- evaluation over a folder, interrupted and resumed
mkdir scenes
for name in dog-and-car cat-and-pizza night harbour; do
    cp "$samples/$name".png "$samples/$name"_labels.png "$samples/$name".json scenes
done
expect "evaluate a folder" 0 '.*' run explain-evaluate image=scenes every=50 --out whole
is "pictures are not their label maps" "cat-and-pizza.png dog-and-car.png harbour.png night.png" \
    "$(tail -n +2 whole/scores.csv | cut -d, -f1 | uniq | paste -sd' ')"
for i in 1 2; do
    expect "evaluate shard $i/2" 0 '.*' run explain-evaluate image=scenes every=50 --shard $i/2 --out "part-$i"
done
expect "merge the evaluation" 0 "" merge part-1 part-2 --out joined
same_study "summary and all" whole joined
interrupt() { # SIGNAL: an evaluation that has finished at least one picture
    "$cli" run explain-evaluate image=scenes every=1 --progress json --out resumed >/dev/null 2>progress &
    slow=$!
    for _ in $(seq 1200); do
        [ -n "$(find . -path './.limn-work-*/items.journal' -size +1 2>/dev/null)" ] && break
        sleep 0.05
    done
    kill -s "$1" $slow
    wait $slow 2>/dev/null
}
interrupt INT
is "an evaluation is cancelled" 130 $?
check "what is finished is kept" grep -q 'what is finished is kept (--resume' progress
interrupt KILL
check "an interrupted evaluation leaves its journal" ls .limn-work-*/items.journal
expect "it is resumed" 0 '.*' run explain-evaluate image=scenes every=1 --resume --out resumed
expect "and one without interruption" 0 '.*' run explain-evaluate image=scenes every=1 --out straight
same_study "gives the same bytes" straight resumed
check "the journal is gone" bash -c '! ls -d .limn-work-*'
nothing_left "nothing temporary is left" .
finish
