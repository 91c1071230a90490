// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/pci_regs.h>

#include <cstdint>
#include <functional>
#include <tlm>
#include <utility>
#include <vector>

#include "models/pcie/config_space.h"
#include "models/pcie/tlp.h"
#include "platform/framework/kernel/introspection.h"

namespace trn::pcie {

/// One port of a root complex or switch as software sees it: a type 1 function with bus numbers and
/// address windows, slot, link, access control and error reporting. It only decides about requests;
/// the owner of the sockets forwards them. Spec: doc/models/pcie.md.
class bridge {
public:
    enum class role : std::uint8_t {
        root_port = PCI_EXP_TYPE_ROOT_PORT,
        upstream = PCI_EXP_TYPE_UPSTREAM,
        downstream = PCI_EXP_TYPE_DOWNSTREAM,
    };
    struct config {
        role as = role::downstream;
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

    // --- Slot and link: whether a card is present and its link is up.
    bool reachable() const { return present_ && up_; }
    bool present() const { return present_; }
    /// The link goes down without warning, or comes up again. Sets bits in link and slot status,
    /// logs surprise down in AER, and raises the hot-plug interrupt if software has enabled it.
    void link(bool up);
    /// The card is pulled, or a card is inserted and its link comes up.
    void card(bool present);
    /// Faults of a module whose `ports` are bridges. `at` returns the bridge of a port, and the
    /// plug of its link.
    using port_at = std::function<std::pair<bridge&, plug&>(std::size_t port)>;
    static std::vector<accepts_faults::fault> faults(std::size_t ports, const port_at& at);

    /// Logs an uncorrectable error (PCI_ERR_UNC_*) at this port, and reports it to the root port if
    /// software has enabled that. `advisory`: see wanted_message().
    void log(std::uint32_t error, bool advisory = false);
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

private:
    void report(error_class severity);
    void build(const config& cfg);
    void build_link(const config& cfg);
    void decode();
    void set_link_status(bool up);
    void slot_event(std::uint16_t events);

    const role role_;
    const hooks hooks_;
    config_space space_;
    function_id id_ = 0;
    std::uint16_t pcie_ = 0, power_ = 0, msi_ = 0, aer_ = 0, acs_ = 0;  // capability offsets
    /// Decoded register values, updated at each write, because every TLP needs them.
    struct decoded {
        std::uint8_t secondary = 0, subordinate = 0;
        bool memory = false, master = false;
        std::uint16_t acs = 0;
        std::uint64_t narrow_first = 1, narrow_last = 0, wide_first = 1, wide_last = 0;
        bool operator==(const decoded&) const = default;
    };
    decoded now_;
    bool present_ = true, up_ = true;
};

}  // namespace trn::pcie
