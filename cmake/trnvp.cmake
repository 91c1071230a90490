# SPDX-License-Identifier: Apache-2.0
# Functions that define a folder's targets: every .cpp belongs to its library, every *_test.cpp to
# its tests.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)

# "Default" keeps assertions: an internal error aborts in every build that users get.
set(CMAKE_CXX_FLAGS_DEFAULT "-O2 -g1")
set(CMAKE_C_FLAGS_DEFAULT "-O2 -g1")

# Other compilers than the tested ones find other things.
option(TRNVP_WARNINGS_ARE_ERRORS "stop at the first warning" OFF)
set(trn_error_option)
if(TRNVP_WARNINGS_ARE_ERRORS)
    set(trn_error_option -Werror)
endif()

option(TRNVP_SANITIZE "build with address and undefined-behaviour sanitizers" OFF)

add_library(trn_options INTERFACE)
target_compile_options(trn_options INTERFACE -Wall -Wextra -Wconversion ${trn_error_option}
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wno-psabi>
    # clang reports a function that std::stable_sort() of g++ 12's library uses.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>
    # The compiler's garbage collection takes 10 % of its time and frees little below this heap size
    # (KiB).
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
target_include_directories(trn_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
# Programs that are no simulators do not define sc_main(), so they must not load SystemC.
target_link_options(trn_options INTERFACE -Wl,--as-needed)
# Links in a third of the time, but refuses the missing sc_main() of a library that is not loaded.
find_program(TRNVP_LLD ld.lld)
if(TRNVP_LLD)
    target_link_options(trn_options INTERFACE -fuse-ld=lld -Wl,--allow-shlib-undefined)
endif()
if(TRNVP_SANITIZE)
    target_compile_options(trn_options INTERFACE -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    # AddressSanitizer does not know the stacks of SystemC processes: after an exception there it
    # reports stale marks of dead variables. Heap and globals stay checked.
    target_compile_options(trn_options INTERFACE --param=asan-stack=0)
    # With instrumentation, g++ 12 reports the standard library's std::function as uninitialised.
    target_compile_options(trn_options INTERFACE -Wno-error=maybe-uninitialized)
    target_link_options(trn_options INTERFACE -fsanitize=address,undefined)
endif()

# For platform/ and models/: the same objects are linked into programs and into libtrnvp.so (doc/decisions/0044-a-machine-behind-a-c-interface.md).
set(trn_position_independent -fPIC -fno-semantic-interposition)

option(TRNVP_COVERAGE "count which lines run" OFF)
if(TRNVP_COVERAGE)
    target_compile_options(trn_options INTERFACE -O1 --coverage)
    # Scenarios end by _exit(), which skips writing the coverage counters.
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/coverage_exit.c @ONLY CONTENT [[
void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status) { __gcov_dump(); __real__exit(status); }
]])
    add_library(trn_coverage_exit STATIC ${CMAKE_BINARY_DIR}/coverage_exit.c)
    target_link_options(trn_options INTERFACE --coverage -Wl,--wrap=_exit)
    target_link_libraries(trn_options INTERFACE trn_coverage_exit)
endif()

# trn_library(name LINK libs...): library of all .cpp of the calling folder and of its SUBFOLDERS.
function(trn_library name)
    cmake_parse_arguments(arg "" "" "LINK;SUBFOLDERS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS *.cpp *.h)
    foreach(folder ${arg_SUBFOLDERS})
        file(GLOB more CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/*.h)
        list(APPEND sources ${more})
    endforeach()
    # Rows of models/kinds.cpp, which links the netlist.
    list(FILTER sources EXCLUDE REGEX "_kind\\.cpp$")
    add_library(${name} STATIC ${sources})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name} PUBLIC trn_options ${arg_LINK})
endfunction()

# trn_build_fast(name level): reduces the optimisation level. Tests build in half the time (the code
# under test is still optimised), readers of the command line in three quarters.
function(trn_build_fast name level)
    if(NOT TRNVP_SANITIZE)
        target_compile_options(${name} PRIVATE ${level})
    endif()
endfunction()

# trn_gather(name [count]): compiles the files of a target in groups of ten (or `count`), because
# their common includes take most of the time. Files of a group share an anonymous namespace; files
# with conflicting names are excluded by `trn_apart`. Sanitizer and lint builds compile each file by
# itself: TRNVP_GATHER is off.
option(TRNVP_GATHER "compile files of a target together where that is faster" ON)
function(trn_gather name)
    set(counts 10 ${ARGN})
    list(GET counts -1 count)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${TRNVP_GATHER} UNITY_BUILD_BATCH_SIZE ${count})
endfunction()

function(trn_apart)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# trn_headers(name LEVEL level LINK libs... HEADERS headers...): precompiles widely used headers of
# libraries. Files must still include what they use: the sanitizer build does not precompile.
function(trn_headers name)
    cmake_parse_arguments(arg "" "LEVEL" "LINK;HEADERS" ${ARGN})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(${name} OBJECT ${source})
    target_link_libraries(${name} PRIVATE trn_options ${arg_LINK})
    target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
    if(arg_LEVEL)
        trn_build_fast(${name} ${arg_LEVEL})
    endif()
endfunction()

# trn_reads_headers(name headers): NAME uses the precompiled HEADERS; both need the same level and
# libraries.
function(trn_reads_headers name headers)
    target_precompile_headers(${name} REUSE_FROM ${headers})
    target_compile_options(${name} PRIVATE -fpch-preprocess  # ccache needs it
        $<TARGET_PROPERTY:${headers},COMPILE_OPTIONS>)
endfunction()

# Limits of tests are seconds of processor time of each process, independent of the machine's load.
# A blocked test is killed after ten times as long in wall time.
if(TRNVP_SANITIZE OR TRNVP_COVERAGE)
    set(trn_slower 5)
else()
    set(trn_slower 1)
endif()
function(trn_limits seconds cpu timeout)
    if(NOT seconds)
        set(seconds 60)
    endif()
    math(EXPR limit "${seconds} * ${trn_slower}")
    math(EXPR wall "${limit} * 10")
    set(${cpu} ${limit} PARENT_SCOPE)
    set(${timeout} ${wall} PARENT_SCOPE)
endfunction()

# Programs that tests start fail when a call between models breaks the base protocol (doc/tlm.md).
set(trn_check_protocol TRNVP_CHECK_PROTOCOL=set:fail)

# trn_wing_here(VARIABLE): ".<wing>" in tests/unit/<wing>, otherwise nothing.
function(trn_wing_here variable)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/tests/unit OUTPUT_VARIABLE place)
    string(REGEX REPLACE "/.*" "" place ${place})
    set(${variable} "" PARENT_SCOPE)
    if(TARGET wing.${place})
        set(${variable} .${place} PARENT_SCOPE)
    endif()
endfunction()

# trn_tests(name LINK libs...): one executable of all *_test.cpp here; CTest runs each TEST in its
# own process, because SystemC elaborates once per process. Targets with the same ALONE_WITH word do
# not run at the same time; they start first, because their sum takes longest. Files are gathered
# unless APART, which is needed when they use the same name for different things. SECONDS: processor
# time of each test. LABELS: `unit` if none are given, `unit.<wing>` in the folder of a wing.
function(trn_tests name)
    cmake_parse_arguments(arg "APART" "SECONDS;ALONE_WITH" "LINK;LABELS" ${ARGN})
    if(arg_ALONE_WITH)
        set(alone RESOURCE_LOCK ${arg_ALONE_WITH} COST 1000)
    endif()
    trn_wing_here(wing)
    if(NOT arg_LABELS)
        set(arg_LABELS unit${wing})
    endif()
    trn_limits("${arg_SECONDS}" cpu timeout)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS *_test.cpp)
    if(NOT sources)
        return()
    endif()
    add_executable(${name} ${sources})
    if(wing)
        add_dependencies(wing${wing} ${name})
    endif()
    target_link_libraries(${name} PRIVATE ${arg_LINK} trn_test_support GTest::gmock)
    trn_build_fast(${name} -O0)
    trn_reads_headers(${name} trn_test_headers)
    if(NOT arg_APART)
        trn_gather(${name})
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    gtest_discover_tests(${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} DISCOVERY_TIMEOUT 600
        PROPERTIES TIMEOUT ${timeout} LABELS "${arg_LABELS}" ENVIRONMENT TRNVP_TEST_SECONDS=${cpu}
            ENVIRONMENT_MODIFICATION ${trn_check_protocol} ${alone})
endfunction()

# trn_program_test(name LABEL label COMMAND words... [SECONDS n] [PROPERTIES ...]): a test that runs
# a command in the source directory. SECONDS: processor time of each process.
function(trn_program_test name)
    cmake_parse_arguments(arg "" "LABEL;SECONDS" "COMMAND;PROPERTIES" ${ARGN})
    trn_limits("${arg_SECONDS}" cpu timeout)
    add_test(NAME ${name} COMMAND prlimit --cpu=${cpu} ${arg_COMMAND} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${arg_LABEL}"
        ENVIRONMENT_MODIFICATION ${trn_check_protocol} ${arg_PROPERTIES})
endfunction()

# trn_skipped_test(name reason): stands for a test that this machine cannot run.
function(trn_skipped_test name reason)
    add_test(NAME ${name} COMMAND sh -c "echo skipped: ${reason}; exit 77")
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# trn_nightly_test(name COMMAND words... [SECONDS n]): as trn_program_test, for tests
# that take minutes; only `./dev nightly` (ctest -C nightly) runs them.
function(trn_nightly_test name)
    cmake_parse_arguments(arg "" "SECONDS" "COMMAND" ${ARGN})
    trn_limits("${arg_SECONDS}" cpu timeout)
    add_test(NAME nightly.${name} CONFIGURATIONS nightly
        COMMAND prlimit --cpu=${cpu} ${arg_COMMAND} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(nightly.${name} PROPERTIES TIMEOUT ${timeout} LABELS nightly
        ENVIRONMENT_MODIFICATION ${trn_check_protocol})
endfunction()

# trn_slow_memory_test(program EXCEPT tests...): runs the tests of PROGRAM once more over memory that
# defers each access (tests/support/memory_path.h). EXCEPT: tests of exact times or limits.
function(trn_slow_memory_test program)
    cmake_parse_arguments(arg "" "" "EXCEPT" ${ARGN})
    list(JOIN arg_EXCEPT ":" except)
    trn_wing_here(wing)
    trn_program_test(${program}.slow_memory LABEL unit${wing}
        COMMAND $<TARGET_FILE:${program}> --gtest_filter=*-${except}
        PROPERTIES ENVIRONMENT TRNVP_TEST_MEMORY=slow)
endfunction()
