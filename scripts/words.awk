# Looks for words of scripts/words.list in comments and strings of C, comments of shell, Python and
# CMake, and the text of pages; called by scripts/check-words. Prints "unit TAB file:line: message".
# A unit is the folder of a source, or a page: what scripts/words.clean lists.
#
# Environment: words (the list), exceptions ("file|word|reason" lines), clean (the units).

BEGIN {
    n_words = read(ENVIRON["words"], "words", 3)
    n_exceptions = read(ENVIRON["exceptions"], "exceptions", 3)
    for (i = 1; i <= n_words; i++)
        pattern[i] = "(^|[^a-z])(" column["words", i, 1] ")([^a-z]|$)"
}

# The rows of a list with so many columns; a list that cannot be read is fatal.
function read(path, name, columns, line, n, part, i)
{
    while ((getline line < path) > 0) {
        if (line ~ /^(#|$)/)
            continue
        if (split(line, part, "|") != columns || part[columns] == "") {
            print "check-words: " path ": not " columns " columns: " line > "/dev/stderr"
            failed = 2
            exit 2
        }
        n++
        for (i = 1; i <= columns; i++)
            column[name, n, i] = part[i]
    }
    return n + 0
}

function is_exception(word, i)
{
    for (i = 1; i <= n_exceptions; i++)
        if (column["exceptions", i, 1] == FILENAME && column["exceptions", i, 2] == word) {
            used_exception[i] = 1
            return 1
        }
    return 0
}

function complain(word, better)
{
    if (!is_exception(word))
        printf "%s\t%s:%d: \"%s\": write %s\n", unit, FILENAME, FNR, word, better
}

# Names of files and of the code are no words.
function look(text, i, word)
{
    gsub(/[A-Za-z0-9_\/-]*\.(c|h|cu|cuh|md|sh|py|json)/, "", text)
    gsub(/[A-Za-z0-9]*_[A-Za-z0-9_]*/, "", text)
    text = tolower(text)
    for (i = 1; i <= n_words; i++)
        if (match(text, pattern[i])) {
            word = substr(text, RSTART, RLENGTH)
            gsub(/^[^a-z]|[^a-z]$/, "", word)
            complain(word, column["words", i, 2])
        }
}

# A sentence needs a subject before its verb; these begin one that has none.
function look_at_start(text)
{
    if (match(text, /^[ \t]*(\/[\/*]+|#+)[ \t]*(What|Of|Who|Those)[ ,]/)) {
        text = substr(text, RSTART, RLENGTH)
        gsub(/[^A-Za-z]/, "", text)
        complain(text, "a sentence that begins with its subject")
    }
}

FNR == 1 {
    in_comment = in_block = 0
    unit = FILENAME
    kind = "text"
    if (FILENAME ~ /\.(c|h|cu|cuh|inc)$/)
        kind = "c"
    else if (FILENAME !~ /\.md$/)
        kind = "script"
    if (kind != "text")
        sub(/\/[^\/]*$/, "", unit)
    seen[unit] = 1
}

kind == "c" {
    split_line($0)
    look(comment)
    if ($0 !~ /^[ \t]*#[ \t]*include/)
        look(strings)
    look_at_start(comment)
    next
}

kind == "text" {
    if ($0 ~ /^```/)
        in_block = !in_block
    line = $0
    gsub(/`[^`]*`/, "", line)
    gsub(/\]\([^)]*\)/, "]", line)
    if (!in_block)
        look(line)
    next
}

/^[ \t]*#/ && !/^#!/ {
    look($0)
    if (!in_comment)
        look_at_start($0)
    in_comment = 1
    next
}

{ in_comment = 0 }

END {
    if (failed)
        exit failed
    for (unit in seen)
        print unit "\t"
    for (i = 1; i <= n_exceptions; i++)
        if (!used_exception[i])
            print "-\t" ENVIRON["exceptions"] ": no longer needed: " column["exceptions", i, 1] "|" column["exceptions", i, 2]
}
