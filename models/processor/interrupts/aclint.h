// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>
#include <vector>

#include "models/processor/riscv/mtime_source.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// Machine timer and software interrupts of up to 64 harts (ACLINT MTIMER and MSWI, in the layout
/// of the SiFive CLINT). mtime is computed from simulated time; only the next expiry is scheduled.
class aclint : public sc_core::sc_module, public riscv::mtime_source {
public:
    struct config {
        unsigned harts = 1;
        sc_core::sc_time tick{100, sc_core::SC_NS};  ///< period of mtime
        sc_core::sc_time access_latency = sc_core::SC_ZERO_TIME;
    };

    register_socket in{"in", regs_};
    /// Rising: MSIP and MTIMECMP of all harts; MTIME continues.
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) clear();
                 }};
    /// MTIME starts at 0 when power returns.
    irq_in power_lost{"power_lost", 1,
                      [this](unsigned, bool) { set_mtime(0, sc_core::SC_ZERO_TIME); }};
    sc_core::sc_vector<irq_out> software;  ///< MSIP, by hart
    sc_core::sc_vector<irq_out> timer;     ///< MTIP, by hart

    aclint(sc_core::sc_module_name name, const config& cfg);

    std::uint64_t mtime(sc_core::sc_time time) const override;
    sc_core::sc_time time_of(std::uint64_t value) const override;
    void on_write(const std::function<void()>& written) const override {
        written_.push_back(written);
    }
    const config& settings() const { return cfg_; }

private:
    void expire();  // process: runs when a timer may have expired

    void clear();
    void set_mtime(std::uint64_t value, const sc_core::sc_time& delay);
    void compare(unsigned hart, const sc_core::sc_time& delay);
    void compare_all(const sc_core::sc_time& delay);
    void schedule();
    std::uint64_t mtimecmp(unsigned hart) const;

    const config cfg_;
    register_bank regs_;
    /// mtime minus the ticks since the start, from a write of mtime on.
    struct offset {
        sc_core::sc_time since;
        std::uint64_t value = 0;
    };
    static constexpr std::size_t max_offsets = 8;
    std::vector<offset> offsets_{offset{}};  // ascending; several while a writer is ahead
    sc_core::sc_event expiry_;
    mutable std::vector<std::function<void()>> written_;
};

}  // namespace trn
