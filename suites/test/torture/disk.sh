#!/usr/bin/env bash
# A disk that is full: wherever the file cannot grow any more, one line says so, earlier
# measurements stay, and with space again the sweep is finished.
# usage: disk.sh LOCKSTEP FOLDER TOOLS GROUP
# shellcheck disable=SC2154 # common.sh sets what is not set here
set -eu
script=$(cd "$(dirname -- "$0")" && pwd -P)/${0##*/}

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
group=$4

# limited BYTES FILE OPTION..: must fail; files may not grow beyond BYTES, so err comes through a
# pipe.
limited() {
    local bytes=$1 file=$2 status
    shift 2
    set +e
    prlimit --fsize="$bytes" "$lockstep" sweep "${quick[@]}" --out "$file" "$@" 2>&1 >/dev/null |
        cat >err
    status=${PIPESTATUS[0]}
    set -e
    [ "$status" -eq 2 ] || fail "status $status with $bytes bytes"
    one_line err "$file: cannot append a record of [0-9]* bytes: File too large"
    [ "$(wc -c <"$file")" -le "$bytes" ] || fail "more than $bytes bytes in $file"
    begins_with "$file" kept
}

more_room() {
    expect_status 0 "$lockstep" sweep "${quick[@]}" --out "$1" --resume
    begins_with "$1" kept
    is_complete "$1"
    tried=$((tried + 1))
}

# The file has space for this many whole lines and some bytes of the next.
group_limit() {
    local lines bytes more
    : >kept
    for bytes in 0 1 700; do
        rm -f limit.jsonl
        limited "$bytes" limit.jsonl
        [ ! -s limit.jsonl ] || fail "a part of a header is left"
        more_room limit.jsonl
    done
    for ((lines = 1; lines < $(wc -l <whole.jsonl); lines++)); do
        head -n "$lines" whole.jsonl >kept
        for more in 0 1 $((60 + RANDOM % 40)); do
            cp kept limit.jsonl
            limited $(($(wc -c <kept) + more)) limit.jsonl --resume
            cmp -s kept limit.jsonl || fail "$more bytes more, and something was left there"
            more_room limit.jsonl
        done
    done
    # The limit is anywhere: the part of the sweep that fits is kept. No file is shorter than
    # another without its samples, of which there are as many as the warm-up needs.
    sed 's/"raw":.*//' whole.jsonl >shortest
    : >kept
    for ((lines = 0; lines < 8; lines++)); do
        rm -f limit.jsonl
        bytes=$((RANDOM * 32768 + RANDOM))
        limited $((bytes % $(wc -c <shortest))) limit.jsonl
        more_room limit.jsonl
    done
}

# A disk has this many pages, in a separate mount namespace, so that nothing stays mounted.
group_tmpfs() {
    local pages
    mkdir disk
    # shellcheck disable=SC2016
    if ! "${private[@]}" sh -c 'mount -t tmpfs -o size=4k none "$1"' sh disk 2>/dev/null; then
        echo "not tried: no tmpfs can be mounted here"
        exit 77
    fi
    for pages in 1 2 3; do
        "${private[@]}" bash "$script" "$lockstep" "$folder/inside" "$tools" on_tmpfs "$pages" ||
            fail "on a disk of $pages pages"
        tried=$((tried + 1))
    done
    "${private[@]}" bash "$script" "$lockstep" "$folder/inside" "$tools" changing ||
        fail "on a disk that changes"
}

# Runs inside of the namespace, like the functions that follow.
on_tmpfs() {
    cp ../whole.jsonl .
    : >kept
    mkdir disk
    mount -t tmpfs -o "size=$(($1 * 4))k" none disk
    expect_status 2 "$lockstep" sweep "${quick[@]}" --out disk/full.jsonl
    one_line err 'disk/full.jsonl: cannot append a record of [0-9]* bytes: No space left'
    begins_with disk/full.jsonl kept
    cp disk/full.jsonl kept
    # The sweep is resumed too early: the same happens again, and nothing is lost.
    expect_status 2 "$lockstep" sweep "${quick[@]}" --out disk/full.jsonl --resume
    one_line err 'No space left'
    begins_with disk/full.jsonl kept
    mount -o remount,size=64m disk
    more_room disk/full.jsonl
}

changing() {
    cp ../whole.jsonl .
    mkdir disk
    mount -t tmpfs -o size=64m none disk

    # Another program fills the disk while the sweep runs.
    begin disk/filled.jsonl
    head -c 80m /dev/zero >disk/filler 2>/dev/null || true
    ends_with 2
    one_line err 'disk/filled.jsonl: cannot append a record of [0-9]* bytes: No space left'
    cp disk/filled.jsonl kept
    [ "$("$tools/torture_records" kept)" -ge 1 ] || fail "cells are gone"
    rm disk/filler
    resume disk/filled.jsonl
    begins_with disk/filled.jsonl kept
    is_complete disk/filled.jsonl
    rm disk/*

    # The file is removed while the sweep runs, without space for a copy: this is reported with the
    # reason.
    begin disk/gone.jsonl
    rm disk/gone.jsonl
    head -c 80m /dev/zero >disk/filler 2>/dev/null || true
    ends_with 2
    one_line err 'removed and what was measured cannot be saved in disk/gone.*: No space left'

    # The disk is mounted read-only before the sweep is resumed.
    rm disk/*
    cp kept disk/kept.jsonl
    mount -o remount,ro disk
    expect_status 2 "$lockstep" sweep "${slow[@]}" --out disk/kept.jsonl --resume
    one_line err 'cannot write to disk/kept.jsonl: Read-only file system'
    mount -o remount,rw disk
    resume disk/kept.jsonl
    begins_with disk/kept.jsonl kept
    is_complete disk/kept.jsonl
}

private=(unshare --mount)
[ "$(id -u)" -eq 0 ] || private=(unshare --user --map-root-user --mount)
tried=0
RANDOM=7
case $group in
on_tmpfs | changing)
    "$group" "${@:5}"
    exit 0
    ;;
# There is one batch: two cells are enough lines to stop between.
limit) quick=("${quick[@]/#10,30/10}") ;;
tmpfs) ;;
*) fail "no group '$group'" ;;
esac
expect_status 0 "$lockstep" sweep "${quick[@]}" --out whole.jsonl
is_complete whole.jsonl
"group_$group"
echo "$tried full disks"
