# The completion of zsh: one call of _arguments for each command.

# Text inside a specification of _arguments or _describe, inside single quotes.
function quoted(text)
{
    gsub(/[\\:\[\]]/, "\\\\&", text)
    gsub(/\n/, " ", text)
    gsub(/'/, "'\\''", text)
    return text
}

function action(argument, what)
{
    what = kind(argument)
    if (what == "file")
        return "_files"
    if (what == "directory")
        return "_files -/"
    return what == "any" ? " " : "(" what ")"
}

function specification(name, i, both, value)
{
    value = arg[name, i] == "" ? "" : ":" quoted(arg[name, i]) ":" action(arg[name, i])
    both = "--" option[name, i] (value == "" ? "" : "=")
    if (letter[name, i] != "")
        both = "'{-\\" letter[name, i] (value == "" ? "" : "+") "," both "}'"
    return "'" both "[" quoted(doc[name, i]) "]" value "'"
}

function specifications(name, i)
{
    for (i = 1; i <= n_options[name]; i++)
        print "            " specification(name, i) " \\"
    if (arguments[name] != "")
        print "            '*:" quoted(arguments[name]) ":" action(arguments[name]) "' \\"
    print "            && return\n        ;;"
}

END {
    print "#compdef lockstep"
    print "# Made by docs/manual/make from the option tables of the program.\n\n_lockstep()\n{"
    print "    local -a commands\n    commands=("
    for (i = 1; i <= n_names; i++)
        if (names[i] !~ / /)
            print "        '" quoted(names[i]) ":" quoted(help[names[i]]) "'"
    print "    )\n    local command=$words[2] parts=''\n    local -A parts_of\n    parts_of=("
    for (i = 1; i <= n_names; i++)
        if (parts(names[i]) != "")
            print "        " names[i] " '" parts(names[i]) "'"
    print "    )\n"
    print "    if (( CURRENT == 2 )); then\n        command="
    print "        _describe -t commands command commands\n    else"
    print "        shift words\n        (( CURRENT-- ))"
    print "        parts=$parts_of[$command]"
    print "        if [[ -n $parts ]] && (( CURRENT == 2 )); then\n            compadd -- ${=parts}"
    print "        elif [[ -n $parts && \" $parts\" == *\" $words[2] \"* ]]; then"
    print "            command+=\" $words[2]\"\n            shift words\n            (( CURRENT-- ))"
    print "        fi\n    fi"
    print "    case $command in"
    for (i = 0; i <= n_names; i++) {
        print "    '" (i == 0 ? "" : names[i]) "')\n        _arguments -s -S \\"
        specifications(i == 0 ? "" : names[i])
    }
    print "    esac\n}\n\n_lockstep \"$@\""
}
