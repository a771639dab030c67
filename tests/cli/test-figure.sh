#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# figure: formats, options, the same bytes again, and what is refused.
. "$(dirname "$0")/lib.sh"
limn run grad-eclip image="$samples/dog-and-car.png" text="a dog" text="an automobile" display=yes --out S
is "a study to draw" 0 $status
for format in pdf svg png; do
    expect "figure as $format" 0 "" figure S --out "a.$format"
    expect "once more" 0 "" figure --out "b.$format" S
    check "the same bytes" cmp "a.$format" "b.$format"
done
check "a PDF" grep -aq '^%PDF-' a.pdf
check "an SVG" grep -q '<svg' a.svg
is "a PNG of 84 mm at 300 dpi" 992 "$(python3 -c 'import struct; print(struct.unpack(">I", open("a.png", "rb").read()[16:20])[0])')"
if command -v pdffonts >/dev/null; then
    pdffonts a.pdf >fonts
    check "fonts are embedded" bash -c 'tail -n +3 fonts | grep -q . && ! tail -n +3 fonts | awk "{ print \$(NF-4) }" | grep -q no'
    expect "text as outlines" 0 "" figure S --out outlines.pdf --outlines
    pdffonts outlines.pdf >fonts
    is "has no fonts" 0 "$(tail -n +3 fonts | wc -l)"
fi
if command -v pdftotext >/dev/null; then
    pdftotext a.pdf - >text
    check "prompts are text" grep -q 'an automobile' text
fi
expect "one map of them" 0 "" figure S --item 1 --out one.svg
check "is the second" bash -c 'grep -q automobile one.svg && ! grep -q ">a dog<" one.svg'
expect "a size" 0 "" figure S --width-mm 170 --dpi 100 --out size.png
is "in pixels" 669 "$(python3 -c 'import struct; print(struct.unpack(">I", open("size.png", "rb").read()[16:20])[0])')"
for artifact in map signed display words; do
    expect "artifact $artifact" 0 "" figure S --artifact $artifact --out "$artifact.pdf"
done
expect "colour map and range" 0 "" figure S --colormap magma --range 0,0.3 --out magma.png
expect "the numbers beside it" 0 "" figure S --out data.pdf --data
check "are the map's" cmp data.npy S/map.npy
limn run S/study.json --threads 1 --out S1
for t in 1 2; do "$cli" run S/study.json --threads $t --out "T$t" >/dev/null 2>&1; "$cli" figure "T$t" --out "T$t.pdf"; done
check "figures do not depend on threads" cmp T1.pdf T2.pdf

expect "no output" 2 'the output file is missing' figure S
expect "no study" 2 'the folder of one study' figure --out x.pdf
expect "another format" 2 'x.jpg: .*\.pdf, \.svg or \.png' figure S --out x.jpg
expect "unknown artifact" 2 "no artifact 'mpa' \(did you mean 'map'\? allowed: map, signed" figure S --artifact mpa --out x.pdf
expect "unknown colour map" 2 "--colormap viridsi: .*did you mean 'viridis'" figure S --colormap viridsi --out x.pdf
expect "no such item" 2 '2|item' figure S --item 2 --out x.pdf
expect "a range that is none" 2 '--range 1,0: .*MIN,MAX' figure S --range 1,0 --out x.pdf
expect "a width that is none" 2 '--width-mm wide' figure S --width-mm wide --out x.pdf
expect "a folder that is no study" 3 "samples: is not the folder of a finished study" figure "$samples" --out x.pdf
expect "a folder that is not there" 3 'nowhere: is no folder' figure nowhere --out x.pdf
expect "an output that cannot be written" 1 'x.pdf: ' figure S --out nowhere/x.pdf
cp -r S broken && rm broken/map.npy
expect "a study with a file missing" 3 'broken/map.npy: ' figure broken --out x.pdf
check "nothing was written" test ! -e x.pdf -a ! -e nowhere
nothing_left "nothing temporary is left" .
finish
