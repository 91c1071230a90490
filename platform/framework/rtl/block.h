// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/rtl/adapter.h"
#include "platform/framework/rtl/design.h"
#include "platform/framework/tlm/irq.h"

namespace trn::rtl {

/// Parameters of a block, for its kind's table.
struct clocking {
    std::uint64_t clock_hz = 100'000'000;
    std::uint64_t reset_cycles = 8;   ///< after power-on, and after each reset
    std::uint64_t time_out = 10'000;  ///< cycles until a handshake is given up
    std::uint32_t seed = 0;           ///< of registers without reset; 0: they begin with 0
};

/// Names of pins. An empty name: the design has none.
struct wiring {
    std::string clock = "clk";
    std::string reset = "rst_n";
    bool reset_level = false;  ///< that resets
    std::string busy = "";     ///< an output: the design needs its clock
};

/// A module whose behaviour is RTL. A model derives from it, and has adapters as members.
///
/// Rising edges are at multiples of the clock's period. The clock stops when all adapters are idle
/// and the design says that it is not busy; without a busy pin, when its state after an edge is
/// that before the edge, so that further edges would change nothing. Spec: doc/rtl.md.
class block : public sc_core::sc_module,
              public describes_wait,
              public publishes_statistics,
              public publishes_signals {
public:
    irq_in reset{"reset", 1, [this](unsigned, bool level) { change_reset(level); }};

    block(const sc_core::sc_module_name& name, make_design* make, const clocking& settings,
          const wiring& names = {});
    ~block() override;

    // For adapters.

    /// Whether letters are upper or lower case does not matter. \throws model_refusal: there is no
    /// such port, or it has another width than `bits` (0: any)
    pin output(const std::string& name, unsigned bits = 0) { return find(name, false, bits); }
    pin input(const std::string& name, unsigned bits = 0) { return find(name, true, bits); }
    /// A pin that is not connected if there is no such port. \throws model_refusal: it has more
    /// bits than `most` (0: any number)
    pin optional_output(const std::string& name, unsigned most = 0) {
        return find_optional(name, false, most);
    }
    pin optional_input(const std::string& name) { return find_optional(name, true); }
    /// To be called by its constructor.
    void join(adapter& added) { adapters_.push_back(&added); }
    /// An input changes at this time (absolute), or work begins: the next edge after it is needed.
    void wake(const sc_core::sc_time& time);
    const clocking& settings() const { return settings_; }
    /// The design does not answer, or breaks a protocol: the clock stops, and accesses fail until a
    /// reset.
    void hang(const std::string& why);
    bool is_hung() const { return (is_hung_ && !is_reset_asked_) || is_stopped_; }
    /// A warning.
    void report_protocol(const std::string& text) const;
    /// Calls `work` with the design at its present state, and restores that state: a read without
    /// side effects. `work` calls cycle(). False: the design has stopped; nothing has changed.
    bool try_out(const std::function<void()>& work);
    /// One clock cycle of try_out(), with the inputs as they are.
    void cycle();
    /// In try_out(): inputs have changed.
    void settle() { evaluate(); }

    std::uint64_t cycles() const { return cycles_; }
    std::optional<std::string> describe_wait() const override;
    void publish(statistics& out) const override;
    /// The ports of the top module: "pins.psel".
    void publish_signals(signal_list& out) const override;

private:
    void start_of_simulation() override;
    void change_reset(bool level);
    void run();
    void tick();
    void evaluate();
    void end_work();
    bool is_quiet() const;
    bool needs_clock(bool was_compared);
    void schedule(std::uint64_t edge);
    void sleep();
    void stop(const std::string& why);
    sc_core::sc_time time_of(std::uint64_t edge) const;
    std::uint64_t edge_after(const sc_core::sc_time& time) const;
    pin find(const std::string& name, bool is_input, unsigned bits);
    pin find_optional(const std::string& name, bool is_input, unsigned most = 0);
    void show(std::string_view line) const;

    const clocking settings_;
    const bool reset_level_;
    std::unique_ptr<design> design_;
    pin clock_, reset_, busy_;
    std::vector<adapter*> adapters_;
    sc_core::sc_event next_edge_;
    std::uint64_t edge_ = 0;  // number of the next one, while the clock runs
    std::uint64_t cycles_ = 0;
    std::uint64_t reset_left_ = 0;  // cycles
    std::uint64_t quiet_ = 0;       // cycles since something needed the clock
    std::uint64_t comparison_ = 0;  // value of quiet_ at the next comparison of states
    bool is_running_ = false, is_ticking_ = false, is_trial_ = false;
    bool is_hung_ = false, is_stopped_ = false;
    bool is_reset_asked_ = false;  // since the last edge
    bool has_told_ = false;        // that the clock does not stop
    design::state before_, after_, trial_;
};

}  // namespace trn::rtl
