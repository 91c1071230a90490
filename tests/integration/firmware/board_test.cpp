// SPDX-License-Identifier: Apache-2.0
// The management subsystem as used by boards: platform/boards/chips/management.yaml.
#include <gtest/gtest.h>

#include <string>

#include "firmware/lib/axi_map.h"
#include "models/kinds.h"
#include "models/soc/misc_ram/misc_ram_regs.h"
#include "models/soc/reset_controller/reset_controller.h"
#include "models/soc/uart/uart.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;

const std::string board = "tests/integration/firmware/management_board.yaml";

/// Boots `firmware`; returns the UART output until the chip is ready, or for half a second.
std::string boot(const std::string& firmware) {
    trn::system built(load_board(board, kinds(), {"firmware=" + firmware}));
    std::string printed;
    built.find<uart>("mgmt.uart")->on_output([&](std::string_view text) { printed += text; });
    const auto* resets = built.find<reset_controller>("mgmt.resets");
    for (int ms = 0; ms < 500 && !resets->ready(); ++ms)
        sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    sc_core::sc_start(sc_core::sc_time(5, sc_core::SC_MS));  // output still in the transmitter
    return printed;
}

TEST(ManagementBoard, BootsTheFirmwareOfTheBuild) {
    const auto printed = boot("flash.img");
    EXPECT_NE(printed.find("ready: routing id 3"), std::string::npos) << printed;
}

TEST(ManagementBoard, AcceptsAnElfAsFirmware) {
    const auto printed = boot("mgmt.elf");
    EXPECT_NE(printed.find("boot ROM: slot A"), std::string::npos) << printed;
    EXPECT_NE(printed.find("ready: routing id 3"), std::string::npos) << printed;
}

TEST(ManagementBoard, PowerRisesOnTheDieWithBusyMemories) {
    trn::system built(load_board(board, kinds()));
    test::tlm_driver host("host");
    host.out.bind(built.find<router>("axi")->target);
    const auto* resets = built.find<reset_controller>("mgmt.resets");
    for (int ms = 0; ms < 500 && !resets->ready(); ++ms)
        sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    const auto utilisation = [&](unsigned die) {
        const auto at = misc_ram_regs::offset(misc_ram_regs::reg::power, die);
        return misc_ram_regs::power::basis_points.get(host.read(AXI_MISC_RAM + at));
    };
    // A host request: from now on power is sampled every 50 ms.
    host.write(AXI_MISC_RAM + misc_ram_regs::offset(misc_ram_regs::reg::trigger), 1);
    sc_core::sc_start(sc_core::sc_time(60, sc_core::SC_MS));
    const auto before = utilisation(1);
    std::vector<std::uint8_t> bytes(16 << 20);
    for (int i = 0; i < 100; ++i) {  // 1.3 % of a die's maximum in 50 ms, of 410 W: 107 points
        host.read_bytes(AXI_DIE_1, bytes);
        sc_core::sc_start(host.delay);
    }
    sc_core::sc_start(sc_core::sc_time(50, sc_core::SC_MS));
    EXPECT_GT(utilisation(1), before + 60);  // the ripple is up to +-18 points
    EXPECT_LT(utilisation(0), before + 40);
}

TEST(ManagementBoard, MissingFirmwareIsAUsageError) {
    try {
        boot("./no-such-firmware.img");
        FAIL() << "it was accepted";
    } catch (const config_error& error) {
        EXPECT_NE(std::string(error.what()).find("no-such-firmware.img"), std::string::npos);
    }
}

}  // namespace
