# oneDNN, for large products of backend cpu: looked for and stated in DP_ONEDNN_NOTE. Where it is found
# DP_HAVE_ONEDNN is ON, and the module lockstep-onednn.so is built: the only thing that is compiled and
# linked with it. It is loaded when it is needed. Its threads must be those of OpenMP, or none.
# AUTO leaves it out of a build with sanitizers: they do not see into it, and the one of leaks now and
# then ends a process that has loaded it, which has memory of each thread.
set(DP_HAVE_ONEDNN OFF)
if(NOT DP_ONEDNN MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "DP_ONEDNN=${DP_ONEDNN}: must be AUTO, ON or OFF")
endif()
if(DP_ONEDNN STREQUAL OFF)
    set(DP_ONEDNN_NOTE "absent: DP_ONEDNN=OFF")
elseif(DP_ONEDNN STREQUAL AUTO AND DP_SANITIZE)
    set(DP_ONEDNN_NOTE "absent: sanitizers (DP_ONEDNN=ON has it all the same)")
else()
    find_path(DP_ONEDNN_INCLUDE dnnl_version.h)
    find_library(DP_ONEDNN_LIBRARY dnnl)
    mark_as_advanced(DP_ONEDNN_INCLUDE DP_ONEDNN_LIBRARY)
    include(CheckCSourceCompiles)
    if(DP_ONEDNN_INCLUDE AND DP_ONEDNN_LIBRARY)
        set(CMAKE_REQUIRED_INCLUDES ${DP_ONEDNN_INCLUDE})
        set(CMAKE_REQUIRED_LIBRARIES ${DP_ONEDNN_LIBRARY})
        check_c_source_compiles("
            #include <dnnl.h>
            int main(void) {
                dnnl_primitive_attr_t attr;
                return (int)dnnl_primitive_attr_create(&attr) +
                       (int)dnnl_primitive_attr_set_fpmath_mode(attr, dnnl_fpmath_mode_strict);
            }
            #if DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_OMP
            #error other threads
            #endif" DP_ONEDNN_WORKS)
        unset(CMAKE_REQUIRED_INCLUDES)
        unset(CMAKE_REQUIRED_LIBRARIES)
    endif()
    if(DP_ONEDNN_WORKS)
        set(DP_HAVE_ONEDNN ON)
        set(DP_ONEDNN_NOTE "${DP_ONEDNN_LIBRARY}, loaded when it is needed")
    elseif(DP_ONEDNN_LIBRARY)
        set(DP_ONEDNN_NOTE "absent: ${DP_ONEDNN_LIBRARY} is older than 2.6, or its threads are not OpenMP's")
    else()
        set(DP_ONEDNN_NOTE "absent: no libdnnl (libdnnl-dev): no backend cpu-onednn")
    endif()
endif()
if(DP_ONEDNN STREQUAL ON AND NOT DP_HAVE_ONEDNN)
    message(FATAL_ERROR "DP_ONEDNN=ON: oneDNN is ${DP_ONEDNN_NOTE}")
endif()
