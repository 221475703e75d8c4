# Splits a line of C into code, comments and strings; for scripts that are about one of them.
# split_line(line) sets `code` (strings are "" there, comments a space), `comment` (the text of
# comments, an opening one with its slash and star) and `strings`. A comment that stays open carries
# over in `in_comment`, which is 0 at the start of a file.

function split_line(line, at, end)
{
    code = comment = strings = ""
    while (line != "") {
        if (in_comment) {
            end = index(line, "*/")
            comment = comment (end ? substr(line, 1, end - 1) " " : line)
            line = end ? substr(line, end + 2) : ""
            in_comment = !end
            if (end)
                code = code " "
        } else if (!match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/[\/*]/)) {
            code = code line
            line = ""
        } else {
            at = substr(line, RSTART, RLENGTH)
            code = code substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            if (at == "//") {
                comment = comment at line
                line = ""
            } else if (at == "/*") {
                comment = comment at
                in_comment = 1
            } else if (at ~ /^"/) {
                code = code "\"\""
                strings = strings substr(at, 2, length(at) - 2) " "
            } else {
                code = code "0"
            }
        }
    }
}
