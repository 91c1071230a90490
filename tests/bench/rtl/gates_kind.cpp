// SPDX-License-Identifier: Apache-2.0
// RTL that works in each cycle, or is idle.
#include "gates_rtl.h"
#include "platform/framework/netlist/kinds/kind_library.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "platform/framework/rtl/block.h"

namespace {

using trn::rtl::clocking;

/// Sets an input once.
class constant_input final : public trn::rtl::adapter {
public:
    constant_input(trn::rtl::block& owner, const char* name, bool value)
        : pin_(owner.input(name)), value_(value) {
        owner.join(*this);
    }
    void reset() override { pin_.set(value_); }

private:
    trn::rtl::pin pin_;
    const bool value_;
};

struct gates : trn::rtl::block {
    struct config {
        clocking clock{.clock_hz = 10'000'000};
        bool runs = false;
    };
    gates(sc_core::sc_module_name name, const config& cfg)
        : block(name, trn::rtl::designs::gates, cfg.clock, {.busy = "busy"}),
          runs(*this, "runs", cfg.runs) {}
    constant_input runs;
};

trn::kind gates_kind() {
    using namespace trn;
    using namespace trn::kind_limits;
    return kind_of<gates>("gates", "10,000 gates of RTL.",
                          {{"clock_hz", in(&gates::config::clock, &clocking::clock_hz), unit::hertz,
                            any_frequency, "of the block"},
                           {"runs", &gates::config::runs, "works in each cycle"}},
                          {port::irq_in("reset", "resets the RTL").optional()});
}

}  // namespace

TRNVP_KINDS(gates_kind())
