#!/usr/bin/env bash
# What a user has set for OpenBLAS changes no number of these scripts: each is copied into a tree of
# stand-ins, which write down the environment that they are run in. And scripts/bare refuses misuse.
# usage: environment_test.sh SCRIPTS FOLDER BUILD
set -eu
export LC_ALL=C

scripts=$1 folder=$2 build=$3
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
folder=$(pwd -P)

fail() {
    echo "FAILED: $*" >&2
    cat out err >&2 2>/dev/null || true
    exit 1
}

# A stand-in for every program that the scripts run; all of them fail, so that no script goes on.
stand_in() {
    mkdir -p "${1%/*}"
    # shellcheck disable=SC2016 # for the stand-in
    printf '#!/bin/sh\necho "%s core=$OPENBLAS_CORETYPE size=$OPENBLAS_L2_SIZE" >>%s/seen\nexit 1\n' \
        "${1##*/}" "$folder" >"$1"
    chmod +x "$1"
}

# clean SCRIPT ARGUMENT...: something is run, without these variables, and in the script's own tree:
# there is another one where CDPATH leads.
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

# refused WORDS ARGUMENT...: one line, status 2.
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
