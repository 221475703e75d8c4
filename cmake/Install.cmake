# What `cmake --install` puts where: the program, the library with all that finds it, the interface
# for adapters, and the pages. Nothing installed names a folder of the build, so a prefix can be
# moved. The component `program` is the program with what it reads while it runs: a wheel has only that.
if(DP_SANITIZE)
    install(CODE "message(FATAL_ERROR \"This build has sanitizers (DP_SANITIZE): not for installing\")")
    return()
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS lockstep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
if(DP_HAVE_MPI)
    install(TARGETS lockstep-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lockstep COMPONENT program)
endif()
if(DP_HAVE_ONEDNN)
    install(TARGETS lockstep-onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lockstep COMPONENT program)
endif()
if(DP_HAVE_SMPI)
    install(PROGRAMS ${DP_SMPI_PROGRAM} DESTINATION ${CMAKE_INSTALL_LIBDIR}/lockstep COMPONENT program)
endif()
install(TARGETS dp_core ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS dp_shared EXPORT LockstepTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/core/dp.h ${PROJECT_SOURCE_DIR}/core/ddp.h
        ${PROJECT_SOURCE_DIR}/core/dp_layers.h ${PROJECT_SOURCE_DIR}/core/dp_optim.h
        ${PROJECT_SOURCE_DIR}/core/dp_observe.h ${PROJECT_SOURCE_DIR}/core/dp_mpi.h
        ${PROJECT_SOURCE_DIR}/suites/impl.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lockstep)

# find_package(Lockstep 0.1), target Lockstep::dp. The shared object brings its own dependencies.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Lockstep)
install(EXPORT LockstepTargets NAMESPACE Lockstep:: DESTINATION ${package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/LockstepConfig.cmake.in
    ${PROJECT_BINARY_DIR}/LockstepConfig.cmake INSTALL_DESTINATION ${package}
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LockstepConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/LockstepConfig.cmake ${PROJECT_BINARY_DIR}/LockstepConfigVersion.cmake
    DESTINATION ${package})

# pkg-config: the prefix is found from where the file lies.
file(RELATIVE_PATH pc_up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH pc_lib ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_include ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
# By name: modules would be asked for with --cflags, too, which needs none of them, and that of hwloc
# names what only a static hwloc needs.
list(TRANSFORM HWLOC_LIBRARIES PREPEND -l OUTPUT_VARIABLE libraries)
list(TRANSFORM OPENBLAS_LIBRARIES PREPEND -l OUTPUT_VARIABLE blas)
list(JOIN libraries " " libraries)
list(JOIN blas " " blas)
set(DP_PC_PRIVATE "${libraries} ${blas}")
set(DP_PC_CUDA "")
if(DP_HAVE_CUDA)
    set(DP_PC_CUDA " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lstdc++ -lrt -ldl")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/lockstep.pc.in ${PROJECT_BINARY_DIR}/lockstep.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lockstep.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Man pages and completions, from the program's own option tables.
set(manual ${PROJECT_BINARY_DIR}/manual)
file(GLOB manual_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/manual/*)
add_custom_command(OUTPUT ${manual}/tables.tsv
    COMMAND ${PROJECT_SOURCE_DIR}/docs/manual/make $<TARGET_FILE:lockstep> ${manual}
    DEPENDS lockstep ${manual_sources}
    COMMENT "Making the man pages and completions"
    VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual}/tables.tsv)
install(DIRECTORY ${manual}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${manual}/bash/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY ${manual}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# The documents link to each other, so they lie as in the source tree.
foreach(page
        README.md LICENSE docs/accept.md docs/check.md docs/ci.md docs/collectives.md docs/compare.md docs/extend.md
        docs/fleet.md docs/forecast.md docs/glossary.md docs/gpus.md docs/library.md docs/my-layer.md docs/processes.md docs/pytest.md
        docs/report.md docs/scaling.md docs/soak.md docs/sweep.md docs/train.md docs/trust.md docs/validate.md
        docs/why/fleet.md docs/why/tf32.md results/README.md results/prove.md results/training.md
        results/weights.md results/avx512/README.md suites/ADAPTERS.md suites/LAYERS.md suites/RULES.md suites/impls/exec/PROTOCOL.md
        results/reference/README.md results/reference/scaling.png)
    get_filename_component(folder ${page} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/profiles/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/profiles COMPONENT program FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/platforms/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/platforms COMPONENT program FILES_MATCHING PATTERN "*.xml")
# The Python package: PYTHONPATH is the folder above it.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/suites/python/lockstep
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/python FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
# Copied from and run: the scripts stay executable.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/accept ${PROJECT_SOURCE_DIR}/docs/clusters DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs USE_SOURCE_PERMISSIONS)
# The digits are in the program; this is for those who want to see them, and for their licence.
install(FILES
    ${PROJECT_SOURCE_DIR}/suites/workloads/data/digits.csv
    ${PROJECT_SOURCE_DIR}/suites/workloads/data/README.md
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/data COMPONENT program)
install(FILES
    ${PROJECT_SOURCE_DIR}/suites/test/install/example.c
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES ${PROJECT_SOURCE_DIR}/suites/impls/example/example.c
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples RENAME adapter.c)

include(${CMAKE_CURRENT_LIST_DIR}/Package.cmake)
