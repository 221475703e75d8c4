# Run by cpack on the staged files: what only a Debian package wants otherwise.
# Without it CPack would leave out what the package depends on.
find_program(found_shlibdeps dpkg-shlibdeps)
if(NOT found_shlibdeps)
    message(FATAL_ERROR "cpack: there is no dpkg-shlibdeps here: apt-get install dpkg-dev")
endif()

# The program and the library depend on what they are linked with. What is in the folder of modules is
# loaded where it can be: it only recommends that. CPack itself cannot tell the two apart.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
file(GLOB_RECURSE libraries ${usr}/lib*/*.so)
list(FILTER libraries EXCLUDE REGEX "/lockstep/[^/]+$")
file(GLOB_RECURSE modules ${usr}/lib*/lockstep/lockstep-*)
if(modules)
    list(PREPEND modules -dRecommends)
endif()
set(work ${CPACK_TOPLEVEL_DIRECTORY}/shlibdeps)
file(WRITE ${work}/debian/control "")
execute_process(COMMAND ${found_shlibdeps} -O --ignore-missing-info ${usr}/bin/lockstep ${libraries} ${modules}
    WORKING_DIRECTORY ${work} OUTPUT_VARIABLE needs ERROR_VARIABLE errors RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT needs MATCHES "shlibs:Depends=([^\n]+)")
    message(FATAL_ERROR "cpack: dpkg-shlibdeps failed: ${errors}")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
if(needs MATCHES "shlibs:Recommends=([^\n]+)")
    string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ", ${CMAKE_MATCH_1}")
endif()

set(share ${usr}/share)

file(GLOB pages ${share}/man/man1/*.1)
execute_process(COMMAND gzip -9 -n ${pages} COMMAND_ERROR_IS_FATAL ANY)

file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)

# The licence's text is a file of every Debian system.
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian-copyright ${share}/doc/lockstep/copyright COPYONLY)
file(REMOVE ${share}/doc/lockstep/LICENSE)
