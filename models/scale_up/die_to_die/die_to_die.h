// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/route.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// The link between the two dies: accesses of a die to the other die's half (bit 47) pass through
/// it unchanged. Each direction has a bandwidth; a write uses the outward direction, a read the
/// return direction. Spec: doc/models/scale_up/die_to_die.md.
class die_to_die : public sc_core::sc_module,
                   public publishes_statistics,
                   public publishes_signals,
                   public accepts_faults {
    struct side;

public:
    struct config {
        std::uint64_t bytes_per_second = 2'460'000'000'000;  ///< per direction
        sc_core::sc_time latency{30, sc_core::SC_NS};        ///< per crossing
        sc_core::sc_time training_time{100, sc_core::SC_US};
        sc_core::sc_time retry_time{100, sc_core::SC_NS};  ///< per replayed flit
        bool needs_training = false;  ///< accesses fail until firmware has trained the link
    };

    target_socket<side> from_die_0{"from_die_0"};
    target_socket<side> from_die_1{"from_die_1"};
    tlm_utils::simple_initiator_socket_tagged<die_to_die, 64> to_die_0{"to_die_0"};
    tlm_utils::simple_initiator_socket_tagged<die_to_die, 64> to_die_1{"to_die_1"};
    register_socket control{"control", regs_};  ///< die_to_die.regs.yaml
    irq_out irq{"irq"};
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) {
                          if (level) forget();
                      }};

    die_to_die(sc_core::sc_module_name name, const config& cfg);

    /// Whether an access at the present plus `delay` passes.
    bool up(const sc_core::sc_time& delay = sc_core::SC_ZERO_TIME) const;
    const config& settings() const { return cfg_; }
    /// Takes the link down until it is trained again.
    void take_down();
    /// The next `flits` transfers have one CRC error each, and are replayed.
    void corrupt(unsigned flits) { corrupt_ = flits; }

    void publish(statistics& out) const override;
    void publish_signals(signal_list& out) const override {
        out.number("up", 1, [this] { return up(); });
        for (const auto* way : {"to_die_0", "to_die_1"}) out.transactions(way);
    }
    std::vector<fault> faults() override;

private:
    /// The link for accesses from one die.
    struct side final : crossing {
        die_to_die* link = nullptr;
        unsigned toward = 0;  // die at the other end
        void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
        unsigned transport_dbg(tlm::tlm_generic_payload& payload);
        bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
        sc_core::sc_time reserve(tlm::tlm_command command, std::uint64_t address,
                                 std::uint64_t bytes, const sc_core::sc_time& start) override;
        void crossed(tlm::tlm_command command, std::uint64_t bytes, const sc_core::sc_time& start,
                     const sc_core::sc_time& until) override;
    };

    void invalidate_direct_mem_ptr(int target, sc_dt::uint64 first, sc_dt::uint64 last);
    auto& toward(unsigned die) { return die == 0 ? to_die_0 : to_die_1; }
    std::uint64_t status(const sc_core::sc_time& delay) const;
    void command(std::uint64_t written, const sc_core::sc_time& delay);
    void update_irq(const sc_core::sc_time& delay);
    void clear_counters();
    void forget();
    void revoke_pointers();

    const config cfg_;
    register_bank regs_;
    std::array<bandwidth_resource, 2> direction_;  // by the die that receives the bytes
    std::array<side, 2> sides_;                    // by the target die
    bool taken_down_ = false, training_asked_ = false;
    sc_core::sc_time trained_at_;
    sc_core::sc_event trained_{"trained"};
    unsigned corrupt_ = 0;
};

}  // namespace trn
