# cmake -P: fills build_info.h.in. The commit is git's word in a checkout, and that of `git archive`
# (cmake/commit, by .gitattributes) in what was unpacked from it. Never that of a repository around this
# folder. Where neither has one it is "unknown", and why.
set(BUILD_GIT "")
set(BUILD_GIT_NOTE "")
if(EXISTS ${SOURCE}/.git)
    execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=40 --exclude=*
        RESULT_VARIABLE status OUTPUT_VARIABLE BUILD_GIT ERROR_VARIABLE why
        OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status MATCHES "^[0-9]+$")
        set(why "git cannot be run: ${status}")
    endif()
else()
    file(STRINGS ${SOURCE}/cmake/commit BUILD_GIT LIMIT_COUNT 1)
    set(why "neither a git checkout nor what git archive made of one")
    if(BUILD_GIT)
        set(BUILD_GIT_NOTE " (of the archive)")
    endif()
endif()
if(NOT BUILD_GIT MATCHES "^[0-9a-f]+(-dirty)?$")
    string(REGEX REPLACE "[\n\r].*" "" why "${why}")
    string(SUBSTRING "${why}" 0 120 why)
    set(BUILD_GIT "unknown")
    set(BUILD_GIT_NOTE " (${why})")
endif()

# What the program is made of, file by file, wherever the folder is.
set(list "")
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${SOURCE} ${SOURCE}/core/* ${SOURCE}/harness/*
    ${SOURCE}/plots/* ${SOURCE}/suites/workloads/* ${SOURCE}/suites/cases/* ${SOURCE}/suites/impls/*)
list(SORT files)
foreach(file ${files})
    if(file MATCHES "[.](c|h|cu|cuh|gp|in|txt|cmake)$")
        file(SHA256 ${SOURCE}/${file} digest)
        string(APPEND list "${digest}  ${file}\n")
    endif()
endforeach()
string(SHA256 BUILD_SOURCE "${list}")

foreach(text BUILD_GIT_NOTE BUILD_CFLAGS BUILD_COMPILER BUILD_TYPE BUILD_SANITIZERS BUILD_NOTE BUILD_NCCL)
    string(REPLACE "\\" "\\\\" ${text} "${${text}}")
    string(REPLACE "\"" "\\\"" ${text} "${${text}}")
endforeach()
configure_file(${IN} ${OUT} @ONLY)
