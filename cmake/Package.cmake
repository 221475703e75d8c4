# What `cpack` makes: one Debian package with everything that is installed.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Lockstep authors <lockstep@localhost>" CACHE STRING
    "Maintainer of the package")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
"Measures how fast data-parallel training is on a machine and how it scales,
verifies every step it times, and reports it on one page. Tests
implementations of data parallelism against the rules of
torch.nn.DataParallel. Needs no GPU: devices are virtual.
Contains the program, the reference implementation as a library, and its
header.")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# Whatever the prefix of `cmake --install` is, the package's is the system's.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libhwloc-dev, libopenblas-dev, pkg-config")
if(DP_HAVE_CUDA)
    set(cuda "${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR}")
    string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", libcublas-${cuda}")
endif()
if(DP_MPI_KIND STREQUAL "openmpi")
    string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ", openmpi-bin")
elseif(DP_MPI_KIND)
    string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ", ${DP_MPI_KIND}")
endif()
set(debian ${PROJECT_BINARY_DIR}/debian)
file(WRITE ${debian}/triggers "activate-noawait ldconfig\n")
file(WRITE ${debian}/shlibs
    "liblockstep ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} lockstep (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${debian}/triggers ${debian}/shlibs)
# It sets what the package depends on.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/PackageDebian.cmake)
include(CPack)
