#!/usr/bin/env bash
# scripts/bundle and scripts/bootstrap --offline on packages made here, without a network: unpacked
# files are found by their environment, and packages that cannot be right are refused in one line.
# usage: offline_test.sh CASE SCRIPTS FOLDER     (77: no dpkg-deb here)
set -eu
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"
unset LOCKSTEP_OFFLINE

name=$1 scripts=$2 folder=$3
for tool in dpkg-deb gcc; do
    command -v "$tool" >/dev/null || { echo "no $tool here" >&2 && exit 77; }
done
enter "$folder"
folder=$(pwd -P)
triplet=$(gcc -dumpmachine)

# package NAME: makes a package in bundle/ from the folder NAME.
package() {
    mkdir -p "$1/DEBIAN" bundle
    printf 'Package: %s\nVersion: 1.0\nArchitecture: all\nMaintainer: x\nDescription: x\n' "$1" >"$1/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$1" "bundle/$1_1.0_all.deb" >/dev/null
}

manifest() {
    local file
    {
        printf 'lockstep-bundle\t1\nmade-on\tTestix 1\narchitecture\t%s\n' "$(dpkg --print-architecture)"
        printf 'glibc\t2.2\nglibcxx\t3.4\nwithout\tgnuplot-nox\n'
        for file in bundle/*.deb; do
            printf 'package\t%s\t1.0\t%s\t%s\n' "$(basename "$file" _1.0_all.deb)" \
                "$(sha256sum <"$file" | cut -d ' ' -f 1)" "${file##*/}"
        done
    } >bundle/manifest
}

# A library with its -dev package, and a program, as a distribution packs them.
good_bundle() {
    local lib=usr/lib/$triplet
    mkdir -p "liblsdemo/$lib" "lsdemo-dev/$lib/pkgconfig" lsdemo-dev/usr/include lsdemo-dev/usr/bin
    echo 'int lsdemo(void) { return 7; }' >lsdemo.c
    gcc -shared -fPIC -Wl,-soname,liblsdemo.so.4 -o "liblsdemo/$lib/liblsdemo.so.4.1" lsdemo.c
    ln -s liblsdemo.so.4.1 "liblsdemo/$lib/liblsdemo.so.4"
    # An absolute link, as some -dev packages have it.
    ln -s "/$lib/liblsdemo.so.4.1" "lsdemo-dev/$lib/liblsdemo.so"
    ln -s libc.so.6.99 "lsdemo-dev/$lib/libc_of_the_system.so"
    echo 'int lsdemo(void);' >lsdemo-dev/usr/include/lsdemo.h
    # shellcheck disable=SC2016 # for pkg-config
    printf 'prefix=/usr\nlibdir=${prefix}/lib/%s\nName: x\nDescription: x\nVersion: 4\nLibs: -L/%s -llsdemo\nCflags: -I/usr/include\n' \
        "$triplet" "$lib" >"lsdemo-dev/$lib/pkgconfig/lsdemo.pc"
    printf '#!/bin/sh\necho the cmake of the bundle\n' >lsdemo-dev/usr/bin/cmake
    chmod +x lsdemo-dev/usr/bin/cmake
    package liblsdemo
    package lsdemo-dev
    manifest
}

test_good() {
    good_bundle
    "$scripts/bootstrap-offline" --offline bundle --prefix there 2>err || fail "status $?"
    grep -q '2 packages under' err || fail "other words"
    # shellcheck source=/dev/null
    . there/env
    # shellcheck source=/dev/null
    . there/env
    [ "$(cmake)" = 'the cmake of the bundle' ] || fail "not the program of the bundle"
    [ "$LOCKSTEP_OFFLINE" = "$folder/there" ] || fail "LOCKSTEP_OFFLINE=$LOCKSTEP_OFFLINE"
    case $PATH in *"$folder/there/programs:"*"$folder/there/programs:"*) fail "twice on PATH" ;; esac
    pc=there/system/usr/lib/$triplet/pkgconfig/lsdemo.pc
    grep -qx "prefix=$folder/there/system/usr" "$pc" || fail "prefix in $pc"
    if grep -nE '(=|-[IL])/usr' "$pc"; then fail "the system's folders in $pc"; fi
    printf '#include <lsdemo.h>\nint main(void) { return lsdemo(); }\n' >main.c
    flags="-I$folder/there/system/usr/include -L$folder/there/system/usr/lib/$triplet -llsdemo"
    if command -v pkg-config >/dev/null; then flags=$(pkg-config --cflags --libs lsdemo); fi
    status=0
    # shellcheck disable=SC2086 # words
    gcc main.c $flags -o main && ./main || status=$?
    [ "$status" -eq 7 ] || fail "the library of the bundle is not found: $status"
    # Only libraries that the system lacks come before its libraries.
    [ -e there/libraries/liblsdemo.so.4 ] || fail "no link to the library"
    grep -qx gnuplot-nox there/without || fail "what was left out is not noted"
    # Again, over the old one.
    "$scripts/bootstrap-offline" --offline bundle --prefix there 2>err || fail "a second time"
}

# refused WORDS [OPTION...]: status 2, one line, and nothing is left.
refused() {
    local words=$1 status=0
    shift
    "$scripts/bootstrap-offline" --offline bundle --prefix there "$@" >out 2>err || status=$?
    [ "$status" -eq 2 ] || fail "status $status: $words"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $words"
    grep -qE -e "$words" err || fail "no '$words'"
    [ ! -e there ] || fail "something was left: $words"
    manifest
}

changed() {
    sed -i "$1" bundle/manifest
}

test_refused() {
    good_bundle
    changed 's/^glibc\t.*/glibc\t9.99/' && refused 'made on Testix 1, needs glibc 9.99 and here is [0-9.]+: make it on'
    changed 's/^glibcxx\t.*/glibcxx\t9.9.9/' && refused 'needs libstdc.. with GLIBCXX_9.9.9'
    changed 's/^architecture\t.*/architecture\tm68k/' && refused 'is for m68k, this machine is'
    changed 's/^lockstep-bundle\t1/lockstep-bundle\t2/' && refused "version '2', not 1"
    changed '/^package\tlib/d' && refused "has 2 packages, its manifest 1"
    changed '/^package/d' && refused 'lists no packages'
    changed 's#\tlsdemo-dev_#\t../lsdemo-dev_#' && refused 'has a bad line'
    changed 's#\tlsdemo-dev_#\tother_#' && refused "'other_1.0_all.deb' is in the manifest and not in"
    changed 's#\t[0-9a-f]\{64\}\t#\t0\t#' && refused 'has a bad line'
    printf x >>bundle/lsdemo-dev_1.0_all.deb && refused 'lsdemo-dev_1.0_all.deb. is damaged'
    refused "has a character" --prefix 'a b'
    refused 'is there already' --prefix "$folder/bundle"
    refused 'unknown argument' --fast
    # A library needs another, which does not exist.
    mkdir -p "liblsbroken/usr/lib/$triplet"
    gcc -shared -fPIC -Wl,-soname,liblsinner.so.1 -o liblsinner.so.1 lsdemo.c
    gcc -shared -fPIC -Wl,--no-as-needed -Wl,-soname,liblsbroken.so.1 -o "liblsbroken/usr/lib/$triplet/liblsbroken.so.1" \
        lsdemo.c ./liblsinner.so.1
    package liblsbroken
    manifest
    refused 'does not load here: +.*liblsinner.so.1 => not found'
    rm bundle/manifest && refused 'no manifest'
    rm -r bundle && mkdir bundle
    status=0
    "$scripts/bootstrap" --offline nowhere 2>err || status=$?
    [ "$status" -eq 2 ] || fail "status $status for a folder that is not there"
}

test_bundle() {
    local arguments need status
    "$scripts/bundle" --help >out || fail "--help"
    grep -q '^usage: scripts/bundle' out || fail "--help"
    # The list of packed packages: with these a node has all kernels of its CPU.
    "$scripts/bootstrap" --list >out 2>err || fail "bootstrap --list"
    for need in libopenblas-dev libdnnl-dev; do
        grep -q "^$need " out || fail "no $need"
    done
    mkdir there
    while read -r arguments; do
        status=0
        # shellcheck disable=SC2086 # words
        "$scripts/bundle" $arguments >out 2>err || status=$?
        [ "$status" -eq 2 ] || fail "status $status: $arguments"
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $arguments"
    done <<'MISUSE'
--fast
there
one two
--base
--base /nothing one
--without no-such-need one
MISUSE
}

"test_$name"
