# SPDX-License-Identifier: Apache-2.0
# `cmake --install`. The programs find boards and firmware in ../share/trnvp, without variables of the environment.
include(GNUInstallDirs)
set(trn_share ${CMAKE_INSTALL_DATADIR}/trnvp)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME trnvp)

# The command and the programs that it starts find each other in their folder.
install(TARGETS trnvp trnvp-test trnvp-report trnvp-guest trnctl trn-asm trn-ls trn-top trn-monitor trn-guest)
install(DIRECTORY platform/boards DESTINATION ${trn_share} FILES_MATCHING PATTERN *.yaml)
install(DIRECTORY scenarios DESTINATION ${trn_share} PATTERN __pycache__ EXCLUDE)
install(DIRECTORY sw-stubs/monitoring DESTINATION ${trn_share} FILES_MATCHING PATTERN *.yaml PATTERN *.json)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY doc/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT libtrnvp-platform-dev)
install(DIRECTORY doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.svg)

# Manual pages and completions, which programs write from their option tables: those of trn-nki where its Python is complete.
set(trn_manuals ${CMAKE_BINARY_DIR}/manuals)
file(MAKE_DIRECTORY ${trn_manuals}/trnvp ${trn_manuals}/python3-trnvp)
set(programs trnvp trnvp-test trnvp-report trnvp-guest trnctl trn-asm trn-ls trn-top trn-monitor)
set(commands)
foreach(program ${programs})
    list(APPEND commands COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0
        $<TARGET_FILE:${program}> --write-manuals ${trn_manuals}/trnvp)
endforeach()
# Compressed for the installation.
set(compress COMMAND ${CMAKE_COMMAND} -E rm -rf man1.gz COMMAND ${CMAKE_COMMAND} -E copy_directory man1 man1.gz COMMAND gzip -9nr man1.gz)
add_custom_command(OUTPUT ${trn_manuals}/trnvp.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf man1 bash zsh fish ${commands} ${compress} COMMAND ${CMAKE_COMMAND} -E touch ${trn_manuals}/trnvp.stamp
    WORKING_DIRECTORY ${trn_manuals}/trnvp DEPENDS ${programs} COMMENT "Manual pages" VERBATIM)
set(stamps ${trn_manuals}/trnvp.stamp)
set(manuals trnvp)
execute_process(COMMAND /usr/bin/python3 -c "import numpy" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
if(missing EQUAL 0)
    file(GLOB sources CONFIGURE_DEPENDS sw-stubs/python/trn_nki/*.py sw-stubs/python/trn_nki/profile/command.py)
    add_custom_command(OUTPUT ${trn_manuals}/python3-trnvp.stamp
        COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
            /usr/bin/python3 ${CMAKE_SOURCE_DIR}/sw-stubs/python/trn-nki --write-manuals ${trn_manuals}/python3-trnvp ${PROJECT_VERSION}
        ${compress}
        COMMAND ${CMAKE_COMMAND} -E touch ${trn_manuals}/python3-trnvp.stamp
        WORKING_DIRECTORY ${trn_manuals}/python3-trnvp DEPENDS ${sources} COMMENT "Manual pages of trn-nki" VERBATIM)
    list(APPEND stamps ${trn_manuals}/python3-trnvp.stamp)
    set(program trn-nki)
    foreach(script bash/trn-nki zsh/_trn-nki fish/trn-nki.fish)
        get_filename_component(shell ${script} DIRECTORY)
        configure_file(platform/framework/command_line/completion/${shell}.in ${trn_manuals}/python3-trnvp/${script} @ONLY)
    endforeach()
    list(APPEND manuals python3-trnvp)
endif()
add_custom_target(manuals ALL DEPENDS ${stamps})
foreach(component ${manuals})
    set(from ${trn_manuals}/${component})
    install(DIRECTORY ${from}/man1.gz/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
    install(DIRECTORY ${from}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
    install(DIRECTORY ${from}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT ${component})
    install(DIRECTORY ${from}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT ${component})
endforeach()

# Images that a board may name, with symbols for debuggers.
install(DIRECTORY ${CMAKE_BINARY_DIR}/firmware/ DESTINATION ${trn_share}/firmware COMPONENT trnvp-firmware
    FILES_MATCHING PATTERN *.bin PATTERN *.img PATTERN *.elf PATTERN objects EXCLUDE PATTERN CMakeFiles EXCLUDE)

# Python: the packages trnvp, trnvp_control and nki, and the command trn-nki.
install(DIRECTORY sw-stubs/python DESTINATION ${trn_share} COMPONENT python3-trnvp USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
# pytest finds its plug-in by the entry points; the .pth file adds the folder to Python's path, of the distribution's Python in /usr.
set(trn_dist_info ${CMAKE_BINARY_DIR}/trnvp-${PROJECT_VERSION}.dist-info)
file(CONFIGURE OUTPUT ${trn_dist_info}/METADATA CONTENT "Metadata-Version: 2.1\nName: trnvp\nVersion: @PROJECT_VERSION@\n" @ONLY)
file(CONFIGURE OUTPUT ${trn_dist_info}/entry_points.txt CONTENT "[pytest11]\ntrnvp.pytest_plugin = trnvp.pytest_plugin\n" @ONLY)
install(DIRECTORY ${trn_dist_info} DESTINATION ${trn_share}/python COMPONENT python3-trnvp)
file(RELATIVE_PATH trn_python_path ${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages ${CMAKE_INSTALL_FULL_DATADIR}/trnvp/python)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/trnvp.pth CONTENT "@trn_python_path@\n" @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/trnvp.pth DESTINATION lib/python3/dist-packages COMPONENT python3-trnvp)
file(RELATIVE_PATH trn_nki_path ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/trnvp/python/trn-nki)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/links)
file(CREATE_LINK ${trn_nki_path} ${CMAKE_BINARY_DIR}/links/trn-nki SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/links/trn-nki DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT python3-trnvp)

# The driver stub: C11, static, with nothing else.
install(TARGETS trn_driver trn_vfio_user_client ARCHIVE COMPONENT libtrnvp-dev)
install(DIRECTORY sw-stubs/driver/include/ sw-stubs/collectives/include/ sw-stubs/programs/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trnvp COMPONENT libtrnvp-dev)
install(FILES sw-stubs/transports/vfio_user/vfio_user.h sw-stubs/transports/vfio_user/trn_driver_abi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trnvp/vfio_user COMPONENT libtrnvp-dev)
file(RELATIVE_PATH trn_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/trnvp-driver.pc.in ${CMAKE_BINARY_DIR}/trnvp-driver.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/trnvp-driver.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libtrnvp-dev)

# A machine in a process of others: the library is in the package of the boards that it reads.
install(TARGETS trnvp_machine LIBRARY NAMELINK_COMPONENT libtrnvp-dev)
install(TARGETS trn_library_transport ARCHIVE COMPONENT libtrnvp-dev)
install(FILES sw-stubs/library/include/trnvp.h sw-stubs/transports/library/library_transport.h sw-stubs/transports/vfio_user/trn_driver_abi.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trnvp COMPONENT libtrnvp-dev)
configure_file(${CMAKE_CURRENT_LIST_DIR}/trnvp.pc.in ${CMAKE_BINARY_DIR}/trnvp.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/trnvp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libtrnvp-dev)

# The framework and the models: one library of all that platform/embedding links, with headers.
function(trn_archives variable target)
    get_target_property(type ${target} TYPE)
    set(found ${${variable}})
    if(type STREQUAL STATIC_LIBRARY)
        list(APPEND found ${target})
        get_target_property(linked ${target} LINK_LIBRARIES)
    else()
        get_target_property(linked ${target} INTERFACE_LINK_LIBRARIES)
    endif()
    foreach(library ${linked})
        if(TARGET ${library} AND library MATCHES "^trn_" AND NOT library IN_LIST found)
            trn_archives(found ${library})
        endif()
    endforeach()
    set(${variable} ${found} PARENT_SCOPE)
endfunction()
set(archives)
trn_archives(archives trn_embedding)
set(merge "create libtrnvp.a\n")
foreach(archive ${archives})
    string(APPEND merge "addlib $<TARGET_FILE:${archive}>\n")
endforeach()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/libtrnvp.mri CONTENT "${merge}save\nend\n")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/libtrnvp.a
    COMMAND ${CMAKE_COMMAND} -E rm -f libtrnvp.a
    COMMAND sh -c "${CMAKE_AR} -M < libtrnvp.mri" COMMAND ${CMAKE_STRIP} --strip-debug libtrnvp.a
    DEPENDS ${archives} ${CMAKE_BINARY_DIR}/libtrnvp.mri WORKING_DIRECTORY ${CMAKE_BINARY_DIR} COMMENT "Library of all models" VERBATIM)
add_custom_target(trnvp_library ALL DEPENDS ${CMAKE_BINARY_DIR}/libtrnvp.a)
install(TARGETS trn-generate-registers COMPONENT libtrnvp-platform-dev)
install(FILES ${CMAKE_BINARY_DIR}/generated/trnvp_abi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trnvp COMPONENT libtrnvp-platform-dev)
install(FILES ${CMAKE_BINARY_DIR}/libtrnvp.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libtrnvp-platform-dev)
foreach(folder platform/embedding platform/framework models)
    foreach(root ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
        install(DIRECTORY ${root}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trnvp/${folder} COMPONENT libtrnvp-platform-dev
            FILES_MATCHING PATTERN *.h)
    endforeach()
endforeach()

# find_package(trnvp)
include(CMakePackageConfigHelpers)
set(trn_platform_definitions "SC_CPLUSPLUS=201703L;SC_INCLUDE_DYNAMIC_PROCESSES")
foreach(library trn_boost)
    get_target_property(definitions ${library} INTERFACE_COMPILE_DEFINITIONS)
    list(APPEND trn_platform_definitions ${definitions})
endforeach()
set(trn_fst_libraries)
if(TARGET trn_fstapi)
    set(trn_fst_libraries ";z")
endif()
set(trn_include ${CMAKE_INSTALL_INCLUDEDIR}/trnvp)
set(trn_lib ${CMAKE_INSTALL_LIBDIR})
set(trn_share_path ${trn_share})
set(trn_programs ${CMAKE_INSTALL_BINDIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/trnvp-config.cmake.in ${CMAKE_BINARY_DIR}/trnvp-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trnvp PATH_VARS trn_include trn_lib trn_share_path trn_programs)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/trnvp-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/rtl.cmake ${CMAKE_CURRENT_LIST_DIR}/rtl_ports.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trnvp COMPONENT libtrnvp-platform-dev)
install(FILES ${CMAKE_BINARY_DIR}/trnvp-config.cmake ${CMAKE_BINARY_DIR}/trnvp-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/trnvp COMPONENT libtrnvp-dev)
foreach(header sw-stubs/transports/vfio_user/trn_driver_abi.h)
    file(READ ${CMAKE_SOURCE_DIR}/${header} text)
    string(REGEX MATCH "_VERSION \"([0-9.]+)\"" found "${text}")
    string(FIND "${PROJECT_VERSION}" "${CMAKE_MATCH_1}" place)
    string(REPLACE "." "_" suffix "${CMAKE_MATCH_1}")
    if(NOT place EQUAL 0 OR NOT text MATCHES "_ABI [a-z_]+_abi_${suffix}\n")
        message(FATAL_ERROR "${header} is of version ${CMAKE_MATCH_1}, the project ${PROJECT_VERSION}")
    endif()
endforeach()

# Builds what is installed.
add_custom_target(installed)
add_dependencies(installed trnvp_family trnctl trn-asm trn-ls trn-top trn-monitor trn-guest trn-generate-registers trn_driver trn_vfio_user_client trnvp_library trnvp_machine
    trnvp_abi manuals firmware)
