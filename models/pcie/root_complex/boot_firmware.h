// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/pcie/pcie/tlp.h"
#include "models/pcie/root_complex/host_function.h"

namespace trn {

/// The firmware of a server's host, which knows its bus tree through configuration space only:
/// enumerates the buses, assigns bus numbers and addresses, programs cards that return, and reads
/// the errors that functions have recorded. Untimed.
class boot_firmware {
public:
    struct config {
        unsigned ports = 1;             ///< number of root ports: devices of bus 0
        std::uint64_t window_base = 0;  ///< bus address of the first 64-bit BAR
    };
    /// Whether the card of a root port or of a switch's port is reachable.
    struct slot_state {
        pcie::function_id port;
        bool reachable;
    };

    /// `server`: the module that errors of the board name.
    boot_firmware(const config& cfg, pcie::host_bus& bus, const sc_core::sc_object& server)
        : cfg_(cfg), bus_(bus), server_(server) {}

    std::uint32_t config_read(pcie::function_id id, std::uint32_t offset);
    void config_write(pcie::function_id id, std::uint32_t offset, std::uint32_t value);

    /// \throws model_refusal
    void enumerate();
    /// Handles the hot-plug message of a bridge. After a change: programs the devices below if the
    /// link is up. Nothing: no slot has changed.
    std::optional<slot_state> hot_plug(std::uint32_t message);
    /// PCI_ERR_UNC_*: the first uncorrectable error that the source has recorded, if it does not
    /// mask it, else the lowest unmasked one; 0 if there is none. Errors of bridges are cleared.
    std::uint32_t take_error(pcie::function_id source);

    /// In the order of their discovery.
    const std::vector<std::unique_ptr<pcie::host_function>>& functions() const {
        return functions_;
    }
    /// The bridges above a function, from the root port down.
    std::vector<pcie::function_id> bridges_above(pcie::function_id function) const;
    /// Whether a root port leads to a switch.
    bool leads_to_switch(unsigned port) const;

private:
    struct range {
        std::uint64_t first = 0, end = 0;  // bus addresses [first, end); equal: empty
    };
    /// A node of the bus tree: a function, or a bridge with the nodes below it.
    struct node {
        pcie::function_id id = 0;
        bool bridge = false;
        std::uint8_t secondary = 0, subordinate = 0;
        range narrow, wide;                       // windows of a bridge
        pcie::host_function* function = nullptr;  // null for bridges
        std::uint16_t pcie = 0, msi = 0;          // capability offsets
        std::vector<std::unique_ptr<node>> below;
    };

    /// Accesses one dword. Returns the module that answered; nullptr: none.
    const sc_core::sc_object* configure(tlm::tlm_command command, pcie::function_id id,
                                        std::uint32_t offset, std::uint32_t& value);
    std::uint8_t next_bus();
    void scan(node& above, unsigned devices);
    void find(node& above, pcie::function_id id);
    void find_capabilities(node& found);
    void assign(node& assigned, std::uint64_t& narrow, std::uint64_t& wide);
    void program(const node& programmed);
    void program_buses(const node& bridge);
    void enable_error_messages(const node& source);
    void program_slot(const node& bridge, std::uint32_t number);
    std::uint32_t error_capability(pcie::function_id source);

    const config cfg_;
    pcie::host_bus& bus_;
    const sc_core::sc_object& server_;
    std::vector<std::unique_ptr<node>> tree_;  // one node per root port
    std::vector<node*> bridges_;  // in discovery order; the index is the data of their messages
    std::vector<std::unique_ptr<pcie::host_function>> functions_;
    unsigned next_bus_ = 1;
};

}  // namespace trn
