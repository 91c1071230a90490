// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/pci_regs.h>

#include <cstdint>
#include <functional>
#include <tlm>
#include <utility>
#include <vector>

#include "models/pcie/pcie/config_space.h"
#include "models/pcie/pcie/error_reporting.h"
#include "models/pcie/pcie/tlp.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"

namespace trn::pcie {

/// One port of a root complex or switch as software sees it: a type 1 function with bus numbers and
/// address windows, slot, link, access control and error reporting. It only decides about requests;
/// the owner of the sockets forwards them. Spec: doc/models/pcie/pcie.md.
class bridge {
public:
    enum class role : std::uint8_t {
        root_port = PCI_EXP_TYPE_ROOT_PORT,
        upstream = PCI_EXP_TYPE_UPSTREAM,
        downstream = PCI_EXP_TYPE_DOWNSTREAM,
    };
    struct config {
        role port_role = role::downstream;
        std::uint16_t vendor_id = 0x1d0f;
        std::uint16_t device_id = 0;
        unsigned generation = 6;  ///< 1..6: 2.5 to 64 GT/s
        unsigned lanes = 8;
        unsigned slot = 0;  ///< physical slot number, of ports for cards
        bool many_functions = false;
    };
    struct hooks {
        /// Resets the device below: software has set the secondary bus reset bit.
        std::function<void()> reset_below = {};
        /// Sends an MSI of this port upstream.
        std::function<void(std::uint64_t address, std::uint32_t data)> message = {};
        /// Sends an error message of this port upstream.
        std::function<void(error_class)> report = {};
        /// Root ports: called with each error message, including the port's own, for the server's
        /// software.
        std::function<void(function_id source, error_class)> received = {};
        /// Windows, buses, enable bits or the link have changed: direct pointers must be revoked.
        std::function<void()> changed = {};
    };

    bridge(const config& cfg, hooks hooks);
    bridge(const bridge&) = delete;
    bridge& operator=(const bridge&) = delete;

    config_space& space() { return space_; }
    const config_space& space() const { return space_; }
    /// The id captured from configuration writes (2.2.9).
    function_id id() const { return id_; }
    /// Executes a configuration request for this function.
    void configure(tlm::tlm_generic_payload& request, tlp& header, const sc_core::sc_object& owner);

    std::uint8_t secondary() const { return now_.secondary; }
    bool has_bus(std::uint8_t bus) const {
        return now_.secondary != 0 && bus >= now_.secondary && bus <= now_.subordinate;
    }
    /// Whether [address, address + length) is inside a window and memory space is enabled.
    bool claims(std::uint64_t address, std::uint64_t length) const;
    /// Whether requests from below may be forwarded upstream: bus master is enabled.
    bool passes_up() const { return now_.master; }
    bool acs(std::uint16_t bit) const { return (now_.acs & bit) != 0; }

    // --- Slot and link: whether a card is present and its link is up. Changes set bits in link and
    // slot status, log surprise down in AER, and raise the hot-plug interrupt if software has
    // enabled it.
    bool reachable() const { return slot_.card && slot_.link && !slot_.cut; }
    bool present() const { return slot_.card; }
    /// Before the simulation starts: there is nothing in the slot.
    void leave_empty();
    /// The device on the link appears or disappears without warning: power, cable, training.
    void link(bool up);
    /// The card is pulled, or a card is inserted. `link`: whether the device below answers now.
    void card(bool present, bool link);
    /// The link is down until cut(false), also while the device trains it.
    void cut(bool down);
    /// Faults of a module whose `ports` are bridges. `at` returns the bridge of a port, and the
    /// plug of its link.
    using port_lookup = std::function<std::pair<bridge&, plug&>(std::size_t port)>;
    static std::vector<accepts_faults::fault> faults(std::size_t ports, const port_lookup& lookup);

    /// Logs an uncorrectable error (PCI_ERR_UNC_*) at this port, and reports it to the root port if
    /// software has enabled that. `request`: see error_reporting::uncorrectable().
    void log(std::uint32_t error, const tlm::tlm_generic_payload* request = nullptr);
    /// Logs an error that the link at this port has corrected.
    void log(link_error error);
    /// Whether an error message from below is forwarded upstream (6.2.6): if SERR is enabled in
    /// bridge control; for nonfatal and fatal errors also in the command register. Logs the message
    /// in the status registers.
    bool forwards(error_class severity);
    /// Root ports only: handles an error message from `source` (6.2.4.1.2).
    void receive_error(function_id source, error_class severity);
    /// Hot reset from above: resets all registers that are not sticky.
    void reset();
    /// Fundamental reset: resets all registers, and the slot is as it is.
    void restart();
    /// The port gets or loses power; without, it forgets all registers, and its slot has none.
    void power(bool on);
    bool powered() const { return slot_.power; }

private:
    void report(error_class severity);
    void build(const config& cfg);
    void build_link(const config& cfg);
    void decode();
    struct slot_state {
        bool card = true, link = true;
        bool cut = false;  // fault
        bool power = true;
    };
    void change(const slot_state& next);
    void show_slot();
    void slot_event(std::uint16_t events);
    void interrupt();

    const role role_;
    const hooks hooks_;
    config_space space_;
    function_id id_ = 0;
    error_reporting errors_{space_};
    std::uint16_t pcie_ = 0, power_ = 0, msi_ = 0, acs_ = 0;  // capability offsets
    /// Decoded register values, updated at each write, because every TLP needs them.
    struct decoded {
        std::uint8_t secondary = 0, subordinate = 0;
        bool memory = false, master = false;
        std::uint16_t acs = 0;
        std::uint64_t narrow_first = 1, narrow_last = 0, wide_first = 1, wide_last = 0;
        bool operator==(const decoded&) const = default;
    };
    decoded now_;
    slot_state slot_;
};

}  // namespace trn::pcie
