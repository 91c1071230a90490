// SPDX-License-Identifier: Apache-2.0
// A process that runs programs on a platform, as trn-ls and trn-monitor see it; and clients that
// say of themselves what cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "models/neuron_isa/assembler/assembler.h"
#include "platform/framework/config/file.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/programs/loaded_program.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"

namespace trn::test {
namespace {

using nlohmann::json;

const auto set_of_sums = isa::write_program_set(isa::assemble_set(R"(
.tensor x int32 [64, 8] in
.tensor y int32 [64, 8] out
.tensor z int32 [64, 8] scratch
.transfer load x -> sbuf[0:64, 0] queue=3 S[4]
.transfer store sbuf[0:64, 512] -> y queue=3 S[5]
.engine sync
    dma_start load
    wait S[6]>=1 dma_start store
    wait S[5]>=16 halt
.engine gpsimd
    wait S[4]>=16 update S[6]+=1 tensor_tensor op0=add dst=sbuf[0:64, 512] int32 [8:1] a=sbuf[0:64, 0] int32 [8:1] b=sbuf[0:64, 0] int32 [8:1]
    halt
)",
                                                                  "sums.trn"));
const auto set_that_waits = isa::write_program_set(isa::assemble_set(R"(
.engine sync
    wait S[4]>=1 halt
)",
                                                                     "waits.trn"));
constexpr std::uint64_t limit_ns = 100'000'000;
constexpr std::uint16_t account = 0x8003;

class Accounts : public testing::Test {
protected:
    void start(const std::vector<std::string>& options = {}) {
        std::vector<std::string> words{TRNVP_PROGRAM, "run",     "trn3-chip", "--set", "devices=2",
                                       "--listen",    sockets(), "--uart",    "none"};
        words.insert(words.end(), options.begin(), options.end());
        platform_.emplace(words, scratch_ / "log");
        // The control socket is opened last.
        ASSERT_TRUE(eventually([&] { return raw_peer(sockets() + "/control.sock").connected; }))
            << log();
    }

    /// A device that this process drives; `reports`: its accounts.
    std::unique_ptr<device> attached(int n, bool reports = true) {
        std::array<char, 256> why{};
        trn_transport transport{};
        EXPECT_EQ(
            trn_vfio_user_transport(chip(n).c_str(), nullptr, &transport, why.data(), why.size()),
            0)
            << why.data();
        if (!reports) transport.account = nullptr;
        auto driver = std::make_unique<device>(transport);
        driver->check(trn_probe(*driver));
        driver->check(trn_reset_device(*driver));
        return driver;
    }

    std::string sockets() const { return scratch_ / "sockets"; }
    std::string chip(int n) const { return sockets() + "/chip" + std::to_string(n) + ".sock"; }
    std::string log() const { return text_of(scratch_ / "log"); }
    static std::string text_of(const std::string& file) {
        const auto bytes = read_file(file, 1 << 30);
        return {bytes.begin(), bytes.end()};
    }

    json output_of(const std::string& command) const {
        const auto done = run(command + " --connect " + sockets());
        EXPECT_EQ(done.status, 0) << done.output;
        return json::parse(done.output);
    }
    /// Processes of chip `n`.
    json processes(int n) const {
        const auto devices = output_of(TRN_LS_PROGRAM " --json");
        return devices.at(static_cast<std::size_t>(n)).at("neuron_processes");
    }

    scratch_folder scratch_;
    std::optional<background> platform_;
};

TEST_F(Accounts, OfAProcessAreSeenByTheTools) {
    start();
    const auto driver = attached(1);
    auto found = processes(1);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0]["pid"], getpid());
    EXPECT_TRUE(found[0]["neuroncore_ids"].is_null());  // it has run no program
    EXPECT_TRUE(found[0]["device_memory"].is_null());

    trn_program_options options{};
    options.core = 2;
    {
        const loaded_program program(*driver, set_of_sums, options);
        for (int n = 0; n < 3; ++n) program.run(limit_ns);
        const loaded_program waits(*driver, set_that_waits, options);
        EXPECT_THROW(waits.run(1'000'000), device_error);
        found = processes(1);
        ASSERT_EQ(found.size(), 1u);
        const auto& p = found[0];
        EXPECT_EQ(p["pid"], getpid());
        EXPECT_FALSE(p["name"].get<std::string>().empty());
        EXPECT_THAT(p["command"].get<std::string>(), testing::HasSubstr("Accounts"));
        EXPECT_EQ(p["device_memory"]["tensors"], 2 * 64 * 8 * 4);
        EXPECT_EQ(p["device_memory"]["model_shared_scratchpad"], 64 * 8 * 4);
        EXPECT_GT(p["device_memory"]["model_code"], 0);
        EXPECT_GT(p["device_memory"]["runtime_memory"], 0);
        EXPECT_GT(p["host_memory"]["dma_buffers"], 0);
        EXPECT_EQ(p["executions"]["success"], 3);
        EXPECT_EQ(p["executions"]["timeout"], 1);
        EXPECT_GT(p["latency_ns"]["p0"], 0);
        EXPECT_LE(p["latency_ns"]["p50"], p["latency_ns"]["p100"]);
        // Two physical cores are a logical one.
        EXPECT_EQ(p["neuroncore_ids"].size(), 1u);
        EXPECT_EQ(p["neuroncore_ids"][0].get<unsigned>() % 2, 1u);
        EXPECT_EQ(processes(0).size(), 0u);

        const auto report = output_of(TRN_MONITOR_PROGRAM " --count 1")["neuron_runtime_data"];
        ASSERT_EQ(report.size(), 1u);
        const auto& content = report[0]["report"];
        EXPECT_EQ(content["execution_stats"]["execution_summary"]["completed"], 3);
        EXPECT_GT(content["execution_stats"]["latency_stats"]["total_latency"]["p99"], 0);
        EXPECT_EQ(content["neuroncore_counters"]["neuroncores_in_use"].size(), 1u);
        const auto& used = content["memory_used"]["neuron_runtime_used_bytes"];
        EXPECT_GT(used["neuron_device"], 3 * 64 * 8 * 4);
        EXPECT_GT(used["host"], 0);
        const auto table = run(TRN_LS_PROGRAM " --connect " + sockets()).output;
        EXPECT_THAT(table, testing::HasSubstr("CORE IDS"));
        const auto screen = run(TRN_TOP_PROGRAM " --once --connect " + sockets()).output;
        EXPECT_THAT(screen, testing::HasSubstr("Tensors: 4.0KB"));
    }
    found = processes(1);
    EXPECT_EQ(found[0]["device_memory"]["tensors"], 0);  // unloaded; the process has its cores
    EXPECT_EQ(found[0]["neuroncore_ids"].size(), 1u);
}

TEST_F(Accounts, EndWithTheirProcess) {
    start();
    attached(1).reset();
    EXPECT_TRUE(eventually([&] { return processes(1).empty(); }));
}

TEST_F(Accounts, OfAHostileClientAreIgnoredAndOthersDoNotSuffer) {
    start();
    const auto driver = attached(1);
    const loaded_program program(*driver, set_of_sums, {});
    program.run(limit_ns);
    raw_peer peer(chip(0));
    ASSERT_TRUE(peer.hello().ok());
    constexpr std::size_t size = sizeof(trn_accounts);
    const auto honest = processes(1)[0];
    for (const std::size_t sent : {std::size_t{0}, std::size_t{1}, size, size + 1, size_t{4096}})
        for (const auto byte : std::vector<std::uint8_t>{0, 1, 0xff}) {
            EXPECT_TRUE(peer.request(account, std::vector<std::uint8_t>(sent, byte)).ok());
            // One process with both devices: it has the accounts of the honest client only.
            auto found = processes(0);
            ASSERT_EQ(found.size(), 1u);
            EXPECT_EQ(found[0]["neuroncore_ids"], json::array());
            found[0]["neuroncore_ids"] = honest["neuroncore_ids"];
            EXPECT_EQ(found[0], honest) << sent << " of " << int{byte};
        }
    EXPECT_EQ(peer.request(account, std::vector<std::uint8_t>(4097)).error, E2BIG);
    EXPECT_EQ(peer.request(account, std::vector<std::uint8_t>(1 << 20)).error, E2BIG);
    EXPECT_EQ(processes(1)[0]["executions"]["success"], 1);
    program.run(limit_ns);
    EXPECT_EQ(processes(1)[0]["executions"]["success"], 2);
}

TEST_F(Accounts, LeaveTheTraceAsItIs) {
    std::string traces[2];
    for (const bool reports : {false, true}) {
        const std::string file = scratch_ / (reports ? "with" : "without");
        std::filesystem::remove_all(sockets());
        start({"--time-policy", "lockstep", "--trace", file});
        {
            const auto driver = attached(0, reports);
            const loaded_program program(*driver, set_of_sums, {});
            for (int n = 0; n < 3; ++n) program.run(limit_ns);
            if (reports) {
                EXPECT_EQ(processes(0)[0]["executions"]["success"], 3);
            }
        }
        EXPECT_EQ(platform_->end(), 0) << log();
        platform_.reset();
        traces[reports] = text_of(file);
    }
    EXPECT_GT(traces[0].size(), 1000u);
    EXPECT_TRUE(traces[0] == traces[1]);
}

}  // namespace
}  // namespace trn::test
