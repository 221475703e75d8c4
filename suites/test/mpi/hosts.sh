#!/usr/bin/env bash
# hosts.sh HOSTS KIND LOCKSTEP CASE YAML_LINES: cells over the hosts that scripts/hosts makes, with
# TCP between them. HOSTS is that script, in its tree. The exit status is 77 if MPI is not Open MPI,
# or namespaces are not allowed here.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"
hosts=$1 kind=$2 lockstep=$3 case=$4 yaml_lines=$5
[ "$kind" = openmpi ] || { echo "scripts/hosts is for Open MPI, this build has $kind" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export dir lockstep case

# on N STATUS WORD...: runs the words with N hosts of scripts/hosts.
on() {
    local want=$2 status=0
    "$hosts" "$1" "${@:3}" >out 2>err || status=$?
    if [ "$status" = 77 ]; then cat err && exit 77; fi
    [ "$status" = "$want" ] || fail "exit status $status, not $want"
}
sweep=("$lockstep" sweep --launcher mpirun --batch 11 --bind none --out a.jsonl)
short=(--workload "mlp:7,5,3" --batch 11 --bind none --seconds 0.01 --steps 4:20 --out a.jsonl)
# ok CELLS HOSTS RANKS: this many cells are verified, each with these hosts and ranks.
ok() {
    [ "$(grep -c "\"status\":\"ok\".*\"hosts\":$2,\"host_ranks\":\"$3\"" a.jsonl)" = "$1" ] ||
        fail "not $1 cells on $2 hosts with ranks $3: $(grep -oE '"(status|hosts)":[^,]*|"(reason|host_ranks)":"[^"]*"' a.jsonl)"
}

# left: prints the processes of a sweep in the namespaces that this runs in.
left() {
    local comm
    for comm in /proc/[0-9]*/comm; do
        grep -xsE 'lockstep.*|mpirun|orted' "$comm" || true
    done
}
received() {
    "$LOCKSTEP_ON" h1 cat /proc/net/dev | awk '/eth0:/ { print $3 }'
}
# wait_until SECONDS COMMAND...
wait_until() {
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}
is_measuring() { [ "$(received)" -gt 150 ]; }
no_ranks() { ! left | grep -q '^lockstep cell'; }
nothing_left() { [ -z "$(left)" ]; }

# There are two cells. In the middle of the first the link of h1 is taken away, until its ranks have
# ended.
link() {
    local pid
    "$lockstep" sweep --launcher mpirun --counts 2 --workload mlp:7,5,3 --batch 11,12 --launches 1 \
        --steps 10:90000 --seconds 2 --timeout 16 --bind none --out a.jsonl &
    pid=$!
    wait_until 20 is_measuring || fail "nothing was measured"
    "$LOCKSTEP_ON" h1 ip link set eth0 down
    # It takes half of --timeout, 0.4 s for an answer, and time to end on a machine with other work.
    wait_until 14 no_ranks || fail "ranks wait for a host that is gone"
    "$LOCKSTEP_ON" h1 ip link set eth0 up
    local status=0
    expect_end 1 $pid
    wait_until 5 nothing_left || fail "left behind: $(left)"
}
# command_runs: whether the command runs, or a process that has it as a word.
command_runs() { grep -lsazx "4242[.]$$" /proc/[0-9]*/cmdline >pids; }
is_ready() { [ -e ready ]; }
command_ended() { ! command_runs; }
export -f fail expect_end left received wait_until is_measuring no_ranks nothing_left link

interfaces=$(ls /sys/class/net)
case $case in
two)
    # 2.1 MB in each direction at 12.5 MB/s take 0.17 s; the token bucket of tbf lets 0.25 MB
    # through at once.
    on 2 0 --rate 100mbit -- "${sweep[@]}" --counts 2 --workload mlp:512,1024,8 --seconds 0.01 --steps 4:20
    ok 1 2 1,1
    ns=$(grep -o '"min_ns":[0-9]*' a.jsonl)
    [ "${ns#*:}" -gt 120000000 ] || fail "a step takes $ns: the link has no limit"
    ;;
four)
    on 4 0 -- "${sweep[@]}" --counts 1,4 --per-process 1 --workload mlp:7,5,3 --seconds 0.01 --steps 4:20
    ok 1 4 1,1,1,1
    ok 1 1 1
    ;;
link)
    on 2 0 -- bash -e -c link
    # Neither process hears of the other; mpirun decides whose line arrives.
    zero='process 0 of 2 \(host h0, [^"]*: rank 1 \(host h1, process [0-9]+\)'
    one='process 1 of 2 \(host h1, [^"]*: rank 0 \(host h0, process [0-9]+\)'
    grep -qE "\"reason\":\"($zero|$one) did not join [a-z]+ [0-9]+ within 8.0 s: it does not answer\"" a.jsonl ||
        fail "the other host is not named: $(grep -o '"reason":"[^"]*"' a.jsonl)"
    ok 1 2 1,1
    ;;
arguments)
    on 2 9 -- bash -c "[ \$(hostname) = h0 ] && [ \$(\$LOCKSTEP_ON h1 hostname) = h1 ] && exit 9"
    for words in '' '0 -- true' '65 -- true' '2' '2 true' '2 --rate -- true' '2 --rate fast -- true' '2 --what'; do
        status=0
        # shellcheck disable=SC2086 # words
        "$hosts" $words >out 2>err || status=$?
        [ "$status $(wc -l <err) $(wc -c <out)" = "2 1 0" ] || fail "'$words': status $status"
    done
    # Whatever ends the command, and whenever, its processes end.
    # shellcheck disable=SC2016 # for the command
    for moment in command_runs is_ready; do
        for signal in TERM KILL; do
            rm -f ready
            "$hosts" 2 -- bash -c 'touch ready && exec "$@"' - sleep 4242.$$ >out 2>err &
            wait_until 5 $moment || fail "no command"
            kill -$signal $!
            wait $! 2>/dev/null && fail "$signal: status 0"
            wait_until 2 command_ended || fail "$signal, $moment: the command goes on"
        done
    done
    ;;
clusters)
    # The command that is copied from docs/clusters is run, except for the size of its cells and the
    # place of their file.
    for row in 2:1,2:2:compose.yaml:services.h0.command 4:1,2,4:3:mpijob.yaml:'.*Launcher.*command'; do
        IFS=: read -r n counts cells file key <<<"$row"
        "$yaml_lines" "$(dirname "$hosts")/../docs/clusters/$file" >lines || fail "$file"
        mapfile -t words < <(sed -nE "s/^0.$key.[0-9]+\t//p" lines)
        [[ "${words[*]}" == "lockstep sweep --launcher "*" --counts $counts "*"--out /"* ]] ||
            fail "$file: another command: ${words[*]}"
        rm -f a.jsonl
        on "$n" 0 -- "$lockstep" "${words[@]:1:${#words[@]}-3}" "${short[@]}"
        [ "$(grep -c '"status":"ok"' a.jsonl)" = "$cells" ] || fail "$file: not $cells cells for $counts"
        [ "$(grep -c "\"status\":\"ok\".*\"hosts\":$n," a.jsonl)" = 1 ] || fail "$file: no cell on $n hosts"
    done
    ;;
*) echo "unknown case '$case'" && exit 2 ;;
esac
[ "$(ls /sys/class/net)" = "$interfaces" ] || fail "interfaces are left: $(ls /sys/class/net)"
