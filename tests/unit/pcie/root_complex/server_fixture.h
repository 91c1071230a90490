// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/pci_regs.h>

#include <cstring>
#include <memory>
#include <systemc>

#include "models/pcie/pcie/pcie_endpoint.h"
#include "models/pcie/root_complex/root_complex.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

/// A minimal card: registers and memory mapped by BARs, and a DMA engine.
struct card {
    static constexpr std::uint64_t hbm_size = std::uint64_t{1} << 30;

    explicit card(const std::string& name)
        : endpoint((name + "_pcie").c_str(), {.bar0_size = 1 << 20, .bar4_size = hbm_size}),
          registers((name + "_registers").c_str(), {.size = 1 << 20}),
          hbm((name + "_hbm").c_str(), {.size = hbm_size}),
          engine((name + "_engine").c_str()) {
        endpoint.bar0.bind(registers.in);
        endpoint.bar4.bind(hbm.in);
        engine.out.bind(endpoint.dma);
    }

    pcie_endpoint endpoint;
    memory registers, hbm;
    tlm_driver engine;
};

template <typename T>
T read_bar(function_port& f, unsigned bar, std::uint64_t offset,
           sc_core::sc_time* delay = nullptr) {
    T value{};
    sc_core::sc_time taken;
    EXPECT_TRUE(
        f.bar_read(bar, offset, {reinterpret_cast<std::uint8_t*>(&value), sizeof value}, taken));
    if (delay != nullptr) *delay = taken;
    return value;
}
template <typename T>
void write_bar(function_port& f, unsigned bar, std::uint64_t offset, T value) {
    sc_core::sc_time delay;
    EXPECT_TRUE(f.bar_write(bar, offset,
                            {reinterpret_cast<const std::uint8_t*>(&value), sizeof value}, delay));
}
/// Enables memory space and bus mastering, as drivers do first.
inline void turn_on(function_port& f) {
    const std::uint8_t bits[2] = {PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0};
    f.config_write(PCI_COMMAND, bits);
}

}  // namespace trn::test
