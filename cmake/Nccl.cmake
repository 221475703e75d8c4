# NCCL is looked for, asked for its version, and stated in DP_NCCL_NOTE. Where it is found DP_HAVE_NCCL
# is ON, and the communicator nccl is built with DP_NCCL_INCLUDE; it loads the library when it is needed,
# DP_NCCL_LIBRARY where the system has none. A Python package has nccl.h and libnccl.so.2 without the
# link libnccl.so, so the file is named as it is.
set(NCCL_ROOT "" CACHE PATH "Prefix of NCCL, such as a Python package's nvidia/nccl folder")

# NCCL_ROOT alone is searched when it is set: HINTS would quietly take the system's where it has none.
function(nccl_find root)
    if(root)
        set(where PATHS ${root} NO_DEFAULT_PATH)
    else()
        set(where HINTS ${CUDAToolkit_LIBRARY_DIR}/.. ${CUDAToolkit_INCLUDE_DIRS}/..)
    endif()
    find_path(include nccl.h ${where} PATH_SUFFIXES include NO_CACHE)
    find_library(library NAMES nccl libnccl.so.2 NAMES_PER_DIR ${where} PATH_SUFFIXES lib lib64 NO_CACHE)
    if(include AND library)
        set(DP_NCCL_INCLUDE ${include} PARENT_SCOPE)
        set(DP_NCCL_LIBRARY ${library} PARENT_SCOPE)
    endif()
endfunction()

# The version that the library itself says, and which the header has: they differ where one is left
# over from another installation. Sets `says`, "header library", or to nothing and `why`.
function(nccl_ask include library)
    set(source
"#include <nccl.h>
#include <stdio.h>
int main(void)
{
    int version = 0;
    const int failed = ncclGetVersion(&version) != ncclSuccess;
    printf(\"%d %d\", NCCL_VERSION_CODE, version);
    return failed;
}
")
    try_run(ran compiled SOURCE_FROM_VAR nccl_version.c source NO_CACHE
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${include};${CUDAToolkit_INCLUDE_DIRS}"
        LINK_LIBRARIES ${library}
        COMPILE_OUTPUT_VARIABLE log RUN_OUTPUT_VARIABLE said)
    set(says "" PARENT_SCOPE)
    if(NOT compiled)
        file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/nccl_version.log "${log}")
        set(why "a program does not link with it: see CMakeFiles/nccl_version.log" PARENT_SCOPE)
    elseif(NOT ran EQUAL 0 OR NOT said MATCHES "^[0-9]+ [0-9]+$")
        set(why "a program linked with it does not start or it has no version" PARENT_SCOPE)
    else()
        set(says ${said} PARENT_SCOPE)
    endif()
endfunction()

# 22809 is 2.28.9; before 2.9 it was 2804 for 2.8.4.
function(nccl_version code text)
    if(code LESS 10000)
        math(EXPR major "${code} / 1000")
        math(EXPR minor "${code} % 1000 / 100")
    else()
        math(EXPR major "${code} / 10000")
        math(EXPR minor "${code} % 10000 / 100")
    endif()
    math(EXPR patch "${code} % 100")
    set(${text} "${major}.${minor}.${patch}" PARENT_SCOPE)
endfunction()

macro(nccl_found)
    set(DP_HAVE_NCCL ON PARENT_SCOPE)
    set(DP_NCCL_INCLUDE ${DP_NCCL_INCLUDE} PARENT_SCOPE)
    set(DP_NCCL_LIBRARY ${DP_NCCL_LIBRARY} PARENT_SCOPE)
endmacro()

function(nccl_note root)
    nccl_find("${root}")
    if(NOT DP_NCCL_LIBRARY)
        if(root)
            set(DP_NCCL_NOTE "absent: no nccl.h and libnccl below ${root}" PARENT_SCOPE)
        else()
            set(DP_NCCL_NOTE "absent (NCCL_ROOT says where to look)" PARENT_SCOPE)
        endif()
        return()
    endif()
    if(CMAKE_CROSSCOMPILING)
        set(DP_NCCL_NOTE "${DP_NCCL_LIBRARY}; version not asked when cross-compiling" PARENT_SCOPE)
        nccl_found()
        return()
    endif()
    nccl_ask(${DP_NCCL_INCLUDE} ${DP_NCCL_LIBRARY})
    if(NOT says)
        set(DP_NCCL_NOTE "absent: ${DP_NCCL_LIBRARY} is there, but ${why}" PARENT_SCOPE)
        return()
    endif()
    string(REPLACE " " ";" says "${says}")
    list(GET says 0 header)
    list(GET says 1 library)
    nccl_version(${header} header)
    nccl_version(${library} library)
    if(NOT header STREQUAL library)
        set(DP_NCCL_NOTE
            "absent: nccl.h is of ${header}, and ${DP_NCCL_LIBRARY} says ${library}" PARENT_SCOPE)
        return()
    endif()
    if(library VERSION_LESS 2.14)
        set(DP_NCCL_NOTE "absent: ${DP_NCCL_LIBRARY} is ${library}, 2.14 is needed" PARENT_SCOPE)
        return()
    endif()
    set(DP_NCCL_NOTE "${library} in ${DP_NCCL_LIBRARY}, loaded when it is needed" PARENT_SCOPE)
    nccl_found()
endfunction()

set(DP_HAVE_NCCL OFF)
if(DP_NCCL STREQUAL OFF OR NOT DP_HAVE_CUDA)
    set(DP_NCCL_NOTE "not looked for (DP_NCCL=${DP_NCCL}, DP_CUDA=${DP_CUDA})")
else()
    set(nccl_root "")
    if(NCCL_ROOT)
        cmake_path(ABSOLUTE_PATH NCCL_ROOT BASE_DIRECTORY ${CMAKE_BINARY_DIR} NORMALIZE
            OUTPUT_VARIABLE nccl_root)
    endif()
    nccl_note("${nccl_root}")
endif()
if(DP_NCCL STREQUAL ON AND NOT DP_HAVE_NCCL)
    message(FATAL_ERROR "DP_NCCL=ON: NCCL is ${DP_NCCL_NOTE}")
endif()
