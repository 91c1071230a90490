// SPDX-License-Identifier: Apache-2.0
// Host cost of an engine's sequencer: control instructions in a loop, with and without semaphores.
#include <algorithm>
#include <string>
#include <vector>

#include "models/misuse_rules.h"
#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/neuron_core/sequencer/sequencer_regs.h"
#include "models/neuron_isa/assembler/assembler.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "tests/bench/rows.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using control = sequencer_regs::reg;

struct bench {
    test::tlm_driver aperture{"aperture"}, top{"top"};
    neuron_core core{"core", {}};
    memory ram{"ram", {1 << 20}};
    irq_out reset{"reset"}, power_lost{"power_lost"};

    bench() {
        aperture.out.bind(core.aperture);
        top.out.bind(core.top);
        core.memory.bind(ram.in);
        reset.bind(core.reset);
        power_lost.bind(core.power_lost);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }

    static std::uint64_t at(control r) {
        return neuron_core::engines_offset +
               core_engines::stride * static_cast<unsigned>(isa::engine::sync) +
               sequencer_regs::offset(r);
    }
    /// Millions of instructions of `body` per second of host time, executed in a loop.
    double rate(const std::string& body, unsigned instructions, unsigned rounds) {
        const auto words =
            isa::assemble("again: " + body + "loop rd=R1 step=1 imm=" + std::to_string(rounds) +
                              " target=again\nhalt\n",
                          "bench")
                .at(0)
                .words;
        std::copy(words.begin(), words.end(), ram.bytes().data());
        return 1e3 / test::nanoseconds_each(std::size_t{instructions + 1} * rounds, [&] {
                   aperture.write<std::uint32_t>(
                       at(control::control),
                       static_cast<std::uint32_t>(sequencer_regs::control::reset.mask()));
                   aperture.write<std::uint32_t>(at(control::program_words),
                                                 static_cast<std::uint32_t>(words.size() / 64));
                   aperture.write<std::uint32_t>(
                       at(control::control),
                       static_cast<std::uint32_t>(sequencer_regs::control::start.mask()));
                   sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
               });
    }
};

}  // namespace

int sc_main(int argc, char** argv) {
    trn::misuse::set_rules(trn::misuse::all_rules);
    bench b;
    std::vector<test::bench_row> rows;
    const double registers = b.rate(
        "reg_alu op=add rd=R2 ra=R2 imm=3\nreg_alu op=bitwise_xor rd=R3 ra=R2 rb=R3\n"
        "branch if=lt ra=R2 rb=R1 target=1\n",
        3, 2'000'000);
    rows.push_back(
        {"sequencer, register instructions", registers, "M/s", "at least 20 M/s", registers >= 20});
    const double updates = b.rate("update S[1]+=1 nop\nwait S[1]>=1:subtract nop\n", 2, 300'000);
    rows.push_back({"sequencer, semaphore instructions", updates, "M/s"});
    return test::report(rows, argc, argv);
}
