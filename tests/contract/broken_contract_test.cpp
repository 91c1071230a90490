// SPDX-License-Identifier: Apache-2.0
// Checks that each violation of the register contract is detected.
#include <gtest/gtest-spi.h>

#include "tests/support/register_contract.h"
#include "tests/unit/registers/effects_regs.h"
#include "tests/unit/registers/example_regs.h"

namespace {

using namespace trn;
using payload = tlm::tlm_generic_payload;
using example_regs::reg;

class BrokenContract : public testing::Test {
protected:
    using transport = std::function<void(payload&, sc_core::sc_time&)>;
    using debug_transport = std::function<unsigned(payload&)>;

    /// Number of contract checks that fail for a bank accessed through these transports.
    int failures(const transport& access, const debug_transport& debug) {
        testing::TestPartResultArray results;
        {
            testing::ScopedFakeTestPartResultReporter reporter(
                testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
            test::register_contract(example_regs::table, access, debug).check();
        }
        return results.size();
    }
    int failures(const transport& access) {
        return failures(access, [this](payload& p) { return bank.debug_access(p); });
    }
    bool at(const payload& p, reg r) const { return p.get_address() == example_regs::offset(r); }

    register_bank bank{example_regs::table};
};

TEST_F(BrokenContract, IntactBankPasses) {
    EXPECT_EQ(failures([this](auto& p, auto& d) { bank.access(p, d); }), 0);
}
TEST_F(BrokenContract, WrongResetValueIsDetected) {
    bank.set(reg::status, 7);
    EXPECT_GT(failures([this](auto& p, auto& d) { bank.access(p, d); }), 0);
}
TEST_F(BrokenContract, LostWriteIsDetected) {
    EXPECT_GT(failures([this](auto& p, auto& d) {
                  if (p.is_write() && at(p, reg::q_base))
                      return p.set_response_status(tlm::TLM_OK_RESPONSE);
                  bank.access(p, d);
              }),
              0);
}
TEST_F(BrokenContract, TwoRegistersSharingAValueAreDetected) {
    EXPECT_GT(failures([this](auto& p, auto& d) {
                  bank.access(p, d);
                  bank.set(reg::plain, bank.get(reg::plain, 1), 7);
              }),
              0);
}
TEST_F(BrokenContract, AnsweringHoleIsDetected) {
    EXPECT_GT(failures([this](auto& p, auto& d) {
                  bank.access(p, d);
                  if (p.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE)
                      p.set_response_status(tlm::TLM_OK_RESPONSE);
              }),
              0);
}
TEST_F(BrokenContract, AcceptedNarrowAccessIsDetected) {
    EXPECT_GT(failures([this](auto& p, auto& d) {
                  bank.access(p, d);
                  if (p.get_response_status() == tlm::TLM_BURST_ERROR_RESPONSE)
                      p.set_response_status(tlm::TLM_OK_RESPONSE);
              }),
              0);
}
TEST_F(BrokenContract, SilentWriteToAReadOnlyRegisterIsDetected) {
    EXPECT_GT(failures([this](auto& p, auto& d) {
                  bank.access(p, d);
                  if (p.get_response_status() == tlm::TLM_COMMAND_ERROR_RESPONSE)
                      p.set_response_status(tlm::TLM_OK_RESPONSE);
              }),
              0);
}
TEST(BrokenEffects, AreDetected) {
    const auto failures = [](const std::function<void(register_bank&, payload&)>& broken) {
        register_bank bank(effects_regs::table);
        testing::TestPartResultArray results;
        testing::ScopedFakeTestPartResultReporter reporter(
            testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
        test::register_contract(
            effects_regs::table,
            [&](payload& p, sc_core::sc_time& delay) {
                bank.access(p, delay);
                broken(bank, p);
            },
            [&](payload& p) { return bank.debug_access(p); })
            .check();
        return results.size();
    };
    const auto after = [](effects_regs::reg r, tlm::tlm_command command, std::uint64_t value) {
        return [=](register_bank& bank, payload& p) {
            if (p.get_command() == command && p.is_response_ok() &&
                p.get_address() == effects_regs::offset(r))
                bank.set(r, value);
        };
    };
    using enum effects_regs::reg;
    EXPECT_EQ(failures([](register_bank&, payload&) {}), 0);
    for (const auto r : {one_to_toggle, zero_to_set, zero_to_toggle, clear, set, once})
        EXPECT_GT(failures(after(r, tlm::TLM_WRITE_COMMAND, 0x1234)), 0) << static_cast<int>(r);
    for (const auto r : {read_clear, read_set})
        EXPECT_GT(failures(after(r, tlm::TLM_READ_COMMAND, 0x1234)), 0) << static_cast<int>(r);
}
TEST_F(BrokenContract, DebugReadWithASideEffectIsDetected) {
    EXPECT_GT(failures([this](auto& p, auto& d) { bank.access(p, d); },
                       [this](payload& p) {
                           const auto done = bank.debug_access(p);
                           if (at(p, reg::events)) bank.set(reg::events, 0);
                           return done;
                       }),
              0);
}

}  // namespace
