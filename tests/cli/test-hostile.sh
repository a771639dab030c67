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

# ---- links that lead nowhere or round are no missing files
for name in config.json preprocessor_config.json vocab.json tokenizer.json; do
    rm -rf linked && mkdir linked && cp "$model"/* linked && rm -f "linked/$name" && ln -s gone "linked/$name"
    expect "a link to nowhere: $name" 3 "linked/$name: .*No such file" run grad-eclip model=linked image=p.png text=a --out X
    ln -sf "$name" "linked/$name"
    expect "a link to itself: $name" 3 "linked/$name: .*levels of symbolic links" run grad-eclip model=linked image=p.png text=a --out X
done
ln -s gone p_labels.png
expect "a label map that is gone" 3 'p_labels.png: .*No such file' run explain-evaluate image=p.png text=a --out X
rm p_labels.png

# ---- a model of pictures only, and one with a hole
mkdir half && cp "$model"/*.json half
"$here/make-file" without "$model/model.safetensors" text_model. half/model.safetensors
expect "sentences without a text tower" 4 'half/model.safetensors: there is no text tower' run grad-eclip model=half image=p.png tokens=ids.npy --out X
expect "what needs no sentence works" 0 'no text tower' run attention-maps model=half image=p.png --out vision-only
"$here/make-file" without "$model/model.safetensors" vision_model.encoder.layers.1.mlp.fc1. half/model.safetensors
expect "as it does with one" 0 ".*" run attention-maps model="$model" image=p.png --out both-towers
check "and gives the same map" cmp vision-only/map.npy both-towers/map.npy
expect "missing tensors" 4 'model.safetensors: 2 of the model.s tensors are missing .vision_model.encoder.layers.1.mlp.fc1' run grad-eclip model=half image=p.png tokens=ids.npy --out X

# ---- result.json that somebody edited
edited() { # DIR EXPRESSION: a copy of DIR with `d` of its result.json changed
    rm -rf edited && cp -r "$1" edited
    python3 -c 'import json, sys
d = json.load(open("edited/result.json"))
exec(sys.argv[1])
json.dump(d, open("edited/result.json", "w"))' "$2"
}
edited open 'd["artifacts"][0]["rect"] = [0, 0, 1e308, 1e308]'
expect "a rectangle beyond all pictures" 3 'result.json: .*rect is no part of a picture' figure edited --out X.pdf
edited open 'd["artifacts"][0]["rect"] = [0, 0, -3, 5]'
expect "a rectangle of no width" 3 'result.json: .*rect is no part of a picture' figure edited --out X.pdf
mkdir pictures && cp p.png pictures/a.png && cp p.png pictures/b.png
for i in 0 1; do
    expect "shard $i" 0 "" run clip-classify image=pictures text=a text=b --shard $i/2 --out "shard-$i"
done
edited shard-1 'd["artifacts"][1]["name"] = "../evil"'
expect "an artifact that would lie elsewhere" 3 'name is .*evil' merge shard-0 edited --out X
check "does not lie there" test ! -e evil.npy

# ---- the output is no input
cp -r open kept && cp ids.npy kept/map.npy && cp p.png kept/mine.png
expect "an input that would be replaced" 2 "kept: the input 'tokens' .*map.npy. would be replaced" run grad-eclip model="$model" image=p.png tokens=kept/map.npy --out kept --force
expect "a folder of inputs" 2 "pictures: the input 'image' .* would be replaced" run clip-classify image=pictures text=a --out pictures --force
check "both are as they were" cmp ids.npy kept/map.npy
is "with nothing added" "a.png b.png" "$(ls pictures | paste -sd' ')"
expect "other files of the folder may be inputs" 0 ".*" run grad-eclip model="$model" image=kept/mine.png tokens=ids.npy --out kept --force
check "and stay" cmp p.png kept/mine.png
echo mine >kept/display.npy
expect "files of others are not replaced" 1 'display.npy: exists and belongs to no study' run "${tiny[@]}" display=yes --out kept --force
is "and keep what they hold" mine "$(cat kept/display.npy)"
expect "a figure in the place of an artifact" 2 'picture.png: is a file of the study' figure open --out open/picture.png
expect "its numbers in the place of an artifact" 2 'map.npy: is a file of the study' figure open --artifact signed --out open/map.pdf --data
expect "a figure in the place of the picture" 2 "p.png: is the input 'image'" figure open --out ./p.png
expect "a figure beside them" 0 "" figure open --out open/figure.pdf

# ---- the output inside an input; studies that somebody edited
expect "a study inside its input" 0 "" run clip-classify image=pictures text=a text=b --out pictures/out
expect "does not change the input" 0 "" run pictures/out/study.json --out pictures/again
same_study "and gives the same" pictures/out pictures/again
sed 's/"parameters"/"parameter"/' pictures/out/study.json >pictures/wrong.json
expect "a misspelt member" 2 "wrong.json: parameter is no member of a study .did you mean 'parameters'" run pictures/wrong.json --out X
expect "concepts of no icons" 2 'concepts=: .*icons=' run scenes count=1 concepts=p.png --out X

# ---- checkpoints
train=(clip-train steps=4 batch=2 size=16 patch=8 vision-width=8 vision-layers=1 vision-heads=1
    vision-mlp=8 text-width=8 text-layers=1 text-heads=1 text-mlp=8 projection=4 merges=10
    evaluate-count=2 evaluate-every=1 sampled-names=4 context=12)
(ulimit -f 0; "$cli" run "${train[@]}" --out deep/er/X >stdout 2>stderr)
is "a training that cannot write" 1 $?
check "leaves no empty folders" test ! -e deep
"$cli" run "${train[@]/steps=4/steps=100000}" --progress json --out busy >stdout 2>progress &
slow=$!
for _ in $(seq 300); do
    ls .limn-work-*/last.safetensors >/dev/null 2>&1 && break
    sleep 0.1
done
expect "a second run into the same folder" 1 'busy: is being written by another run' run "${train[@]}" --out busy
kill -KILL $slow
wait $slow 2>/dev/null
expect "settings that changed" 4 'last.safetensors: ' run "${train[@]}" rate=0.5 --resume --out busy
expect "anew instead" 0 ".*" run "${train[@]}" --out busy

check "nothing refused was written" test ! -e X -a ! -e X.pdf
nothing_left "nothing temporary is left" .
finish
