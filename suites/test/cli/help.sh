# The help of each command: its options are in groups, the usual ones first and within 25 lines, and
# it ends with two examples, which can be called. Older names of options are still taken.
. "$(dirname "$0")/common.sh"

commands=$("$lockstep" --help | sed -n 's/^  \([a-z]*\( [a-z]*\)\{0,1\}\)  .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 16 ] || fail "the commands are: $commands"
echo "$commands" >list
while read -r command; do
    expect_status 0 "$lockstep" $command --help </dev/null
    expect_count 0 '.\{81\}' out
    # Each option is below a heading, but for those that each command has.
    awk '/^(What to [a-z]+|How long|Where to|Rarely needed):$/ { group = 1 }
        /^$/ { group = 0 }
        /^  (-.,|   ) --/ && !/--(help|usage) / && !group { print }' out >wide
    [ ! -s wide ] || fail "$command: in no group: $(cat wide)"
    sed -n 's/^What to .*:$/1/p; s/^How long:$/2/p; s/^Where to:$/3/p; s/^Rarely needed:$/4/p' out >groups
    [ -s groups ] && sort -c -u groups || fail "$command: its groups are $(cat groups)"
    rare=$(grep -n '^Rarely needed:$\|^  -h, --help' out | head -n 1 | cut -d : -f 1)
    [ "$rare" -le 27 ] || fail "$command: line $rare is the first after the usual options"
    [ "$(grep -n '^Examples:$' out | cut -d : -f 1)" -eq $(($(wc -l <out) - 2)) ] || fail "$command: not two examples at its end"
    tail -n 2 out >examples
    while IFS= read -r example; do
        case $example in
        "  lockstep $command" | "  lockstep $command "*) ;;
        *) fail "$command: an example of something else: $example" ;;
        esac
        eval "\"\$lockstep\" ${example#  lockstep} --dump-options" >said 2>err </dev/null || fail "$command: $example"
    done <examples
done <list

# An example with an option that does not exist would be found.
expect_status 2 "$lockstep" sweep --frobnicate --dump-options
expect_status 2 "$lockstep" report --dump-options --dump-options
expect_status 2 "$lockstep" sweep --seconds x --dump-options

# Without a command: five lines to begin with.
expect_status 2 "$lockstep"
[ ! -s out ] && [ "$(wc -l <err)" -eq 5 ] || fail "not five lines"
sed 's/   *[^ ].*//' err >calls
grep -qx 'lockstep check' calls || fail "the first line is no call"
while read -r name arguments; do
    case $arguments in *--help) ;; *) arguments="$arguments --dump-options" ;; esac
    "$lockstep" $arguments >out </dev/null || fail "$name $arguments"
done <calls

# Names of 1.x: they work, and are in no help.
expect_status 0 "$lockstep" train --model mlp --dump-options
expect_status 0 "$lockstep" check --limit 5 --dump-options
expect_status 0 "$lockstep" soak --limit 5 --minutes 1 --dump-options
expect_count 0 '^option	limit' out
refuse 'timeout is given twice' "$lockstep" check --limit 5 --timeout 5
for command in train check soak; do
    expect_status 0 "$lockstep" $command --help
    expect_count 0 '--limit\|--model' out
done
