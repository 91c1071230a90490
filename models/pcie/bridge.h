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

/// One port of a root complex or of a switch as software sees it: a type 1 function that defines
/// which buses and addresses lie below it, with slot, link, access control and error reporting. It
/// decides; the owner of the sockets forwards. Spec: doc/models/pcie.md.
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
        unsigned slot = 0;  ///< physical slot number; ports toward cards
        bool many_functions = false;
    };
    struct hooks {
        /// Resets the device on the link below: software set the secondary bus reset bit.
        std::function<void()> reset_below = {};
        /// Sends an MSI of this port upstream.
        std::function<void(std::uint64_t address, std::uint32_t data)> message = {};
        /// Sends an error message of this port upstream.
        std::function<void(error_class)> report = {};
        /// Root ports: an error message, also their own, has arrived for the server's software.
        std::function<void(function_id source, error_class)> received = {};
        /// Windows, buses, enable bits or the link changed: direct pointers may be wrong.
        std::function<void()> changed = {};
    };

    bridge(const config& cfg, hooks hooks);
    bridge(const bridge&) = delete;
    bridge& operator=(const bridge&) = delete;

    config_space& space() { return space_; }
    const config_space& space() const { return space_; }
    /// As captured from configuration writes (2.2.9).
    function_id id() const { return id_; }
    /// A configuration request for this function itself.
    void configure(tlm::tlm_generic_payload& request, tlp& header, const sc_core::sc_object& owner);

    std::uint8_t secondary() const { return now_.secondary; }
    bool has_bus(std::uint8_t bus) const {
        return now_.secondary != 0 && bus >= now_.secondary && bus <= now_.subordinate;
    }
    /// Whether [address, address + length) is in one of its windows and memory space is on.
    bool claims(std::uint64_t address, std::uint64_t length) const;
    /// Requests from below may pass upstream: bus master.
    bool passes_up() const { return now_.master; }
    bool acs(std::uint16_t bit) const { return (now_.acs & bit) != 0; }

    // --- the slot and the link ---
    /// A card is there and its link is up.
    bool reachable() const { return present_ && up_; }
    bool present() const { return present_; }
    /// The link goes down without warning, or comes back. Bits in link and slot status, surprise
    /// down in AER, and the hot-plug interrupt if software asked for one.
    void link(bool up);
    /// The card is pulled, or one is put in and its link comes up.
    void card(bool present);
    /// The faults of a module whose `ports` are bridges; `at`: the bridge of a port, and its link.
    using port_at = std::function<std::pair<bridge&, plug&>(std::size_t port)>;
    static std::vector<accepts_faults::fault> faults(std::size_t ports, const port_at& at);

    /// Records an uncorrectable error (PCI_ERR_UNC_*) at this port, and reports it to the root port
    /// if software has enabled it. `advisory`: as for wanted_message.
    void log(std::uint32_t error, bool advisory = false);
    /// Records an error that the link at this port has corrected.
    void log(link_error error);
    /// Whether an error message from below is forwarded upstream (6.2.6): SERR of bridge
    /// control, for nonfatal and fatal ones also SERR of the command register. Records both in the
    /// status registers.
    bool forwards(error_class what);
    /// Root ports: an error message of `source` has arrived (6.2.4.1.2).
    void receive_error(function_id source, error_class what);
    /// Hot reset from above: everything but the sticky registers.
    void reset();

private:
    void report(error_class what);
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
    /// Register values decoded at each write, because every TLP needs them.
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
