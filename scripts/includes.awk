# Checks the include directions of one run over C files; called by scripts/check-includes.
# Comments are removed first, so that text about a header is not an include; strings are removed
# before calls are looked for. Prints "file:line: message" for each violation, and exits 1 if any.
# Circles come last: they are known when all files have been read. So do tables of conformance cases
# that no area lists: nothing else would miss their cases.
#
# Environment: headers, every header of the tree, one path a line, relative like the input files.

BEGIN {
    count = split(ENVIRON["headers"], paths, "\n")
    for (i = 1; i <= count; i++) {
        is_header[paths[i]] = 1
        rest = paths[i]
        while (sub(/^[^\/]*\//, "", rest)) {
            of_that_name[rest]++
            named[rest] = paths[i]
        }
    }

    # The rooms of harness/: each sees those before it.
    n_rooms = split("text numbers files export command launch plot verify schema plan record machine analysis measure check report sweep compare validate soak fleet forecast train cli",
                    rooms, " ")
    for (i = 1; i <= n_rooms; i++)
        room_place[rooms[i]] = i

    # A third-party header and the only files that may include it, both as patterns.
    rule("^hwloc(/|\\.h)", "^core/topology\\.c$", "hwloc belongs in core/topology.c")
    rule("^(cuda|cublas|cudnn|nccl|nvml|nvtx)", "^(core/cuda|suites/test/fakecuda)/",
         "CUDA headers belong in core/cuda/ and suites/test/fakecuda/")
    rule("^mpi\\.h$", "^(core/mpi/|suites/test/mpi/(rate_alone|wrong_message|wrong_sum)\\.c$|harness/forecast/step_smpi\\.c$)", "mpi.h belongs in core/mpi/, and in what is compared with it, simulated or preloaded")
    rule("^dnnl", "^(core/cpu/onednn_inside\\.h|suites/test/core/onednn_asked\\.c)$", "dnnl.h belongs in core/cpu/onednn_inside.h, and in the test that looks at what is asked")
    rule("^simgrid/", "^harness/forecast/step_smpi\\.c$", "SimGrid belongs in harness/forecast/step_smpi.c")
    rule("^jansson", "^(harness/(record|launch|check|compare)/[a-z_]*|harness/machine/(devices|places)|harness/measure/trace|harness/train/(record|trainee|world)|harness/export/export|harness/validate/json|harness/soak/(selftest_read|selftest_write|write)|harness/fleet/(folder|limits|verdict|write)|harness/forecast/write|suites/test/fuzz/(record|verdict)|suites/impls/(description[a-z_]*|exec/[a-z_]*)|suites/test/hostile/serve|suites/test/torture/calls_files)\\.[ch]$",
         "jansson belongs where JSON is read or written: harness/record/, launch/, check/, compare/, machine/devices, machine/places, measure/trace, train/, export/export, validate/json, soak/, fleet/, forecast/write, suites/impls, suites/test/torture/calls_files")
    rule("^(cyaml/|yaml\\.h$)", "^(harness/validate/profile_read|suites/test/scripts/yaml_lines)\\.c$",
         "YAML belongs in harness/validate/profile_read.c")
    rule("^openssl/", "^harness/files/digest\\.c$", "libcrypto belongs in harness/files/digest.c")
    rule("^(cblas|openblas|f77blas|lapack)", "^core/cpu/[a-z0-9_]*blas[a-z0-9_]*\\.c$",
         "BLAS headers belong in core/cpu/*blas*.c")

    forbidden = "(v?f?printf|f?puts|putc(har)?|fputc|fwrite|perror|_?exit|_Exit|quick_exit|" \
                "abort|(secure_)?getenv|setenv|putenv)"
}

function rule(header, allowed, message)
{
    rules++
    rule_header[rules] = header
    rule_allowed[rules] = allowed
    rule_message[rules] = message
}

# place: "file:line", or nothing for the line at hand.
function complain(message, place)
{
    printf "%s: %s\n", place == "" ? FILENAME ":" FNR : place, message
    violations++
}

# "a/b/../c.h" -> "a/c.h"
function normal(path)
{
    while (match(path, /[^\/]+\/\.\.\//) && substr(path, RSTART, 3) != "../")
        path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
    gsub(/\/\.\//, "/", path)
    sub(/^\.\//, "", path)
    return path
}

# The file of the tree that an include names: next to the including file, from the root, or in one
# of the parts, its own first. "" when it is none of ours.
function resolve(name, directory, part, places, number, i, path)
{
    number = split(directory " . " part " core harness suites suites/test", places, " ")
    for (i = 1; i <= number; i++) {
        path = normal(places[i] "/" name)
        if (path in is_header)
            return path
    }
    return ""
}

# "harness/ROOM/file.c" -> its place in the order, 0 where there is none.
function place_of_room(path, parts)
{
    return split(path, parts, "/") == 3 && parts[1] == "harness" ? room_place[parts[2]] + 0 : 0
}

function check_room(target)
{
    if (place_of_room(target) > place_of_room(FILENAME))
        complain("includes " target ", which is in a later room of harness/")
}

function check_include(name, part, directory, target, target_part, i)
{
    target = resolve(name, directory, part)
    target_part = target
    sub(/\/.*/, "", target_part)
    if (part == "core" && target != "" && target_part != "core")
        complain("core includes " target ": core knows nothing of " target_part)
    if (part != "core" && target_part == "core" && target !~ /^core\/(dp|ddp|dp_mpi)\.h$/ &&
        !(target ~ /^core\/cuda\/(launch|cuda|nccl_call)\.h$/ && FILENAME ~ /^suites\/test\/fakecuda\//) &&
        !(target == "core/backend.h" && FILENAME ~ /^suites\/test\/(fuzz\/devices|mpi\/(collectives|failing)|core\/(collective_calls|communicator|decorated|faults|grouping|onednn|onednn_convolution))\.[ch]$/) &&
        !(target == "core/mpi/inside.h" && FILENAME ~ /^suites\/test\/mpi\/(digest|wrong_sum)\.c$/) &&
        !(target == "core/cpu/fast_functions.h" && FILENAME == "suites/test/core/kernel.c") &&
        !(target ~ /^core\/(kernels|cpu\/(kernels_ref|products))\.h$/ && FILENAME ~ /^suites\/test\/(core\/onednn|core\/onednn_convolution|cli\/(fake_products|rounding))\.c$/))
        complain(part " includes " target ": only dp.h, ddp.h and dp_mpi.h of core are public")
    if (FILENAME ~ /^suites\/(cases|test\/hostile|impls)\// && FILENAME !~ /^suites\/impls\/reference\// &&
        target_part == "core")
        complain("includes " target ": an implementation is seen through impl.h, not core")
    if (part == "suites" && target_part == "harness" && FILENAME !~ /^suites\/test\// &&
        !(target == "harness/launch/child.h" && FILENAME ~ /^suites\/impls\/(exec\/(converse|process)|wall\/(ask|start))\.c$/))
        complain("includes " target ": suites are below the harness")
    if (target ~ /^suites\/test\// && FILENAME !~ /^suites\/test\//)
        complain("includes " target ": the product knows nothing of its tests")
    if (part == "harness")
        check_room(target)
    if (target != "")
        return
    for (i = 1; i <= rules; i++)
        if (name ~ rule_header[i] && FILENAME !~ rule_allowed[i])
            complain("includes " name ": " rule_message[i])
}

# The files of one stem, a.c and a.h, are a module. Notes that the one at hand uses that of a header.
# A header in a folder that only the build knows is found by its name, if no other has that name.
function note_use(name, part, directory, target, module, used)
{
    target = resolve(name, directory, part)
    if (target == "" && of_that_name[name] == 1)
        target = named[name]
    if (target == "")
        return
    module = FILENAME
    used = target
    sub(/\.[a-z]+$/, "", module)
    sub(/\.[a-z]+$/, "", used)
    if (used == module || (module, used) in use_place)
        return
    use_place[module, used] = FILENAME ":" FNR
    if (!(module in uses))
        modules[++n_modules] = module
    uses[module] = uses[module] " " used
}

# Goes on from a module to all that it uses. One that is met again on the way closes a circle; depth
# 0 is for those that are done with.
function follow(module, depth, used, count, i)
{
    way[depth] = module
    depth_of[module] = depth
    count = split(uses[module], used, " ")
    for (i = 1; i <= count; i++) {
        if (!(used[i] in depth_of))
            follow(used[i], depth + 1)
        else if (depth_of[used[i]] > 0)
            complain_of_circle(depth_of[used[i]], depth)
    }
    depth_of[module] = 0
}

function complain_of_circle(first, last, circle, i)
{
    circle = "a circle of includes: "
    for (i = first; i <= last; i++)
        circle = circle way[i] " -> "
    complain(circle way[first], use_place[way[first], way[first + 1]])
}

# Takes the comments out of a line; a comment that stays open carries over in in_comment.
# Quotes are honoured, so that "//" in a string is no comment.
function without_comments(line, text, character, pair, quote, i)
{
    text = ""
    quote = ""
    for (i = 1; i <= length(line); i++) {
        character = substr(line, i, 1)
        pair = substr(line, i, 2)
        if (in_comment) {
            if (pair == "*/") {
                in_comment = 0
                i++
            }
        } else if (quote != "") {
            text = text character
            if (character == "\\") {
                i++
                text = text substr(line, i, 1)
            } else if (character == quote) {
                quote = ""
            }
        } else if (pair == "/*") {
            in_comment = 1
            text = text " "
            i++
        } else if (pair == "//") {
            break
        } else {
            if (character == "\"" || character == "'")
                quote = character
            text = text character
        }
    }
    return text
}

FNR == 1 {
    in_comment = 0
    part = FILENAME
    sub(/\/.*/, "", part)
    directory = FILENAME
    sub(/\/[^\/]*$/, "", directory)
    if (part == "harness" && !place_of_room(FILENAME))
        complain("is in no room of harness/ that has a place in scripts/includes.awk")
}

{
    code = without_comments($0)
}

code ~ /^[ \t]*#[ \t]*include/ {
    name = code
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
    if (name !~ /^("[^"]+"|<[^>]+>)/)
        complain("includes by a macro, which cannot be checked: name the file")
    else {
        file = substr(name, 2, match(substr(name, 2), /[">]/) - 1)
        check_include(file, part, directory)
        if (name ~ /^"/)
            note_use(file, part, directory)
    }
    next
}

FILENAME ~ /^suites\/cases\// && match(code, /^const struct check_table [a-z0-9_]+/) {
    table = substr(code, RSTART, RLENGTH)
    sub(/.* /, "", table)
    tables[++n_tables] = table
    table_place[table] = FILENAME ":" FNR
}

# The tables that an area lists (list.c), up to the end of the list.
FILENAME ~ /^suites\/cases\// && code ~ /struct check_table \*const [a-z_]+\[\]/ {
    listing = 1
}

listing {
    listing = code !~ /;/
    while (match(code, /&[a-z0-9_]+/)) {
        listed[substr(code, RSTART + 1, RLENGTH - 1)] = 1
        code = substr(code, RSTART + RLENGTH)
    }
}

part == "core" {
    gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
    # A member of a table with such a name is not libc's.
    if (match(code, "(^|[^A-Za-z0-9_>.])" forbidden "[ \t]*\\("))
        complain("core does not print, exit or read the environment: " \
                 substr(code, RSTART, RLENGTH) ")")
    if (match(code, /(^|[^A-Za-z0-9_])(stdout|stderr|environ)([^A-Za-z0-9_]|$)/))
        complain("core has no " substr(code, RSTART, RLENGTH))
}

END {
    for (i = 1; i <= n_modules; i++)
        if (!(modules[i] in depth_of))
            follow(modules[i], 1)
    for (i = 1; i <= n_tables; i++)
        if (!(tables[i] in listed))
            complain(tables[i] " is in no area: its cases never run", table_place[tables[i]])
    exit violations > 0
}
