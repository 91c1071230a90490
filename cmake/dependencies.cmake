# SPDX-License-Identifier: Apache-2.0
# Packages of Debian 12 and 13, as imported targets. ./dev setup installs them.
if(POLICY CMP0167)
    cmake_policy(SET CMP0167 NEW)  # Boost's own BoostConfig.cmake
endif()
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(EXPAT REQUIRED)
find_package(Boost 1.74 REQUIRED)

# Debian's libsystemc exports only the C++17 API symbol, so every translation unit must select it.
# The in-process host of the attach layer uses dynamic processes.
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc tlm)
add_library(trn_systemc INTERFACE)
target_link_libraries(trn_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_definitions(trn_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)

pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
find_library(LIBFDT fdt REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
# RE2's -pthread would define _REENTRANT, which makes precompiled headers of other targets unusable.
set_target_properties(PkgConfig::RE2 PROPERTIES INTERFACE_COMPILE_OPTIONS "")

# Translation of harts needs AsmJit and an x86-64 host; otherwise harts interpret.
find_package(asmjit CONFIG QUIET)
set(TRNVP_TRANSLATES OFF)
if(TARGET asmjit::asmjit AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(TRNVP_TRANSLATES ON)
endif()

# Asio's functions are compiled once, here.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/asio.cpp CONTENT "#include <boost/asio/impl/src.hpp>\n")
add_library(trn_boost STATIC ${CMAKE_BINARY_DIR}/asio.cpp)
target_link_libraries(trn_boost PUBLIC trn_options Boost::headers Threads::Threads)
target_compile_options(trn_boost PRIVATE ${trn_position_independent})
target_compile_definitions(trn_boost PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
    BOOST_ERROR_CODE_HEADER_ONLY)
