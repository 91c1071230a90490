# SPDX-License-Identifier: Apache-2.0
# Debian 12 packages that only tests and benchmarks use.
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)
# RTL in tests. Its checks of the compiler take seconds; the flags that they look for are not needed.
set(VERILATOR_CFLAGS "")
set(VERILATOR_MT_CFLAGS "")
if(POLICY CMP0144)
    cmake_policy(SET CMP0144 NEW)  # its own variable VERILATOR_ROOT, the second time
endif()
find_package(verilator QUIET)
set(trnvp_rtl_INCLUDE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
include(rtl)  # trnvp_rtl
