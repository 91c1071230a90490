// SPDX-License-Identifier: Apache-2.0
// Arbitrary boards are accepted, or refused with line numbers.
#include <algorithm>
#include <systemc>

#include "models/kinds.h"
#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/plan/address_map.h"
#include "tests/support/fuzz_yaml.h"

namespace {

using namespace trn;

const std::string small_board = R"(board: small
description: two memories behind one router
parameters: {room: 64 KiB, far: 0x10_0000}
modules:
  noc: {type: router, hop_latency: 2 ns}
  bus: {type: router}
  ram: {type: memory, count: 2, size: "${room}", each: {read_only: [false, true]}}
bind:
  - {bind: "noc.initiator -> ram${i}.in", at: [0x0, "${far}"], size: "${room}"}
  - noc.initiator -> ram0.in @ 0x8000_0000 + 4 KiB => 0x1000
  - noc.initiator -> bus.target @ 0x4000_0000 + 4 KiB
  - {bind: "bus.initiator -> noc.target", at: 0x0, stride: 1 GiB, size: 1 MiB, count: 3, to: 8}
)";

const std::vector<std::string> seeds{
    "board: b",
    "board: b\nmodules: []\nbind: {}\n",
    small_board,
    small_board,
    "board: b\nmodules: {a: {type: router, count: 2000}}\nbind: [{bind: \"a${i}.initiator -> "
    "a0.target\", count: 2000, at: 0, stride: 1, size: 1 B}]\n",
    "board: b\nmodules: {a: {type: chips/trainium3, count: 20}}\n",
    "board: b\nparameters: {a: \"${a}${a}\"}\nmodules: {a: {type: \"${a}\"}}\n",
    "board: b\nmodules: {a: {type: ../boards/trn3-chip}, b: {type: /etc/passwd}}\n",
    "board: b\nparameters: {n: 3}\nmodules: {a: {type: router}}\nbind: []\nmisuse:\n  allow:\n"
    "    - {rule: TRN-DMA-004, at: 'a*', function: f, line: 'f.c:1', from: 1 us, until: 2 us,\n"
    "       count: \"${n}\", reason: r}\n"};

const std::vector<std::string> words{"board: ",
                                     "modules:\n",
                                     "bind:\n",
                                     "  - noc.initiator -> ram0.in @ 0x0 + 1 KiB\n",
                                     "  - noc.initiator -> bus.target\n",
                                     " -> ",
                                     " @ ",
                                     " => ",
                                     "none",
                                     "${i}",
                                     "${room}",
                                     "count: 2000",
                                     "count: 3",
                                     "first: 7",
                                     "each: {size: [1 KiB]}",
                                     "type: router",
                                     "type: chips/trainium3",
                                     "stride: 0xffffffffffffffff",
                                     "at: [0, 1, 2]",
                                     "[18446744073709551615]",
                                     "misuse: {allow: [{rule: TRN-FW-001, reason: r}]}\n",
                                     "at: '*.*'",
                                     "line: 'a:b:0'",
                                     "rule: first-bit-error",
                                     "1 ns"};

void plan_board_text(const std::string& text) {
    const auto board = plan_text(text, "x.yaml", kinds(), {"platform/boards", {}});
    // Only address maps of a few chips: those of a whole rack add no coverage and take a second.
    const address_maps maps(board);
    auto some = maps.routers();
    some.resize(std::min<std::size_t>(some.size(), 64));
    for (const auto router : some) maps.flattened(router);
    for (const auto& module : board.modules) board.parameters_of(module);
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    return test::fuzz_yaml(argc, argv, {seeds, {"platform/boards"}, ".yaml", words},
                           plan_board_text);
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
