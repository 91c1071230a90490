// SPDX-License-Identifier: Apache-2.0
// The table of doc/models/pcie/pcie.md: which state of a function survives which event.
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "models/pcie/root_complex/root_complex.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/unit/pcie/root_complex/server_fixture.h"

namespace {

using namespace trn;
using test::read_bar;
using test::write_bar;

/// The rows after the heading "What survives": state to one cell per event.
std::map<std::string, std::vector<std::string>> table() {
    std::ifstream page("doc/models/pcie/pcie.md");
    std::map<std::string, std::vector<std::string>> rows;
    std::string line;
    while (std::getline(page, line) && line != "**What survives.**") {
    }
    while (std::getline(page, line) && line.rfind("## ", 0) != 0) {
        std::vector<std::string> cells;
        std::istringstream parts(line);
        for (std::string cell; std::getline(parts, cell, '|');)
            if (cell.size() > 2) cells.push_back(cell.substr(1, cell.size() - 2));
        if (cells.size() == 6 && (cells[1] == "kept" || cells[1] == "lost"))
            rows[cells[0]] = {cells.begin() + 1, cells.end()};
    }
    return rows;
}

struct FunctionState : testing::Test {
    static constexpr std::uint32_t express = 0x40, power = 0x7c, msix = 0x84, errors = 0x100;

    FunctionState() {
        host.port[0].join(a.endpoint.link);
        supply.bind(a.endpoint.power_lost);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    pcie::host_function& f() { return host.function(0); }
    std::uint32_t get(std::uint32_t at) {
        std::uint32_t value = 0;
        f().config_read(at, {reinterpret_cast<std::uint8_t*>(&value), sizeof value});
        return value;
    }
    std::uint16_t half(std::uint32_t at) { return static_cast<std::uint16_t>(get(at)); }
    void set(std::uint32_t at, std::uint16_t value) {
        f().config_write(at, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
    }
    void start() {
        set(power + PCI_PM_CTRL, 0);
        set(express + PCI_EXP_DEVCTL, 0x2810);
        set(express + PCI_EXP_LNKCTL, 0);
        test::turn_on(f());
    }

    struct state {
        std::function<void()> set;
        std::function<bool()> is_kept;
    };
    std::map<std::string, state> states{
        {"memory space, bus master",
         {[] {}, [this] { return (half(PCI_COMMAND) & PCI_COMMAND_MASTER) != 0; }}},
        {"power state D3hot",
         {[this] { set(power + PCI_PM_CTRL, 3); },
          [this] { return (half(power + PCI_PM_CTRL) & PCI_PM_CTRL_STATE_MASK) == 3; }}},
        {"enabled error messages",
         {[this] { set(express + PCI_EXP_DEVCTL, 0x2810 | PCI_EXP_DEVCTL_NFERE); },
          [this] { return (half(express + PCI_EXP_DEVCTL) & 0xf) == PCI_EXP_DEVCTL_NFERE; }}},
        {"Max_Payload_Size",
         {[this] { set(express + PCI_EXP_DEVCTL, 0x2830); },
          [this] { return (half(express + PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_PAYLOAD) != 0; }}},
        {"link control",
         {[this] { set(express + PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_CCC); },
          [this] { return half(express + PCI_EXP_LNKCTL) != 0; }}},
        {"errors of AER and their log",
         {[this] {
              set(PCI_COMMAND, 0);
              write_bar<std::uint32_t>(f(), 4, 0, 1);
              test::turn_on(f());
          },
          [this] {
              const bool logged = get(errors + PCI_ERR_HEADER_LOG) != 0;
              const bool recorded = get(errors + PCI_ERR_UNCOR_STATUS) != 0;
              EXPECT_EQ(logged, recorded);
              set(errors + PCI_ERR_UNCOR_STATUS + 2, PCI_ERR_UNC_UNSUP >> 16);
              return recorded;
          }}},
        {"MSI-X enable",
         {[this] { set(msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE); },
          [this] { return (half(msix + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_ENABLE) != 0; }}},
        {"mask of all vectors",
         {[this] { set(msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_MASKALL); },
          [this] { return (half(msix + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_MASKALL) != 0; }}},
        {"MSI-X table of the host",
         {[this] { write_bar<std::uint32_t>(f(), 2, 0, 0xfee0'0000); },
          [this] {
              test::turn_on(f());
              return read_bar<std::uint32_t>(f(), 2, 0) != 0;
          }}},
        {"pending interrupts",
         {[this] {
              set(msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
              a.endpoint.interrupt(5);
              EXPECT_EQ(read_bar<std::uint32_t>(f(), 2, 0x1000), 1u << 5);
          },
          [this] {
              test::turn_on(f());
              return read_bar<std::uint32_t>(f(), 2, 0x1000) != 0;
          }}},
        {"interrupt handlers",
         {[this] { f().on_interrupt(3, [this] { ++raised; }); },
          [this] {
              test::turn_on(f());
              raised = 0;
              a.endpoint.interrupt(3);
              f().on_interrupt(3, {});
              return raised != 0;
          }}},
        {"BAR registers of the host",
         {[this] { set(PCI_BASE_ADDRESS_0 + 2, 0x1230); },
          [this] { return get(PCI_BASE_ADDRESS_0) >> 16 == 0x1230; }}}};
    const std::vector<std::pair<const char*, std::function<void()>>> events{
        {"function reset",
         [this] {
             set(express + PCI_EXP_DEVCTL,
                 static_cast<std::uint16_t>(half(express + PCI_EXP_DEVCTL) |
                                            PCI_EXP_DEVCTL_BCR_FLR));
         }},
        {"link down",
         [this] {
             host.inject("surprise_down", {});
             host.inject("link_up", {});
         }},
        {"power loss",
         [this] {
             supply.set(true);
             supply.set(false);
         }},
        {"client's reset", [this] { f().reset(); }},
        {"client leaves", [this] { f().detach(); }}};

    root_complex host{"host", {}};
    test::card a{"a"};
    irq_out supply{"supply"};
    unsigned raised = 0;
};

TEST_F(FunctionState, SurvivesAsThePageSays) {
    misuse::set_policy_of_all(misuse::policy::count);
    const auto rows = table();
    EXPECT_EQ(rows.size(), states.size());
    for (const auto& [name, state] : states) {
        ASSERT_TRUE(rows.contains(name)) << name;
        for (std::size_t event = 0; event < events.size(); ++event) {
            SCOPED_TRACE(name + ", " + events[event].first);
            start();
            state.set();
            events[event].second();
            EXPECT_EQ(state.is_kept() ? "kept" : "lost", rows.at(name)[event]);
        }
        f().detach();
    }
}

TEST_F(FunctionState, NextHostCanUseWhatTheLastOneLeft) {
    start();
    set(power + PCI_PM_CTRL, 3);
    set(msix + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
    f().detach();
    test::turn_on(f());
    EXPECT_EQ(read_bar<std::uint32_t>(f(), 4, 0), 0u);
    f().on_interrupt(1, [this] { ++raised; });
    a.endpoint.interrupt(1);
    EXPECT_EQ(raised, 1u);
}

}  // namespace
