// SPDX-License-Identifier: Apache-2.0
// Effects of accesses as IP-XACT names them.
#include <gtest/gtest.h>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/unit/registers/effects_regs.h"

namespace {

using namespace trn;
using effects_regs::reg;

class RegisterEffects : public testing::Test {
protected:
    std::uint32_t access(tlm::tlm_command command, reg r, std::uint32_t value, unsigned index) {
        tlm::tlm_generic_payload payload;
        sc_core::sc_time delay;
        set_access(payload, command, effects_regs::offset(r, index), &value, 4);
        bank.access(payload, delay);
        EXPECT_TRUE(payload.is_response_ok()) << payload.get_response_string();
        return value;
    }
    /// Writes, and returns the value that is stored afterwards.
    std::uint64_t write(reg r, std::uint32_t value, unsigned index = 0) {
        access(tlm::TLM_WRITE_COMMAND, r, value, index);
        return bank.get(r, index);
    }
    std::uint32_t read(reg r) { return access(tlm::TLM_READ_COMMAND, r, 0, 0); }

    register_bank bank{effects_regs::table};
};

TEST_F(RegisterEffects, WrittenOnesClearSetAndToggle) {
    EXPECT_EQ(write(reg::one_to_clear, 0x0f), 0xf0u);
    EXPECT_EQ(write(reg::one_to_set, 0x0f), 0xffu);
    EXPECT_EQ(write(reg::one_to_toggle, 0x3c), 0xccu);
    EXPECT_EQ(write(reg::toggle_hidden, 0x3), 0x3u);
}
TEST_F(RegisterEffects, WrittenZerosClearSetAndToggle) {
    EXPECT_EQ(write(reg::zero_to_clear, ~0x0fu), 0xf0u);
    EXPECT_EQ(write(reg::zero_to_set, ~0x0fu), 0xffu);
    EXPECT_EQ(write(reg::zero_to_toggle, ~0x3cu), 0xccu);
}
TEST_F(RegisterEffects, AnyWriteClearsOrSetsAllBits) {
    EXPECT_EQ(write(reg::clear, 0x3), 0u);
    EXPECT_EQ(write(reg::set, 0x3), 0xffff'ffffu);
}
TEST_F(RegisterEffects, AModelDecidesWhatAWriteModifies) {
    EXPECT_EQ(write(reg::modify, 9), 5u);
    bank.on_write(reg::modify, [&](register_access& a) { bank[reg::modify] = a.old + a.written; });
    EXPECT_EQ(write(reg::modify, 9), 14u);
}
TEST_F(RegisterEffects, ReadsClearAndSet) {
    EXPECT_EQ(read(reg::read_clear), 0xffu);
    EXPECT_EQ(read(reg::read_clear), 0u);
    EXPECT_EQ(read(reg::read_set), 0xf0u);
    EXPECT_EQ(read(reg::read_set), 0xffff'ffffu);
    EXPECT_EQ(write(reg::read_clear, 5), 5u);
}
TEST_F(RegisterEffects, AHookOfAReadOverwritesItsEffect) {
    bank.on_read(reg::read_clear, [&](register_access&) { bank[reg::read_clear] = 0x5; });
    bank.on_read(reg::read_set, [&](register_access&) { bank[reg::read_set] = 0x3; });
    EXPECT_EQ(read(reg::read_clear), 0xffu);
    EXPECT_EQ(bank[reg::read_clear], 0x5u);
    EXPECT_EQ(read(reg::read_clear), 0x5u);
    EXPECT_EQ(bank[reg::read_clear], 0x5u);
    EXPECT_EQ(read(reg::read_set), 0xf0u);
    EXPECT_EQ(bank[reg::read_set], 0x3u);
}
TEST_F(RegisterEffects, AReadThatAHookRefusesHasNoEffect) {
    bank.on_read(reg::read_clear,
                 [&](register_access& a) { a.response = tlm::TLM_GENERIC_ERROR_RESPONSE; });
    tlm::tlm_generic_payload payload;
    sc_core::sc_time delay;
    std::uint32_t value = 0;
    set_access(payload, tlm::TLM_READ_COMMAND, effects_regs::offset(reg::read_clear), &value, 4);
    bank.access(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(bank[reg::read_clear], 0xffu);
}
TEST_F(RegisterEffects, OnlyTheFirstWriteHasAnEffectUntilAReset) {
    EXPECT_EQ(write(reg::once, 7), 7u);
    EXPECT_EQ(write(reg::once, 8), 7u);
    EXPECT_EQ(write(reg::words, 1, 2), 1u);
    EXPECT_EQ(write(reg::words, 2, 3), 2u);
    EXPECT_EQ(write(reg::words, 3, 2), 1u);
    bank.reset();
    EXPECT_EQ(bank.get(reg::once), 0x11u);
    EXPECT_EQ(write(reg::once, 8), 8u);
}
TEST_F(RegisterEffects, FieldsOfARegisterHaveEffectsOfTheirOwn) {
    EXPECT_EQ(write(reg::mixed, 0x8000'0f34), 0x8000'3334u);
    EXPECT_EQ(read(reg::mixed), 0x8000'3334u);
    EXPECT_EQ(write(reg::mixed, 0x0000'0156), 0x80ff'3256u);
}
TEST_F(RegisterEffects, NeutralValuesKeepTheOtherBits) {
    using effects_regs::rows;
    for (const reg each : {reg::one_to_clear, reg::one_to_set, reg::one_to_toggle,
                           reg::zero_to_clear, reg::zero_to_set, reg::zero_to_toggle}) {
        const auto& row = rows[static_cast<std::size_t>(each)];
        EXPECT_EQ(write(each, static_cast<std::uint32_t>(row.bits.neutral(row.reset))), row.reset)
            << row.name;
    }
}

}  // namespace
