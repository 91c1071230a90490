// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory_port.h"
#include "scaler_regs.h"

namespace example {

/// Multiplies words of memory by a factor, 256 at a time. An example of a block outside the tree.
class scaler : public sc_core::sc_module, public tlm::tlm_bw_transport_if<> {
public:
    struct config {
        sc_core::sc_time access_latency{20, sc_core::SC_NS};  ///< per register access
        sc_core::sc_time time_per_word{1, sc_core::SC_NS};
    };

    trn::register_socket in{"in", regs_};
    tlm::tlm_initiator_socket<64> memory{"memory"};
    trn::irq_out irq{"irq"};

    scaler(sc_core::sc_module_name name, const config& cfg);

private:
    void start(const sc_core::sc_time& delay);
    void work();
    std::uint64_t address(trn::scaler_regs::reg low, trn::scaler_regs::reg high) const;
    bool finished(trn::memory_port::outcome outcome);
    void end(bool done);
    void update_irq();
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;

    static constexpr std::uint32_t words_at_a_time = 256;

    const config cfg_;
    trn::register_bank regs_;
    sc_core::sc_event next_;
    trn::memory_port port_{memory};
    trn::pending_access pending_{next_};
    std::array<std::uint32_t, words_at_a_time> words_{};
    std::uint32_t done_ = 0;  // words
    bool is_read_ = false;    // words_ has the next ones
};

}  // namespace example
