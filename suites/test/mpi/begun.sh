#!/usr/bin/env bash
# begun.sh: for tests, and for launchers of theirs: which processes there are, by what they say.
set -euo pipefail

# begun: of those whose launcher keeps what they say in heard.txt, who has said who they are, in the
# order of their numbers.
begun() {
    sed -nE 's/.*lockstep-says-1 ([0-9]+) 0 [0-9a-f]+ begun [^ ]+ ([0-9]+) .*/\1 \2/p' heard.txt 2>/dev/null |
        sort -n | cut -d' ' -f2
}

# both_begun: waits for both of two, and says the second one. Nothing after half a minute.
both_begun() {
    local pids=()
    for _ in $(seq 600); do
        mapfile -t pids < <(begun)
        [ ${#pids[@]} -lt 2 ] || break
        sleep 0.05
    done
    [ ${#pids[@]} -lt 2 ] || echo "${pids[1]}"
}
