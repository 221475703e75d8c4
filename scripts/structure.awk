# Measures the structure of the C files; called by scripts/check-structure. clang-format decides
# where a definition stands, so none of this needs a parser: the head of a function begins in the
# first column, and so does its brace. Prints "measure TAB number TAB of how many TAB words", and
# with details=1 the names that each number counts.

function begin_file()
{
    in_comment = 0
    head = ""
    room = FILENAME
    sub(/\/.*/, "", room)
    is_source = FILENAME ~ /\.(c|cu)$/
    file_at[++n_files] = FILENAME
}

# The name in the head of a function; "" where there is none.
function name_of(head, name)
{
    gsub(/__attribute__ *\(\([^()]*(\([^()]*\))?[^()]*\)\)/, "", head)
    gsub(/__launch_bounds__ *\([^()]*\)/, "", head)
    if (!match(head, /[A-Za-z_][A-Za-z0-9_]* *\(/) || RSTART == 1)
        return ""
    name = substr(head, RSTART, RLENGTH - 1)
    sub(/ +$/, "", name)
    return substr(head, RSTART - 1, 1) ~ /[ *]/ ? name : ""
}

function end_head(defines, name)
{
    name = name_of(head)
    if (name != "" && head ~ /(^| )static /) {
        declared[FILENAME, name]++
        if (defines && !((FILENAME, name) in is_static)) {
            is_static[FILENAME, name] = 1
            static_at[++n_statics] = FILENAME SUBSEP name
            if (!(name in files_with))
                name_at[++n_names] = name
            files_with[name] = files_with[name] " " FILENAME
        }
    } else if (name != "" && defines && is_source && !((room, name) in home)) {
        home[room, name] = FILENAME
        homes[room, name]++
    } else if (name != "" && defines && is_source && home[room, name] != FILENAME) {
        homes[room, name]++ # one of several of that name: no call of it is followed
    }
    if (name != "" && defines && is_source)
        functions[room]++
    head = ""
}

# A function that a name in front of a bracket calls; neither a member of a struct nor a local one.
function note_calls(text, name, before)
{
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
        name = substr(text, RSTART, RLENGTH)
        before = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
        text = substr(text, RSTART + RLENGTH)
        if (before == "." || before == ">")
            continue
        used[FILENAME, name]++
        if (text !~ /^\(/)
            continue
        if (is_source && !((FILENAME, name) in called))
            calls[FILENAME] = calls[FILENAME] " " name
        called[FILENAME, name]++
    }
}

FNR == 1 { begin_file() }

{
    split_line($0)
    lines[FILENAME] = FNR
    if (code ~ /^[ \t]*#/)
        next
    note_calls(code)
    if (head == "" && code ~ /^[A-Za-z_].*\(/ && code !~ /^[^(]*=/)
        head = code
    else if (head != "" && code !~ /^\{/)
        head = head " " code
    if (head != "" && code ~ /^\{/)
        end_head(1)
    else if (head != "" && code ~ /[;}][ \t]*$/)
        end_head(0)
}

# Tarjan's strongly connected components, over the files of one room.
function visit(file, names, n, i, next_file, size, members)
{
    order[file] = low[file] = ++visited
    stack[++height] = file
    on_stack[file] = 1
    n = split(calls[file], names, " ")
    for (i = 1; i <= n; i++) {
        if (homes[walked, names[i]] != 1 || (file, names[i]) in is_static)
            continue
        next_file = home[walked, names[i]]
        if (!(next_file in order)) {
            visit(next_file)
            low[file] = low[next_file] < low[file] ? low[next_file] : low[file]
        } else if (on_stack[next_file] && order[next_file] < low[file]) {
            low[file] = order[next_file]
        }
    }
    if (low[file] != order[file])
        return
    size = 0
    members = ""
    do {
        next_file = stack[height--]
        on_stack[next_file] = 0
        members = members " " next_file
        size++
    } while (next_file != file)
    if (size > 1) {
        circles++
        circle_text = circle_text "  " size ":" members "\n"
    }
}

function circles_of(which, i)
{
    walked = which
    circles = 0
    circle_text = ""
    for (i = 1; i <= n_files; i++)
        if (index(file_at[i], which "/") == 1 && !(file_at[i] in order))
            visit(file_at[i])
    return circles
}

function print_number(name, number, of, words, text)
{
    printf "%s\t%d\t%s\t%s\n", name, number, of, words
    if (details)
        printf "%s", text
}

END {
    for (i = 1; i <= n_statics; i++) {
        key = static_at[i]
        split(key, part, SUBSEP)
        if (part[1] ~ /^harness\/.*\.c$/ && used[key] - declared[key] == 1 && called[key] == used[key]) {
            once++
            once_text = once_text "  " part[1] " " part[2] "\n"
        }
    }
    for (i = 1; i <= n_names; i++)
        if (split(files_with[name_at[i]], part, " ") > 3) {
            common++
            common_text = common_text "  " name_at[i] ":" files_with[name_at[i]] "\n"
        }
    for (i = 1; i <= n_files; i++)
        if (lines[file_at[i]] > longest) {
            longest = lines[file_at[i]]
            longest_file = file_at[i]
        }
    print_number("called-once", once, functions["harness"], "static functions of harness that are called once", once_text)
    print_number("common-names", common, "", "names of static functions that stand in more than three files", common_text)
    print_number("circles-core", circles_of("core"), "", "circles of calls between files of core", circle_text)
    print_number("circles-harness", circles_of("harness"), "", "circles of calls between files of harness", circle_text)
    print_number("longest-file", longest, "", "lines of the longest file", "  " longest_file "\n")
}
