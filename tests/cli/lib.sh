# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by the tests of limn-cli: running it, comparing, and TAP output. A test script
# calls `check NAME` with a condition behind it, or the helpers below, and `finish` last.
#
# Environment: LIMN_CLI (the program), LIMN_TEST_DATA, LIMN_DATA_DIR (resources), and
# LIMN_UPDATE_EXPECTED=1 to write the stored texts anew.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cli=${LIMN_CLI:?}
samples=${LIMN_DATA_DIR:?}/samples
work=$(mktemp -d)
export HOME="$work/home" XDG_CACHE_HOME="$work/cache" XDG_DATA_HOME="$work/data" TMPDIR="$work/tmp"
mkdir -p "$HOME" "$TMPDIR"
cd "$work" || exit 1
tests=0 failures=0
cleanup() {
    chmod -R u+rwx "$work" 2>/dev/null
    cd / && rm -rf "$work"
}
trap cleanup EXIT

ok() { # NAME STATUS [EXPLANATION]
    tests=$((tests + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $tests - $1"
    else
        echo "not ok $tests - $1"
        failures=$((failures + 1))
        [ -z "${3:-}" ] || printf '%s\n' "$3" | sed 's/^/# /'
    fi
}

check() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >/dev/null 2>&1
    ok "$name" $? "failed: $*"
}

# limn ARGUMENT...: output to $work/stdout and stderr, exit status to $status.
limn() {
    "$cli" "$@" >"$work/stdout" 2>"$work/stderr"
    status=$?
}

# expect NAME STATUS PATTERN ARGUMENT...: exit status (a shell pattern), and an extended
# regular expression that a line of stderr matches ("" for: nothing on stderr, ".*" for:
# anything). A refused command prints nothing on stdout, and every line of stderr begins
# with the name of the program.
expect() {
    local name=$1 wanted=$2 pattern=$3 problem=""
    shift 3
    limn "$@"
    case $status in
    $wanted) ;;
    *) problem="status $status, expected $wanted" ;;
    esac
    if [ -z "$pattern" ]; then
        [ ! -s "$work/stderr" ] || problem="$problem; stderr is not empty"
    elif [ "$pattern" != '.*' ] && ! grep -Eq -- "$pattern" "$work/stderr"; then
        problem="$problem; stderr does not match '$pattern'"
    fi
    if grep -qv -e '^limn-cli: ' -e '^{' "$work/stderr"; then
        problem="$problem; a line of stderr does not begin with limn-cli:"
    fi
    case $status in
    0 | 5) ;;
    *) [ ! -s "$work/stdout" ] || problem="$problem; stdout is not empty" ;;
    esac
    if [ -z "$problem" ]; then
        ok "$name" 0
    else
        ok "$name" 1 "$problem
command: limn-cli $*
$(head -c 2000 "$work/stderr")"
    fi
}

# same_text NAME FILE: $work/stdout is the stored text.
same_text() {
    local stored="$here/expected/$2"
    if [ -n "${LIMN_UPDATE_EXPECTED:-}" ]; then
        cp "$work/stdout" "$stored"
    fi
    local difference
    difference=$(diff "$stored" "$work/stdout")
    ok "$1" $? "$difference"
}

# same_study NAME DIR DIR: everything but timing.json has the same bytes.
same_study() {
    local difference
    difference=$(diff -r --exclude=timing.json "$2" "$3")
    ok "$1" $? "$difference"
}

# value FILE EXPRESSION: prints the value of a Python expression of `d`, the JSON in FILE.
value() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"
}

# is NAME EXPECTED FOUND
is() {
    [ "$2" = "$3" ]
    ok "$1" $? "expected '$2', found '$3'"
}

# nothing_left NAME DIR: no temporary files or folders in it.
nothing_left() {
    local found
    found=$(find "$2" -name '*.limn-part' -o -name '.limn-*')
    [ -z "$found" ]
    ok "$1" $? "$found"
}

skip() { # NAME REASON
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

finish() {
    echo "1..$tests"
    [ "$failures" -eq 0 ]
}
