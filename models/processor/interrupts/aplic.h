// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <systemc>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/single_register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// Advanced platform-level interrupt controller (RISC-V AIA 1.0, chapter 4): wired sources, a root
/// domain of machine mode and its child of supervisor mode, each with delivery by MSIs or by lines.
/// The index of a hart is the same in both domains.
class aplic : public sc_core::sc_module {
public:
    struct config {
        unsigned sources = 96;  ///< have the numbers 1 to this, at most 1,023
        unsigned harts = 1;     ///< at most 512
        sc_core::sc_time access_latency = sc_core::SC_ZERO_TIME;
    };

    single_register_socket machine{"machine", machine_regs_};  ///< registers of the root domain
    single_register_socket supervisor{"supervisor", supervisor_regs_};        ///< of its child
    tlm_utils::simple_initiator_socket_optional<aplic, 64> memory{"memory"};  ///< MSIs
    irq_in source;  ///< lines 1…sources; line 0 is unused
    irq_in reset{"reset", 1, [this](unsigned, bool) { clear(); }};  ///< held while high
    sc_core::sc_vector<irq_out> machine_external;                   ///< by hart
    sc_core::sc_vector<irq_out> supervisor_external;                ///< by hart

    aplic(sc_core::sc_module_name name, const config& cfg);

    const config& settings() const { return cfg_; }

private:
    using words = std::array<std::uint32_t, 32>;  // one bit per source

    struct domain {
        const bool is_root;
        register_bank& regs;
        sc_core::sc_vector<irq_out>& out;
        words pending{}, enabled{};
        bool is_busy = false;  // genmsi
    };
    /// sourcecfg.SM: how an active source interrupts.
    enum class mode : std::uint8_t { inactive, detached, edge1 = 4, edge0, level1, level0 };

    void add_registers(domain& own);
    void add_sources(domain& own);
    void add_harts(domain& own);
    void clear();

    void configure(domain& own, const register_access& a);
    void configure_source(domain& own, unsigned id, std::uint64_t value);
    void deactivate(domain& own, unsigned id);
    void set_target(domain& own, unsigned id, std::uint64_t value);
    void enable(domain& own, unsigned id);
    void disable(domain& own, unsigned id);
    void set_pending(domain& own, unsigned id);
    void clear_pending(domain& own, unsigned id);
    void on_source(unsigned id);
    void follow_input(domain& own, unsigned id, bool was_high);

    void update(domain& own, const sc_core::sc_time& delay);
    void send_pending(domain& own, const sc_core::sc_time& delay);
    void send(const domain& own, std::uint64_t target, const sc_core::sc_time& delay);
    std::uint64_t address_of(const domain& own, std::uint64_t hart) const;
    std::uint64_t top(const domain& own, unsigned hart) const;
    std::uint64_t claim(domain& own, unsigned hart, const sc_core::sc_time& delay);

    bool is_visible(const domain& own, std::uint64_t id) const;
    mode mode_of(const domain& own, std::uint64_t id) const;
    bool input(const domain& own, unsigned id) const;
    std::uint32_t inputs(const domain& own, unsigned word) const;

    const config cfg_;
    register_bank machine_regs_;
    register_bank supervisor_regs_;
    domain root_{true, machine_regs_, machine_external};
    domain child_{false, supervisor_regs_, supervisor_external};
    bool sends_ = false;  // an MSI, which may be a write to this module
};

}  // namespace trn
