# Run by cpack on the staged files: what only a Debian package wants otherwise.
# Without these CPack would leave out what the package depends on.
foreach(tool dpkg-shlibdeps file)
    find_program(found_${tool} ${tool})
    if(NOT found_${tool})
        message(FATAL_ERROR "cpack: there is no ${tool} here: apt-get install dpkg-dev file")
    endif()
endforeach()

set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)

file(GLOB pages ${share}/man/man1/*.1)
execute_process(COMMAND gzip -9 -n ${pages} COMMAND_ERROR_IS_FATAL ANY)

file(RENAME ${share}/zsh/site-functions ${share}/zsh/vendor-completions)

# The licence's text is a file of every Debian system.
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian-copyright ${share}/doc/lockstep/copyright COPYONLY)
file(REMOVE ${share}/doc/lockstep/LICENSE)
