# Libraries from the distribution, and what of them is present.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(OPENBLAS IMPORTED_TARGET openblas)
if(NOT OPENBLAS_FOUND)
    pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET cblas)
endif()
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
if(BUILD_TESTING OR NOT DEFINED BUILD_TESTING)
    pkg_check_modules(CRITERION IMPORTED_TARGET criterion)
endif()
find_program(GNUPLOT_EXECUTABLE gnuplot)

# OpenBLAS needs to be told to keep to the calling thread; another CBLAS is taken as it is.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::OPENBLAS)
check_symbol_exists(openblas_set_num_threads "cblas.h" DP_HAVE_OPENBLAS)
unset(CMAKE_REQUIRED_LIBRARIES)
