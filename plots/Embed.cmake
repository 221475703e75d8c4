# Puts text files into a program as C arrays, so that it needs no data files at run time.
#
# Included: embed_text(TARGET name=file ...) adds them to TARGET as `const unsigned char name[]`.
# As a script (cmake -P): writes the one C file OUT from the list FILES of name=file.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    set(text "/* Made by plots/Embed.cmake; do not edit. */\n")
    string(REPLACE "," ";" pairs "${FILES}")
    foreach(pair IN LISTS pairs)
        string(REGEX MATCH "^([a-z_]+)=(.+)$" matched "${pair}")
        set(name "${CMAKE_MATCH_1}")
        file(READ "${CMAKE_MATCH_2}" hex HEX)
        string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
        string(APPEND text "extern const unsigned char ${name}[];\n"
                           "const unsigned char ${name}[] = {\n${hex}0};\n")
    endforeach()
    file(WRITE "${OUT}" "${text}")
    return()
endif()

set(EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(embed_text target)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_text.c)
    set(inputs "")
    foreach(pair IN LISTS ARGN)
        string(REGEX REPLACE "^[a-z_]+=" "" file "${pair}")
        list(APPEND inputs "${file}")
    endforeach()
    list(JOIN ARGN "," files)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} "-DOUT=${out}" "-DFILES=${files}" -P ${EMBED_SCRIPT}
        DEPENDS ${inputs} ${EMBED_SCRIPT}
        VERBATIM)
    target_sources(${target} PRIVATE ${out})
endfunction()

# What `lockstep report` needs. A script is a figure's, unless it is one that they share.
function(embed_report target)
    get_filename_component(plots ${EMBED_SCRIPT} DIRECTORY)
    set(pairs report_asset_css=${plots}/report.css report_asset_reading=${plots}/reading.html)
    file(GLOB scripts CONFIGURE_DEPENDS ${plots}/*.gp)
    foreach(script IN LISTS scripts)
        get_filename_component(name ${script} NAME_WE)
        if(name MATCHES "^(draw|grid|panel|ends)$")
            list(APPEND pairs plot_asset_${name}=${script})
        elseif(name STREQUAL "train")
            list(APPEND pairs train_asset_figure=${script})
        else()
            list(APPEND pairs figure_asset_${name}=${script})
        endif()
    endforeach()
    embed_text(${target} ${pairs})
endfunction()
