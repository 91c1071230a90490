// SPDX-License-Identifier: Apache-2.0
// The part of the machine that the services see. Each test has a process of its own, so the state
// of the services and of the machine is fresh.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

extern "C" {
#define _Static_assert static_assert
#include "firmware/lib/drivers/reset_controller.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/neuron_link.h"
#include "firmware/mgmt/doorbell.h"
#include "firmware/mgmt/error_log.h"
#include "firmware/mgmt/events.h"
#include "firmware/mgmt/level_irq.h"
#include "firmware/mgmt/links.h"
#include "firmware/mgmt/mailbox.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/reset_service.h"
#include "firmware/mgmt/topology_table.h"
}

namespace trn::test {

struct fake_machine {
    std::uint64_t now_us = 0;
    std::map<unsigned, irq_handler> enabled;  ///< sources
    std::set<unsigned> held;
    std::uint32_t raised = 0;                      ///< events
    std::map<std::uint32_t, std::uint64_t> later;  ///< events that are raised at a time

    std::function<bool()> handshake = [] { return false; };
    std::function<bool(mailbox_trust)> mailbox = [](mailbox_trust) { return false; };

    boot_straps straps{};
    /// A device behind a port: its identity block.
    struct partner {
        std::map<std::uint32_t, std::uint32_t> words;
        bool refuses = false;  ///< claims
        unsigned lost = 0;     ///< number of accesses without a response
        unsigned accesses = 0;
        std::set<std::uint32_t> claims;  ///< held, without the number of chips
    };
    std::map<unsigned, partner> partners;  ///< by port
    link_events events = {0, 0};           ///< of the ports, not taken yet
    std::vector<port> published;           ///< state of the ports, as the table has it
    std::vector<std::uint16_t> errors;     ///< codes in the error log

    /// A line is high: its handler runs if the source is enabled and not held.
    bool interrupt(unsigned source) {
        const auto found = enabled.find(source);
        if (found == enabled.end() || held.contains(source)) return false;
        found->second(source);
        return true;
    }
};
inline fake_machine machine_of_test;

}  // namespace trn::test
