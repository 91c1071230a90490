// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/pcie/pcie/bridge.h"
#include "models/pcie/root_complex/boot_firmware.h"
#include "models/pcie/root_complex/host_function.h"
#include "models/pcie/root_complex/processor_bus.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/server_memory.h"

namespace trn {

enum class host_processor : std::uint8_t { graviton, xeon };

/// The host of one server: a root port per link, the server's memory, and boot firmware. Programs
/// access each function through a function_port, or as processors of another model through the
/// sockets `bus` and `memory`. Spec: doc/models/pcie/root_complex.md.
///
/// Each function has its own view of host memory, as with an IOMMU: the ranges of its program.
/// Other addresses may belong to another function's BAR, at its bus address or where its host has
/// placed it: then the request is peer-to-peer.
///
/// Without boot firmware, the processors enumerate: there are no functions for programs, and each
/// request of a function, also an MSI, goes to a peer or to the processors' memory.
class root_complex : public sc_core::sc_module,
                     public plug::device,
                     public serves_functions,
                     public publishes_statistics,
                     public accepts_faults,
                     public describes_wait,
                     private pcie::host_bus {
public:
    struct config {
        host_processor processor = host_processor::graviton;
        unsigned cores = 64;  ///< limit for the processors of a guest
        /// Bytes; address space is reserved, pages are allocated on use.
        std::uint64_t memory = std::uint64_t{64} << 30;
        unsigned ports = 1;            ///< number of root ports, each with a link
        unsigned link_generation = 6;  ///< of each link: 1..6
        unsigned link_width = 8;       ///< lanes of each link
        std::uint64_t window_base = std::uint64_t{1} << 44;  ///< bus address of the first BAR
        bool boot_firmware = true;  ///< enumerates; otherwise software of the processors does
        bool peer_to_peer = true;   ///< allows requests from one function to another
        /// per read of host memory; invented
        sc_core::sc_time memory_latency{300, sc_core::SC_NS};
        sc_core::sc_time peer_latency{150, sc_core::SC_NS};  ///< per peer-to-peer request; invented
        /// Time after which a request without completion fails; the lower end of range B
        /// (7.5.3.16).
        sc_core::sc_time completion_timeout{16, sc_core::SC_MS};
    };
    static constexpr unsigned max_ports = 32;  ///< devices on bus 0
    /// Events of ports for the operating system of the server. Called inside a slice of simulated
    /// time.
    struct port_events {
        /// A nonfatal or fatal error message; `error`: PCI_ERR_UNC_*, the first that the source has
        /// recorded, if it does not mask it, else the lowest unmasked one. Not for a link that went
        /// down, which `slot` reports.
        std::function<void(pcie::function_id source, std::uint32_t error)> uncorrectable = {};
        /// The card of a root port or of a switch's port has become reachable or unreachable.
        std::function<void(pcie::function_id port, bool reachable)> slot = {};
    };
    struct counts {
        /// Peer-to-peer requests, excluding accesses through pointers.
        std::uint64_t peer_requests = 0;
        std::uint64_t refused = 0;   ///< requests of functions without a target
        std::uint64_t timeouts = 0;  ///< host requests without a completion, or not taken
        std::uint64_t hot_plug_events = 0;
        std::uint64_t error_messages = 0;  ///< from functions and ports
    };

    sc_core::sc_vector<plug> port{"port"};  // one per link
    /// The server starts again: a fundamental reset (6.6.1) of the ports and all below them.
    irq_in perst{"perst", 1, [this](unsigned, bool asserted) {
                     if (asserted) reset_hierarchy();
                 }};

    SC_HAS_PROCESS(root_complex);
    root_complex(sc_core::sc_module_name name, const config& cfg);
    ~root_complex() override;

    std::vector<served> functions() override;
    unsigned cores() const override { return cfg_.cores; }
    /// The index-th enumerated function. Valid after the first delta cycle.
    pcie::host_function& function(std::size_t index) { return *firmware_.functions().at(index); }
    std::size_t function_count() const { return firmware_.functions().size(); }
    pcie::bridge& root_port(unsigned index) { return *ports_.at(index); }
    /// Accesses of the host to the configuration space of any function or bridge. A read without
    /// completion returns all ones. `offset` must be dword-aligned.
    std::uint32_t config_read(pcie::function_id id, std::uint32_t offset) {
        return firmware_.config_read(id, offset);
    }
    void config_write(pcie::function_id id, std::uint32_t offset, std::uint32_t value) {
        firmware_.config_write(id, offset, value);
    }

    void observe(port_events events) { events_ = std::move(events); }

    const config& settings() const { return cfg_; }
    const counts& counters() const { return counters_; }
    void publish(statistics& out) const override;
    std::vector<fault> faults() override;
    std::optional<std::string> describe_wait() const override;

private:
    using payload = tlm::tlm_generic_payload;
    /// The target of a peer-to-peer request.
    struct peer {
        unsigned port;
        std::uint64_t address;  // on the server's bus
        bool translated;        // differs from the address of the request
    };

    void boot();
    void hot_plug(std::uint32_t message);
    void report(pcie::function_id source, pcie::error_class severity);
    void ask_for_attribute(std::uint64_t address, payload& request);

    // host_bus
    void send(payload& request, pcie::tlp& header, sc_core::sc_time& delay) override;
    bool direct_pointer(payload& request, tlm::tlm_dmi& dmi) override;
    unsigned peek(payload& request, const pcie::tlp& header) override;
    void forget_pointers(pcie::function_id function, std::uint64_t first,
                         std::uint64_t last) override;
    void forget_memory(std::uint64_t first, std::uint64_t last) override;
    server_memory* memory() override { return &memory_; }
    sc_core::sc_event& repetition() override { return repetition_; }
    const sc_core::sc_time& completion_timeout() const override { return cfg_.completion_timeout; }
    void time_out(pcie::function_id target, tlm::tlm_command command) override;
    void repeat_accesses();

    void configure(payload& request, pcie::tlp& header, sc_core::sc_time& delay);
    bool belongs_to_processors(const pcie::host_function* function, std::uint64_t address) const {
        return processors_.has_memory() &&
               (function == nullptr || !function->memory().has(address));
    }
    bool is_unknown(const pcie::host_function* function) const {
        return function == nullptr && cfg_.boot_firmware;
    }
    void send_message(std::uint64_t address, std::uint32_t data);
    std::optional<unsigned> port_of(std::uint64_t address, std::uint64_t length) const;
    void pass_down(unsigned port, payload& request, sc_core::sc_time& delay);
    void pass_completion(payload& completion, const pcie::tlp& header, sc_core::sc_time& delay);
    void refuse(payload& request, pcie::bridge& above, std::uint32_t error);
    pcie::host_function* sender(const pcie::tlp& header);
    std::optional<peer> peer_of(unsigned source, const pcie::host_function* function,
                                std::uint64_t address, std::uint64_t length) const;
    std::optional<peer> peer_of_host(unsigned source, const pcie::host_function& function,
                                     std::uint64_t address, std::uint64_t length) const;
    void reset_below(unsigned port);
    void reset_hierarchy();
    void forget_all_pointers();
    void deliver(pcie::host_function& target, std::uint32_t vector, const sc_core::sc_time& delay);
    void deliver_messages();

    // plug::device: requests of functions
    void received(plug& local, payload& request, sc_core::sc_time& delay) override;
    unsigned peeked(plug& local, payload& request) override;
    bool asked_for_pointer(plug& local, payload& request, tlm::tlm_dmi& dmi) override;
    void pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) override;
    void link_changed(plug& local) override;
    void link_erred(plug& local, link_error error) override { ports_[local.index()]->log(error); }

    const config cfg_;
    server_memory memory_;
    std::vector<std::unique_ptr<pcie::bridge>> ports_;
    boot_firmware firmware_;
    pcie::processor_bus processors_{*this, cfg_.boot_firmware};
    std::array<pcie::host_function*, 256> by_bus_{};  // device 0, function 0 of each bus
    std::uint64_t lose_ = 0;  // number of function reads that the fault still drops
    bool started_ = false;
    /// An MSI-X message on its way to the host.
    struct message {
        pcie::host_function* target;
        std::uint32_t vector;
        trace::operation operation;
    };
    std::multimap<sc_core::sc_time, message> messages_;  // by the time of their arrival
    sc_core::sc_event message_due_{"message_due"};
    port_events events_;
    counts counters_;
    sc_core::sc_event repetition_{"repetition"};  // a deferred access may be repeated, or is late
};

}  // namespace trn
