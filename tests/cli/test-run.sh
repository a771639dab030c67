#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run: good runs of the explaining operations, what they write, and repeating them.
. "$(dirname "$0")/lib.sh"
dog=$samples/dog-and-car.png

# ---- grad-eclip
expect "grad-eclip" 0 "" run grad-eclip image="$dog" text="a dog" text="a dog face" --out A
check "scalars are printed" grep -Eq $'^cosine\ta dog\t0\\.5015' "$work/stdout"
is "files of the study" "map.npy picture.png result.json signed.npy study.json timing.json words.json" \
    "$(ls A | tr '\n' ' ' | sed 's/ $//')"
is "map is [T,gh,gw]" "[2, 14, 14]" "$(value A/result.json 'd["artifacts"][0]["shape"]')"
is "a label per map" "['a dog', 'a dog face']" "$(value A/result.json 'd["artifacts"][0]["labels"]')"
is "probabilities sum to one" True \
    "$(value A/result.json 'abs(sum(d["scalars"]["probability"].values()) - 1) < 1e-12')"
is "true cosine of the reference" True \
    "$(value A/result.json 'abs(d["scalars"]["cosine"]["a dog"] - 0.5015134811401367) < 1e-5')"
is "range is that of the map" True \
    "$(value A/result.json 'd["artifacts"][0]["range"][0] == 0 and d["artifacts"][0]["range"][1] > 0.1')"
check "the dog's map points at the dog" "$here/make-file" argmax A/map.npy \
    "$samples/dog-and-car_labels.png" 0 1
check "the dog face's as well" "$here/make-file" argmax A/map.npy \
    "$samples/dog-and-car_labels.png" 1 1
expect "a lion" 0 "" run grad-eclip image="$samples/lion-giraffe-tree.png" text="a lion" --out lion
check "the lion's map points at the lion" "$here/make-file" argmax lion/map.npy \
    "$samples/lion-giraffe-tree_labels.png" 0 1
is "words: byte ranges and weights" "[[[0, 1], [2, 5]], 2]" \
    "$(value A/words.json '[[t["bytes"] for t in d[0]["tokens"]], len(d[0]["words"])]')"
is "words: keys" "['score', 'text', 'tokens', 'truncated', 'words']" "$(value A/words.json 'sorted(d[0])')"
is "words: keys of a token" "['bytes', 'id', 'piece', 'weight']" \
    "$(value A/words.json 'sorted(d[0]["tokens"][0])')"
is "study: every input has size and hash" True \
    "$(value A/study.json 'all(i["size"] >= 0 and len(i["sha256"]) == 64 for i in d["inputs"] + d["builtin"])')"
is "study: the picture's own hash" "$(sha256sum "$dog" | cut -d' ' -f1)" \
    "$(value A/study.json 'd["inputs"][0]["sha256"]')"
is "study: operation, seed, defaults" "['grad-eclip', 0, 'faithful', 1, 'no']" \
    "$(value A/study.json '[d["operation"], d["seed"], d["parameters"]["mode"], d["parameters"]["layers"], d["parameters"]["display"]]')"
is "timing: host, threads, stages" True \
    "$(value A/timing.json '"host" in d and d["threads"] >= 1 and len(d["stages"]) > 2')"

# ---- repeating, threads
expect "repeat with one thread" 0 "" run A/study.json --out A1 --threads 1
expect "repeat with two threads" 0 "" run --threads 2 --out A2 A/study.json
same_study "the same bytes with one thread" A A1
same_study "the same bytes with two" A A2
expect "repeat by the folder" 0 "" run --out A3 -- A
same_study "the same bytes" A A3
expect "a study with further keys" 2 'repeated as it is' run A/study.json text=b --out X
expect "a study with a seed" 2 'repeated as it is' run A/study.json --seed 3 --out X

# ---- the order of words
expect "options first" 0 "" run --out=B --seed=0 grad-eclip -- image="$dog" text="a dog" text="a dog face"
same_study "gives the same" A B
printf 'a dog\r\n\r\n  a dog face  \n' >texts.txt
expect "sentences from a file" 0 "" run grad-eclip image="$dog" texts=texts.txt --out C
check "give the same maps" cmp A/map.npy C/map.npy
check "and words" cmp A/words.json C/words.json
expect "the first = splits" 0 '.*' run grad-eclip image="$dog" text="a=b" --out D
is "sentence with =" "a=b" "$(value D/study.json 'd["inputs"][1]["text"]')"
expect "the same sentence twice" 0 "" run grad-eclip image="$dog" text="a dog" text="a dog" --out D2
is "twins keep apart" "['a dog', 'a dog (2)']" "$(value D2/result.json 'list(d["scalars"]["cosine"])')"

# ---- parameters
expect "authors' mode" 0 "" run grad-eclip image="$dog" text="a dog" mode=authors similarity=out \
    layers=3 text-layers=2 padding=zero display=yes --out E
is "display has the size of the picture" "[1, 448, 448]" \
    "$(value E/result.json '[a for a in d["artifacts"] if a["name"] == "display"][0]["shape"]')"
is "the true cosine stays" True \
    "$(value E/result.json 'abs(d["scalars"]["cosine"]["a dog"] - 0.5015134811401367) < 1e-5')"
"$here/make-file" png wide.png 200 112
expect "a wide picture" 0 "" run grad-eclip image=wide.png text="a dog" display=yes --out F
is "keeps the rectangle of the crop" "[44, 0, 112, 112]" "$(value F/result.json 'd["artifacts"][0]["rect"]')"
is "display is NaN outside it" $((112 * 88)) \
    "$(value F/result.json '[a for a in d["artifacts"] if a["name"] == "display"][0]["non_finite"]')"
expect "keep the size" 0 '.*' run grad-eclip image=wide.png text="a dog" preprocess=keep --out G
is "one patch per 8 pixels" "[1, 14, 25]" "$(value G/result.json 'd["artifacts"][0]["shape"]')"
expect "keep, up to a limit" 0 '.*' run grad-eclip image=wide.png text="a dog" preprocess=keep keep-limit=56 --out G2
is "half of it" "[1, 7, 13]" "$(value G2/result.json 'd["artifacts"][0]["shape"]')"
for side in image text; do
    expect "side=$side" 0 "" run grad-eclip image="$dog" text="a dog" side=$side --out "S-$side"
done
check "side=image has no words" test ! -e S-image/words.json
check "side=text has no map" test ! -e S-text/map.npy
check "the word weights are the same" test "$(value A/words.json 'd[0]["tokens"]')" = "$(value S-text/words.json 'd[0]["tokens"]')"

# ---- pixels and tokens
"$here/make-file" npy three.npy "<f4" 3x112x112 0.5 -1 0.25 2
"$here/make-file" npy four.npy "<f4" 2x3x112x112 0.5 -1 0.25 2 1.5
"$here/make-file" npy ids.npy "<i8" 2x4 2513 320 761 2514
expect "pixels [3,h,w]" 0 '.*' run grad-eclip pixels=three.npy text="a dog" --out P3
is "map is [T,gh,gw]" "[1, 14, 14]" "$(value P3/result.json 'd["artifacts"][0]["shape"]')"
expect "pixels [B,3,h,w]" 0 '.*' run grad-eclip pixels=four.npy text="a dog" text="a cat" --out P4
is "map is [B,T,gh,gw]" "[2, 2, 14, 14]" "$(value P4/result.json 'd["artifacts"][0]["shape"]')"
expect "tokens" 0 "" run grad-eclip image="$dog" tokens=ids.npy --out T
is "tokens give the map of their sentence" True "$(python3 - <<'END'
a = open("A/map.npy", "rb").read()[128:128 + 14 * 14 * 4]
t = open("T/map.npy", "rb").read()[128:128 + 14 * 14 * 4]
print(a == t)
END
)"
is "tokens are decoded for people" "a dog" "$(value T/words.json 'd[0]["text"]')"
is "and placed in the sentence" "[[0, 1], [2, 5]]" "$(value T/words.json '[t["bytes"] for t in d[0]["tokens"]]')"

# ---- the comparison methods
for method in self-attention rollout game grad-cam maskclip patch-cosine clip-surgery attention-gradient m2ib; do
    expect "attention-maps $method" 0 '.*' run attention-maps method=$method image="$dog" \
        text="a dog" text="an automobile" --seed 5 --out "M-$method"
    is "$method has two maps" "[2, 14, 14]" "$(value "M-$method/result.json" 'd["artifacts"][0]["shape"]')"
done
expect "rise" 0 '.*' run attention-maps method=rise rise-masks=50 image="$dog" text="a dog" --seed 5 --out M-rise
expect "rise with one thread" 0 '.*' run M-rise/study.json --threads 1 --out M-rise-1
same_study "the same seed, the same bytes" M-rise M-rise-1
expect "rise with another seed" 0 '.*' run attention-maps method=rise rise-masks=50 image="$dog" text="a dog" --seed 6 --out M-rise-6
check "another seed, another map" bash -c '! cmp -s M-rise/map.npy M-rise-6/map.npy'
expect "rollout needs no sentence" 0 "" run attention-maps method=rollout image="$dog" --out M-none
is "its map is named after the method" "['Rollout']" "$(value M-none/result.json 'd["artifacts"][0]["labels"]')"
expect "grad-cam needs one" 2 'a sentence is missing' run attention-maps method=grad-cam image="$dog" --out X
expect "a method without words" 2 'side=text.*pictures only' run attention-maps method=grad-cam side=text text=a image="$dog" --out X

# ---- classes
expect "clip-classify with prompts" 0 "" run clip-classify image="$dog" text="a dog" text="a banana" --out K
is "the best comes first" "a dog" "$(sed -n '2s/^[^,]*,1,\([^,]*\),.*/\1/p' K/scores.csv)"
printf 'dog face\nbanana\npizza\n' >classes.txt
expect "clip-classify with classes" 0 "" run clip-classify image="$dog" classes=classes.txt --out K1
expect "with the neutral templates" 0 "" run clip-classify image="$dog" classes=classes.txt template-set=neutral --out K2
printf 'a photo of a {}\n' >templates.txt
expect "with templates of one's own" 0 "" run clip-classify image="$dog" class="dog face" class=banana class=pizza templates=templates.txt --out K3
check "the same templates, the same scores" cmp K1/scores.csv K3/scores.csv
check "other templates, other scores" bash -c '! cmp -s K1/scores.csv K2/scores.csv'
expect "the best two" 0 "" run clip-classify image="$dog" classes=classes.txt top=2 --out K4
is "two rows" 3 "$(wc -l <K4/scores.csv)"

# ---- evaluation
expect "explain-evaluate" 0 "" run explain-evaluate image="$samples/dog-and-car.png" --out V
is "finds label map and names by itself" "dog,automobile" \
    "$(cut -d, -f2 V/scores.csv | tail -n +2 | paste -sd,)"
is "both maps point at their object" 1 "$(value V/result.json 'd["scalars"]["pointing"]')"
is "the better part of a curve" True "$(value V/result.json 'd["scalars"]["insertion_area_probability"] > d["scalars"]["deletion_area_probability"] + 0.3')"
check "curves are there" test -s V/deletion.csv
is "eleven points" 12 "$(wc -l <V/deletion.csv)"
is "the last insertion point is the whole picture" 1 "$(tail -n 1 V/insertion.csv | cut -d, -f1)"
expect "against a mask, with a sentence" 0 "" run explain-evaluate image="$dog" \
    mask="$samples/dog-and-car_labels.png" text="a dog" value=1 measures=localisation --out V1
is "the sentence is the target" "a dog" "$(value V1/result.json '[a for a in d["artifacts"] if a["name"] == "map"][0]["labels"][0]')"
expect "another seed" 0 "" run explain-evaluate image="$dog" text="a dog" text="a cat" measures=curves --seed 1 --out V2
expect "and another" 0 "" run explain-evaluate image="$dog" text="a dog" text="a cat" measures=curves --seed 2 --out V3
check "colours of deletion follow the seed" bash -c '! cmp -s V2/deletion.csv V3/deletion.csv'
check "insertion has no chance in it" cmp V2/insertion.csv V3/insertion.csv

# ---- progress
"$cli" run grad-eclip image="$dog" text="a dog" --progress json --out J >/dev/null 2>progress
is "progress as JSON" True "$(python3 - <<'END'
import json
lines = [json.loads(line) for line in open("progress")]
print(len(lines) > 0 and all(set(l) == {"stage", "fraction", "message"} and 0 <= l["fraction"] <= 1 for l in lines))
END
)"
expect "no bar but on a terminal" 0 "" run grad-eclip image="$dog" text="a dog" --progress bar --out J2
expect "unknown progress" 2 '--progress loud: .*allowed: bar, json, none' run grad-eclip image="$dog" text=a --progress loud --out X
nothing_left "nothing temporary is left" .
check "no refused command wrote anything" test ! -e X
finish
