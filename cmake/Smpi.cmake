# SimGrid's SMPI, for `lockstep forecast --simulate`: looked for and stated in DP_SMPI_NOTE. Where it is
# found DP_HAVE_SMPI is ON, and lockstep-smpi is built by its own compiler, smpicc. No other program is
# linked with it; smpirun starts it, and is looked for when it is needed.
set(DP_HAVE_SMPI OFF)
if(NOT DP_SMPI MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "DP_SMPI=${DP_SMPI}: must be AUTO, ON or OFF")
endif()
if(DP_SMPI STREQUAL OFF)
    set(DP_SMPI_NOTE "absent: DP_SMPI=OFF")
else()
    find_program(DP_SMPICC smpicc)
    mark_as_advanced(DP_SMPICC)
    if(DP_SMPICC)
        execute_process(COMMAND ${DP_SMPICC} -version OUTPUT_VARIABLE DP_SMPI_VERSION ERROR_QUIET
            OUTPUT_STRIP_TRAILING_WHITESPACE)
        set(DP_HAVE_SMPI ON)
        set(DP_SMPI_NOTE "${DP_SMPI_VERSION}, by ${DP_SMPICC}")
    else()
        set(DP_SMPI_NOTE "absent: no smpicc (libsimgrid-dev): no forecast --simulate")
    endif()
endif()
if(DP_SMPI STREQUAL ON AND NOT DP_HAVE_SMPI)
    message(FATAL_ERROR "DP_SMPI=ON: SMPI is ${DP_SMPI_NOTE}")
endif()
