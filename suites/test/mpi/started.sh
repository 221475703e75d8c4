#!/usr/bin/env bash
# started.sh: for tests of what a launcher starts; they read it with mpirun and kind set. A folder of
# its own, where they are; launchers; and the processes of this test, by that folder.
set -euo pipefail
: "${mpirun:?}" "${kind:?}"
command -v "$mpirun" >/dev/null || { echo "no mpirun here" && exit 77; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAUNCH="$here/launch.sh $mpirun $kind" BEGUN=$here/begun.sh
# shellcheck source=/dev/null
. "$BEGUN"
# shellcheck source=/dev/null
. "$here/../shell.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export LAUNCH BEGUN PATH="$dir:$PATH"

# start NAME TEXT: a launcher of one word, so that paths may have any length. Its first argument, the
# number of processes, is n.
start() {
    # shellcheck disable=SC2016 # expanded by the launcher
    { echo '#!/usr/bin/env bash' && echo 'n=$1 && shift' && echo "$2"; } >"$1"
    chmod +x "$1"
}

# ours NAME: the processes of that name.
ours() {
    local p
    for p in /proc/[0-9]*; do
        if [ "$(readlink "$p/cwd")" = "$dir" ] && grep -qs "^lockstep $1" "$p/comm"; then
            echo "${p#/proc/}"
        fi
    done
}

# shellcheck disable=SC2016 # expanded by the launcher
start good 'exec bash $LAUNCH $n "$@"'
# shellcheck disable=SC2016
start heard 'exec bash $LAUNCH $n "$@" > >(tee -a heard.txt)'
