# SPDX-License-Identifier: Apache-2.0
# Debian packages of the components that cmake/install.cmake installs (`./dev package`).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "trnvp maintainers <maintainers@trnvp.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "virtual platform of AWS Trainium servers and racks")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/strip_debug.cmake)
set(CPACK_COMPONENTS_ALL trnvp trnvp-firmware libtrnvp-dev libtrnvp-platform-dev python3-trnvp)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# trn_package(name TEXT text DEPENDS packages [RECOMMENDS packages] [SECTION section] [ALL]): ALL: for every architecture; other packages
# depend on the libraries that their programs load.
macro(trn_package name)
    cmake_parse_arguments(arg "ALL" "TEXT;SECTION" "DEPENDS;RECOMMENDS" ${ARGN})
    string(TOUPPER ${name} upper)
    list(JOIN arg_DEPENDS ", " depends)
    list(JOIN arg_RECOMMENDS ", " recommends)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
    set(CPACK_COMPONENT_${upper}_DESCRIPTION "${arg_TEXT}")
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
    set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${recommends}")
    if(arg_SECTION)
        set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${arg_SECTION})
    endif()
    if(arg_ALL)
        set(CPACK_DEBIAN_${upper}_PACKAGE_ARCHITECTURE all)
    else()
        set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON)
    endif()
    install(FILES ${trn_debian}/copyright ${trn_debian}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${name})
endmacro()

# What Debian's policy asks of each package.
set(trn_debian ${CMAKE_BINARY_DIR}/debian)
file(WRITE ${trn_debian}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: trnvp
Comment: Firmware images contain parts of picolibc, and trn-guest parts of the GNU C library: their licenses are in the packages
 picolibc-riscv64-unknown-elf and libc6-dev. Programs contain fstapi, fastlz and lz4, whose licenses are in copyright.fstapi beside
 this file.

Files: *
Copyright: 2026 the authors of trnvp
License: Apache-2.0
 On Debian systems the license is in /usr/share/common-licenses/Apache-2.0.
")
file(WRITE ${trn_debian}/changelog "trnvp (${PROJECT_VERSION}) stable; urgency=medium

  * Changes of each version: /usr/share/doc/trnvp/CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  Thu, 01 Jan 2026 00:00:00 +0000
")
execute_process(COMMAND gzip -9nf ${trn_debian}/changelog COMMAND_ERROR_IS_FATAL ANY)

set(same "(= ${PROJECT_VERSION})")
trn_package(trnvp TEXT "The programs trnvp, trnctl, trn-asm, trn-ls, trn-top and trn-monitor, with boards and scenarios."
    DEPENDS "trnvp-firmware ${same}" RECOMMENDS python3-trnvp)
trn_package(trnvp-firmware ALL TEXT "Firmware of the virtual chips, with symbols for debuggers.")
trn_package(libtrnvp-dev SECTION libdevel RECOMMENDS "trnvp ${same}"
    TEXT "Headers and static libraries of the driver stub, for host programs in C11, and the header of libtrnvp.so.")
trn_package(libtrnvp-platform-dev SECTION libdevel TEXT "Headers and a static library of framework and models, in C++20."
    DEPENDS "libtrnvp-dev ${same}" pkg-config libsystemc-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libelf-dev libdw-dev libfdt-dev
        libboost-dev zlib1g-dev
    RECOMMENDS "trnvp ${same}" cmake g++)
trn_package(python3-trnvp ALL SECTION python TEXT "Boards in Python and in pytest, and kernels in NKI."
    DEPENDS "python3 (>= 3.11)" python3-numpy "trnvp ${same}")

# The writer of FST files is compiled from sources of the package verilator.
if(TARGET trn_fstapi)
    foreach(name trnvp libtrnvp-platform-dev)
        install(FILES /usr/share/doc/verilator/copyright RENAME copyright.fstapi DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
            COMPONENT ${name} OPTIONAL)
    endforeach()
endif()

# Bytecode is made and removed with the package.
set(scripts postinst prerm)
set(commands "py3compile -p python3-trnvp /usr/share/trnvp/python" "py3clean -p python3-trnvp")
foreach(name command IN ZIP_LISTS scripts commands)
    string(REGEX MATCH "^[a-z0-9]+" tool "${command}")
    file(WRITE ${trn_debian}/${name} "#!/bin/sh\nset -e\nif command -v ${tool} >/dev/null; then ${command}; fi\n")
    file(CHMOD ${trn_debian}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
set(CPACK_DEBIAN_PYTHON3-TRNVP_PACKAGE_CONTROL_EXTRA ${trn_debian}/postinst ${trn_debian}/prerm)

# What packages of programs that use libtrnvp.so.0 depend on, and the loader's cache.
file(WRITE ${trn_debian}/shlibs "libtrnvp 0 trnvp (>= ${PROJECT_VERSION})\n")
file(WRITE ${trn_debian}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_TRNVP_PACKAGE_CONTROL_EXTRA ${trn_debian}/shlibs ${trn_debian}/triggers)

# Exceptions for lintian: firmware is for RISC-V; trn-guest runs in guests without libraries.
file(WRITE ${trn_debian}/trnvp-firmware "trnvp-firmware: arch-dependent-file-in-usr-share
trnvp-firmware: arch-independent-package-contains-binary-or-object
trnvp-firmware: statically-linked-binary
trnvp-firmware: unstripped-binary-or-object
")
file(WRITE ${trn_debian}/trnvp "# Reports of crashes name functions.
trnvp: unstripped-binary-or-object
trnvp: statically-linked-binary [usr/bin/trn-guest]
trnvp: no-manual-page [usr/bin/trn-guest]
")
file(WRITE ${trn_debian}/libtrnvp-platform-dev "libtrnvp-platform-dev: unstripped-binary-or-object
libtrnvp-platform-dev: no-manual-page [usr/bin/trn-generate-registers]
")
foreach(name trnvp trnvp-firmware libtrnvp-platform-dev)
    install(FILES ${trn_debian}/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${name})
endforeach()
include(CPack)
