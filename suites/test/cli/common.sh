# Functions that the scripts share. $1 is the program, $2 a folder for the test, which is emptied.
set -eu
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"
lockstep=$1
folder=$2
enter "$folder"

# one_line STATUS WORDS COMMAND...: there is one line on stderr that has the words, and nothing on
# stdout. After an error of the command line there may be the hint, for that command.
one_line() {
    wanted=$1
    words=$2
    shift 2
    expect_status "$wanted" "$@"
    hint=$(sed -n "s/^Try '\(.*\) --help' for more information[.]$/\1/p" err)
    if [ "$wanted" -eq 2 ] && [ -n "$hint" ]; then
        grep -q "^$hint: " err || fail "the hint is about $hint"
        sed -i '$d' err
    fi
    [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$words" err && [ ! -s out ] || fail "not one line with '$words': $*"
}

# no_devices STATUS WORDS OPTIONS...: 'lockstep check' says why in one line, and has a result for a CI.
no_devices() {
    status=$1
    words=$2
    shift 2
    expect_status "$status" "$lockstep" check "$@" --format junit --out result.xml
    [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$words" err || fail "check: not one line with '$words'"
    said=$(sed 's/^lockstep check: //' err | tr -s ' ')
    flatten
    grep -qF "could not be tested: $said" flat || fail "check does not say that devices are missing"
    sed "s/&#39;/'/g" result.xml | tr -s ' ' | grep -qF "message=\"$said" ||
        fail "check: a result without the reason"
    rm result.xml
}

flatten() { # the file out, as one line
    tr '\n' ' ' <out | tr -s ' ' >flat
}

prints() { # PATTERN: of the file out, as one line
    flatten
    grep -q -e "$1" flat || fail "no '$1'"
}

prints_not() { # PATTERN
    flatten
    ! grep -q -e "$1" flat || fail "'$1' is there"
}

# refuse WORDS COMMAND...: the command line is refused as misuse.
refuse() {
    one_line 2 "$@"
}

# with NAME=VALUE COMMAND...: sets it for that command only, which may be a function.
with() {
    (
        export "$1"
        shift
        "$@"
    )
}

# count_lines PATTERN FILE: prints 0 if there is no such file.
count_lines() {
    if [ -e "$2" ]; then # asked once: it may appear meanwhile
        grep -c -- "$1" "$2" || true
    else
        echo 0
    fi
}

# wait_for_lines N PATTERN FILE PID: waits until the program PID has written N such lines.
wait_for_lines() {
    tries=0
    while [ "$(count_lines "$2" "$3")" -lt "$1" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || fail "no $1 lines with '$2' in $3 after 60 seconds"
        kill -0 "$4" 2>/dev/null || fail "it ended early"
        sleep 0.05
    done
}

# wait_for_cells N FILE PID: waits until the sweep PID has written N cells.
wait_for_cells() {
    wait_for_lines "$1" '"schema":"lockstep/cell/1.1"' "$2" "$3"
}

# find_workers PID: sets workers to the processes whose parent it is. Between two cells of a sweep
# there is none for a moment, and while it waits for cores for longer.
find_workers() {
    workers=
    while [ -z "$workers" ]; do
        grep -qs '^State:[[:space:]]*[^Z]' "/proc/$1/status" || fail "$1 ended, and no worker was seen"
        workers=$(sed -n "s/^\([0-9]*\) (.*) [A-Y] $1 .*/\1/p" /proc/[0-9]*/stat 2>/dev/null) || true
    done
}

expect_count() {
    found=$(count_lines "$2" "$3")
    if [ "$found" -ne "$1" ]; then
        cut -c1-160 "$3" >&2
        fail "$found lines with $2 in $3, wanted $1"
    fi
}

# narrow FILE: no line is wider than 80 columns, but for a word that is nearly as long.
narrow() {
    ! LC_ALL=C.UTF-8 grep '.\{81\}' "$1" | grep -v '[^ ]\{65\}$' >wide || fail "${ran-}: $(cat wide)"
}

cell_ids() {
    grep -o '"cell_id":"[0-9a-f]*"' "$1" | sort
}

# Options of a cell with few steps.
short='--bind none --seconds 0.001 --warmup 5:0'

# sweep STATUS FILE OPTION...: runs such cells, with $batch rows.
sweep() {
    wanted=$1
    file=$2
    shift 2
    rm -f "$file"
    expect_status "$wanted" "$lockstep" sweep $short --batch "${batch:-64}" --out "$file" "$@"
}

# fit PROFILE FILE: writes fit-PROFILE: its limits, each so near to the numbers of these records, of each device, that a
# machine at 0.3 of the speed fails it.
fit() {
    "$lockstep" validate --allow-dirty --profile "$1" "$2" --format json >numbers.json || [ $? -eq 3 ] || fail "no numbers"
    awk 'NR == FNR { gsub(/[",]/, "") }
        NR == FNR && /^   (unit|lo|hi):/ { number[$1] = $2 }
        NR == FNR && /^   hi:/ { n++; lo[n] = number["lo:"]; hi[n] = $2; unit[n] = number["unit:"] == 1 ? "x" : number["unit:"] }
        NR == FNR && /^     lo:/ && $2 < lo[n] { lo[n] = $2 }
        NR == FNR && /^     hi:/ && $2 > hi[n] { hi[n] = $2 }
        NR == FNR { next }
        /^    (min|max): / && hi[++i] != "null" {
            $0 = sprintf("    %s %.9g %s", $1, $1 == "max:" ? 1.05 * hi[i] : lo[i] / 1.05, unit[i])
        }
        { print }' numbers.json "$1" >"fit-$1"
}

# Skips the rest unless this build's times make a forecast.
needs_release() {
    "$lockstep" --version | grep -q 'Release)\|RelWithDebInfo)' || {
        echo 'skipped: no forecast is made of the times of this build'
        exit 77
    }
}

# These are escape, U+009B, U+200B, U+202E, U+E000, and a byte that is not UTF-8.
hidden=$(printf 'x\033[2J\302\233\342\200\213\342\200\256\356\200\200')

# clean FILE: it has nothing that a terminal or a log would obey, or that cannot be seen.
clean() {
    ! LC_ALL=C grep -qa "$(printf '[\001-\010\013\014\016-\037\177]\|\302[\200-\237]\|\342\200[\213-\217\250-\256]\|\356\200\200\|\357\277\277')" \
        "$1" || fail "$1 of ${ran-}: $(cat -v "$1")"
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || fail "$1 of ${ran-} is not UTF-8"
}
