# The CUDA part: sets DP_HAVE_CUDA, DP_CUDA_LIBRARIES and DP_CUDA_NOTE (for the summary), and
# enables the language CUDA when it is built. AUTO builds it where the toolkit is, ON fails where it is not.
foreach(feature DP_CUDA DP_NCCL)
    if(NOT ${feature} MATCHES "^(AUTO|ON|OFF)$")
        message(FATAL_ERROR "${feature}=${${feature}}: must be AUTO, ON or OFF")
    endif()
endforeach()

set(DP_HAVE_CUDA OFF)
set(DP_CUDA_LIBRARIES)
if(DP_CUDA STREQUAL OFF)
    set(DP_CUDA_NOTE "absent: DP_CUDA=OFF")
else()
    find_program(DP_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(DP_NVCC)
    set(DP_CUDA_NOTE "absent: no nvcc on PATH, in CUDA_PATH or in /usr/local/cuda")
    # Before the language is enabled, or it has a default of its own.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
    endif()
    if(DP_NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        set(ENV{CUDACXX} ${DP_NVCC})
    endif()
    if(DP_NVCC OR CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX})
        include(CheckLanguage)
        check_language(CUDA)
        set(DP_CUDA_NOTE "absent: nvcc is there and does not work with this compiler")
    endif()
    if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        # The module of CMake 3.25 warns of nvToolsExt from this version on, and fails where CUDA 13
        # has it no more.
        set(minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
        set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
        find_package(CUDAToolkit QUIET)
        set(CMAKE_MINIMUM_REQUIRED_VERSION ${minimum})
        if(TARGET CUDA::cudart_static AND TARGET CUDA::cublas)
            set(DP_HAVE_CUDA ON)
            # CUDA's runtime is inside, as nvcc links it by default: what is built here starts
            # where there is no toolkit. cuBLAS is loaded by core/cuda/blas_load.c when it is needed.
            # By file: the targets are not known in the folders of a project around this one.
            set(DP_CUDA_LIBRARIES ${CUDA_cudart_static_LIBRARY} stdc++ rt ${CMAKE_DL_LIBS})
            list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
            set(DP_CUDA_NOTE "toolkit ${CUDAToolkit_VERSION}, cuBLAS; for ${architectures}")
        else()
            set(DP_CUDA_NOTE "absent: ${CMAKE_CUDA_COMPILER} is there, libcudart_static or libcublas is not")
        endif()
    endif()
endif()
if(DP_CUDA STREQUAL ON AND NOT DP_HAVE_CUDA)
    message(FATAL_ERROR "DP_CUDA=ON: CUDA is ${DP_CUDA_NOTE}")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/Nccl.cmake)
