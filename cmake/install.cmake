# SPDX-License-Identifier: Apache-2.0
# `cmake --install`, and Debian packages by CPack. The programs find boards and firmware in ../share/trnvp, without variables of the environment.
include(GNUInstallDirs)
set(trn_share ${CMAKE_INSTALL_DATADIR}/trnvp)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME trnvp)

# The command and the programs that it starts find each other in their folder.
install(TARGETS trnvp trnvp-test trnvp-report trnvp-guest trnctl trn-asm trn-guest)
install(DIRECTORY platform/boards DESTINATION ${trn_share} FILES_MATCHING PATTERN *.yaml)
install(DIRECTORY scenarios DESTINATION ${trn_share} PATTERN __pycache__ EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.svg)

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
install(FILES sw-stubs/transports/vfio_user/vfio_user.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trnvp/vfio_user COMPONENT libtrnvp-dev)
file(RELATIVE_PATH trn_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/trnvp-driver.pc.in ${CMAKE_BINARY_DIR}/trnvp-driver.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/trnvp-driver.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libtrnvp-dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "trnvp maintainers <maintainers@trnvp.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "virtual platform of AWS Trainium servers and racks")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)  # stall reports of our own errors name functions
set(CPACK_COMPONENTS_ALL trnvp trnvp-firmware libtrnvp-dev python3-trnvp)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_TRNVP_PACKAGE_NAME trnvp)
set(CPACK_DEBIAN_TRNVP_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TRNVP_PACKAGE_DEPENDS "trnvp-firmware (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TRNVP_PACKAGE_RECOMMENDS python3-trnvp)
set(CPACK_DEBIAN_TRNVP-FIRMWARE_PACKAGE_NAME trnvp-firmware)
set(CPACK_DEBIAN_TRNVP-FIRMWARE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_LIBTRNVP-DEV_PACKAGE_NAME libtrnvp-dev)
set(CPACK_DEBIAN_LIBTRNVP-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PYTHON3-TRNVP_PACKAGE_NAME python3-trnvp)
set(CPACK_DEBIAN_PYTHON3-TRNVP_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-TRNVP_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-TRNVP_PACKAGE_DEPENDS "python3 (>= 3.11), python3-numpy, trnvp (= ${PROJECT_VERSION})")
include(CPack)
