// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "platform/app/telemetry/host_usage.h"
#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

enum class top_order { index, utilisation, memory, status };

/// What the user has chosen by keys.
struct top_view {
    std::size_t columns = 80;
    std::size_t rows = 24;     ///< 0: all lines
    std::size_t scrolled = 0;  ///< devices above the first one that is shown
    top_order order = top_order::index;
    bool shows_flops = false;  ///< FLOPS in the place of utilisations
    std::size_t tab = 0;       ///< 0: all processes, else a process
    bool coloured = false;
};

struct top_text {
    std::string text;             ///< lines, each with a line end
    std::size_t last_scroll = 0;  ///< largest useful `scrolled`
    std::size_t tabs = 1;
};

/// The screen of neuron-top. `before`: state at the begin of the interval, or null.
top_text top_screen(const top_view& view, const machine_state* before, const machine_state& now,
                    const host_usage& host);

}  // namespace trn::telemetry
