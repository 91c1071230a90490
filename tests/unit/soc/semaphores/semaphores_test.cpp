// SPDX-License-Identifier: Apache-2.0
#include "models/soc/semaphores/semaphores.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <functional>
#include <vector>

#include "models/misuse_rules.h"
#include "models/soc/semaphores/semaphores_regs.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::test;
namespace regs = semaphores_regs;
using regs::reg;

class owner : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<owner, 64> in{"in"};
    semaphores block{*this};
    explicit owner(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &owner::b_transport);
        in.register_transport_dbg(this, &owner::transport_dbg);
    }

private:
    void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& d) { block.access(p, d); }
    unsigned transport_dbg(tlm::tlm_generic_payload& p) { return block.debug_access(p); }
};

class SemaphoresTest : public testing::Test {
protected:
    void SetUp() override {
        cpu.out.bind(sems.in);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    void write(reg r, unsigned index, std::int32_t value) {
        EXPECT_EQ(cpu.write(regs::offset(r, index), value), tlm::TLM_OK_RESPONSE);
    }
    std::int32_t value(unsigned index) {
        return cpu.read<std::int32_t>(regs::offset(reg::semaphore_read, index));
    }
    tlm_driver cpu{"cpu"};
    owner sems{"sems"};
};

TEST(SemaphoresOfAPausedPlatformTest, CanBeSetBeforeTheFirstProcessRuns) {
    owner sems{"sems"};
    tlm_driver cpu{"cpu"};
    cpu.out.bind(sems.in);
    EXPECT_NO_THROW(sems.block.set(3, 1));
    EXPECT_NO_THROW(sems.block.set_event(3, 1));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(sems.block.value(3), 1);
    EXPECT_EQ(sems.block.event(3), 1u);
}

TEST_F(SemaphoresTest, KeepsItsRegisterContract) {
    register_contract(cpu, regs::table).check();
}

TEST_F(SemaphoresTest, SetIncrementAndDecrementShareOneValue) {
    write(reg::semaphore_set, 255, -5);
    write(reg::semaphore_increment, 255, 8);
    write(reg::semaphore_decrement, 255, 1);
    write(reg::semaphore_increment, 255, -10);
    EXPECT_EQ(value(255), -8);
    EXPECT_EQ(value(254), 0);
}

TEST_F(SemaphoresTest, OneBurstMayAccessSeveralSemaphores) {
    std::array<std::int32_t, 4> ones{1, 2, 3, 4};
    for (int i = 0; i < 3; ++i)
        cpu.access(tlm::TLM_WRITE_COMMAND, regs::offset(reg::semaphore_increment, 8), ones.data(),
                   16);
    EXPECT_EQ(value(8), 3);
    EXPECT_EQ(value(11), 12);
}

TEST_F(SemaphoresTest, OverflowWrapsAndIsCounted) {
    write(reg::semaphore_set, 0, 0x7fffffff);
    write(reg::semaphore_increment, 0, 1);
    EXPECT_EQ(value(0), std::numeric_limits<std::int32_t>::min());
    write(reg::semaphore_decrement, 0, 1);
    EXPECT_EQ(value(0), 0x7fffffff);
    write(reg::semaphore_decrement, 1, std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(misuse::count(misuse::semaphore_wrap, "sems"), 3u);
}

TEST_F(SemaphoresTest, IndexOutOfRangeIsCounted) {
    cpu.write<std::uint32_t>(regs::offset(reg::event, 255), 1);
    EXPECT_EQ(misuse::reports(), 0u);
    cpu.write<std::uint32_t>(regs::offset(reg::event, 255) + 4, 1);
    EXPECT_EQ(cpu.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    cpu.read(regs::offset(reg::semaphore_read) - 4);
    EXPECT_EQ(misuse::count(misuse::semaphore_out_of_range, "sems"), 2u);
    EXPECT_EQ(misuse::reports(), 2u);
}

TEST_F(SemaphoresTest, WriteWindowsAreWriteOnlyAndTheReadWindowIsReadOnly) {
    cpu.read(regs::offset(reg::semaphore_set, 0));
    EXPECT_EQ(cpu.response, tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(cpu.write(regs::offset(reg::semaphore_read, 0), 1), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(cpu.write(0x400, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);  // event 256 does not exist
}

TEST_F(SemaphoresTest, EventsHoldTheWrittenValue) {
    unsigned changes = 0;
    sems.block.on_change([&] { ++changes; });
    write(reg::event, 3, 1);
    EXPECT_EQ(changes, 1u);
    sems.block.on_change({});
    EXPECT_EQ(sems.block.event(3), 1u);
    EXPECT_EQ(cpu.read(regs::offset(reg::event, 3)), 1u);
}

TEST_F(SemaphoresTest, AProcessSeesAllPostsOfADeltaCycleTogether) {
    const auto method = [](const sc_core::sc_event& event, const std::function<void()>& body) {
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.set_sensitivity(&event);
        options.dont_initialize();
        sc_core::sc_spawn(body, sc_core::sc_gen_unique_name("method"), &options);
    };
    sc_core::sc_event early, late;
    std::vector<std::int32_t> seen;
    method(early, [&] { sems.block.add(1, 1); });
    method(early, [&] { late.notify(); });  // runs later in the same evaluation phase
    method(late, [&] { sems.block.add(1, 1); });
    method(sems.block.changed(), [&] { seen.push_back(sems.block.value(1)); });
    early.notify(sc_core::SC_ZERO_TIME);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
    EXPECT_EQ(seen, std::vector<std::int32_t>{2});
}

TEST_F(SemaphoresTest, ResetClearsEverything) {
    write(reg::event, 3, 1);
    write(reg::semaphore_set, 9, 4);
    sems.block.reset();
    EXPECT_EQ(sems.block.event(3), 0u);
    EXPECT_EQ(value(9), 0);
}

}  // namespace
