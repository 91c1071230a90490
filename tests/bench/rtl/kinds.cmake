# SPDX-License-Identifier: Apache-2.0
# A library with RTL for the rows `rtl` of bench.py.
trnvp_rtl(gates TOP gates VERILOG ${CMAKE_CURRENT_LIST_DIR}/gates.v)
add_library(gates_kind MODULE ${CMAKE_CURRENT_LIST_DIR}/gates_kind.cpp)
target_link_libraries(gates_kind PRIVATE gates trn_options trn_systemc fmt::fmt)
add_dependencies(gates_kind trnvp_abi)
set_target_properties(gates_kind PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/rtl_bench)
configure_file(${CMAKE_CURRENT_LIST_DIR}/board.yaml ${CMAKE_BINARY_DIR}/tests/rtl_bench/board.yaml COPYONLY)
