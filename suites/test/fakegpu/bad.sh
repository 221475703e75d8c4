# Bad input, and machines where CUDA does not work: which are skips and which are failures, with one
# line that has the reason and the value.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=2

# stops STATUS WORDS COMMAND...
stops() {
    status=$1
    words=$2
    shift 2
    one_line "$status" "$words" "$lockstep" "$@"
}

# each STATUS WORDS OPTIONS...: tries every command that takes devices.
each() {
    status=$1
    words=$2
    shift 2
    for command in devices tutorial sweep train; do
        stops "$status" "$words" "$command" "$@"
    done
    if [ "$status" -eq 2 ]; then
        stops 2 "$words" check "$@"
    else
        no_devices "$status" "$words" "$@"
    fi
    stops "$status" "$words" soak --iterations 1 "$@"
}

# skips REASON: all GPUs are none, a named one is missing, and so are required ones.
skips() {
    each 77 "$1.*runtime [0-9.]*, cuBLAS [0-9]" --devices cuda:all
    each 1 "$1" --devices cuda:0
    each 1 "$1" --devices cuda:all --require-devices 1
    expect_status 0 "$lockstep" devices
    tr -s ' \n' ' ' <out | grep -q "CUDA $1" || fail "devices does not say '$1'"
}

# breaks REASON: nothing is skipped.
breaks() {
    each 1 "$1.*runtime [0-9.]*, cuBLAS [0-9]" --devices cuda:all
    each 1 "$1" --devices cuda:0
    expect_status 0 "$lockstep" devices --devices virt:1
    tr -s ' \n' ' ' <out | grep -q "CUDA $1" || fail "devices does not say '$1'"
}

export LOCKSTEP_FAKE_DRIVER=none
skips 'no driver: cudaGetDeviceCount: no NVIDIA driver is installed (cudaErrorInsufficientDriver); driver none'
export LOCKSTEP_FAKE_DRIVER=old
breaks 'the driver is too old: cudaGetDeviceCount: .*(cudaErrorInsufficientDriver); driver 11.0'
export LOCKSTEP_FAKE_DRIVER=broken
breaks 'the driver does not work: cudaGetDeviceCount: .*(cudaErrorUnknown)'
unset LOCKSTEP_FAKE_DRIVER
for error in InitializationError SystemDriverMismatch SystemNotReady; do
    export LOCKSTEP_FAKE_INIT=cudaError$error
    breaks "the driver does not work: cudaGetDeviceCount: .*(cudaError$error)"
done
unset LOCKSTEP_FAKE_INIT

export LOCKSTEP_FAKE_GPUS=0
skips 'no GPU: cudaGetDeviceCount: .*(cudaErrorNoDevice)'
export LOCKSTEP_FAKE_GPUS=2
for hidden in '' x; do
    export CUDA_VISIBLE_DEVICES="$hidden"
    skips 'no GPU: cudaGetDeviceCount: .*(cudaErrorNoDevice)'
    each 77 "with CUDA_VISIBLE_DEVICES='$hidden'\$" --devices cuda:all
done
# Text of others does not control the terminal.
export CUDA_VISIBLE_DEVICES="$(printf '\033[31m')"
expect_status 0 "$lockstep" devices
! LC_ALL=C grep -q "$(printf '\033')" out || fail "an escape of CUDA_VISIBLE_DEVICES is shown"
export CUDA_VISIBLE_DEVICES=1
each 1 "there is no GPU 1, the last is 0, with CUDA_VISIBLE_DEVICES='1'" --devices cuda:1
unset CUDA_VISIBLE_DEVICES

each 1 'cuda:0,7.*there is no GPU 7, the last is 1$' --devices cuda:0,7
for list in x 0- 1-0 0, all,0 0,,1 9999999 ''; do
    each 2 "cuda:$list" --devices "cuda:$list"
done
for command in devices tutorial sweep train; do
    stops 1 'require-devices 3: cuda:all has 2' $command --devices cuda:all --require-devices 3
    stops 1 'require-devices 3: virt:2 has 2' $command --devices virt:2 --require-devices 3
    stops 2 'require-devices.*65' $command --devices cuda:all --require-devices 65
    stops 2 'require-devices.*-1' $command --devices cuda:all --require-devices -1
done
stops 1 'require-devices 1: host has no devices' devices --devices host --require-devices 1
stops 1 'require-devices 3: cuda:all has 2' soak --iterations 1 --devices cuda:all --require-devices 3
no_devices 1 'require-devices 3: cuda:all has 2' --devices cuda:all --require-devices 3
expect_status 0 "$lockstep" devices --devices cuda:all --require-devices 2
stops 2 "'cuda:0': limits are those of CPUs; allowed is virt:N\$" sweep limits --devices cuda:0
stops 2 'backend' soak --iterations 1 --devices cuda:all --backend cpu

# This variable would make cuBLAS multiply in another precision than the record says.
export NVIDIA_TF32_OVERRIDE=1
each 2 "NVIDIA_TF32_OVERRIDE='1' in the environment: .* math f32; unset it or make it 0" \
    --devices cuda:0
expect_status 0 "$lockstep" devices --devices virt:1
NVIDIA_TF32_OVERRIDE=0
stops 2 "NVIDIA_TF32_OVERRIDE='0' in the environment: .* math tf32; unset it\$" sweep --math tf32 \
    --devices cuda:0
expect_status 0 "$lockstep" devices --devices cuda:0
unset NVIDIA_TF32_OVERRIDE
export CUBLAS_EMULATE_SINGLE_PRECISION=1
stops 2 "CUBLAS_EMULATE_SINGLE_PRECISION='1' in the environment" devices --devices cuda:0
unset CUBLAS_EMULATE_SINGLE_PRECISION

# Nothing was built for this GPU: the error names the GPU, its capability, and those that exist.
export LOCKSTEP_FAKE_CAPABILITY=70
unsupported='cuda:0: Fake GPU has compute capability 7.0, .*only for [0-9].*NoKernelImageForDevice'
each 1 "$unsupported" --devices cuda:all
each 1 "$unsupported" --devices cuda:0
