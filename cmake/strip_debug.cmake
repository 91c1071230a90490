# SPDX-License-Identifier: Apache-2.0
# Of CPack, before it packs: programs and libraries keep the names of their functions, for reports of crashes, without line numbers, which are three
# quarters of their size.
file(GLOB programs ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/bin/* ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/lib/*.a
    ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/lib/*.so.*)
foreach(program ${programs})
    if(NOT IS_SYMLINK ${program})
        execute_process(COMMAND strip --strip-debug ${program} COMMAND_ERROR_IS_FATAL ANY)
    endif()
endforeach()
