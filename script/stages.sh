# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # names for, and of, the scripts that source each other
# What script/test and script/night share: stages that build, run tests and count them. Sourced
# behind lib.sh, which sets python. Build directories are in build/, what the stages print in
# build/log/.
# shellcheck disable=SC2034,SC2154
exec </dev/null 4>&1

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
jobs=$(nproc)
# Most tests of the program wait for it most of the time, and none needs a free CPU.
waiting=$((4 * jobs))
# What sanitizers find does not depend on how much a compiler optimizes; of the debug information
# they use only lines. gcc builds with all of it.
watched=(--werror -Db_lundef=false -Doptimization=1 -Dc_args=-gline-tables-only)
# What is put before a compiler that works beside tests.
gently=()
passed=0 failed=0 skipped=0
mkdir -p build/log
seen=$PWD/build/log/seen.jsonl # every test that ran, and what each left out
: >"$seen"

# Have tests make their files in memory, where it has room: they make tens of thousands, and what
# they write through to a disk waits for whoever else uses it. The folder goes at the end.
files_in_memory() {
    local free
    free=$(df --output=avail -BM /dev/shm 2>/dev/null | tr -dc 0-9)
    [[ -z ${TMPDIR:-} && ${free:-0} -ge 4096 ]] || return 0
    TMPDIR=$(mktemp -d /dev/shm/bt.XXXX) # short: names of sockets are
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
    chmod 1777 "$TMPDIR"
}

# Count one check that is no meson test: check NAME LOG COMMAND...; 1 when it fails.
check() {
    local name=$1 log=$2
    shift 2
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    bad "$name failed; the end of $log:"
    tail -n 60 "$log"
    return 1
}

skip() {
    skipped=$((skipped + 1))
    note "skipped: $*"
}

make_dir() {
    configure "$@" && "${gently[@]}" ninja -C "$1"
}

# built NAME CC MESON-OPTIONS...: configure and build build/NAME.
built() {
    check "building build/$1" "build/log/$1-build.log" make_dir "build/$1" "${@:2}"
}

# make_only WHAT DIR CC MESON-OPTIONS...: configure and build what script/targets.py says of WHAT,
# which meson knows once build.ninja is as new as the sources.
make_only() {
    local what=$1
    shift
    configure "$@" && ninja -C "$1" build.ninja &&
        "$python" script/targets.py "$1" "$what" | xargs ninja -C "$1"
}

# tests NAME DIR PROCESSES MESON-TEST-ARGUMENTS...: run tests of a built directory and count them.
# Limits are four times those of meson.build: a busy machine is no failure.
tests() {
    local name=$1 dir=$2 processes=$3 begin=$SECONDS counts p f s status=0
    shift 3
    rm -f "$dir/meson-logs/$name"{,-*}.json
    meson test -C "$dir" --no-rebuild --num-processes "$processes" --logbase "$name" \
        --timeout-multiplier 4 "$@" >"build/log/$name-tests.log" 2>&1 || status=$?
    # With a wrapper meson adds its name to the log's.
    counts=$("$python" script/count.py "$seen" "$dir/meson-logs/$name"{,-*}.json 3>&1 >&4) ||
        counts="0 1 0"
    read -r p f s <<<"$counts"
    if [ "$f" = 0 ] && { [ "$status" != 0 ] || [ "$p" = 0 ]; }; then
        f=1
        bad "meson test: status $status, $p passed; the end of build/log/$name-tests.log:"
        tail -n 40 "build/log/$name-tests.log"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [ "$f" = 0 ]; then
        good "$p passed, $s skipped in $(elapsed "$begin")"
    else
        bad "$f failed, $p passed, $s skipped in $(elapsed "$begin")"
    fi
}

# What no build has run fails, unless script/count.py knows the reason.
never_run() {
    step "tests that are skipped in every build"
    if check "skipped in every build" build/log/never.log \
        "$python" script/count.py --never "$seen"; then
        good "none"
    fi
}

# What is on the machine before the tests: see leftovers(). By TEST_SESSION, which each process of a
# test inherits, it is told from what others start meanwhile.
leftovers_before() {
    export TEST_SESSION=$$.$SECONDS.$RANDOM
    "$python" script/leftovers.py --before build/log/before.json
}

# A test leaves the machine as it found it.
leftovers() {
    step "what the tests left on this machine"
    if check "leaving the machine as it was" build/log/left.log \
        "$python" script/leftovers.py --after build/log/before.json; then
        good "nothing"
    fi
}

# The last line, and the exit status.
sum_up() {
    local sum
    step "everything ran in $(elapsed 0)"
    sum="$passed passed, $failed failed"
    [ "$skipped" = 0 ] || sum="$sum, $skipped skipped"
    echo "$sum"
    [ "$failed" = 0 ]
}
