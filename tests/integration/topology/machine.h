// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/kinds.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/host/values/pattern.h"
#include "tests/support/program.h"
#include "tests/support/scratch_folder.h"
#include "trn/misc_ram_regs.h"

namespace trn::test {

/// A board of this folder with text replacements: swapped cables, missing chips.
class machine : public testing::Test {
protected:
    using edits = std::vector<std::pair<std::string, std::string>>;

    void build(const std::string& board, const edits& changes = {}) {
        log::replace_sink({});
        std::ifstream in("tests/integration/topology/" + board);
        ASSERT_TRUE(in) << board;
        std::string text{std::istreambuf_iterator<char>(in), {}};
        for (const auto& [from, to] : changes) {
            const auto at = text.find(from);
            ASSERT_NE(at, std::string::npos) << from;
            text.replace(at, from.size(), to);
        }
        const auto file = folder_ / "board.yaml";
        std::ofstream(file) << text;
        platform_ = std::make_unique<platform>(kinds(), platform_options{.board = file});
        platform_->methods().consoles().listen([this](auto module, auto printed) {
            consoles_[std::string(module.substr(0, module.find('.')))] += printed;
        });
    }
    void run_ms(double ms) {
        run_loop::goal goal{"the test", "time to pass"};
        goal.until = sc_core::sc_time_stamp() + sc_core::sc_time(ms, sc_core::SC_MS);
        platform_->loop().run(std::move(goal));
    }
    /// Boots all chips. \param limit_ms of simulated time
    void boot(double limit_ms = 100) {
        const auto how = platform_->boot(sc_core::sc_time(limit_ms, sc_core::SC_MS));
        ASSERT_EQ(how.cause, stop_reason::kind::condition) << how.text;
    }
    void inject(const std::string& module, const std::string& fault,
                const nlohmann::json& arguments = nlohmann::json::object()) {
        platform_->methods().call("inject",
                                  {{"module", module}, {"fault", fault}, {"arguments", arguments}});
    }

    /// The UART output of a chip so far.
    const std::string& console(unsigned chip) { return consoles_["chip" + std::to_string(chip)]; }
    std::uint32_t misc(unsigned chip, std::uint64_t offset) {
        return static_cast<std::uint32_t>(
            peek("chip" + std::to_string(chip) + ".management.misc_ram.in", offset));
    }
    std::uint64_t peek(const std::string& space, std::uint64_t address) {
        return platform_->methods()
            .call("peek", {{"space", space}, {"address", address}, {"size", 4u}})
            .at("value");
    }
    bool ready(unsigned chip) {
        return misc(chip, TRN_MISC_RAM_ROUTING_ID_OFFSET) != TRN_MISC_RAM_ROUTING_ID_RESET;
    }
    trn_topology topology_of(unsigned chip) {
        std::array<std::uint32_t, TRN_TOPOLOGY_WORDS> words{};
        for (unsigned n = 0; n < words.size(); ++n)
            words[n] = misc(chip, TRN_TOPOLOGY_OFFSET + 4 * n);
        trn_topology found{};
        EXPECT_TRUE(trn_topology_decode(words.data(), &found));
        return found;
    }
    /// Errors of this kind in the firmware's log (doc/guide-firmware.md): detail and value.
    std::vector<std::pair<unsigned, std::uint64_t>> errors(unsigned chip, unsigned code) {
        std::vector<std::pair<unsigned, std::uint64_t>> found;
        const auto count = misc(chip, 0x908);
        for (unsigned n = 0; n < count && n < 64; ++n) {
            const std::uint64_t at = 0x910 + n * 16;
            const auto word = misc(chip, at + 4);
            if ((word & 0xffff) == code)
                found.emplace_back(word >> 16,
                                   std::uint64_t{misc(chip, at + 12)} << 32 | misc(chip, at + 8));
        }
        return found;
    }

    /// Runs one program per host at the same time; each may use several chips.
    void drive(const std::vector<std::pair<unsigned, std::function<void()>>>& programs) {
        for (const auto& [chip, work] : programs) host(chip).run(work);
        run_loop::goal goal{"the test", "all hosts"};
        goal.condition = [&] {
            for (const auto& [chip, cpu] : hosts_)
                if (!cpu->idle()) return false;
            return true;
        };
        platform_->loop().run(std::move(goal));
        for (auto& [chip, cpu] : hosts_) cpu->rethrow();
    }
    /// The host CPU that a chip's function is attached to.
    host_cpu& host(unsigned chip) {
        auto& made = hosts_[chip];
        const auto name = "chip" + std::to_string(chip);
        for (const auto& function : platform_->functions())
            if (!made && function.name == name)
                made = std::make_unique<host_cpu>(*function.port, host_cpu::config{});
        if (!made) throw std::runtime_error("no " + name);
        return *made;
    }

    const scratch_folder folder_;
    std::unique_ptr<platform> platform_;
    std::map<unsigned, std::unique_ptr<host_cpu>> hosts_;
    std::map<std::string, std::string> consoles_;
};

}  // namespace trn::test
