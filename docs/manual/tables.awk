# Reads the tables that docs/manual/make collects (harness/command/dump.c). For the other scripts:
#   n_names, names[1..]; help[name]            the commands; a name of two words is a part of one
#   about[name], notes[name], arguments[name]
#   n_options[name]; option, letter, arg, doc[name, 1..]; the name "" is the program itself
#   group[name, i]                             the heading before option i, where a group begins
BEGIN { FS = "\t" }

function plain(text)
{
    gsub(/\\\\/, "\001", text)
    gsub(/\\n/, "\n", text)
    gsub(/\\t/, "\t", text)
    gsub(/\001/, "\\", text)
    return text
}

# The second words of the parts of a command.
function parts(name, i, word, text)
{
    text = ""
    for (i = 1; i <= n_names; i++)
        if (split(names[i], word, " ") == 2 && word[1] == name)
            text = text word[2] " "
    return text
}

# Returns the kind of an argument that can be completed: "file", "directory", "any", or the words to
# choose from; "" if there is none.
function kind(argument)
{
    if (argument ~ /\.jsonl|FILE/)
        return "file"
    if (argument ~ /\|/)
        gsub(/\|/, " ", argument)
    else if (argument != "")
        argument = argument == "DIR" ? "directory" : "any"
    return argument
}

function refuse(message)
{
    print "docs/manual: " message > "/dev/stderr"
    refused = 1
    exit 1
}

$1 == "of" { of = $2 }
$1 == "command" {
    if ($2 !~ /^[a-z0-9-]+( [a-z0-9-]+)?$/)
        refuse("a command that a shell would not take: " $0)
    names[++n_names] = $2
    help[$2] = plain($3)
}
$1 == "about" { about[of] = plain($2) }
$1 == "notes" { notes[of] = plain($2) }
$1 == "arguments" { arguments[of] = plain($2) }
$1 == "group" { group[of, n_options[of] + 1] = plain($2) }
$1 == "option" {
    # Bare words in the shells' files.
    if ($2 !~ /^[a-z0-9-]+$/ || $3 !~ /^[A-Za-z0-9?]?$/ || $4 ~ /[^A-Za-z0-9:,.|_-]/)
        refuse("an option that a shell would not take: " $0)
    i = ++n_options[of]
    option[of, i] = $2
    letter[of, i] = $3
    arg[of, i] = $4
    doc[of, i] = plain($5)
}
$1 !~ /^(of|command|about|notes|arguments|group|option)$/ { refuse("unknown line: " $0) }
END {
    if (refused)
        exit 1
}
