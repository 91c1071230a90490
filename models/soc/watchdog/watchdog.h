// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <systemc>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// Two-stage watchdog: without service it first barks (interrupt), then bites (reset request). It
/// pauses during a sleep that the processor has announced, until `needed` rises. While it counts,
/// one event is pending, which is only moved when it fires: a service or a short sleep costs no
/// kernel call. Spec: doc/models/soc/watchdog.md.
class watchdog : public sc_core::sc_module {
public:
    struct config {
        sc_core::sc_time access_latency{20, sc_core::SC_NS};  ///< per register access
    };

    register_socket in{"in", regs_};
    irq_in reset{"reset", 1, [this](unsigned, bool level) {
                     if (level) clear();
                 }};
    /// High: the processor is awake or has pending requests, which ends an announced sleep.
    irq_in needed{"needed", 1, [this](unsigned, bool level) {
                      if (level) announced_ = false;
                      pause(sc_core::sc_time_stamp());
                  }};
    irq_out bark{"bark"};
    irq_out bite{"bite"};  ///< rises with the bite, falls with the reset or a new period

    watchdog(sc_core::sc_module_name name, const config& cfg);

    const config& settings() const { return cfg_; }

private:
    void define_registers();
    void expire();

    void advance(const sc_core::sc_time& delay);
    void clear();
    void control(register_access& a);
    void service(const sc_core::sc_time& delay);
    void pause(const sc_core::sc_time& now);
    void schedule();
    void update_bark(const sc_core::sc_time& delay);
    sc_core::sc_time after(std::uint64_t microseconds) const;
    sc_core::sc_time bark_at() const;
    sc_core::sc_time bite_at() const;
    bool enabled() const;
    bool locked() const;
    std::uint64_t remaining(const sc_core::sc_time& read_at) const;

    const config cfg_;
    register_bank regs_;
    sc_core::sc_time served_;  // time of the last service, absolute, moved by pauses
    bool announced_ = false;   // the processor has announced a sleep
    bool barked_ = false;      // since the last service
    std::optional<sc_core::sc_time> paused_at_;
    bool armed_ = false;  // whether expired_ is pending
    sc_core::sc_event expired_;
};

}  // namespace trn
