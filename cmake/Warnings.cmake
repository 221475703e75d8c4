# dp_flags: the language, warnings and sanitizers that every target uses.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

set(dp_werror "")
set(dp_werror_cuda "")
if(DP_WERROR)
    set(dp_werror -Werror)
    set(dp_werror_cuda -Werror=all-warnings -Xcompiler=-Werror)
endif()

add_library(dp_flags INTERFACE)
target_compile_definitions(dp_flags INTERFACE _POSIX_C_SOURCE=200809L)
# -ffp-contract=off: a*b+c is rounded twice everywhere, so results are the same on every machine.
target_compile_options(dp_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wconversion -Wmissing-prototypes
    -Wstrict-prototypes ${dp_werror} -ffp-contract=off)
target_link_libraries(dp_flags INTERFACE Threads::Threads)
# All that users run works with a stack of 256 KiB, which is a thread's too where `ulimit -s` says so. A
# property of folders: suites/test drops it. Frames of a build without optimization, or with sanitizers, are larger.
if(NOT DP_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    add_compile_options($<$<COMPILE_LANGUAGE:C>:-Wframe-larger-than=16384>)
endif()
if(DP_SANITIZE)
    target_compile_options(dp_flags INTERFACE
        -fsanitize=${DP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    # What reads or writes through such a pointer the sanitizer of addresses ends as well; to check it
    # twice takes 7 % of compiling and 5 % of running.
    if(DP_SANITIZE MATCHES "address.*undefined|undefined.*address")
        target_compile_options(dp_flags INTERFACE -fno-sanitize=null,object-size)
    endif()
    # Where a program lies at a fixed address, its 200,000 pointers to what a sanitizer knows are there
    # when it starts.
    target_link_options(dp_flags INTERFACE -fsanitize=${DP_SANITIZE}
        $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

# Tests take longer to compile than to run: for add_compile_options in their folders. What users run,
# too, is optimized for them.
set(dp_optimize_tests $<$<CONFIG:Release>:-O1>)
set(dp_optimize_cases "")
if(DP_SANITIZE)
    set(dp_optimize_tests -O0)
    set(dp_optimize_cases -O0)
endif()
