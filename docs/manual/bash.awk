# The completion of bash: skeleton (a variable: the file) with two functions in place of @TABLES@.
function words(name, i, text)
{
    text = ""
    for (i = 1; name == "" && i <= n_names; i++)
        if (names[i] !~ / /)
            text = text names[i] " "
    for (i = 1; i <= n_options[name]; i++)
        text = text "--" option[name, i] " "
    return text
}

function values(name, i, short)
{
    for (i = 1; i <= n_options[name]; i++) {
        if (arg[name, i] == "")
            continue
        short = letter[name, i] == "" ? "" : " | '" name " -" letter[name, i] "'"
        print "    '" name " --" option[name, i] "'" short ") echo '" kind(arg[name, i]) "' ;;"
    }
    if (arguments[name] != "")
        print "    '" name "') echo '" kind(arguments[name]) "' ;;"
}

function tables(i)
{
    print "# The words of the program itself (no argument) or of a command.\n_lockstep_words()\n{"
    print "    case $1 in"
    for (i = 0; i <= n_names; i++)
        print "    '" names[i] "') echo '" words(names[i]) "' ;;"
    print "    esac\n}\n"
    print "# The parts of a command, which are its next word.\n_lockstep_parts()\n{\n    case $1 in"
    for (i = 1; i <= n_names; i++)
        if (parts(names[i]) != "")
            print "    '" names[i] "') echo '" parts(names[i]) "' ;;"
    print "    esac\n}\n"
    print "# What an option's value ('COMMAND OPTION') or a command's argument can be; nothing if none."
    print "_lockstep_value()\n{\n    case $1 in"
    for (i = 1; i <= n_names; i++)
        values(names[i])
    print "    esac\n}"
}

END {
    while ((getline line < skeleton) > 0)
        if (line == "@TABLES@")
            tables()
        else
            print line
}
