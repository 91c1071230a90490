// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/register_bank.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/registers/misuse_rules.h"
#include "tests/unit/registers/example_regs.h"

namespace {

using namespace trn;
using example_regs::offset;
using example_regs::reg;
using namespace tlm;

class RegisterBank : public testing::Test {
protected:
    tlm_response_status access(tlm_command command, std::uint64_t address, void* data,
                               unsigned length, unsigned char* enables = nullptr) {
        tlm_generic_payload p;
        prepare(p, command, address, data, length);
        p.set_byte_enable_ptr(enables);
        p.set_byte_enable_length(enables != nullptr ? length : 0);
        bank.access(p, delay);
        return p.get_response_status();
    }
    static void prepare(tlm_generic_payload& p, tlm_command command, std::uint64_t address,
                        void* data, unsigned length) {
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(static_cast<unsigned char*>(data));
        p.set_data_length(length);
        p.set_streaming_width(length);
    }
    tlm_response_status write(std::uint64_t address, std::uint32_t value) {
        return access(TLM_WRITE_COMMAND, address, &value, 4);
    }
    std::uint32_t read(std::uint64_t address) {
        std::uint32_t value = 0;
        EXPECT_EQ(access(TLM_READ_COMMAND, address, &value, 4), TLM_OK_RESPONSE);
        return value;
    }

    sc_core::sc_time delay;
    register_bank bank{example_regs::table, {.instances = 4, .stride = 0x100000}};
};

TEST_F(RegisterBank, WriteHookReceivesOffsetValueAndTime) {
    unsigned calls = 0;
    bank.on_write(reg::q_tail, [&](register_access& a) {
        ++calls;
        EXPECT_EQ(a.instance, 2u);
        EXPECT_EQ(a.index, 1u);
        EXPECT_EQ(a.written, 7u);
        EXPECT_EQ(a.value, 7u);
        EXPECT_EQ(a.old, 0u);
        a.delay += sc_core::sc_time(5, sc_core::SC_NS);
    });
    EXPECT_EQ(write(0x200000 + offset(reg::q_tail, 1), 7), TLM_OK_RESPONSE);
    EXPECT_EQ(calls, 1u);
    EXPECT_EQ(delay, sc_core::sc_time(5, sc_core::SC_NS));
    EXPECT_EQ(bank.get(reg::q_tail, 1, 2), 7u);
}

TEST_F(RegisterBank, ReadHookChangesBusReadsAndIsSkippedByDebugReads) {
    unsigned calls = 0;
    bank.on_read(reg::fifo, [&](register_access& a) { a.value = ++calls; });
    EXPECT_EQ(read(offset(reg::fifo)), 1u);
    EXPECT_EQ(read(offset(reg::fifo)), 2u);
    std::uint32_t value = 99;
    tlm_generic_payload p;
    prepare(p, TLM_READ_COMMAND, offset(reg::fifo), &value, 4);
    EXPECT_EQ(bank.debug_access(p), 4u);
    EXPECT_EQ(value, 0u);
    EXPECT_EQ(calls, 2u);
}

TEST_F(RegisterBank, ViewGivesBusDebuggerAndModelTheSameValue) {
    bank.view(reg::status, [](unsigned instance, unsigned) { return 40u + instance; });
    EXPECT_EQ(read(0x100000 + offset(reg::status)), 41u);
    EXPECT_EQ(bank.get(reg::status, 0, 3), 43u);
    std::uint32_t value = 0;
    tlm_generic_payload p;
    prepare(p, TLM_READ_COMMAND, offset(reg::status), &value, 4);
    EXPECT_EQ(bank.debug_access(p), 4u);
    EXPECT_EQ(value, 40u);
}

TEST_F(RegisterBank, ViewHasTheTimeOfTheAccess) {
    const auto nanoseconds = [](const sc_core::sc_time& time) {
        return static_cast<std::uint64_t>(time / sc_core::sc_time(1, sc_core::SC_NS));
    };
    bank.view(reg::status, [=](unsigned, unsigned, const sc_core::sc_time& ahead) {
        return nanoseconds(ahead);
    });
    delay = sc_core::sc_time(7, sc_core::SC_NS);
    EXPECT_EQ(read(offset(reg::status)), 7u);
    EXPECT_EQ(bank.get(reg::status), 0u);
    std::uint32_t value = 1;
    tlm_generic_payload p;
    prepare(p, TLM_READ_COMMAND, offset(reg::status), &value, 4);
    bank.debug_access(p);
    EXPECT_EQ(value, 0u);
}

TEST_F(RegisterBank, HookCanRefuseAnAccess) {
    bank.on_write(reg::doorbell,
                  [](register_access& a) { a.response = TLM_GENERIC_ERROR_RESPONSE; });
    EXPECT_EQ(write(offset(reg::doorbell), 1), TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(write(offset(reg::doorbell), 1), TLM_GENERIC_ERROR_RESPONSE);
}

TEST_F(RegisterBank, VersionChangesWithTheValueOnly) {
    write(offset(reg::plain), 5);
    const auto version = bank.changes(0);
    write(offset(reg::plain), 5);
    EXPECT_EQ(bank.changes(0), version);
    write(offset(reg::plain), 6);
    EXPECT_GT(bank.changes(0), version);
}

TEST_F(RegisterBank, HookAddedAfterTheFirstAccessIsCalled) {
    write(offset(reg::control), 1);
    EXPECT_EQ(read(offset(reg::control)) & 1, 1u);
    unsigned writes = 0, reads = 0;
    bank.on_write(reg::control, [&](register_access&) { ++writes; });
    bank.on_read(reg::control, [&](register_access&) { ++reads; });
    write(offset(reg::control), 0);
    EXPECT_EQ(read(offset(reg::control)) & 1, 0u);
    EXPECT_EQ(writes, 1u);
    EXPECT_EQ(reads, 1u);
}

TEST_F(RegisterBank, RegisterWithAWriteHookIsReadAndCountedLikeOthers) {
    std::uint64_t old = 0, value = 0;
    bank.on_write(reg::plain, [&](register_access& a) {
        old = a.old;
        value = a.value;
    });
    for (const std::uint32_t each : {5u, 6u}) {
        write(offset(reg::plain, 3), each);
        EXPECT_EQ(read(offset(reg::plain, 3)), each);
    }
    EXPECT_EQ(old, 5u);
    EXPECT_EQ(value, 6u);
    const auto use =
        bank.use(static_cast<std::size_t>(reg::plain)).counts_of(initiator::kind::tool);
    EXPECT_EQ(use.writes, 2u);
    EXPECT_EQ(use.reads, 2u);
}

TEST_F(RegisterBank, IgnoredCommandChangesNothing) {
    write(offset(reg::plain), 5);
    std::uint32_t data = 7;
    EXPECT_EQ(access(TLM_IGNORE_COMMAND, offset(reg::plain), &data, 4), TLM_OK_RESPONSE);
    EXPECT_EQ(data, 7u);
    EXPECT_EQ(read(offset(reg::plain)), 5u);
}

TEST_F(RegisterBank, InstanceIsAllocatedByItsFirstWriteOnly) {
    EXPECT_EQ(read(0x300000 + offset(reg::q_selector, 5)), 0xffffffffu);
    EXPECT_FALSE(bank.allocated(3));
    EXPECT_EQ(write(0x300000 + offset(reg::q_selector, 5), 1), TLM_OK_RESPONSE);
    EXPECT_TRUE(bank.allocated(3));
    EXPECT_EQ(read(0x300000 + offset(reg::q_selector, 4)), 0xffffffffu);
    EXPECT_FALSE(bank.allocated(0));
    bank.reset(3);
    EXPECT_FALSE(bank.allocated(3));
    EXPECT_EQ(read(0x300000 + offset(reg::q_selector, 5)), 0xffffffffu);
}

TEST_F(RegisterBank, LongPayloadIsSplitIntoRegisterAccesses) {
    std::array<std::uint32_t, 4> out{1, 2, 3, 4}, in{};
    EXPECT_EQ(access(TLM_WRITE_COMMAND, offset(reg::plain, 2), out.data(), 16), TLM_OK_RESPONSE);
    EXPECT_EQ(bank.get(reg::plain, 5), 4u);
    EXPECT_EQ(access(TLM_READ_COMMAND, offset(reg::plain, 2), in.data(), 16), TLM_OK_RESPONSE);
    EXPECT_EQ(in, out);
    EXPECT_EQ(access(TLM_WRITE_COMMAND, offset(reg::plain, 6), out.data(), 16),
              TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(bank.get(reg::plain, 7), 2u);  // registers before the hole were written
    EXPECT_EQ(access(TLM_READ_COMMAND, offset(reg::plain, 2), in.data(), 6),
              TLM_BURST_ERROR_RESPONSE);
}

TEST_F(RegisterBank, ByteEnablesSelectWholeRegistersOnly) {
    std::array<std::uint32_t, 2> out{1, 2};
    std::array<unsigned char, 8> enables{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    EXPECT_EQ(access(TLM_WRITE_COMMAND, offset(reg::plain), out.data(), 8, enables.data()),
              TLM_OK_RESPONSE);
    EXPECT_EQ(bank.get(reg::plain, 0), 0u);
    EXPECT_EQ(bank.get(reg::plain, 1), 2u);
    enables[5] = 0;
    EXPECT_EQ(access(TLM_WRITE_COMMAND, offset(reg::plain), out.data(), 8, enables.data()),
              TLM_BYTE_ENABLE_ERROR_RESPONSE);
}

TEST_F(RegisterBank, ByteEnablesWithoutLengthAreRefused) {
    std::uint32_t value = 5;
    unsigned char enable = TLM_BYTE_ENABLED;
    for (const auto command : {TLM_WRITE_COMMAND, TLM_READ_COMMAND}) {
        tlm_generic_payload p;
        prepare(p, command, offset(reg::plain), &value, 4);
        p.set_byte_enable_ptr(&enable);
        p.set_byte_enable_length(0);
        bank.access(p, delay);
        EXPECT_EQ(p.get_response_status(), TLM_BYTE_ENABLE_ERROR_RESPONSE);
    }
    EXPECT_EQ(bank.get(reg::plain), 0u);
}

TEST_F(RegisterBank, GapsBetweenAndAfterInstancesAnswerErrors) {
    std::uint32_t value = 0;
    for (const std::uint64_t address : {0x4000ull, 0xffffcull, 0x400000ull, ~0ull - 3})
        EXPECT_EQ(access(TLM_READ_COMMAND, address, &value, 4), TLM_ADDRESS_ERROR_RESPONSE)
            << address;
    EXPECT_EQ(access(TLM_READ_COMMAND, ~0ull - 1, &value, 4), TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(TLM_READ_COMMAND, 0, &value, 0), TLM_BURST_ERROR_RESPONSE);
}

TEST_F(RegisterBank, OnlyReadsAndWritesAccessAnything) {
    constexpr auto unknown = static_cast<tlm_command>(TLM_IGNORE_COMMAND + 1);
    bank.set(reg::plain, 7);
    for (const unsigned length : {4u, 8u}) {
        std::uint64_t value = 5;
        EXPECT_EQ(access(TLM_IGNORE_COMMAND, offset(reg::plain), nullptr, length), TLM_OK_RESPONSE);
        EXPECT_EQ(access(unknown, offset(reg::plain), &value, length), TLM_COMMAND_ERROR_RESPONSE);
        tlm_generic_payload p;
        prepare(p, TLM_IGNORE_COMMAND, offset(reg::plain), &value, length);
        EXPECT_EQ(bank.debug_access(p), 0u);
        EXPECT_EQ(value, 5u);
    }
    EXPECT_EQ(bank.get(reg::plain), 7u);
}

TEST_F(RegisterBank, FieldsReferToTheirRegister) {
    EXPECT_EQ(bank.get(example_regs::control::version), 3u);
    EXPECT_EQ(bank.get(example_regs::control::mode), example_regs::control::mode_fast);
    bank.set(example_regs::control::mode, example_regs::control::mode_turbo);
    EXPECT_EQ(bank[reg::control], 0x3000020u);
    bank[reg::control] = 1;
    EXPECT_EQ(bank[reg::control].field(example_regs::control::enable), 1u);
}

TEST_F(RegisterBank, SecretBitsReadZeroAndReadOnlyBitsIgnoreWrites) {
    EXPECT_EQ(write(offset(reg::control), 0xffffffff), TLM_OK_RESPONSE);
    EXPECT_EQ(read(offset(reg::control)), 0x0300ffffu);
    EXPECT_EQ(bank[reg::control], 0x03ffffffu);
}

TEST_F(RegisterBank, RecordsRegistersTouchedByTheGuest) {
    read(offset(reg::plain, 3));
    write(0x100000 + offset(reg::doorbell), 1);
    bank.set(reg::mask_set, 1);
    for (std::size_t row = 0; row < example_regs::table.rows.size(); ++row) {
        const auto r = static_cast<reg>(row);
        EXPECT_EQ(bank.touched(row), r == reg::plain || r == reg::doorbell) << row;
    }
}

TEST_F(RegisterBank, AccessLatencyIsAnnotatedPerRegister) {
    register_bank slow(example_regs::table, {.latency = sc_core::sc_time(10, sc_core::SC_NS)});
    std::array<std::uint32_t, 3> words{};
    tlm_generic_payload p;
    prepare(p, TLM_READ_COMMAND, offset(reg::plain), words.data(), 12);
    slow.access(p, delay);
    EXPECT_EQ(delay, sc_core::sc_time(30, sc_core::SC_NS));
    for (const auto command : {TLM_READ_COMMAND, TLM_WRITE_COMMAND, TLM_WRITE_COMMAND}) {
        prepare(p, command, offset(reg::plain), words.data(), 4);
        slow.access(p, delay);
    }
    EXPECT_EQ(delay, sc_core::sc_time(60, sc_core::SC_NS));
}

TEST_F(RegisterBank, GuestMistakeIsOneWarningAndWarningsAreBounded) {
    std::vector<std::string> lines;
    log::replace_sink([&](const log::record& r) { lines.push_back(log::to_line(r)); });
    write(offset(reg::status), 1);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(
        lines[0],
        "[    0.000000 ms] warning example: misuse TRN-REG-001 write-to-read-only: a register "
        "without writable bits was written (write of 4 bytes at example offset 0x4)");
    for (int i = 0; i < 1000; ++i) write(offset(reg::status), 1);
    EXPECT_EQ(lines.size(), 3u);
    EXPECT_EQ(misuse::count(misuse::write_to_read_only, "example"), 1001u);
}

TEST_F(RegisterBank, EachInvalidAccessTypeHasItsOwnRule) {
    std::uint32_t word = 0;
    access(TLM_READ_COMMAND, offset(reg::trigger), &word, 4);
    EXPECT_EQ(misuse::count(misuse::read_of_write_only), 1u);
    access(TLM_READ_COMMAND, offset(reg::plain), &word, 2);
    access(TLM_READ_COMMAND, offset(reg::plain) + 2, &word, 4);
    EXPECT_EQ(misuse::count(misuse::wrong_width), 2u);
    access(TLM_READ_COMMAND, 0x4000, &word, 4);
    EXPECT_EQ(misuse::count(misuse::no_such_register), 1u);
    EXPECT_EQ(misuse::reports(), 4u);
}

struct two_banks : sc_core::sc_module {
    register_bank first{example_regs::table};
    register_bank second{example_regs::table, {.instances = 2}};
    explicit two_banks(sc_core::sc_module_name name) : sc_module(name) {}
};

TEST(RegisterReport, ListsTouchedRegistersLeastCertainFirst) {
    two_banks block("block");
    std::vector<const register_bank*> found;
    for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
        EXPECT_STREQ(owner.name(), "block");
        EXPECT_EQ(bank.name(), "block");
        found.push_back(&bank);
    });
    EXPECT_EQ(found, (std::vector<const register_bank*>{&block.first, &block.second}));

    std::uint32_t word = 0;
    sc_core::sc_time delay;
    tlm_generic_payload p;
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    p.set_data_length(4);
    p.set_streaming_width(4);
    p.set_command(TLM_WRITE_COMMAND);
    for (const auto r : {reg::cause, reg::trigger, reg::control}) {
        p.set_address(offset(r));
        block.first.access(p, delay);
    }
    const auto list = touched_registers();
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[0].name, "TRIGGER");  // a stub
    EXPECT_EQ(list[1].name, "CONTROL");  // invented
    EXPECT_EQ(list[2].name, "CAUSE");    // known by the driver
}

TEST(RegisterReport, DestroyedBankIsNotListed) {
    { two_banks block("block"); }
    for_each_bank([](const auto&, auto&) { FAIL(); });
}

TEST(RegisterRam, HolesOfARamBlockAcceptAnyWidthAndKeepTheirContentOverReset) {
    static constexpr std::array rows{
        register_row{"WORD", 8, {}, 1, 0, 5, {~0ull, ~0ull, 0, 0, 0}, {}, {}, ""}};
    static constexpr register_table table{"ram", 4, 0x100, hole_policy::ram, rows, {}, 1};
    register_bank bank(table);
    sc_core::sc_time delay;
    auto move = [&](tlm_command command, std::uint64_t address, void* data, unsigned length) {
        tlm_generic_payload p;
        p.set_command(command);
        p.set_address(address);
        p.set_data_ptr(static_cast<unsigned char*>(data));
        p.set_data_length(length);
        p.set_streaming_width(length);
        bank.access(p, delay);
        return p.get_response_status();
    };
    char text[] = "abcdefg";
    EXPECT_EQ(move(TLM_WRITE_COMMAND, 0x11, text, 7), TLM_OK_RESPONSE);
    EXPECT_EQ(move(TLM_WRITE_COMMAND, 6, text, 4), TLM_BURST_ERROR_RESPONSE);  // into half of WORD
    EXPECT_EQ(move(TLM_WRITE_COMMAND, 0xfe, text, 4), TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(bank.get(example_regs::reg{}), 5u);
    bank.reset();
    char back[8] = {};
    EXPECT_EQ(move(TLM_READ_COMMAND, 0x11, back, 7), TLM_OK_RESPONSE);
    EXPECT_STREQ(back, "abcdefg");
}

}  // namespace
