// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/pcie/bridge.h"
#include "models/pcie/host_function.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/server_memory.h"

namespace trn {

enum class host_processor : std::uint8_t { graviton, xeon };

/// The host of one server: a root port per link, the server's memory, and the enumeration of its
/// boot firmware: it numbers the buses and assigns addresses to every function, also below
/// switches. Each function is offered to programs as a function_port. Spec:
/// doc/models/root_complex.md.
///
/// Each function has its own view of host memory, as with an IOMMU: the ranges of its program.
/// An address that it has not shared may be another function's BAR, as the server's bus or as its
/// host has placed it: a peer-to-peer request.
class root_complex : public sc_core::sc_module,
                     public plug::device,
                     public serves_functions,
                     public publishes_statistics,
                     public accepts_faults,
                     private pcie::host_bus {
public:
    struct config {
        host_processor processor = host_processor::graviton;
        unsigned cores = 64;                                 ///< limit of a guest's processors
        std::uint64_t memory = std::uint64_t{64} << 30;      ///< bytes; reserved, not backed
        unsigned ports = 1;                                  ///< root ports: links
        unsigned link_generation = 6;                        ///< of each: 1..6
        unsigned link_width = 8;                             ///< lanes of each
        std::uint64_t window_base = std::uint64_t{1} << 44;  ///< bus address of the first BAR
        bool peer_to_peer = true;  ///< requests from one function to another pass
        sc_core::sc_time memory_latency{300, sc_core::SC_NS};  ///< of a host memory read; invented
        sc_core::sc_time peer_latency{150, sc_core::SC_NS};    ///< through here; invented
        /// Of a request without completion: the lower end of range B (7.5.3.16).
        sc_core::sc_time completion_timeout{16, sc_core::SC_MS};
    };
    static constexpr unsigned max_ports = 32;  ///< devices of bus 0
    /// What an operating system learns from the ports of its server. Called in a slice of simulated
    /// time.
    struct port_events {
        /// A nonfatal or fatal error message; `error`: PCI_ERR_UNC_*, the lowest that the source
        /// has recorded and does not mask. Not for a link that went down, which `slot` reports.
        std::function<void(pcie::function_id source, std::uint32_t error)> uncorrectable = {};
        /// The card of a root port or of a switch's port: reachable again, or not any more.
        std::function<void(pcie::function_id port, bool reachable)> slot = {};
    };
    struct counts {
        std::uint64_t peer_requests = 0;  ///< from one function to another, not counting pointers
        std::uint64_t refused = 0;        ///< unclaimed requests of functions
        std::uint64_t timeouts = 0;       ///< host requests without an answer
        std::uint64_t hot_plug_events = 0;
        std::uint64_t error_messages = 0;  ///< of functions and ports below
    };

    sc_core::sc_vector<plug> port{"port"};  // a link each

    root_complex(sc_core::sc_module_name name, const config& cfg);
    ~root_complex() override;

    std::vector<served> functions() override;
    unsigned cores() const override { return cfg_.cores; }
    /// The index-th enumerated function. Valid after the start of simulation.
    pcie::host_function& function(std::size_t index) { return *functions_.at(index); }
    std::size_t function_count() const { return functions_.size(); }
    pcie::bridge& root_port(unsigned index) { return *ports_.at(index); }
    /// The host reads and writes the configuration space of any function, bridges too; all-ones
    /// without a completion. `offset` is that of a dword.
    std::uint32_t config_read(pcie::function_id id, std::uint32_t offset);
    void config_write(pcie::function_id id, std::uint32_t offset, std::uint32_t value);

    void observe(port_events events) { events_ = std::move(events); }

    const config& settings() const { return cfg_; }
    const counts& counters() const { return counters_; }
    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    using payload = tlm::tlm_generic_payload;
    struct range {
        std::uint64_t first = 0, end = 0;  // bus addresses; first == end: empty
    };
    /// A function on the tree of buses; a bridge has the functions below it.
    struct node {
        pcie::function_id id = 0;
        bool bridge = false;
        std::uint8_t secondary = 0, subordinate = 0;
        range narrow, wide;                       // a bridge's windows
        pcie::host_function* function = nullptr;  // not a bridge's
        std::uint16_t pcie = 0, msi = 0;          // capability offsets
        std::vector<std::unique_ptr<node>> below;
    };

    /// Where a request from one function to another goes.
    struct peer {
        unsigned port;
        std::uint64_t address;  // on the server's bus
        bool translated;        // it is another than that of the request
    };

    void start_of_simulation() override { enumerate(); }
    void enumerate();
    std::uint8_t next_bus();
    /// One dword of configuration space; returns the module that answered; nullptr: no answer.
    const sc_core::sc_object* configure_word(tlm::tlm_command command, pcie::function_id id,
                                             std::uint32_t offset, std::uint32_t& value);
    void scan(node& above, unsigned devices);
    void find(node& above, pcie::function_id id);
    void find_capabilities(node& found);
    void assign(node& at, std::uint64_t& narrow, std::uint64_t& wide);
    void program(const node& at);
    void program_buses(const node& bridge);
    void enable_error_messages(const node& at);
    void program_slot(const node& bridge, std::uint32_t number);
    void hot_plug(std::uint32_t number);
    void report(pcie::function_id source, pcie::error_class what);
    std::uint32_t first_error(pcie::function_id source);

    // host_bus
    void send(payload& request, pcie::tlp& header, sc_core::sc_time& delay) override;
    bool direct_pointer(payload& request, tlm::tlm_dmi& dmi) override;
    void forget_pointers(pcie::function_id of, std::uint64_t first, std::uint64_t last) override;
    server_memory* memory() override { return &memory_; }

    void configure(payload& request, pcie::tlp& header, sc_core::sc_time& delay);
    std::optional<unsigned> port_of(std::uint64_t address, std::uint64_t length) const;
    void pass_down(unsigned port, payload& request, sc_core::sc_time& delay);
    void pass_completion(payload& completion, const pcie::tlp& header, sc_core::sc_time& delay);
    pcie::host_function* sender(const pcie::tlp& header);
    std::optional<peer> peer_of(unsigned from, const pcie::host_function& function,
                                std::uint64_t address, std::uint64_t length) const;
    std::optional<peer> peer_of_host(unsigned from, const pcie::host_function& function,
                                     std::uint64_t address, std::uint64_t length) const;
    void reset_below(unsigned port);
    void forget_all_pointers();

    // plug::device: requests of functions
    void received(plug& at, payload& request, sc_core::sc_time& delay) override;
    unsigned peeked(plug& at, payload& request) override;
    bool asked_for_pointer(plug& at, payload& request, tlm::tlm_dmi& dmi) override;
    void pointers_revoked(plug& at, std::uint64_t first, std::uint64_t last) override;
    void link_changed(plug& at) override;
    void link_erred(plug& at, link_error what) override { ports_[at.index()]->log(what); }

    const config cfg_;
    server_memory memory_;
    std::vector<std::unique_ptr<pcie::bridge>> ports_;
    std::vector<std::unique_ptr<node>> tree_;  // a root port each
    std::vector<node*> bridges_;               // all of them, as hot-plug messages count them
    std::vector<std::unique_ptr<pcie::host_function>> functions_;
    std::array<pcie::host_function*, 256> by_bus_{};  // device 0, function 0 of each
    unsigned next_bus_ = 1;
    std::uint64_t lose_ = 0;  // function reads that the fault still drops
    bool started_ = false;
    port_events events_;
    counts counters_;
};

}  // namespace trn
