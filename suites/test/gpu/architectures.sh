#!/bin/sh
# Every file with kernels in the library has code for every architecture of the build.
# usage: architectures.sh CUOBJDUMP LIBRARY ARCHITECTURE..., as in CMAKE_CUDA_ARCHITECTURES
set -eu
cuobjdump=$1 library=$2
shift 2
case $cuobjdump in
*NOTFOUND)
    echo "skipped: no cuobjdump, which says what code a library has: it is not beside nvcc or on PATH"
    exit 77
    ;;
esac

files=$(ar t "$library" | grep -c '\.cu\.o$') || files=0
bad=0

# look WHAT OPTION PATTERN
look() {
    found=$("$cuobjdump" "$2" "$library" | grep -c "$3\$") || found=0
    echo "$1: in $found of $files files"
    [ "$found" -eq "$files" ] || bad=1
}

for architecture; do
    number=${architecture%-*}
    case $architecture in
    *-real) look "code for $number" --list-elf "\.sm_$number\.cubin" ;;
    *-virtual) look "text for $number and newer" --list-ptx "\.sm_$number\.ptx" ;;
    *)
        look "code for $number" --list-elf "\.sm_$number\.cubin"
        look "text for $number and newer" --list-ptx "\.sm_$number\.ptx"
        ;;
    esac
done
[ "$files" -gt 0 ] && [ $# -gt 0 ] || bad=1
exit $bad
