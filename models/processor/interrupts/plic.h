// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// Platform-level interrupt controller (RISC-V PLIC 1.0.0): level-sensitive sources, up to 64
/// contexts (a hart in a privilege mode), priorities 0 to 7.
class plic : public sc_core::sc_module {
public:
    struct config {
        unsigned sources = 31;  ///< sources have the numbers 1 to this, at most 1,023
        unsigned contexts = 2;
        sc_core::sc_time access_latency = sc_core::SC_ZERO_TIME;
    };

    register_socket in{"in", regs_};
    irq_in source;  ///< lines 1…sources; line 0 is unused
    irq_in reset{"reset", 1, [this](unsigned, bool) { clear(); }};  ///< held while high
    sc_core::sc_vector<irq_out> out;                                ///< by context

    plic(sc_core::sc_module_name name, const config& cfg);

    const config& settings() const { return cfg_; }

private:
    using words = std::vector<std::uint32_t>;  // one bit per source

    void clear();
    void on_source(unsigned id, bool level);
    std::uint32_t claim(unsigned context);
    void complete(unsigned context, std::uint32_t id);
    void update();
    std::uint32_t best(unsigned context) const;
    bool enabled(unsigned context, std::uint32_t id) const;
    bool exists(std::uint32_t id) const { return id >= 1 && id <= cfg_.sources; }
    std::uint32_t existing(unsigned word) const;

    const config cfg_;
    register_bank regs_;
    words pending_;
    words in_service_;  // claimed and not yet completed: the gateway is closed
};

}  // namespace trn
