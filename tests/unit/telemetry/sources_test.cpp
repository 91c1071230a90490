// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "platform/app/telemetry/sources/state_source.h"
#include "platform/app/telemetry/state_json.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/telemetry/sample_state.h"

namespace {

using namespace trn::telemetry;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// A root folder with the public driver's sysfs.
class SysfsSource : public testing::Test {
protected:
    void write(const std::string& path, const std::string& text) {
        const fs::path file = root_ / path;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void write_device(const std::string& path, const std::string& text) {
        write("sys/class/neuron_device/neuron0/" + path, text);
    }
    device read() {
        return sysfs_source(root_.text())->read(detail::all).instances.at(0).devices.at(0);
    }
    void SetUp() override {
        write_device("reset", "1\n");
        write_device("core_count", "8");  // the driver writes no line end
        write_device("connected_devices", "12, 3, 4, 1\n");
        write_device("info/architecture/device_name", "Trainium3\n");
        write_device("info/serial_number", "54524e3300000001\n");
        write_device("stats/hardware/sram_ecc_uncorrected", "2\n");
        write_device("stats/power/utilization", "POWER_STATUS_VALID,1764518400,1.00,9.50,4.25\n");
        write_device("neuron_core0/stats/status/success/total", "7\n");
        write_device("neuron_core0/stats/memory_usage/device_mem/total", "4096\n");
        write_device("neuron_core0/stats/memory_usage/device_mem/tensors/total", "1024\n");
    }

    trn::test::scratch_folder root_;
};

TEST_F(SysfsSource, ReadsWhatTheDriverWrites) {
    const auto d = read();
    EXPECT_EQ(d.core_count, 8u);
    EXPECT_THAT(*d.connected, ElementsAre(12, 3, 4, 1));
    EXPECT_EQ(d.product, "Trainium3");
    EXPECT_EQ(d.memory_bytes, std::uint64_t{144} << 30);
    EXPECT_EQ(d.serial, "54524e3300000001");
    EXPECT_EQ(d.sram_uncorrected, 2u);
    EXPECT_EQ(d.power_percent, 4.25);
    EXPECT_EQ(d.cores.at(0).status.at("success"), 7u);
    EXPECT_EQ(d.cores[0].device_memory_bytes, 4096u);
    EXPECT_EQ(d.cores[0].device_memory.at("tensors"), 1024u);
}

TEST_F(SysfsSource, WhatAnOlderDriverDoesNotHaveIsNotKnown) {
    const auto d = read();
    EXPECT_FALSE(d.hbm_uncorrected);
    EXPECT_FALSE(d.sram_corrected);
    EXPECT_FALSE(d.faulty);
    EXPECT_FALSE(d.throttled);
}

TEST_F(SysfsSource, BrokenWordsAreNotKnown) {
    for (const auto* text : {"", "\n", "many\n", "4294967295\n", "3735928559\n", "-1\n", "0x3\n",
                             "99999999999999999999999\n"}) {
        write_device("stats/hardware/mem_ecc_uncorrected", text);
        EXPECT_FALSE(read().hbm_uncorrected) << text;
    }
    for (const auto* text : {"POWER_STATUS_NO_DATA,0,0.00,0.00,0.00\n", "x\n", ",,,,\n",
                             "POWER_STATUS_VALID,1,2,3,nan\n", "POWER_STATUS_VALID,1,2,3,400\n"}) {
        write_device("stats/power/utilization", text);
        EXPECT_FALSE(read().power_percent) << text;
    }
    write_device("connected_devices", "1, two, 3\n");
    EXPECT_FALSE(read().connected);
    write_device("connected_devices", "\n");
    EXPECT_TRUE(read().connected->empty());
    write_device("info/serial_number", "\n");
    EXPECT_EQ(read().serial, "");
    write_device("core_count", "1000000");
    EXPECT_EQ(read().core_count, 1u);  // folders of cores
}

TEST_F(SysfsSource, KeepsTheRowOfADeviceThatDoesNotAnswer) {
    write_device("reset", "0\n");
    EXPECT_EQ(read().status, device_status::resetting);
    write_device("reset", "2\n");
    EXPECT_EQ(read().status, device_status::gone);
}

TEST_F(SysfsSource, WordsOfADeviceThatIsGoneAreNotKnown) {
    write_device("info/serial_number", "ffffffffffffffff\n");  // what the driver reads then
    write_device("stats/hardware/sram_ecc_uncorrected", "65535\n");
    const auto d = read();
    EXPECT_EQ(d.status, device_status::gone);
    EXPECT_EQ(d.serial, "");
    EXPECT_FALSE(d.sram_uncorrected);
}

TEST_F(SysfsSource, ReadsHealthOfNewerDrivers) {
    write_device("stats/hardware/health_status/unhealthy_components", "hbm, link_intraserver\n");
    EXPECT_THAT(*read().faulty, ElementsAre("hbm", "link_intraserver"));
    write_device("stats/hardware/health_status/unhealthy_components", "\n");
    EXPECT_TRUE(read().faulty->empty());
}

TEST_F(SysfsSource, FindsProcessesByTheirOpenFiles) {
    write("proc/4711/comm", "python3\n");
    write("proc/4711/cmdline", std::string("python3\0train.py\0", 17));
    fs::create_directories(root_ / "proc/4711/fd");
    fs::create_symlink("/dev/neuron0", root_ / "proc/4711/fd/3");
    fs::create_directories(root_ / "proc/4712/fd");
    fs::create_symlink("/dev/null", root_ / "proc/4712/fd/3");
    const auto machine = sysfs_source(root_.text())->read(detail::devices).instances.at(0);
    ASSERT_EQ(machine.processes.size(), 1u);
    EXPECT_EQ(machine.processes[0].pid, 4711u);
    EXPECT_EQ(machine.processes[0].command, "python3 train.py");
    EXPECT_THAT(machine.processes[0].devices, ElementsAre(0));
}

TEST_F(SysfsSource, NeedsTheDriver) {
    const trn::test::scratch_folder empty;
    EXPECT_THROW(sysfs_source(empty.text()), source_error);
    fs::create_directories(empty / "sys/class/neuron_device");
    EXPECT_THROW(sysfs_source(empty.text())->read(detail::devices), source_error);
}

/// A recording of states 10 s apart, of 1 ms simulated time each.
class FileSource : public testing::Test {
protected:
    FileSource() {
        std::ofstream out(file_);
        for (unsigned n = 0; n < 3; ++n) {
            auto state = test::torus(4);
            state.wall_ms += 10'000 * n;
            state.time_ps = 1'000'000'000 * (n + 1);
            out << to_json(state).dump() << '\n';
        }
    }
    std::uint64_t at(const std::string& time) {
        return *file_source(file_, time)->read(detail::all).time_ps / 1'000'000'000;
    }

    trn::test::scratch_folder folder_;
    const std::string file_ = folder_ / "run.jsonl";
};

TEST_F(FileSource, ReturnsTheLastStateThatIsNotLater) {
    EXPECT_EQ(at("0"), 1u);
    EXPECT_EQ(at("9.9"), 1u);
    EXPECT_EQ(at("10"), 2u);
    EXPECT_EQ(at("1000"), 3u);
    EXPECT_EQ(at("2500 us"), 2u);
    EXPECT_EQ(at("end"), 3u);
    try {
        at("1 us");
        FAIL();
    } catch (const source_error& why) {
        EXPECT_THAT(why.what(), HasSubstr("begins at 0.001000 s of simulated time"));
    }
    EXPECT_THROW(at("soon"), source_usage);
    EXPECT_THROW(at("-1"), source_usage);
}

TEST_F(FileSource, GoesOnFromThereToItsEnd) {
    const auto source = file_source(file_, "10");
    EXPECT_EQ(*source->read(detail::all).time_ps, 2'000'000'000u);
    EXPECT_EQ(*source->read(detail::all).time_ps, 3'000'000'000u);
    EXPECT_THROW(source->read(detail::all), source_error);
}

TEST_F(FileSource, SaysTheLineThatIsWrong) {
    std::ofstream(file_, std::ios::app) << "{\"instances\": 3}\n";
    try {
        file_source(file_, "end");
        ADD_FAILURE();
    } catch (const source_error& wrong) {
        EXPECT_THAT(wrong.what(), HasSubstr(":4: "));
    }
}

TEST_F(FileSource, LeavesOutALineThatIsBeingWritten) {
    std::ofstream(file_, std::ios::app) << "{\"instances\": [";
    EXPECT_EQ(at("end"), 3u);
}

TEST_F(FileSource, BoundsItsLinesAndLists) {
    const auto error_of = [&](const std::string& text) -> std::string {
        std::ofstream(file_) << text << '\n';
        try {
            file_source(file_, "")->read(detail::all);
        } catch (const source_error& wrong) {
            return wrong.what();
        }
        return "none";
    };
    EXPECT_THAT(error_of(std::string((16 << 20) + 1, ' ')), HasSubstr(":1: the line is longer"));
    std::string list = R"({"instances":[{})";
    for (unsigned n = 0; n < 1024; ++n) list += ",{}";
    EXPECT_THAT(error_of(list + "]}"), HasSubstr("at most 1024"));
    EXPECT_THAT(error_of(R"({"instances":[{"devices":[{"core_count":4000000000}]}]})"),
                HasSubstr("core_count"));
    EXPECT_THROW(file_source("/dev/zero", "end"), source_error);
}

TEST_F(FileSource, OfARealMachineHasNoSimulatedTimes) {
    auto state = test::torus(4);
    state.time_ps.reset();
    std::ofstream(file_) << to_json(state).dump() << '\n';
    EXPECT_THROW(at("2 ms"), source_usage);
    EXPECT_EQ(file_source(file_, "0")->proc(), "");
}

TEST(OpenSource, RefusesTwoSources) {
    EXPECT_THROW(open_source({.connect = "a", .file = "b"}), source_usage);
    EXPECT_THROW(open_source({.sysfs = "/", .time = "3"}), source_usage);
}

}  // namespace
