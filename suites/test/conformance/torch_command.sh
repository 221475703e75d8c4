#!/usr/bin/env bash
# The command that --impl torch makes, with a stand-in for the Python package, in folders as the program is
# installed, built or in a wheel: its words reach Python whole, and what is wrong is one line and status 2.
# It needs Python, not PyTorch. usage: torch_command.sh LOCKSTEP FOLDER PYTHON
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/../cli/common.sh"
lockstep=$1
python=$3
unset PYTHONPATH LOCKSTEP_PYTHON
cases=SPLIT-01.sizes,SPLIT-01.known
here=$PWD

# program FOLDER: puts the program there.
program() {
    mkdir -p "$1"
    cp "$lockstep" "$1/lockstep"
}

# package FOLDER: puts a stand-in there. It writes what it was called with, and can split.
package() {
    mkdir -p "$1/lockstep/torch"
    touch "$1/lockstep/__init__.py" "$1/lockstep/torch/__init__.py"
    cat >"$1/lockstep/torch/__main__.py" <<END
import json, os, sys
with open("$here/called", "w") as file:
    print(sys.argv[1:], os.environ.get("PYTHONPATH"), os.getcwd() in (sys.path[0], os.path.abspath(sys.path[0])), file=file)
for line in sys.stdin:
    request = json.loads(line)
    ok = {}
    if request["op"] == "open":
        ok = {"name": "stand-in", "version": "1", "devices": [] if request["host_only"] else ["a", "b"],
              "capabilities": ["split"], "dialects": {"no_rows": "empty"}}
    if request["op"] == "split":
        rows, devices = int(request["rows"]), request["devices"]
        most = -(-rows // devices)
        ok = {"size": [min(most, rows - at) for at in range(0, rows, most)] if rows else [0] * devices}
    print(json.dumps({"id": request["id"], "ok": ok}), flush=True)
END
}

# called LOCKSTEP SPEC WORDS: the cases pass, and the stand-in was called with those words.
called() {
    rm -f called
    expect_status 0 "$1" check --impl "$2" --only "$cases" --format json
    grep -qF "\"spec\": \"$2\"" out || fail "$2 is not in the record"
    grep -qF '"name": "stand-in"' out || fail "another implementation"
    [ "$(cat called)" = "$3" ] || fail "$2: $(cat called), not $3"
}

# refused LOCKSTEP SPEC WORDS
refused() {
    rm -f called planted
    expect_status 2 "$1" check --impl "$2" --only "$cases"
    tr -s ' \n' '  ' <out >flat
    grep -qF "BROKEN $2 could not be tested: " flat || fail "$2 is not refused"
    grep -qF -- "$3" flat || fail "$2: no '$3'"
    grep -qF "; 2 cases were not run" flat || fail "$2: something was run"
    if [ -e called ] || [ -e planted ] || [ -s err ]; then fail "$2: something was started, or complained"; fi
}

export LOCKSTEP_PYTHON="$python"
# Installed, in a folder whose name has what a shell would read.
# shellcheck disable=SC2089 # the signs stay as they are
odd="it's \$(touch planted) \"a\`b"
program "$odd/bin"
package "$odd/share/lockstep/python"
installed=$here/$odd/bin/lockstep
folder=$here/$odd/bin/../share/lockstep/python
called "$installed" torch "[] $folder True"
for spec in torch:my_layer:MyDDP torch:a.b_c.d:_N1 torch:some-where/x.py:f torch:./my-layers.py:MyDDP \
    torch:/abs/x.py:F torch:../x.py:F; do
    called "$installed" "$spec" "['${spec#torch:}'] $folder True"
done
called "$installed" torch@30 "[] $folder True"
called "$installed" torch@0.5:m:N "['m:N'] $folder True"
with PYTHONPATH="/somebody's own:x y" called "$installed" torch:m:N "['m:N'] $folder:/somebody's own:x y True"

# The tree that it was built in, and a wheel, whose interpreter knows where its packages are.
program build/release/harness
package suites/python
called build/release/harness/lockstep torch:m:N "['m:N'] $here/build/release/harness/../../../suites/python True"
program venv/lib/site/lockstep/bin
package venv/lib/site
with PYTHONPATH="$here/venv/lib/site" called venv/lib/site/lockstep/bin/lockstep torch:m:N "['m:N'] $here/venv/lib/site True"
refused venv/lib/site/lockstep/bin/lockstep torch:m:N "ModuleNotFoundError"

# Nothing that a shell would run is a module or a name.
# shellcheck disable=SC2016 # for the shell that would run it
for layer in 'm:N;touch planted' 'm:N $(touch planted)' '$(touch planted):N' "m':N" 'm N:O' 'm|n:N' '-c:N' \
    'some/where:F' 'a-b:N' 'm:' ':N' 'm' 'm:1' 'm:N.O' 'm:N:O' ''; do
    refused "$installed" "torch:$layer" "'$layer' is not MODULE:NAME: a module is of letters, digits"
done
for seconds in 0 -1 x nan 86401 '' '5 '; do
    refused "$installed" "torch@$seconds:m:N" "torch@SECONDS:MODULE:NAME; COMMAND is one line"
done
refused "$installed" torches "unknown implementation 'torches': reference, mutant:NAME, a path with a '/' to a shared"
refused "$installed" torches "exec:COMMAND, torch, torch:MODULE:NAME"
expect_status 2 "$installed" check --impl "torch:$(printf '%0900d' 0):N" --only "$cases"
prints " is longer than 1023 bytes; 2 cases were not run"

# Nothing to run it with, or nothing to run.
with LOCKSTEP_PYTHON=./no-such-python refused "$installed" torch:m:N \
    "there is no program './no-such-python'; LOCKSTEP_PYTHON names it"
# shellcheck disable=SC2016 # for the script
printf '#!/bin/sh\nunset LOCKSTEP_PYTHON\nPATH=/nowhere: exec "$installed" "$@"\n' >no-python
chmod +x no-python
# shellcheck disable=SC2090
export installed
refused ./no-python torch:m:N \
    "there is no program 'python3' in PATH; LOCKSTEP_PYTHON can name another"
program alone
refused alone/lockstep torch:m:N \
    "no Python package lockstep.torch in ../share/lockstep/python, ../../../suites/python or ../.., seen from"
# A Python without its packages, or with some: the package itself says so.
printf '#!/bin/sh\nexec "%s" -S "$@"\n' "$python" >bare
chmod +x bare
export LOCKSTEP_PYTHON=./bare
real=$("$python" -c 'import sys; print(sys.executable)')
or=', or name another Python in LOCKSTEP_PYTHON; 2 cases'
refused "$lockstep" torch:m:N "tested: $real has no torch and no numpy: install them there (pip install torch numpy)$or"
mkdir -p some/torch more/numpy
touch some/torch/__init__.py more/numpy/__init__.py
with PYTHONPATH="$here/some" refused "$lockstep" torch "tested: $real has no numpy: install it there (pip install numpy)$or"
with PYTHONPATH="$here/more" refused "$lockstep" torch:m:N "tested: $real has no torch: install it there (pip install torch)$or"
export LOCKSTEP_PYTHON="$python"
# An interpreter of another name, and python3 of PATH.
mkdir "my bin"
printf '#!/bin/sh\necho mine >>"%s/mine"\nexec "%s" "$@"\n' "$here" "$python" >"my bin/python3"
chmod +x "my bin/python3"
with LOCKSTEP_PYTHON="$here/my bin/python3" called "$installed" torch:m:N "['m:N'] $folder True"
with LOCKSTEP_PYTHON= with PATH="$here/my bin:$PATH" called "$installed" torch:m:N "['m:N'] $folder True"
[ "$(sort mine | uniq -c | tr -d ' ')" = 4mine ] || fail "another interpreter ran: $(cat mine)"

# The limit of one operation is that of exec@.
sed -i 's/^    if request\["op"\] == "split":/    if request["op"] == "split":\n        __import__("time").sleep(1)/' \
    "$odd/share/lockstep/python/lockstep/torch/__main__.py"
expect_status 1 "$installed" check --impl torch@0.2:m:N --only SPLIT-01.known
grep -q 'no answer within 0.2 s' out || fail "no limit of an operation"
expect_status 0 "$lockstep" check --impl torch:m:N --list --only "$cases"
