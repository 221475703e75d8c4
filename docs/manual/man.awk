# A man page. Variables: command ("": the program's own page), version, more (a file with sections
# written by hand, if it exists). All text goes through roff(): nothing of it is a request.
BEGIN {
    STATUS = "Exit status: " # where parts of the notes begin that are sections here
    EXAMPLES = "\n\nExamples:\n"
    escape["\\"] = "\\(rs"
    escape["-"] = "\\-" # else a hyphen that cannot be copied to a shell
    escape["'"] = "\\(aq"
    escape["`"] = "\\(ga"
    escape["\""] = "\\(dq"
    escape["^"] = "\\(ha"
    escape["~"] = "\\(ti"
}

function roff(text, i, c, before, out)
{
    before = "\n"
    out = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        out = out (c == "." && before == "\n" ? "\\&" : "") (c in escape ? escape[c] : c)
        before = c
    }
    return out
}

function paragraphs(text, part, n, i)
{
    n = split(text, part, /\n+/)
    for (i = 1; i <= n; i++)
        if (part[i] != "")
            print ".PP\n" roff(part[i])
}

# The examples, each a line of the notes.
function examples(text)
{
    gsub(/\n  /, "\n", text)
    print ".SH EXAMPLES\n.nf\n.RS\n" roff(substr(text, length(EXAMPLES) + 1)) "\n.RE\n.fi"
}

# A sentence as the line of NAME.
function summary(sentence)
{
    sub(/\.$/, "", sentence)
    return tolower(substr(sentence, 1, 1)) substr(sentence, 2)
}

function options(name, i, short, value)
{
    print ".SH OPTIONS"
    for (i = 1; i <= n_options[name]; i++) {
        if ((name, i) in group)
            print ".SS " roff(group[name, i])
        short = letter[name, i] == "" ? "" : "\\fB\\-" letter[name, i] "\\fR, "
        value = arg[name, i] == "" ? "" : "=\\fI" roff(arg[name, i]) "\\fR"
        print ".TP\n" short "\\fB\\-\\-" roff(option[name, i]) "\\fR" value
        print doc[name, i] == "" ? "\\&" : roff(doc[name, i])
    }
}

function commands(i)
{
    print ".SH COMMANDS\nEach has a page, like \\fBlockstep\\-" names[1] "\\fR(1)."
    for (i = 1; i <= n_names; i++)
        print ".TP\n\\fB" roff(names[i]) "\\fR\n" roff(help[names[i]])
}

# The name of the page of a command.
function page_of(name)
{
    gsub(/ /, "-", name)
    return name == "" ? "lockstep" : "lockstep-" name
}

function see_also(i)
{
    print ".SH SEE ALSO"
    if (command != "") {
        print "\\fBlockstep\\fR(1)"
        return
    }
    for (i = 1; i <= n_names; i++)
        print "\\fB" roff(page_of(names[i])) "\\fR(1)" (i < n_names ? "," : "")
}

END {
    page = page_of(command)
    if ((at = index(notes[command], EXAMPLES)) > 0) {
        last = substr(notes[command], at)
        notes[command] = substr(notes[command], 1, at - 1)
    }
    print ".\\\" Made by docs/manual/make from the option tables of the program; do not edit."
    print ".TH " toupper(roff(page)) " 1 \"\" \"Lockstep " version "\" \"User Commands\""
    print ".nh\n.ad l\n.SH NAME"
    print roff(page) " \\- " roff(command == "" ? summary(about[""]) : help[command])
    print ".SH SYNOPSIS"
    if (command == "") {
        print "\\fBlockstep\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]"
        commands()
    } else {
        status = index(notes[command], STATUS)
        print "\\fBlockstep " roff(command) "\\fR [\\fIOPTION\\fR...] \\fI" roff(arguments[command]) "\\fR"
        print ".SH DESCRIPTION"
        paragraphs(about[command])
        paragraphs(status ? substr(notes[command], 1, status - 1) : notes[command])
    }
    options(command)
    if (command != "")
        print ".SH EXIT STATUS" (status ? "" : "\nSee \\fBlockstep\\fR(1).")
    if (status)
        paragraphs(substr(notes[command], status + length(STATUS)))
    if (at > 0)
        examples(last)
    while ((getline line < more) > 0)
        print line
    see_also()
}
