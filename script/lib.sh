# shellcheck shell=bash
# Shared by the scripts beside it, which source it first: strict mode, --help, the repository's root
# as the working directory, progress, builds.
set -euo pipefail

# What a script says of itself at its head is its help.
case ${1:-} in
-h | --help)
    sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8

if [ -t 1 ]; then
    bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
    bold='' red='' green='' plain=''
fi

# What is going on, as a headline.
step() {
    printf '%s==> %s%s\n' "$bold" "$*" "$plain"
}

# A line below the headline.
note() {
    printf '    %s\n' "$*"
}

good() {
    printf '    %s%s%s\n' "$green" "$*" "$plain"
}

bad() {
    printf '    %s%s%s\n' "$red" "$*" "$plain"
}

# End with a sentence.
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Seconds since $1, a value of $SECONDS (0: since the script started).
elapsed() {
    printf '%d s' "$((SECONDS - $1))"
}

# Where ccache is installed, what was compiled once is not compiled again, in whichever copy
# of the tree: names of files are relative to it, and debug information may name another copy.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# configure DIR CC MESON-OPTIONS...: make the build directory, anew when it was made with others.
configure() {
    local dir=$1 cc=$2 want
    shift 2
    ! command -v ccache >/dev/null || cc="ccache $cc"
    want="$cc $*"
    if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/.options" 2>/dev/null)" = "$want" ]; then
        return 0
    fi
    rm -rf "$dir"
    CC=$cc meson setup "$dir" "$@" && printf '%s\n' "$want" >"$dir/.options"
}

# Debian's Python: python3-pytest is for this one, not for another that comes first on PATH.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
export python

# The ninja target of the program, below a build directory.
export brim_target=src/cmd/brim
