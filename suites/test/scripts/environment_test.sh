#!/usr/bin/env bash
# Variables that a user has set for OpenBLAS change no number of these scripts: each is copied into
# a tree of stand-ins, which record the environment that they run in. And scripts/bare refuses
# misuse.
# usage: environment_test.sh SCRIPTS FOLDER BUILD
set -eu
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

scripts=$1 folder=$2 build=$3
enter "$folder"
folder=$(pwd -P)

# A stand-in for every program that the scripts run; all of them fail, so that no script goes on.
stand_in() {
    mkdir -p "${1%/*}"
    # shellcheck disable=SC2016 # for the stand-in
    printf '#!/bin/sh\necho "%s core=$OPENBLAS_CORETYPE size=$OPENBLAS_L2_SIZE" >>%s/seen\nexit 1\n' \
        "${1##*/}" "$folder" >"$1"
    chmod +x "$1"
}

# clean SCRIPT ARGUMENT...: a program is run without these variables, and in the script's own tree:
# there is another tree where CDPATH leads.
clean() {
    local script=$1
    shift
    rm -rf tree seen
    mkdir -p tree/scripts other/tree/scripts
    cp "$scripts/$script" tree/scripts
    stand_in tree/build/release/harness/lockstep
    stand_in tree/build/release/suites/test/core/lockstep-core-cases
    for program in cmake ctest; do stand_in "tree/bin/$program"; done
    for other in bootstrap build; do [ "$other" = "$script" ] || printf '#!/bin/sh\n' >"tree/scripts/$other"; done
    chmod +x tree/scripts/*
    CDPATH=$folder/other PATH=$folder/tree/bin:$PATH OPENBLAS_CORETYPE=Prescott OPENBLAS_L2_SIZE=1 "tree/scripts/$script" "$@" \
        >out 2>err </dev/null && fail "$script passes where every program fails"
    [ -s seen ] || fail "$script runs nothing, so this shows nothing"
    ! grep -v ' core= size=$' seen || fail "$script: OpenBLAS is what the user set: $(cat seen)"
}
clean build
clean test
clean demo
clean bench outside
clean torture
clean gpu-check --programs "$folder/tree/build/release" --out "$folder/gpu"

# refused WORDS ARGUMENT...: there is one line, and status 2.
refused() {
    local status=0
    "$scripts/bare" "${@:2}" >out 2>err || status=$?
    [ "$status" -eq 2 ] || fail "bare ${*:2}: status $status"
    if [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -- "$1" err; then fail "bare ${*:2}: not one line with '$1'"; fi
}
refused 'bookworm, trixie or noble'
refused "'sid' is not known" sid
refused "not 'trixie' and 'bookworm'" trixie bookworm
refused "unknown argument '--fast'" trixie --fast
refused '--mirror needs a URL' trixie --mirror
refused "cannot read '/nowhere'" noble --keyring /nowhere
refused '--wheel needs a folder' bookworm --wheel /nowhere
refused '--try needs a wheel' bookworm --try /nowhere
"$scripts/bare" --help | grep -q '^exit: 0 every step passed' || fail 'no help'

# Each variable of the list is set, and no test that ctest starts sees it.
list=${scripts%/*}/cmake/TestEnvironment.cmake
mapfile -t names < <(sed -n '/^foreach(/,/)$/p' "$list" | grep -v '^ *#' | tr -d ')' | grep -oE '[A-Z_]{3,}')
[ "${#names[@]}" -ge 30 ] || fail "only ${#names[@]} variables are dropped"
mkdir -p seen_by_tests
printf 'include("%s")\nadd_test(seen env)\n' "$list" >seen_by_tests/CTestTestfile.cmake
# CDPATH and the like would change what this script does, so only ctest gets them.
env "${names[@]/%/=poison}" HOME="$folder" ctest --test-dir "$folder/seen_by_tests" -V >out 2>err || fail 'ctest'
grep -q "HOME=$folder" out || fail 'the test saw no environment'
! grep '=poison$' out || fail 'a test sees what must be dropped'
grep -qF "$list" "$build/CTestTestfile.cmake" || fail "ctest does not read $list for the tests of Lockstep"

# README's commands, each script, and each checker on its trees with faults, once under all variables
# of the list, as if no ctest had dropped them. If that fails, once under each, to name it.
checks=${scripts%/*}/suites/test/lint/checks_test
mkdir -p elsewhere/scripts elsewhere/core clean
value_of() {
    case $1 in
    CRITERION_* | ?SAN_OPTIONS | UBSAN_OPTIONS) echo "$1=verbosity=0" ;;
    PYTHONHOME | BASH_ENV | ENV) ;; # without its own modules no Python starts, and after such a file any command is another
    PYTHON[O-W]*) echo "$1=error" ;;
    CDPATH | GIT_WORK_TREE | DESTDIR | GNUPLOT_LIB) echo "$1=$folder/elsewhere" ;;
    GIT_DIR | GIT_INDEX_FILE | OPENSSL_CONF | XML_CATALOG_FILES) echo "$1=$folder/nowhere" ;;
    GLOBIGNORE) echo "$1=*" ;;
    GREP_OPTIONS) echo "$1=-v" ;;
    TAR_OPTIONS) echo "$1=--no-such-option" ;;
    ARGP_HELP_FMT) echo "$1=rmargin=20" ;;
    GNUTERM) echo "$1=dumb" ;;
    *) echo "$1=1" ;;
    esac
}
# under NAME=VALUE...: runs all of it; the output does not depend on the variables.
under() {
    local script subject lockstep=$build/harness/lockstep
    for subject in docs includes format planted scripts; do
        env "$@" "$checks" $subject >out 2>err || [ $? -eq 77 ] || fail "$*: checks_test $subject"
    done
    for script in "$scripts"/*; do
        [ -x "$script" ] || continue
        command -v python3 >/dev/null || ! grep -q python3 "$script" || continue
        env "$@" "$script" --help >out 2>err </dev/null || fail "$*: ${script##*/} --help"
        [ -s "clean/${script##*/}" ] || cp out "clean/${script##*/}"
        cmp -s out "clean/${script##*/}" || fail "$*: another help of ${script##*/}"
    done
    rm -rf my.jsonl my-report
    env "$@" "$lockstep" check --only SPLIT-01.sizes >out 2>err || fail "$*: lockstep check"
    env "$@" "$lockstep" sweep --devices virt:1 --workload mlp:8,8 --batch 8 --seconds 0.001 --steps 5:5 --bind none \
        --out my.jsonl >out 2>err || fail "$*: lockstep sweep"
    env "$@" "$lockstep" report my.jsonl --out my-report >out 2>err || fail "$*: lockstep report"
    [ "$(head -n 1 out)" = my-report/index.html ] || fail "$*: lockstep report says"
}
under LC_ALL=C
all=()
for name in "${names[@]}"; do
    value=$(value_of "$name")
    [ -z "$value" ] || all+=("$value")
done
if ! (under "${all[@]}") 2>together; then
    for value in "${all[@]}"; do under "$value"; done
    fail "only if all are set: $(cat together)"
fi
