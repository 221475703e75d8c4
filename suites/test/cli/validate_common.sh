# Functions that the tests of `lockstep validate` share. $3 is make_records.
. "$(dirname "$0")/common.sh"
make_records=$3

# limit METRIC BOUND PLACE [KIND [MORE]]: prints a limit of a profile.
limit() {
    cat <<LIMIT
  - metric: $1
    $2
    at: {$3}
    kind: ${4:-binding}
    source: made up
    date: 2026-11-23
    evidence: measured${5:+
    $5}
LIMIT
}

# profile FILE [MATCH [REQUIRES]]: writes a profile with the limits of standard input.
profile() {
    printf 'schema: lockstep/profile/1.0\nname: %s\nmatch: {%s}\nrequires: {%s}\nlimits:\n' \
        "$1" "${2-cores: 4}" "${3-launches: 6}" >"$1"
    cat >>"$1"
}

# validate STATUS PROFILE FILE [OPTION...]: lines have at most 80 columns, and there is nothing on
# standard error.
validate() {
    expect_status "$1" "$lockstep" validate --profile "$2" "$3"
    [ "$1" -eq 2 ] || [ ! -s err ] || fail "words on standard error"
    ! grep -q '.\{81\}' out || fail "more than 80 columns"
}
