// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry::test {

/// A torus of rows of 4 Trainium3 devices with 8 cores each, 1 s after its start.
inline machine_state torus(unsigned devices = 16) {
    machine_state state;
    state.wall_ms = 1'000'000;
    state.time_ps = 1'000'000'000'000;
    state.clock_ns = 1'000'000'000;
    state.source = "platform test";
    auto& machine = state.instances.emplace_back();
    machine.type = "trn3.48xlarge";
    machine.id = "i-0123456789abcdef0";
    const unsigned rows = devices / 4;
    for (unsigned n = 0; n < devices; ++n) {
        device d;
        d.index = n;
        d.name = fmt::format("chip{}", n);
        d.bdf = fmt::format("0000:{:02x}:00.0", n + 1);
        d.product = "Trainium3";
        d.architecture = "NDv4";
        d.core_count = 8;
        d.memory_bytes = std::uint64_t{144} << 30;
        const unsigned x = n % 4, y = n / 4;
        d.connected =
            std::vector<unsigned>{(x + 1) % 4 + 4 * y, (x + 3) % 4 + 4 * y,
                                  x + 4 * ((y + 1) % rows), x + 4 * ((y + rows - 1) % rows)};
        d.sram_corrected = d.sram_uncorrected = d.hbm_uncorrected = d.hbm_repairable = 0;
        d.faulty.emplace();
        for (unsigned c = 0; c < d.core_count; ++c) {
            core made;
            made.number = c;
            made.busy_ns = 0;
            d.cores.push_back(made);
        }
        machine.devices.push_back(std::move(d));
    }
    return state;
}

/// A process on devices 0 and 1.
inline process some_process() {
    process p;
    p.pid = 4711;
    p.name = "python3";
    p.command = "python3 train.py";
    p.devices = {0, 1};
    return p;
}

}  // namespace trn::telemetry::test
