// SPDX-License-Identifier: Apache-2.0
// A debugger that reads everything changes nothing: IEEE 1666-2011, 11.3.4.
#include <gmock/gmock.h>

#include <array>
#include <map>
#include <string>

#include "models/kinds.h"
#include "platform/framework/attach/control/debug_spaces.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/router.h"

namespace {

using namespace trn;

using numbers = std::map<std::string, std::uint64_t>;

class collected final : public statistics {
public:
    collected(numbers& all, std::string prefix) : all_(all), prefix_(std::move(prefix)) {}
    void count(std::string_view counter, std::uint64_t value) override {
        // Of the computer that simulates: a read maps a page of zeroes.
        if (counter.ends_with("bytes_resident")) return;
        all_[prefix_ + std::string(counter)] = value;
    }

private:
    numbers& all_;
    const std::string prefix_;
};

/// Statistics of all modules, values of all registers and the numbers of their accesses.
numbers state() {
    numbers all;
    for_each_module<publishes_statistics>([&](const auto& object, auto& module) {
        collected counts(all, std::string(object.name()) + " ");
        module.publish(counts);
    });
    std::map<std::string, unsigned> banks;
    for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
        const auto& table = bank.table();
        const std::string name = std::string(owner.name()) + " " + std::string(table.block);
        const std::string prefix = name + "#" + std::to_string(banks[name]++) + " ";
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            const std::string text = prefix + std::string(table.rows[row].name);
            all[text] = bank.value(row);
            for (std::size_t i = 0; i < bank.use(row).by_initiator.size(); ++i) {
                all[text + " reads " + std::to_string(i)] = bank.use(row).by_initiator[i].reads;
                all[text + " writes " + std::to_string(i)] = bank.use(row).by_initiator[i].writes;
            }
        }
    });
    all["misuse"] = misuse::reports();
    all["delta cycles"] = sc_core::sc_delta_count();
    all["until the next event"] =
        sc_core::sc_pending_activity() ? sc_core::sc_time_to_pending_activity().value() : 0;
    return all;
}

struct DebugReads : testing::Test {
    trn::system built{load_board("trn3-chip", kinds())};
    debug_spaces spaces;

    /// Reads the first 64 KiB of each range of each address map, in words, and of each target.
    std::uint64_t read_everything() {
        std::uint64_t done = 0;
        constexpr std::uint64_t most = 0x10000;
        const auto read = [&](address_space& space, std::uint64_t first, std::uint64_t size) {
            std::array<std::byte, 4> word{};
            for (std::uint64_t i = 0; i < std::min(size, most); i += word.size())
                done += space.peek(first + i, word);
        };
        for (const auto& name : spaces.names()) read(*spaces.find(name), 0, most);
        built.for_each<router>([&](router& map) {
            auto* const space = spaces.find(map.name());
            ASSERT_NE(space, nullptr) << map.name();
            for (const auto& range : map.ranges()) {
                read(*space, range.base, range.size);
                read(*space, range.base + range.size - 4, 4);
            }
        });
        return done;
    }
    void expect_no_change() {
        const auto before = state();
        ASSERT_GT(before.size(), 1000u);
        EXPECT_GT(read_everything(), 1'000'000u);
        const auto after = state();
        for (const auto& [name, value] : after) {
            const auto known = before.find(name);
            ASSERT_NE(known, before.end()) << name << " did not exist before";
            EXPECT_EQ(value, known->second) << name;
        }
    }
};

TEST_F(DebugReads, ChangeNoStateOfAChipBeforeItsFirstInstruction) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    expect_no_change();
}

TEST_F(DebugReads, ChangeNoStateOfAChipThatHasBooted) {
    sc_core::sc_start(sc_core::sc_time(3, sc_core::SC_MS));
    expect_no_change();
}

}  // namespace
