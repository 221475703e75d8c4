# Completion of lockstep for bash. Made by docs/manual/make from the option tables of the program.

@TABLES@

# _lockstep_complete KIND WORD: what a value of that kind can be.
_lockstep_complete()
{
    case $1 in
    any) return ;;
    file) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    directory) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") && return ;;
    esac
    compopt -o filenames 2>/dev/null || true # fails outside of a completion: in tests
}

_lockstep()
{
    local command='' parts='' kind word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

    COMPREPLY=()
    [ "$COMP_CWORD" -eq 1 ] || command=${COMP_WORDS[1]}
    parts=$(_lockstep_parts "$command")
    if [ "$COMP_CWORD" -gt 2 ]; then
        [[ " $parts" != *" ${COMP_WORDS[2]} "* ]] || command+=" ${COMP_WORDS[2]}"
        parts=''
    fi
    # --out=FILE comes as three words.
    if [ "$word" = = ]; then
        word=''
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    kind=$(_lockstep_value "$command $before")
    if [ -z "$kind" ] && [[ -z $command || $word == -* ]]; then
        kind=$(_lockstep_words "$command")
    elif [ -z "$kind" ]; then
        kind=$(_lockstep_value "$command")
    fi
    _lockstep_complete "$kind" "$word"
    [ -z "$parts" ] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$parts" -- "$word")
}
complete -F _lockstep lockstep
