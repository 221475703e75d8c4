# What an adapter's author needs: the program, the interface, and its pages.
include(GNUInstallDirs)
install(TARGETS lockstep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${PROJECT_SOURCE_DIR}/suites/impl.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/lockstep)
install(FILES
    ${PROJECT_SOURCE_DIR}/suites/LAYERS.md
    ${PROJECT_SOURCE_DIR}/suites/RULES.md
    ${PROJECT_SOURCE_DIR}/suites/ADAPTERS.md
    ${PROJECT_SOURCE_DIR}/suites/impls/exec/PROTOCOL.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
