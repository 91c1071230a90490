// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/netlist/expansion/plan_board.h"
#include "tests/unit/netlist/sample_kinds.h"

namespace trn::test {

inline const std::string sample_board_text = R"(board: pair
description: two memories behind one router
parameters: {product: small, room: 64 KiB, weight: 3}
presets:
  product:
    small: {weight: 4}
    large: {room: 1 MiB}
modules:
  noc: {type: router, hop_latency: 2 ns}
  ram: {type: memory, count: 2, size: "${room}", each: {read_only: [false, true]}}
  dev: {type: gadget, weights: [3, "${weight}"], latency: 7 ns, paint: green, factor: -1.25}
bind:
  - {bind: "noc.initiator -> ram${i}.in", at: [0x0, 0x10_0000], size: "${room}"}
  - noc.initiator -> dev.regs @ 0x4000_0000 + 4 KiB
  - dev.mem -> noc.target
  - dev.irq -> dev.reset[2]
)";

inline plan sample_board(const plan_options& options = {}) {
    return plan_text(sample_board_text, "pair.yaml", sample_kinds(), options);
}

}  // namespace trn::test
