#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where results go: folders that exist, cannot be written or fill up; cancelling; dying.
. "$(dirname "$0")/lib.sh"
dog=$samples/dog-and-car.png
explain() { expect "$1" "$2" "$3" run grad-eclip image="$dog" text="a dog" "${@:4}"; }
# A run that takes minutes, in the background; prints progress to $1. Its id is in $slow.
start_slow() {
    "$cli" run attention-maps method=rise rise-masks=1000000 image="$dog" text="a dog" \
        --progress json "${@:2}" >slow.out 2>"$1" &
    slow=$!
    for _ in $(seq 1200); do
        grep -q '"rise"' "$1" 2>/dev/null && break
        sleep 0.05
    done
}

# ---- folders that exist
explain "a new folder, with parents" 0 "" --out deep/er/A
mkdir empty
explain "an empty folder" 0 "" --out empty
explain "a folder that exists" 2 'deep/er/A: exists already .*--force' --out deep/er/A
cp -r deep/er/A before
explain "is replaced with --force" 0 "" --out deep/er/A --force
same_study "by the same study" before deep/er/A
echo mine >deep/er/A/thesis.txt
explain "other files stay" 0 "" side=image --out deep/er/A --force
check "they do" grep -qx mine deep/er/A/thesis.txt
check "files of the study before are gone" test ! -e deep/er/A/words.json
mkdir others
echo mine >others/map.npy
explain "a file of somebody else is not replaced" 1 'others/map.npy: exists and belongs to no study' --out others --force
check "it was not" grep -qx mine others/map.npy
: >file
explain "a file in place of the folder" 2 'file: exists already' --out file
explain "not even with --force" 1 'file: cannot be written .*found a file' --out file --force
explain "below a file" 1 'file/x: cannot be written' --out file/x
ln -s empty link
explain "through a link" 0 "" --out link --force
check "the link stays" test -L link

# ---- folders that cannot be written
mkdir locked
chmod 500 locked
if [ "$(id -u)" -eq 0 ]; then
    # Root may write everywhere: ask as somebody else, who must reach all of it.
    if command -v setpriv >/dev/null && chmod 711 "$work" &&
        setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$cli" -a -r "$dog"; then
        setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent XDG_CACHE_HOME=/nonexistent \
            "$cli" run grad-eclip image="$dog" text="a dog" --out "$work/locked/x" >stdout 2>stderr
        is "a folder that is read-only" 1 $?
        check "is named" grep -q 'locked/x: cannot be written: Permission denied' stderr
        mkdir open && chmod 777 open
        setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent XDG_CACHE_HOME=/nonexistent \
            "$cli" run grad-eclip image="$dog" text="a dog" --out "$work/open/x" >stdout 2>stderr
        is "B56: without a home that can be written" 0 $?
    else
        skip "a folder that is read-only" "the program cannot be run as another user"
    fi
else
    explain "a folder that is read-only" 1 'locked/x: cannot be written: Permission denied' --out locked/x
    HOME=/nonexistent XDG_CACHE_HOME=/nonexistent explain "B56: without a home that can be written" 0 "" --out homeless
fi

# ---- a disk that fills up
mkdir small
if mount -t tmpfs -o size=40k limn-test small 2>/dev/null; then
    explain "a full disk" 1 'small/A/.*No space left' --out small/A
    is "leaves nothing" "" "$(ls -A small)"
    explain "a full disk, into the file system itself" 1 'small/.*No space left' --out small
    is "leaves nothing there" "" "$(ls -A small)"
    umount small
    mount -t tmpfs -o size=4m limn-test small
    explain "a file system of its own" 0 "" --out small --force
    check "has the study" test -s small/result.json
    explain "and again" 0 "" --out small --force
    nothing_left "without remains" small
    umount small
else
    skip "a full disk" "no file system can be mounted here"
fi
(
    ulimit -f 8
    "$cli" run grad-eclip image="$dog" text="a dog" --out limited >stdout 2>stderr
    echo $? >limit-status
)
is "files that may not grow" 1 "$(cat limit-status)"
check "are named" grep -q 'limited/picture.png: .*File too large' stderr
check "nothing was written" test ! -e limited

# ---- cancelling
for signal in INT TERM; do
    start_slow progress --out "cancelled-$signal"
    kill -s $signal $slow
    wait $slow
    is "SIG$signal" 130 $?
    check "says so" grep -qi 'cancel' progress
    check "and writes nothing" test ! -e "cancelled-$signal"
    check "nor prints results" test ! -s slow.out
done
start_slow progress --out deep/er/A --force
kill -s INT $slow
wait $slow
check "a study that was there stays" test -s deep/er/A/result.json -a ! -e deep/er/A/words.json
nothing_left "nothing temporary is left" .

# ---- dying
mkdir "graves" && mkdir "graves/.limn-study.4194301-abcdef.limn-part"
: >"graves/.limn-study.4194301-abcdef.limn-part/map.npy"
explain "what a dead process left" 0 "" --out graves/B
nothing_left "is removed" graves
start_slow progress --out killed
kill -KILL $slow
wait $slow 2>/dev/null
check "a killed run leaves no study" test ! -e killed
explain "and the next one works" 0 "" --out killed
finish
