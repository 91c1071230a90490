// SPDX-License-Identifier: Apache-2.0
#include "models/soc/flash/flash.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <stdexcept>

#include "models/soc/flash/flash_regs.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/irq_probe.h"
#include "tests/support/register_contract.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::flash_regs;
using sc_core::SC_MS;
using sc_core::sc_start;
using sc_core::sc_time;
using sc_core::SC_ZERO_TIME;

struct FlashTest : testing::Test {
    test::tlm_driver cpu{"cpu"};
    test::tlm_driver reader{"reader"};
    flash dut{"dut", {.size = 64 << 10}};
    test::irq_probe irq{dut.irq};

    FlashTest() {
        cpu.out.bind(dut.in);
        reader.out.bind(dut.window);
        sc_start(SC_ZERO_TIME);
    }
    void write(reg r, std::uint64_t value, unsigned index = 0) {
        EXPECT_EQ(cpu.write(offset(r, index), static_cast<std::uint32_t>(value)),
                  tlm::TLM_OK_RESPONSE);
    }
    std::uint32_t events() { return cpu.read(offset(reg::events)); }
    void command(std::uint64_t opcode, std::uint64_t address, std::uint64_t length = 0) {
        write(reg::control, control::write_enable.mask() | control::irq_enable.mask());
        write(reg::address, address);
        write(reg::length, length);
        write(reg::command, opcode);
    }
};

TEST_F(FlashTest, KeepsItsRegisterContract) {
    test::register_contract(cpu, table).check();
}

TEST_F(FlashTest, IsErasedWithoutAnImageAndItsWindowIsReadOnly) {
    EXPECT_EQ(reader.read<std::uint64_t>(0x1230), ~0ull);
    EXPECT_EQ(reader.write<std::uint32_t>(0, 0), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(reader.read(0), ~0u);
    reader.read<std::uint32_t>((64 << 10) - 2);
    EXPECT_EQ(reader.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(FlashTest, ProgramsAPageAndOnlyClearsBits) {
    write(reg::page, 0x11223344, 0);
    write(reg::page, 0x000000f0, 1);
    command(command::opcode_program_page, 0x1010, 5);
    EXPECT_EQ(cpu.read(offset(reg::status)), status::busy.mask());
    reader.read(0x1010);
    EXPECT_EQ(reader.response, tlm::TLM_GENERIC_ERROR_RESPONSE);  // reads are refused while busy
    sc_start(sc_time(1, SC_MS));
    EXPECT_TRUE(irq.level());
    EXPECT_EQ(events(), events::done.mask());
    EXPECT_EQ(reader.read(0x1010), 0x11223344u);
    EXPECT_EQ(reader.read(0x1014), 0xfffffff0u);

    write(reg::page, 0xffffffff, 0);
    command(command::opcode_program_page, 0x1010, 4);
    sc_start(sc_time(1, SC_MS));
    EXPECT_EQ(reader.read(0x1010), 0x11223344u);
}

TEST_F(FlashTest, ErasesTheSectorAroundTheAddress) {
    const std::array<std::uint8_t, 3> bytes{1, 2, 3};
    ASSERT_TRUE(dut.load(0x0fff, bytes));
    command(command::opcode_erase_sector, 0x1801);
    sc_start(sc_time(50, SC_MS));
    EXPECT_EQ(reader.read<std::uint8_t>(0x0fff), 1u);
    EXPECT_EQ(reader.read<std::uint8_t>(0x1000), 0xffu);
}

TEST_F(FlashTest, RefusesInvalidCommands) {
    const auto refused = [&] {
        const bool failed = (events() & events::failed.mask()) != 0;
        write(reg::events, events::failed.mask());
        return failed;
    };
    write(reg::command, command::opcode_erase_sector);  // not enabled
    EXPECT_TRUE(refused());
    command(command::opcode_erase_sector, 64 << 10);  // out of range
    EXPECT_TRUE(refused());
    command(command::opcode_program_page, 0x10f0, 17);  // crosses a page
    EXPECT_TRUE(refused());
    command(command::opcode_program_page, 0x1000, 0);
    EXPECT_TRUE(refused());
    command(command::opcode_program_page, 0x1000, 0xffffffff);
    EXPECT_TRUE(refused());
    command(0x77, 0x1000);
    EXPECT_TRUE(refused());
    command(command::opcode_erase_sector, 0);
    EXPECT_FALSE(refused());
    command(command::opcode_erase_sector, 0);  // busy
    EXPECT_TRUE(refused());
}

TEST_F(FlashTest, RevokesItsDirectMemoryPointerDuringACommand) {
    tlm::tlm_dmi dmi;
    EXPECT_TRUE(reader.request_dmi(0, dmi));
    EXPECT_FALSE(dmi.is_write_allowed());
    command(command::opcode_erase_sector, 0);
    EXPECT_EQ(reader.invalidations, 1u);
    EXPECT_FALSE(reader.request_dmi(0, dmi));
    sc_start(sc_time(50, SC_MS));
    EXPECT_EQ(reader.invalidations, 2u);  // of the refusal
    EXPECT_TRUE(reader.request_dmi(0, dmi));
    command(command::opcode_erase_sector, 0);
    EXPECT_FALSE(reader.request_dmi(0, dmi));
    irq_out reset{"reset"};
    reset.bind(dut.reset);
    reset.set(true);
    EXPECT_EQ(reader.invalidations, 4u);
    EXPECT_TRUE(reader.request_dmi(0, dmi));
}

TEST_F(FlashTest, IsMemoryAlsoWhileACommandRuns) {
    const auto is_memory = [this] {
        tlm::tlm_generic_payload request;
        set_access(request, tlm::TLM_READ_COMMAND, 0, nullptr, 0);
        memory_attribute attribute;
        tlm::tlm_dmi dmi;
        request.set_extension(&attribute);
        reader.out->get_direct_mem_ptr(request, dmi);
        request.clear_extension(&attribute);
        return attribute.is_memory;
    };
    EXPECT_TRUE(is_memory());
    command(command::opcode_erase_sector, 0);
    EXPECT_TRUE(is_memory());
}

TEST(FlashImage, UnreadableOrOversizedImageIsRefusedWithAMessage) {
    EXPECT_THROW(flash("missing", {.image = "/nonexistent/flash.img"}), std::runtime_error);
    const trn::test::scratch_folder folder;
    const auto path = folder / "too_long.img";
    std::ofstream(path) << std::string(5000, 'x');
    EXPECT_THROW(flash("small", {.size = 4096, .image = path}), std::runtime_error);
    flash large("large", {.size = 8192, .image = path});
    EXPECT_EQ(large.bytes().data()[4999], 'x');
    EXPECT_EQ(large.bytes().data()[5000], 0xff);
}

}  // namespace
