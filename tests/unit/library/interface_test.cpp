// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sw-stubs/library/include/trnvp.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t us = 1'000'000, ms = 1000 * us;

std::string error() {
    return trnvp_last_error();
}

class interface_test : public testing::Test {
protected:
    ~interface_test() override {
        if (machine != nullptr) trnvp_destroy(machine);
    }

    trnvp_status create(const char* board, std::vector<const char*> options = {}) {
        return trnvp_create(board, options.size(), options.data(), &machine);
    }
    void create_chip() { ASSERT_EQ(create("trn3-chip"), TRNVP_OK) << error(); }
    void boot() {
        create_chip();
        ASSERT_EQ(trnvp_call(machine, "run", R"({"condition": "ready"})", nullptr), TRNVP_OK)
            << error();
    }
    trnvp_function* chip() {
        trnvp_function* found = nullptr;
        EXPECT_EQ(trnvp_find_function(machine, "chip0", &found), TRNVP_OK) << error();
        return found;
    }

    trnvp_machine* machine = nullptr;
    std::array<std::uint8_t, 16> bytes{};
    std::uint64_t number = 0;
};

// --- Life

TEST_F(interface_test, HasVersionAndNumberOfTheInterface) {
    EXPECT_EQ(trnvp_abi(), TRNVP_ABI);
    EXPECT_THAT(trnvp_version(), HasSubstr("."));
    EXPECT_STREQ(trnvp_last_error(), "");
}

TEST_F(interface_test, MistakesInBoardAndOptionsAreNamedAndTheCallMayBeRepeated) {
    EXPECT_EQ(create("trn9-chip"), TRNVP_REFUSED);
    EXPECT_THAT(error(), HasSubstr("trn"));
    EXPECT_EQ(create(""), TRNVP_REFUSED);
    EXPECT_EQ(create("--help"), TRNVP_REFUSED);
    EXPECT_EQ(create("trn3-chip", {"--sed", "3"}), TRNVP_REFUSED);
    EXPECT_THAT(error(), HasSubstr("--seed"));
    EXPECT_EQ(create("trn3-chip", {"trn2-chip"}), TRNVP_REFUSED);
    EXPECT_EQ(create("trn3-chip", {"--help"}), TRNVP_REFUSED);
    EXPECT_EQ(create("trn3-chip", {"--listen", "here"}), TRNVP_REFUSED);
    EXPECT_EQ(create("trn3-chip", {"--record", "here"}), TRNVP_REFUSED);
    EXPECT_EQ(create("trn3-chip", {"--time-policy", "realtime:1"}), TRNVP_REFUSED);
    EXPECT_EQ(create("trn3-chip", {"--kinds", "/dev/null"}), TRNVP_REFUSED);
    EXPECT_EQ(create("trn3-chip", {"--set", "revison=3"}), TRNVP_REFUSED);
    EXPECT_THAT(error(), HasSubstr("did you mean 'revision'"));
    EXPECT_EQ(create("trn3-chip", {"--firmware", "none.bin"}), TRNVP_REFUSED);
    EXPECT_EQ(machine, nullptr);
    create_chip();
}

TEST_F(interface_test, ARefusalAfterModulesWereMadeIsTheLastCall) {
    EXPECT_EQ(create("trn3-chip", {"--trace", "/dev/null/trace"}), TRNVP_REFUSED);
    EXPECT_THAT(error(), HasSubstr("cannot write the trace"));
    EXPECT_EQ(create("trn3-chip"), TRNVP_UNAVAILABLE);
    EXPECT_THAT(error(), HasSubstr("modules of a machine that was refused"));
}

TEST_F(interface_test, AMistakeInABoardHasItsPlace) {
    const std::string file = testing::TempDir() + "/wrong.yaml";
    std::ofstream(file) << "description: a chip\nmodules:\n  ram: {type: memory, sise: 4 KiB}\n";
    EXPECT_EQ(create(file.c_str()), TRNVP_REFUSED);
    EXPECT_THAT(error(), HasSubstr("wrong.yaml:3:"));
    EXPECT_THAT(error(), HasSubstr("did you mean 'size'"));
}

TEST_F(interface_test, AProcessHasOneMachine) {
    create_chip();
    trnvp_machine* second = nullptr;
    EXPECT_EQ(trnvp_create("trn2-chip", 0, nullptr, &second), TRNVP_UNAVAILABLE);
    EXPECT_THAT(error(), HasSubstr("SystemC elaborates once in a process"));
    EXPECT_EQ(second, nullptr);
    trnvp_function* const function = chip();
    EXPECT_EQ(trnvp_destroy(machine), TRNVP_OK);
    EXPECT_EQ(trnvp_destroy(machine), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_run_until(machine, ms), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_time_ps(machine), 0u);
    EXPECT_EQ(trnvp_bar_size(function, 0), 0u);
    EXPECT_EQ(trnvp_bar_read(function, 0, 0, bytes.data(), 4), TRNVP_INVALID_ARGUMENT);
    machine = nullptr;
    EXPECT_EQ(create("trn3-chip"), TRNVP_UNAVAILABLE);
    EXPECT_THAT(error(), HasSubstr("which was destroyed"));
}

TEST_F(interface_test, NullPointersAreNamed) {
    EXPECT_EQ(trnvp_create("trn3-chip", 0, nullptr, nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(error(), "machine is a null pointer");
    EXPECT_EQ(create(nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_create("trn3-chip", 1, nullptr, &machine), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(create("trn3-chip", {nullptr}), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_create("trn3-chip", SIZE_MAX, nullptr, &machine), TRNVP_INVALID_ARGUMENT);
    create_chip();
    EXPECT_EQ(trnvp_destroy(nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_run_until(nullptr, 0), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_run_until_true(machine, nullptr, nullptr, 0, 0), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_call(machine, nullptr, nullptr, nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_read_register(machine, nullptr, &number), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_read_register(machine, "chip0.udma0.M2S_STATE", nullptr),
              TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_write_register(machine, nullptr, 0), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_peek(machine, nullptr, 0, bytes.data(), 4), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_peek(machine, "chip0.hbm0.in", 0, nullptr, 4), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_map(machine, "chip0.hbm0.in", 0, 4, 0, nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_find_function(machine, nullptr, nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_bar_read(nullptr, 0, 0, bytes.data(), 4), TRNVP_INVALID_ARGUMENT);
    auto* const function = chip();
    EXPECT_EQ(trnvp_bar_read(function, 0, 0, nullptr, 4), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_config_read(function, 0, 4, nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_host_alloc(function, 4096, nullptr, &number), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_map_host(function, 0, nullptr, 4096), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_fork(machine, nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_on_console(machine, nullptr, nullptr), TRNVP_OK);
}

TEST_F(interface_test, HandlesThatWereNeverMadeAreRefused) {
    create_chip();
    std::array<std::uint64_t, 64> elsewhere{};
    auto* const machine_elsewhere = reinterpret_cast<trnvp_machine*>(elsewhere.data());
    auto* const function_elsewhere = reinterpret_cast<trnvp_function*>(elsewhere.data());
    EXPECT_EQ(trnvp_run_until(machine_elsewhere, 0), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_function_reset(function_elsewhere), TRNVP_INVALID_ARGUMENT);
}

TEST_F(interface_test, CallsOfOtherThreadsAreRefused) {
    create_chip();
    std::thread([&] {
        EXPECT_EQ(trnvp_run_until(machine, ms), TRNVP_UNAVAILABLE);
        EXPECT_EQ(error(), "a machine belongs to the thread that made it");
    }).join();
    EXPECT_EQ(error(), "");
    EXPECT_EQ(trnvp_run_until(machine, ms), TRNVP_OK);
}

// --- Time

TEST_F(interface_test, TimeAdvancesToWhatIsAskedAndNotBack) {
    create_chip();
    EXPECT_EQ(trnvp_time_ps(machine), 0u);
    EXPECT_EQ(trnvp_run_until(machine, 3), TRNVP_OK);
    EXPECT_EQ(trnvp_time_ps(machine), 3u);
    EXPECT_EQ(trnvp_run_until(machine, 3), TRNVP_OK);
    EXPECT_EQ(trnvp_run_until(machine, 2), TRNVP_INVALID_ARGUMENT);
    EXPECT_THAT(error(), HasSubstr("in the past"));
    EXPECT_EQ(trnvp_run_until(machine, ms), TRNVP_OK);
    EXPECT_EQ(trnvp_time_ps(machine), ms);
}

TEST_F(interface_test, ConditionsAndLimitsEndARun) {
    create_chip();
    const auto never = [](void*) { return 0; };
    const auto third = [](void* calls) { return ++*static_cast<int*>(calls) == 3 ? 1 : 0; };
    int calls = 0;
    EXPECT_EQ(trnvp_run_until_true(machine, third, &calls, UINT64_MAX, 0), TRNVP_OK);
    EXPECT_EQ(calls, 3);
    const auto met = trnvp_time_ps(machine);
    EXPECT_EQ(met % (10 * us), 0u);
    EXPECT_EQ(trnvp_run_until_true(machine, never, nullptr, met + 3, 0), TRNVP_TIME_LIMIT);
    EXPECT_EQ(trnvp_time_ps(machine), met + 3);
    EXPECT_EQ(trnvp_run_until_true(machine, never, nullptr, UINT64_MAX, 1e-9), TRNVP_WALL_LIMIT);
    EXPECT_EQ(trnvp_run_until_true(machine, never, nullptr, UINT64_MAX, -1),
              TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_run_until_true(machine, never, nullptr, UINT64_MAX, 0.0 / 0.0),
              TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_run_until_true(machine, never, nullptr, UINT64_MAX, 0), TRNVP_STALLED);
    EXPECT_THAT(error(), HasSubstr("no event is pending"));
    EXPECT_EQ(trnvp_run_until(machine, UINT64_MAX), TRNVP_OK);
}

TEST_F(interface_test, AnExceptionOfACallbackIsReported) {
    create_chip();
    const auto throws = [](void*) -> int { throw std::runtime_error("out of paper"); };
    EXPECT_EQ(trnvp_run_until_true(machine, throws, nullptr, ms, 0), TRNVP_FAILED);
    EXPECT_THAT(error(), HasSubstr("the condition: out of paper"));
    const auto prints = [](void*, const char*, const char*, std::size_t) { throw 3; };
    EXPECT_EQ(trnvp_on_console(machine, prints, nullptr), TRNVP_OK);
    EXPECT_EQ(trnvp_run_until(machine, 10 * ms), TRNVP_FAILED);
    EXPECT_THAT(error(), HasSubstr("a console"));
    EXPECT_EQ(trnvp_on_console(machine, nullptr, nullptr), TRNVP_OK);
    EXPECT_EQ(trnvp_run_until(machine, 10 * ms), TRNVP_OK);
}

TEST_F(interface_test, TimeCannotAdvanceInsideACallback) {
    create_chip();
    struct seen {
        trnvp_machine* machine;
        trnvp_function* function;
        std::vector<trnvp_status> all;
    } seen{machine, chip(), {}};
    const auto calls = [](void* context) {
        auto& [inside, function, all] = *static_cast<struct seen*>(context);
        std::uint32_t value = 0;
        all = {trnvp_run_until(inside, ms),
               trnvp_call(inside, "run", R"({"for": "1 us"})", nullptr),
               trnvp_bar_read(function, 0, 0, &value, 4),
               trnvp_function_reset(function),
               trnvp_check_fork(inside),
               trnvp_destroy(inside)};
        EXPECT_EQ(trnvp_peek(inside, "chip0.hbm0.in", 0, &value, 4), TRNVP_OK);
        return 1;
    };
    EXPECT_EQ(trnvp_run_until_true(machine, calls, &seen, ms, 0), TRNVP_OK) << error();
    EXPECT_THAT(seen.all, testing::ElementsAreArray(std::vector(6, TRNVP_UNAVAILABLE)));
}

// --- Methods

TEST_F(interface_test, MethodsReturnTheirResultOrTheirError) {
    create_chip();
    const char* result = nullptr;
    EXPECT_EQ(trnvp_call(machine, "status", nullptr, &result), TRNVP_OK);
    EXPECT_THAT(result, HasSubstr("\"time_ps\":0"));
    EXPECT_EQ(trnvp_call(machine, "run", R"({"condition":"ready","wall_limit":60})", &result),
              TRNVP_OK);
    EXPECT_THAT(result, HasSubstr("\"reason\":\"condition\""));
    EXPECT_EQ(trnvp_call(machine, "wait", R"({"for": "1 us"})", &result), TRNVP_OK);
    EXPECT_THAT(result, HasSubstr("time_limit"));
    EXPECT_EQ(trnvp_call(machine, "step", nullptr, &result), TRNVP_OK);
    EXPECT_EQ(trnvp_call(machine, "peak", nullptr, &result), TRNVP_NOT_FOUND);
    EXPECT_THAT(result, HasSubstr("-32601"));
    EXPECT_EQ(trnvp_call(machine, "peek", R"({"space": "nowhere", "address": 0})", &result),
              TRNVP_NOT_FOUND);
    EXPECT_THAT(result, HasSubstr("-32001"));
    EXPECT_EQ(trnvp_call(machine, "peek", R"({"spice": "nowhere"})", nullptr),
              TRNVP_INVALID_ARGUMENT);
    for (const auto* wrong : {"", "{", "[]", "3", "{\"a\": \"\xff\"}"})
        EXPECT_EQ(trnvp_call(machine, "status", wrong, &result), TRNVP_INVALID_ARGUMENT) << wrong;
    const std::string deep(100'000, '[');
    EXPECT_EQ(trnvp_call(machine, "status", deep.c_str(), &result), TRNVP_INVALID_ARGUMENT);
    const std::string longest(3 << 20, ' ');
    EXPECT_EQ(trnvp_call(machine, "status", longest.c_str(), &result), TRNVP_INVALID_ARGUMENT);
    for (const auto* of_sessions : {"quit", "subscribe", "hello"})
        EXPECT_EQ(trnvp_call(machine, of_sessions, nullptr, &result), TRNVP_REFUSED);
    EXPECT_EQ(trnvp_call(machine, "wait", nullptr, &result), TRNVP_STALLED);
    EXPECT_THAT(result, HasSubstr("stalled"));
}

// --- Registers and memory

TEST_F(interface_test, RegistersHaveNames) {
    create_chip();
    constexpr auto name = "chip0.udma0.M2S_PREFETCH_CFG_3";
    EXPECT_EQ(trnvp_write_register(machine, name, 3), TRNVP_OK);
    EXPECT_EQ(trnvp_read_register(machine, name, &number), TRNVP_OK);
    EXPECT_EQ(number, 3u);
    EXPECT_EQ(trnvp_read_register(machine, "chip0.udma0.M2S_PREFTCH", &number), TRNVP_NOT_FOUND);
    EXPECT_EQ(trnvp_write_register(machine, name, UINT64_MAX), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(number, 3u);
}

TEST_F(interface_test, MemoryIsReadWrittenAndMapped) {
    boot();
    constexpr auto hbm = "chip0.hbm0.in";
    EXPECT_EQ(trnvp_poke(machine, hbm, 0x1001, "some bytes", 10), TRNVP_OK) << error();
    EXPECT_EQ(trnvp_peek(machine, hbm, 0x1001, bytes.data(), 10), TRNVP_OK);
    EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 10), "some bytes");
    void* mapped = nullptr;
    EXPECT_EQ(trnvp_map(machine, hbm, 0x1000, 4096, 1, &mapped), TRNVP_REFUSED);
    EXPECT_THAT(error(), HasSubstr("whose writes"));
    ASSERT_EQ(trnvp_map(machine, hbm, 0x1000, 4096, 0, &mapped), TRNVP_OK) << error();
    EXPECT_EQ(static_cast<char*>(mapped)[1], 's');
    EXPECT_EQ(trnvp_deposit(machine, hbm, 0x1001, "S", 1), TRNVP_OK);
    EXPECT_EQ(static_cast<char*>(mapped)[1], 'S');
    constexpr auto ram = "chip0.management.sram";
    ASSERT_EQ(trnvp_map(machine, ram, 0x40, 4, 1, &mapped), TRNVP_OK) << error();
    static_cast<char*>(mapped)[1] = 'R';
    EXPECT_EQ(trnvp_peek(machine, ram, 0x41, bytes.data(), 1), TRNVP_OK);
    EXPECT_EQ(bytes[0], 'R');
    EXPECT_EQ(trnvp_peek(machine, hbm, 0x1001, bytes.data(), 0), TRNVP_OK);
}

TEST_F(interface_test, WrongAddressesAndLengthsAreRefused) {
    boot();
    constexpr auto hbm = "chip0.hbm0.in";
    void* mapped = nullptr;
    EXPECT_EQ(trnvp_peek(machine, "chip0.hmb0.in", 0, bytes.data(), 4), TRNVP_NOT_FOUND);
    EXPECT_THAT(error(), HasSubstr("chip0.hbm0.in"));
    EXPECT_EQ(trnvp_peek(machine, hbm, std::uint64_t{1} << 60, bytes.data(), 4), TRNVP_NO_RESPONSE);
    EXPECT_EQ(trnvp_peek(machine, hbm, UINT64_MAX, bytes.data(), 4), TRNVP_INVALID_ARGUMENT);
    for (const std::uint64_t size : {UINT64_MAX, TRNVP_MAX_BYTES + 1}) {
        EXPECT_EQ(trnvp_peek(machine, hbm, 0, bytes.data(), size), TRNVP_INVALID_ARGUMENT);
        EXPECT_EQ(trnvp_poke(machine, hbm, 0, bytes.data(), size), TRNVP_INVALID_ARGUMENT);
        EXPECT_EQ(trnvp_bar_read(chip(), 0, 0, bytes.data(), size), TRNVP_INVALID_ARGUMENT);
    }
    EXPECT_EQ(trnvp_map(machine, hbm, 0x1000, UINT64_MAX, 0, &mapped), TRNVP_REFUSED);
    EXPECT_EQ(trnvp_map(machine, hbm, UINT64_MAX, 2, 0, &mapped), TRNVP_REFUSED);
    EXPECT_EQ(trnvp_map(machine, hbm, 0, 0, 0, &mapped), TRNVP_REFUSED);
    EXPECT_EQ(trnvp_map(machine, "chip0.management.uart", 0, 4, 0, &mapped), TRNVP_REFUSED);
    EXPECT_EQ(mapped, nullptr);
}

// --- Functions

TEST_F(interface_test, AHostFindsItsDevice) {
    boot();
    auto* const function = chip();
    EXPECT_EQ(chip(), function);
    std::uint32_t value = 0;
    EXPECT_EQ(trnvp_config_read(function, 0, 4, &value), TRNVP_OK) << error();
    EXPECT_EQ(value & 0xffff, 0x1d0fu);
    const auto before = trnvp_time_ps(machine);
    EXPECT_EQ(trnvp_bar_read(function, 0, 0, &value, 4), TRNVP_OK) << error();
    EXPECT_GE(trnvp_time_ps(machine), before + 200'000);
    EXPECT_EQ(trnvp_bar_address(function, 0, &number), TRNVP_OK) << error();
    trnvp_function* none = nullptr;
    EXPECT_EQ(trnvp_find_function(machine, "chip1", &none), TRNVP_NOT_FOUND);
    EXPECT_THAT(error(), HasSubstr("chip0"));
    EXPECT_EQ(none, nullptr);
}

TEST_F(interface_test, WrongAccessesOfAHostAreRefused) {
    create_chip();
    auto* const function = chip();
    const auto size = trnvp_bar_size(function, 0);
    ASSERT_GT(size, 0u);
    std::uint32_t value = 0;
    void* memory = nullptr;
    EXPECT_EQ(trnvp_bar_size(function, 6), 0u);
    EXPECT_EQ(trnvp_bar_read(function, 6, 0, &value, 4), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_bar_read(function, UINT32_MAX, 0, &value, 4), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_bar_read(function, 0, size - 2, &value, 4), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_bar_write(function, 0, UINT64_MAX, &value, 4), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_bar_write(function, 0, 0, &value, 0), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_config_read(function, 2, 4, &value), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_config_read(function, 4096, 4, &value), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_config_write(function, 0, 3, 0), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_bar_address(function, 9, &number), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_host_alloc(function, 0, &memory, &number), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_host_alloc(function, UINT64_MAX, &memory, &number), TRNVP_OUT_OF_MEMORY);
    EXPECT_EQ(trnvp_host_free(function, 3, UINT64_MAX), TRNVP_OK);
    EXPECT_EQ(trnvp_map_host(function, UINT64_MAX, bytes.data(), 16), TRNVP_REFUSED);
    EXPECT_EQ(trnvp_map_host(function, 0x1000, bytes.data(), 0), TRNVP_REFUSED);
    EXPECT_EQ(trnvp_map_host(function, 0x1000, bytes.data(), 16), TRNVP_OK) << error();
    EXPECT_EQ(trnvp_map_host(function, 0x100f, bytes.data(), 16), TRNVP_REFUSED);
    EXPECT_EQ(trnvp_unmap_host(function, 0x1001, 15), TRNVP_REFUSED);
    EXPECT_EQ(trnvp_unmap_host(function, 0, UINT64_MAX), TRNVP_REFUSED) << "cuts host_alloc's";
    EXPECT_EQ(trnvp_unmap_host(function, 0x1000, 16), TRNVP_OK);
    const auto vectors = trnvp_interrupt_vectors(function);
    EXPECT_GT(vectors, 0u);
    const auto nothing = [](void*, std::uint32_t) {};
    EXPECT_EQ(trnvp_on_interrupt(function, vectors, nothing, nullptr), TRNVP_INVALID_ARGUMENT);
    EXPECT_EQ(trnvp_on_interrupt(function, 0, nothing, nullptr), TRNVP_OK);
    EXPECT_EQ(trnvp_on_interrupt(function, 0, nullptr, nullptr), TRNVP_OK);
}

// --- Consoles and log

TEST_F(interface_test, ConsolesAndLogCallBack) {
    std::string log, printed;
    const auto keep_line = [](void* all, const char* severity, const char* line) {
        *static_cast<std::string*>(all) += std::string(severity) + ": " + line + "\n";
    };
    EXPECT_EQ(trnvp_on_log(keep_line, &log), TRNVP_OK);
    create_chip();
    const auto keep = [](void* all, const char* console, const char* text, std::size_t size) {
        EXPECT_THAT(console, StartsWith("chip0."));
        static_cast<std::string*>(all)->append(text, size);
    };
    EXPECT_EQ(trnvp_on_console(machine, keep, &printed), TRNVP_OK);
    EXPECT_EQ(trnvp_call(machine, "run", R"({"condition": "ready"})", nullptr), TRNVP_OK);
    EXPECT_THAT(printed, HasSubstr("boot ROM"));
    std::uint32_t value = 0;
    EXPECT_EQ(trnvp_bar_write(chip(), 0, 1, &value, 2), TRNVP_OK);  // no register's width
    EXPECT_THAT(log, HasSubstr("warning: ["));
    EXPECT_EQ(trnvp_on_log(nullptr, nullptr), TRNVP_OK);
}

// --- Copies

int status_of(std::int64_t child) {
    int status = -1;
    EXPECT_EQ(waitpid(static_cast<pid_t>(child), &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(interface_test, ACopyContinuesFromTheStateOfItsParent) {
    create_chip();
    EXPECT_EQ(trnvp_run_until(machine, ms), TRNVP_OK);
    for (int run = 0; run < 2; ++run) {
        std::int64_t child = -1;
        ASSERT_EQ(trnvp_fork(machine, &child), TRNVP_OK) << error();
        if (child == 0) {
            const auto start = trnvp_time_ps(machine);
            const bool good =
                start == ms &&
                trnvp_call(machine, "run", R"({"condition": "ready"})", nullptr) == TRNVP_OK &&
                trnvp_poke(machine, "chip0.hbm0.in", 0, "copy", 4) == TRNVP_OK;
            _exit(good ? 7 : 1);
        }
        EXPECT_EQ(status_of(child), 7);
    }
    EXPECT_EQ(trnvp_time_ps(machine), ms);
    EXPECT_EQ(trnvp_peek(machine, "chip0.hbm0.in", 0, bytes.data(), 4), TRNVP_OK);
    EXPECT_EQ(bytes[0], 0);
    EXPECT_EQ(trnvp_call(machine, "run", R"({"condition": "ready"})", nullptr), TRNVP_OK);
}

TEST_F(interface_test, AMachineThatWritesATraceIsNotCopied) {
    const std::string trace = testing::TempDir() + "/library.trace";
    ASSERT_EQ(create("trn3-chip", {"--trace", trace.c_str()}), TRNVP_OK) << error();
    std::int64_t child = -1;
    EXPECT_EQ(trnvp_fork(machine, &child), TRNVP_REFUSED);
    EXPECT_THAT(error(), HasSubstr("--trace"));
    EXPECT_EQ(child, -1);
}

TEST_F(interface_test, LostOutputIsReportedAtTheEnd) {
    ASSERT_EQ(create("trn3-chip", {"--trace", "/dev/full"}), TRNVP_OK) << error();
    EXPECT_EQ(trnvp_run_until(machine, ms), TRNVP_OK);
    EXPECT_EQ(trnvp_destroy(machine), TRNVP_FAILED);
    EXPECT_THAT(error(), HasSubstr("/dev/full"));
    machine = nullptr;
}

}  // namespace
