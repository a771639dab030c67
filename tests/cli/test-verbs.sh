#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# list, help, --version, and command lines that are wrong before anything is read.
. "$(dirname "$0")/lib.sh"

expect "version" 0 "" --version
check "version is printed" grep -Eqx 'limn-cli [0-9]+\.[0-9]+\.[0-9]+' "$work/stdout"
expect "help" 0 "" --help
same_text "help is stable" help.txt
expect "help without a topic" 0 "" help
same_text "the same as --help" help.txt

expect "list" 0 "" list
for id in grad-eclip attention-maps explain-evaluate clip-classify; do
    check "list names $id" grep -Eq "^$id +explain +[A-Z]" "$work/stdout"
done
ids=$(awk '{ print $1 }' "$work/stdout")
expect "list --json" 0 "" list --json
cp "$work/stdout" list.json
is "list --json has the same ids" "$(echo "$ids" | tr '\n' ' ')" \
    "$(value list.json '" ".join(o["id"] for o in d) + " "')"
is "list --json has families and titles" True \
    "$(value list.json 'all(o["family"] and o["title"] and o["summary"] for o in d)')"

# Every operation explains itself, in both forms.
for id in $ids; do
    expect "help $id" 0 "" help "$id"
    expect "help $id --json" 0 "" help --json "$id"
    cp "$work/stdout" help.json
    is "declaration of $id is whole" True "$(value help.json '(
d["id"] != "" and d["title"] != "" and d["summary"] != ""
and all(i["summary"] and i["type"] for i in d["inputs"])
and all(p["summary"] and "default" in p for p in d["parameters"])
and all(o["kind"] and o["summary"] for o in d["outputs"]))')"
done
for id in grad-eclip clip-classify; do
    limn help "$id"
    same_text "help $id is stable" "help-$id.txt"
done
for verb in list help run merge figure fetch bench; do
    expect "help $verb" 0 "" help "$verb"
    cp "$work/stdout" by-help
    expect "$verb --help" 0 "" "$verb" --help
    check "both say the same of $verb" cmp by-help "$work/stdout"
done
limn help run
same_text "help run is stable" help-run.txt

expect "no verb" 2 'a verb is missing'
expect "unknown verb" 2 "rnu: no such verb \(did you mean 'run'\? allowed: " rnu
expect "unknown option" 2 "list has no such option \(did you mean '--json'\?" list --jsn
expect "option given twice" 2 '--json: the option is given twice' list --json --json
expect "switch with a value" 2 '--json: the option takes no value' list --json=yes
expect "a word too many" 2 "list: 'x' is one word too many" list x
expect "help of nothing" 2 "help: 'grad-eclpi' is neither .*did you mean 'grad-eclip'" help grad-eclpi
expect "help of two" 2 'the name of one' help grad-eclip run
expect "JSON of a verb" 2 'neither an operation' help --json run
expect "JSON of nothing" 2 'the name of one' help --json

if [ -w /dev/full ]; then
    "$cli" list >/dev/full 2>stderr
    is "output that cannot be written" 1 $?
    check "says so" grep -q 'standard output: cannot write' stderr
else
    skip "output that cannot be written" "there is no /dev/full"
fi
( "$cli" help grad-eclip; echo $? >pipe-status ) 2>stderr | head -n 1 >/dev/null
check "a closed pipe needs no message" test ! -s stderr
finish
