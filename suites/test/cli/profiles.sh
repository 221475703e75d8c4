# The shipped profiles: each is right, can fail, and decides nothing alone.
#   profiles.sh LOCKSTEP FOLDER MAKE_RECORDS SOURCE
. "$(dirname "$0")/validate_common.sh"
source=$4

# The folders are those of an installation.
mkdir -p at/bin at/share/lockstep
cp "$lockstep" at/bin/lockstep
cp -r "$source/profiles" at/share/lockstep/profiles
installed=$PWD/at/bin/lockstep
names='a100-sxm-x8 b200-x8 h100-nvl-x2 h100-sxm-x8 h200-x8 l4 l40s mi300x-x8 t4'

# Without a profile, one line names them, and the folder that was searched.
share="$PWD/at/share/lockstep/profiles"
learned=ci-zen5-x2
found=$(cd at/share/lockstep/profiles && echo *)
[ "$found" = "$(for name in a100-sxm-x8 b200-x8 "$learned" ${names#*b200-x8}; do printf ' %s.yaml' "$name"; done | cut -c2-)" ] || fail "profiles: $found"
list=$(echo "$names" | sed "s/b200-x8/b200-x8 $learned/; s/ /, /g")
refuse "name a profile: --profile FILE; of those that are shipped by name: $list in $share$" "$installed" validate --run
# lists WORDS COMMAND...: exit status 2, and these words over several lines.
lists() {
    words=$1
    shift
    expect_status 2 "$@"
    tr -s '\n ' ' ' <err | grep -q -- "$words" && [ "$(wc -l <err)" -gt 1 ] && [ ! -s out ] || fail "not '$words': $(cat err)"
}
lists "^lockstep validate: h100: no such file; by name there are: $list in $share $" "$installed" validate --profile h100 old.jsonl
lists "^lockstep validate check: h100: no such file; by name there are: $list in $share $" "$installed" validate check h100
rm -r at/share/lockstep/profiles/[b-z]*
refuse "by name: a100-sxm-x8 in $share$" "$installed" validate --run
rm -r at/share
mkdir -p alone/in/bin
cp "$lockstep" alone/in/bin/lockstep
lists "h100-sxm-x8: no such file; by name there are: none in $PWD/alone/in/bin/../share/lockstep/profiles and $PWD/alone/in/bin/../../../profiles $" \
    "$PWD/alone/in/bin/lockstep" validate --profile h100-sxm-x8 old.jsonl
mkdir -p at/share/lockstep
cp -r "$source/profiles" at/share/lockstep/profiles

"$make_records" old old.jsonl || fail 'make_records old'
for name in $names; do
    file=$source/profiles/$name.yaml
    expect_status 0 "$installed" validate check "$name"
    limits=$(count_lines '^  - metric: ' "$file")
    [ "$(wc -l <out)" -eq "$limits" ] && [ "$limits" -gt 0 ] || fail "$name"
    expect_count "$limits" '^    kind: advisory$' "$file"
    expect_count "$limits" '^    evidence: published$' "$file"
    expect_count "$limits" '^    peak: ' "$file"
    expect_count 1 "^name: $name\$" "$file"

    # Each limit is written in the wrong unit, or without its last digit, and that is found.
    grep -n '^    min: ' "$file" | cut -d: -f1 >lines
    while read -r line; do
        sed "${line}s/ GB/ MB/" "$file" >unit.yaml
        expect_status 1 "$installed" validate check unit.yaml
        [ "$(wc -l <err)" -eq 1 ] && grep -q 'of another unit' err || fail "$name, $line"
        sed "${line}s/[0-9]\([.][0-9]*\)\{0,1\} GB/ GB/" "$file" >digit.yaml
        expect_status 1 "$installed" validate check digit.yaml
        [ "$(wc -l <err)" -eq 1 ] && grep -q 'or lost a digit' err || fail "$name, $line"
    done <lines

    # The profile is for that GPU alone; and it accepts no machine with that GPU.
    refuse "the profile is for GPU '" "$installed" validate --profile "$name" old.jsonl
    model=$(sed -n 's/^  gpu_model: //p' "$file")
    sed "s/\"model\":\"\"/\"model\":\"$model\"/g" old.jsonl >gpu.jsonl
    sed '/^  gpus: /d' "$file" >any.yaml
    expect_status 3 "$installed" validate --profile any.yaml gpu.jsonl
    prints 'NOT SHOWN by profile .* 0 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED'
    expect_count "$limits" '^UNMEASURED ' out
    expect_count "$(count_lines '^  - "' "$file")" '^UNKNOWN ' out
done

# A learned limit binds, and can fail; it is for its class of machine alone.
expect_status 0 "$installed" validate check $learned
[ "$(wc -l <out)" -eq 3 ] && grep -qx "$learned: devices needed: 2" out && [ ! -s err ] || fail "$learned"
expect_count 1 ': product_spread at most 1.005 x: OK: would fail if 0[.]4 % higher than expected$' out
expect_count 2 '^    kind: binding$' "$source/profiles/$learned.yaml"
expect_count 2 '^    evidence: learned$' "$source/profiles/$learned.yaml"
refuse "the profile is for the class of machine '[0-9a-f]\{12\}', the records are of 'unknown'$" "$installed" validate --profile $learned old.jsonl
class=$(sed -n 's/^  machine_class: //p' "$source/profiles/$learned.yaml")
sed "s/\"machine_class\":\"[^\"]*\"/\"machine_class\":\"$class\"/" old.jsonl >class.jsonl
expect_status 3 "$installed" validate --profile $learned class.jsonl
prints 'UNMEASURED product_spread'
prints 'UNMEASURED conformance of all'
# It works from a build tree, too.
expect_status 0 "$lockstep" validate check h100-sxm-x8
lists "by name there are: $list in $(cd "$source" && pwd -P)/profiles $" "$lockstep" validate check h100
