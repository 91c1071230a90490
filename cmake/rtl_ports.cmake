# SPDX-License-Identifier: Apache-2.0
# cmake -Dname=... -Dheader=V<name>.h -Dglue=<name>_rtl.cpp -P rtl_ports.cmake: lists the ports of a verilated class, from the macros of its header.
file(STRINGS ${header} lines REGEX "^ *VL_(IN|OUT)(8|16|64|W)?\\(&")
set(ports)
foreach(line ${lines})
    string(REGEX MATCH "VL_(IN|OUT)(8|16|64|W)?\\(&([^,]+),([0-9]+),([0-9]+)" found "${line}")
    set(member ${CMAKE_MATCH_3})
    math(EXPR bits "${CMAKE_MATCH_4} - ${CMAKE_MATCH_5} + 1")
    set(is_input false)
    if(CMAKE_MATCH_1 STREQUAL "IN")
        set(is_input true)
    endif()
    string(APPEND ports "                {\"${member}\", ${is_input}, ${bits}, &top.${member}},\n")
endforeach()
file(WRITE ${glue} "// SPDX-License-Identifier: Apache-2.0
#include \"platform/framework/rtl/verilated_design.h\"

#include \"V${name}.h\"
#include \"${name}_rtl.h\"

namespace trn::rtl::designs {

std::unique_ptr<design> ${name}(const start_values& values) {
    return std::make_unique<verilated_design<V${name}>>(
        values, +[](V${name}& top) -> std::vector<top_port> {
            return {
${ports}            };
        });
}

}  // namespace trn::rtl::designs
")
