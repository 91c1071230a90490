// SPDX-License-Identifier: Apache-2.0
// A block of a shared library beside the same block in the program: accesses of its registers
// through its socket, and its work.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/kinds.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/set_access.h"
#include "scaler.h"
#include "tests/bench/rows.h"

namespace {

using trn::scaler_regs::reg;
using trn::test::bench_row;

constexpr unsigned accesses = 1'000'000, words = 100'000;
constexpr double most = 1.05;

trn::kind kind_in_program() {
    using c = example::scaler::config;
    return trn::kind_of<example::scaler>(
        "scaler_in_program", "The same in the program.",
        {{"time_per_word", &c::time_per_word, trn::kind_limits::any_time, "of the multiplier"}},
        {trn::port::target("in", "registers").of_size(0x1000),
         trn::port::initiator("memory", "words and results"),
         trn::port::irq_out("irq", "DONE or FAILED").optional()});
}

constexpr const char* board = R"(board: bench
kinds: [)" BENCH_SCALER R"(]
modules:
  bus: {type: router}
  ram: {type: memory, size: 1 MiB}
  loaded: {type: scaler}
  linked: {type: scaler_in_program}
bind:
  - bus.initiator -> ram.in @ 0x0 + 1 MiB
  - bus.initiator -> loaded.in @ 0x10_0000 + 4 KiB
  - bus.initiator -> linked.in @ 0x10_1000 + 4 KiB
  - loaded.memory -> bus.target
  - linked.memory -> bus.target
)";

/// The registers of a module, by its socket.
class block {
public:
    block(trn::system& built, const char* name)
        : socket_(dynamic_cast<tlm::tlm_base_target_socket_b<64>&>(
                      built.object({built.board().index_of(name), 0, 0}))
                      .get_base_interface()) {}

    void access(tlm::tlm_command command, reg to, std::uint32_t value) {
        sc_core::sc_time delay;
        trn::set_access(payload_, command, trn::scaler_regs::offset(to), &value, sizeof value);
        payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        socket_.b_transport(payload_, delay);
        if (!payload_.is_response_ok()) std::abort();
    }
    void write(reg to, std::uint32_t value) { access(tlm::TLM_WRITE_COMMAND, to, value); }

    /// Nanoseconds of processor time per access: plain writes, reads and writes with a hook.
    double time_accesses() {
        const std::clock_t begin = std::clock();
        for (unsigned i = 0; i < accesses; i += 4) {
            write(reg::factor, i);
            access(tlm::TLM_READ_COMMAND, reg::factor, 0);
            write(reg::status, 0);
            access(tlm::TLM_READ_COMMAND, reg::status, 0);
        }
        return nanoseconds_since(begin) / accesses;
    }
    /// The same per word that it multiplies, with warm caches.
    double time_work() {
        constexpr int times = 20;
        double took = 0;
        work();
        for (int i = 0; i < times; ++i) took += work();
        return took / times;
    }

private:
    double work() {
        constexpr std::uint32_t half = 512 << 10;
        write(reg::target_lo, half);
        write(reg::words, words);
        const std::clock_t begin = std::clock();
        write(reg::control, 1);
        sc_core::sc_start(10, sc_core::SC_MS);
        const double took = nanoseconds_since(begin) / words;
        write(reg::status, 1);
        return took;
    }
    static double nanoseconds_since(std::clock_t begin) {
        return static_cast<double>(std::clock() - begin) * 1e9 / CLOCKS_PER_SEC;
    }

    tlm::tlm_fw_transport_if<>& socket_;
    tlm::tlm_generic_payload payload_;
};

/// Of runs in turns: other work on the machine only lengthens a run.
bench_row row(const char* name, const std::vector<double>& mine, const std::vector<double>& peer) {
    const double value = std::ranges::min(mine), other = std::ranges::min(peer);
    return {name, value, "ns", "at most 1.05 x", value <= most * other, "the block in the program",
            other};
}

}  // namespace

int sc_main(int argc, char** argv) {
    trn::kind_list kinds = trn::kinds();
    kinds.push_back(kind_in_program());
    trn::system built(trn::plan_text(board, "bench.yaml", kinds, {}));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    block loaded(built, "loaded"), linked(built, "linked");
    std::vector<double> accessed, accessed_peer, worked, worked_peer;
    for (int run = 0; run < 9; ++run) {  // in turns
        accessed.push_back(loaded.time_accesses());
        accessed_peer.push_back(linked.time_accesses());
        worked.push_back(loaded.time_work());
        worked_peer.push_back(linked.time_work());
    }
    return trn::test::report({row("block of a library, register access", accessed, accessed_peer),
                              row("block of a library, work per word", worked, worked_peer)},
                             argc, argv);
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
