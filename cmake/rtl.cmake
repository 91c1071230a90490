# SPDX-License-Identifier: Apache-2.0
# trnvp_rtl(name TOP module VERILOG files... [PARAMETERS NAME=value...] [INCLUDE folders...] [OPTIONS words...]): a static library of the
# verilated top module, for target_link_libraries() of a library with kinds; `<name>_rtl.h` in it declares trn::rtl::designs::<name>, which a
# trn::rtl::block takes (doc/rtl.md). OPTIONS are Verilator's. One thread; values that Verilog leaves open are 0, or those of a seed.
set(trnvp_rtl_FOLDER ${CMAKE_CURRENT_LIST_DIR})
function(trnvp_rtl name)
    cmake_parse_arguments(arg "" "TOP" "VERILOG;PARAMETERS;INCLUDE;OPTIONS" ${ARGN})
    if(NOT arg_TOP OR NOT arg_VERILOG OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "trnvp_rtl(${name} TOP module VERILOG files... [PARAMETERS NAME=value...] [INCLUDE folders...] [OPTIONS words...]):"
            " a word is missing or unknown: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    # Its checks of the compiler take seconds; the flags that they look for are not needed.
    set(VERILATOR_CFLAGS "")
    set(VERILATOR_MT_CFLAGS "")
    if(NOT COMMAND verilate)
        find_package(verilator REQUIRED)
    endif()
    set(options --savable --assert --x-assign unique --x-initial unique -Wno-fatal ${arg_OPTIONS})
    foreach(parameter ${arg_PARAMETERS})
        list(APPEND options -G${parameter})
    endforeach()
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_rtl)
    set(header ${folder}/V${name}.h)
    set(glue ${folder}/${name}_rtl.cpp)
    file(WRITE ${folder}/${name}_rtl.h.new "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n"
        "#include \"platform/framework/rtl/design.h\"\n\nnamespace trn::rtl::designs {\n\nmake_design ${name};\n\n}  // namespace trn::rtl::designs\n")
    file(COPY_FILE ${folder}/${name}_rtl.h.new ${folder}/${name}_rtl.h ONLY_IF_DIFFERENT)
    add_custom_command(OUTPUT ${glue}
        COMMAND ${CMAKE_COMMAND} -Dname=${name} -Dheader=${header} -Dglue=${glue} -P ${trnvp_rtl_FOLDER}/rtl_ports.cmake
        DEPENDS ${folder}/V${name}.cmake ${trnvp_rtl_FOLDER}/rtl_ports.cmake COMMENT "Ports of ${arg_TOP}" VERBATIM)
    add_library(${name} STATIC ${glue})
    verilate(${name} PREFIX V${name} TOP_MODULE ${arg_TOP} DIRECTORY ${folder} SOURCES ${arg_VERILOG} INCLUDE_DIRS ${arg_INCLUDE}
        VERILATOR_ARGS ${options})
    # Verilator's classes are many small files, made to be compiled together; its runtime is not.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_STANDARD 20 UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    get_target_property(sources ${name} SOURCES)
    list(FILTER sources INCLUDE REGEX "/verilated[^/]*\\.cpp$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_include_directories(${name} PUBLIC ${folder} ${trnvp_rtl_INCLUDE})
    target_compile_options(${name} PRIVATE -O2 -w -include platform/framework/rtl/verilator_hooks.h)
endfunction()
