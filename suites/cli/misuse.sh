# Bad input: status 2 and exactly one line on stderr that names the value.
. "$(dirname "$0")/common.sh"

# refuse WORDS COMMAND...
refuse()
{
    words=$1
    shift
    expect_status 2 "$@"
    if [ "$(wc -l <err)" -ne 1 ] || ! grep -q -- "$words" err || [ -s out ]; then
        cat out err >&2
        fail "not one line with '$words': $*"
    fi
}

refuse "swep.*devices, tutorial, sweep, report" "$lockstep" swep
refuse 'frobnicate' "$lockstep" sweep --frobnicate
refuse 'out' "$lockstep" sweep --out
refuse 'stray' "$lockstep" sweep stray
refuse 'virt:0' "$lockstep" sweep --devices virt:0
refuse 'virt:65' "$lockstep" sweep --devices virt:65
refuse 'virt:-1' "$lockstep" sweep --devices virt:-1
refuse 'gpu:2' "$lockstep" sweep --devices gpu:2
refuse 'host' "$lockstep" sweep --devices host
refuse '4.*virt:2' "$lockstep" sweep --devices virt:2 --counts 1,4
refuse '0' "$lockstep" sweep --devices virt:2 --counts 0
refuse '0' "$lockstep" sweep --devices virt:2 --batch 0
refuse 'batch.*"x"' "$lockstep" sweep --devices virt:2 --batch 10,x
refuse '9999999999' "$lockstep" sweep --devices virt:2 --batch 9999999999
refuse 'mpl:3,4.*mlp:SIZES' "$lockstep" sweep --workload mpl:3,4
refuse '65536' "$lockstep" sweep --workload mlp:0,4
refuse '65536' "$lockstep" sweep --workload mlp:4,65537
refuse '2 to 16' "$lockstep" sweep --workload mlp:4
refuse '2 to 16' "$lockstep" sweep --workload mlp:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
refuse 'twice' "$lockstep" sweep --workload mlp:4,04 --workload mlp:04,4
refuse 'gpu' "$lockstep" sweep --backend gpu
refuse 'socket' "$lockstep" sweep --bind socket
refuse 'nan' "$lockstep" sweep --seconds nan
refuse '5:2\|5 is more than 2' "$lockstep" sweep --steps 5:2
refuse 'MIN:MAX' "$lockstep" sweep --steps 5
refuse '-1' "$lockstep" sweep --seed -1
refuse 'resume.*--out' "$lockstep" sweep --resume
refuse 'no/such/folder' "$lockstep" sweep --devices virt:1 --out no/such/folder/a.jsonl
refuse 'space' "$lockstep" sweep --devices virt:1 --out /dev/full
refuse 'virt:0' "$lockstep" tutorial --devices virt:0
refuse 'gpu:1' "$lockstep" devices --devices gpu:1
refuse 'xml' "$lockstep" devices --format xml
refuse '`true`' "$lockstep" devices --devices '"`true`<script>,'

# Files that are not ours stay as they are.
echo 'not a record' >foreign.jsonl
cp foreign.jsonl copy
refuse 'records already' "$lockstep" sweep --devices virt:1 --out foreign.jsonl
refuse 'foreign.jsonl' "$lockstep" sweep --devices virt:1 --resume --out foreign.jsonl
cmp copy foreign.jsonl || fail "a foreign file was changed"
[ ! -e results ] || fail "a refused sweep made a folder"

expect_status 0 "$lockstep" --help
expect_count 1 'sweep' out
expect_status 0 "$lockstep" --version
expect_status 0 "$lockstep" sweep --help
expect_count 0 '.\{81\}' out
