// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/kind_library.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "scaler.h"

namespace {

trn::kind scaler_kind() {
    using namespace trn;
    using namespace trn::kind_limits;
    using c = example::scaler::config;
    return kind_of<example::scaler>(
        "scaler", "Multiplies words of memory by a factor.",
        {{"access_latency", &c::access_latency, any_time, "of each register access"},
         {"time_per_word", &c::time_per_word, any_time, "of the multiplier"}},
        {port::target("in", "registers").of_size(0x1000),
         port::initiator("memory", "words and results"),
         port::irq_out("irq", "DONE or FAILED").optional()});
}

}  // namespace

TRNVP_KINDS(scaler_kind())
