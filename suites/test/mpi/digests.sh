#!/usr/bin/env bash
# digests.sh MPIRUN KIND MODULE PROGRAM: 1 to 8 ranks in 1 to 8 processes, 36 trainings, all with the
# same digest; and one with a wrong rank, which has another.
set -euo pipefail
mpirun=$1 kind=$2 module=$3 program=$4
here=$(cd "$(dirname "$0")" && pwd)
command -v "$mpirun" >/dev/null || { echo "no mpirun here" && exit 77; }
train() {
    bash "$here/launch.sh" "$mpirun" "$kind" "$1" "$program" "$module" "${@:2}" | grep '^digest \|FAIL'
}
all=$(for n in 1 2 3 4 5 6 7 8; do train "$n"; done) || { echo "FAIL: a training:" "$all" && exit 1; }
[ "$(cut -d ' ' -f 2,3 <<<"$all" | sort -u | wc -l)" = 36 ] || { echo "FAIL: not 36 trainings:" "$all" && exit 1; }
same=$(cut -d ' ' -f 4 <<<"$all" | sort -u)
[ "$(wc -l <<<"$same")" = 1 ] || { echo "FAIL: not one digest:" "$all" && exit 1; }
wrong=$(train 2 wrong) || true
if grep -Eq "$same|FAIL" <<<"$wrong"; then echo "FAIL: a wrong rank does not show: $wrong" && exit 1; fi
echo "ok: $same"
