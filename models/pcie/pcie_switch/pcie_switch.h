// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/pcie/pcie/bridge.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/route.h"

namespace trn {

/// Lanes and ports of a switch chip: 160 lanes in 20 ports of 8, or 320 in 40.
enum class pcie_switch_size : std::uint8_t { lanes160, lanes320 };

/// A PCI Express switch with one upstream port and several downstream ports, each a type 1
/// function. Requests are routed by bus number and address window, also between downstream ports
/// unless access control redirects them upstream. The crossbar does not block: only ports have a
/// bandwidth. Spec: doc/models/pcie/pcie_switch.md.
class pcie_switch : public sc_core::sc_module,
                    public plug::device,
                    public publishes_statistics,
                    public accepts_faults {
public:
    struct config {
        pcie_switch_size size = pcie_switch_size::lanes160;
        unsigned generation = 6;  ///< of all ports: 1..6
        unsigned up_lanes = 16;   ///< of the upstream port, which uses two of the chip's ports
        unsigned ports = 0;  ///< downstream ports in use, others are disabled by straps; 0: all
        sc_core::sc_time latency{120, sc_core::SC_NS};  ///< per crossing; invented

        static constexpr unsigned lanes_per_port = 8;
        unsigned lanes() const { return size == pcie_switch_size::lanes160 ? 160 : 320; }
        /// Number of downstream ports that fit on the lanes besides the upstream port.
        unsigned max_down_ports() const { return (lanes() - up_lanes) / lanes_per_port; }
        unsigned down_ports() const { return ports != 0 ? ports : max_down_ports(); }
    };
    struct counts {
        std::uint64_t down = 0;  ///< requests from upstream
        std::uint64_t up = 0;  ///< requests to upstream, excluding accesses through direct pointers
        std::uint64_t peer = 0;        ///< requests between downstream ports, likewise
        std::uint64_t refused = 0;     ///< accesses without a target, or blocked by access control
        std::uint64_t redirected = 0;  ///< completions redirected upstream
    };

    plug up{"up", *this, up_index};
    sc_core::sc_vector<plug> down{"down"};

    pcie_switch(sc_core::sc_module_name name, const config& cfg);

    pcie::bridge& up_port() { return *up_.bridge; }
    pcie::bridge& down_port(unsigned index) { return *down_.at(index)->bridge; }

    const config& settings() const { return cfg_; }
    const counts& counters() const { return counters_; }
    void publish(statistics& out) const override;
    std::vector<fault> faults() override;

private:
    using payload = tlm::tlm_generic_payload;
    static constexpr unsigned up_index = ~0u;

    /// Bandwidth of a port's lanes in both directions: into the switch and out of it.
    struct lanes {
        explicit lanes(std::uint64_t bytes_per_second);
        std::array<bandwidth_resource, 2> directions;  // in, out
    };
    /// The direction of a port that a request's data uses: a write's data flow with the request, a
    /// read's data against it.
    struct passage final : crossing {
        lanes& port;
        const bool request_enters;
        passage(lanes& port, bool enters) : port(port), request_enters(enters) {}
        sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t, std::uint64_t bytes,
                                 const sc_core::sc_time& start) override {
            const bool enters = (command == tlm::TLM_WRITE_COMMAND) == request_enters;
            return port.directions[enters ? 0 : 1].reserve(bytes, start);
        }
    };
    struct side {
        side(std::uint64_t bytes_per_second, std::unique_ptr<pcie::bridge> bridge)
            : bridge(std::move(bridge)), capacity(bytes_per_second) {}
        std::unique_ptr<pcie::bridge> bridge;
        lanes capacity;
        passage inbound{capacity, true}, outbound{capacity, false};
    };
    /// The next hop of a request.
    struct way {
        plug* out = nullptr;  // nullptr: no route
        side* through = nullptr;
        std::uint64_t* count = nullptr;
        pcie::bridge* refused_by = nullptr;  // without a route: the port, and its error
        std::uint32_t error = 0;
    };

    void start_of_simulation() override;
    void received(plug& local, payload& request, sc_core::sc_time& delay) override;
    unsigned peeked(plug& local, payload& request) override;
    bool asked_for_pointer(plug& local, payload& request, tlm::tlm_dmi& dmi) override;
    void pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) override;
    void link_changed(plug& local) override;
    void link_erred(plug& local, link_error error) override;

    std::unique_ptr<pcie::bridge> make_bridge(unsigned index, bool upstream);
    side& side_of(const plug& local) {
        return local.index() == up_index ? up_ : *down_[local.index()];
    }
    void configure(payload& request, pcie::tlp& header, sc_core::sc_time& delay);
    way route_memory(const plug& source, const pcie::tlp& header, std::uint64_t address,
                     std::uint64_t length);
    way below(std::uint64_t address, std::uint64_t length, unsigned except);
    bool redirects_completion(const way& next) const;
    void redirect_completion(const payload& request, const pcie::tlp& header,
                             sc_core::sc_time& delay);
    void pass_completion(plug& local, payload& completion, const pcie::tlp& header,
                         sc_core::sc_time& delay);
    void occupy(passage& part, const payload& completion, sc_core::sc_time& delay);
    static void find_no_device(payload& request, pcie::bridge& port);
    void refuse(payload& request, pcie::bridge& port, std::uint32_t error);
    void reset(unsigned index);
    void reset_all();
    void supply(bool on);
    void send_up(pcie::function_id requester, pcie::tlp::space space, std::uint64_t address,
                 std::uint32_t value);

    const config cfg_;
    bool built_ = false;  // bridges already call hooks in their constructors
    side up_;
    std::vector<std::unique_ptr<side>> down_;
    counts counters_;
};

}  // namespace trn
