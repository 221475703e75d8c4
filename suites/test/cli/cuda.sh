# Lists of GPUs: what no machine has, and what this one does not have or does.
. "$(dirname "$0")/common.sh"

# stops STATUS WORDS COMMAND...
stops() {
    status=$1
    words=$2
    shift 2
    one_line "$status" "$words" "$lockstep" "$@"
}

# on_gpus: like $lockstep, where there is an NVIDIA driver.
cat >on_gpus <<'SH'
#!/bin/sh
exec unshare --user --map-root-user --mount sh -ec 'mount -t tmpfs none /dev; : >/dev/nvidiactl; : >/dev/null; exec "$@"' - "$lockstep" "$@"
SH
chmod +x on_gpus
export lockstep
if "$lockstep" devices --devices cuda:x 2>&1 | grep -q 'no CUDA part'; then
    skip=77
    [ ! -e /dev/nvidiactl ] || skip=1
    if ./on_gpus --version >out 2>err; then
        for command in devices sweep tutorial; do
            one_line 1 'this build has no CUDA part, but there is an NVIDIA driver' ./on_gpus "$command" --devices cuda:all
        done
        expect_status 1 ./on_gpus check --devices cuda:all
        grep -q '^FAIL .* could not be tested: .*cuda:all' out || fail "check: $(cat out)"
    fi
    for command in devices sweep tutorial; do
        stops $skip 'this build has no CUDA part' "$command" --devices cuda:all
        stops 1 'this build has no CUDA part' "$command" --devices cuda:0
        stops 1 'this build has no CUDA part' "$command" --devices cuda:all --require-devices 1
    done
    no_devices $skip 'this build has no CUDA part' --devices cuda:all
    no_devices 1 'this build has no CUDA part' --devices cuda:0
    no_devices 1 'this build has no CUDA part' --devices cuda:all --require-devices 1
    stops 77 'this build has no CUDA part' devices --ctest-resources
    stops 1 'this build has no CUDA part' devices --ctest-resources --require-devices 1
    exit 0
fi
for list in x 0- 9999999 0, 1-0 all,0 0,,1; do
    for command in devices check sweep tutorial; do
        stops 2 "cuda:$list" "$command" --devices "cuda:$list"
    done
done
stops 1 cuda:99999 devices --devices cuda:99999

# In the words of the runtime, with versions.
expect_status 0 "$lockstep" devices
grep -q '^  CUDA ' out || fail "no line about CUDA"
tr -s ' \n' ' ' <out | grep -q 'driver \(none\|[0-9.]*\), runtime [0-9.]*, cuBLAS [0-9.]*' || fail "no versions"
status=0
"$lockstep" devices --devices cuda:all >out 2>err || status=$?
if [ "$status" -eq 77 ]; then
    # With what a build without CUDA says, these are all the reasons for a skip.
    reason='no \(driver\|GPU\): cudaGetDeviceCount: .*runtime [0-9]'
    for command in devices sweep tutorial; do
        stops 77 "$reason" "$command" --devices cuda:all
        stops 1 "$reason" "$command" --devices cuda:0
        stops 1 "$reason" "$command" --devices cuda:all --require-devices 1
    done
    no_devices 77 "$reason" --devices cuda:all
    no_devices 1 "$reason" --devices cuda:0
    no_devices 1 "$reason" --devices cuda:all --require-devices 1
    stops 77 "$reason" devices --ctest-resources
else
    [ "$status" -eq 0 ] || fail "neither GPUs nor none"
fi
