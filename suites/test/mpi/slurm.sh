#!/usr/bin/env bash
# slurm.sh HOSTS KIND LOCKSTEP: cells that srun starts, on a separate node of Slurm: its daemons are
# in the namespaces of scripts/hosts, so they meet no other Slurm, and none is left. The exit status
# is 77 if Slurm cannot be started.
set -euo pipefail
hosts=$1 kind=$2 lockstep=$3
[ "$kind" = openmpi ] || { echo "Slurm's pmix is for Open MPI, this build has $kind" && exit 77; }
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd srun; do
    command -v $program >/dev/null || { echo "there is no program '$program' here" && exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
batch=$(dirname "$hosts")/../docs/clusters/sweep.sbatch
export dir lockstep batch PATH

skip() {
    echo "$1 does not start here: $(tail -n 1 "$1.log" 2>/dev/null)"
    exit 77
}

daemons() {
    mkdir state spool
    head -c 128 /dev/urandom >key
    chmod 400 key
    chmod 711 .
    munged --force --socket="$dir/munge" --key-file="$dir/key" --pid-file="$dir/munged.pid" \
        --log-file="$dir/munged.log" --seed-file="$dir/seed" 2>>munged.log || skip munged
    # There are more tasks than cores: the node has as many as the configuration says.
    cat >slurm.conf <<CONF
ClusterName=one
SlurmctldHost=h0
SlurmUser=root
AuthInfo=socket=$dir/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
NodeName=h0 CPUs=4
PartitionName=all Nodes=h0 Default=YES
CONF
    slurmctld 2>>slurmctld.log || skip slurmctld
    slurmd 2>>slurmd.log || skip slurmd
    for _ in $(seq 100); do
        [ "$(sinfo -h -o %t 2>/dev/null)" != idle ] || return 0
        sleep 0.1
    done
    skip slurmd
}

job() {
    export SLURM_CONF=$dir/slurm.conf
    daemons
    "$lockstep" sweep --launcher srun --counts 1,2 --per-process 1 --workload mlp:7,5,3 --batch 11 --bind none \
        --seconds 0.01 --steps 4:20 --out a.jsonl
    PATH=${lockstep%/*}:$PATH sbatch --wait --ntasks=4 --output=job.out "$batch" job.jsonl --workload mlp:7,5,3 \
        --batch 11 --bind none --seconds 0.01 --steps 4:20 || { cat job.out && return 1; }
}
export -f skip daemons job

status=0
"$hosts" 1 -- bash -euo pipefail -c job >out 2>&1 || status=$?
[ "$status" != 77 ] || { tail -n 1 out && exit 77; }
[ "$status" = 0 ] || { echo "FAIL: exit status $status" && cat out && exit 1; }
# cells FILE RANKS N: N cells are verified, each with this many ranks.
cells() {
    local n
    n=$(grep -c "\"status\":\"ok\".*\"hosts\":1,\"host_ranks\":\"$2\"" "$1" || true)
    if [ "$n" != "$3" ] || ! head -n 1 "$1" | grep -q '"launcher":"srun'; then
        echo "FAIL: $1 has $n cells, not $3, or another launcher" && cat out && exit 1
    fi
}
cells a.jsonl '[12]' 2
cells job.jsonl '[124]' 3
