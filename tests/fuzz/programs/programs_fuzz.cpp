// SPDX-License-Identifier: Apache-2.0
// Arbitrary programs on all engines of a core: each engine ends in a state that software can read,
// words become text and the same words again, and after a reset the next program is carried out.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "models/assembler/assembler.h"
#include "models/instructions/codec.h"
#include "models/misuse_rules.h"
#include "models/neuron_core/neuron_core.h"
#include "models/sequencer/sequencer_regs.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/fuzz.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using test::fuzz_random;
using control = sequencer_regs::reg;

struct bench {
    test::tlm_driver aperture{"aperture"}, top{"top"};
    neuron_core core;
    memory ram{"ram", {1 << 20}};
    irq_out reset{"reset"}, power_lost{"power_lost"};

    explicit bench(unsigned generation)
        : core("core",
               {.sbuf_size = (96u + 32 * (generation - 2)) << 18, .generation = generation}) {
        aperture.out.bind(core.aperture);
        top.out.bind(core.top);
        core.memory.bind(ram.in);
        reset.bind(core.reset);
        power_lost.bind(core.power_lost);
    }
    static std::uint64_t at(control r, unsigned e) {
        return neuron_core::engines_offset + core_engines::stride * e + sequencer_regs::offset(r);
    }
    void start(unsigned e, const std::vector<std::uint8_t>& words) {
        const std::uint32_t base = 0x10000 * e;
        std::copy(words.begin(), words.end(), ram.bytes().data() + base);
        aperture.write(at(control::program_lo, e), base);
        aperture.write(at(control::program_words, e),
                       static_cast<std::uint32_t>(words.size() / 64));
        aperture.write(at(control::wait_limit, e), 50u);
        aperture.write(at(control::control, e),
                       static_cast<std::uint32_t>(sequencer_regs::control::start.mask()));
    }
    std::uint64_t state(unsigned e) {
        return sequencer_regs::status::state.get(
            aperture.read<std::uint32_t>(at(control::status, e)));
    }
};

/// A tensor operand that is mostly right.
void put_tile(std::uint8_t* at, fuzz_random& random) {
    static constexpr std::uint8_t partitions[] = {1, 16, 32, 64, 96, 128};
    const unsigned space = random.below(8) == 0 ? 2 : 1;
    const auto offset = static_cast<std::uint32_t>(random.below(1 << 13) & ~7u);
    const std::uint32_t where =
        space << 30 | static_cast<std::uint32_t>(random.below(4) * 32) << 23 | offset;
    std::memcpy(at, &where, 4);
    at[4] = static_cast<std::uint8_t>(random.below(4) == 0 ? random.below(22) : random.below(3));
    at[5] = static_cast<std::uint8_t>(1 + random.below(2));
    at[6] = static_cast<std::uint8_t>(partitions[random.below(6)] - 1);
    for (unsigned d = 0; d < at[5]; ++d) {
        at[8 + 4 * d] = static_cast<std::uint8_t>(random.below(3));
        at[10 + 4 * d] = static_cast<std::uint8_t>(1 + random.below(4) * 8);
    }
}

/// One instruction of a random row: its fields at random, or nearly right.
std::vector<std::uint8_t> some_instruction(fuzz_random& random) {
    const isa::row& kind = isa::table()[random.below(isa::table().size())];
    std::vector<std::uint8_t> word(kind.is_long() ? 128 : 64);
    word[0] = static_cast<std::uint8_t>(kind.opcode);
    word[1] = static_cast<std::uint8_t>(static_cast<unsigned>(kind.opcode) >> 8);
    word[2] = kind.is_long();
    word[3] = 1;
    if (kind.is_tiles()) {
        if (kind.operators != isa::operators::none)
            word[16] = static_cast<std::uint8_t>(random.below(26));
        if (kind.imm != isa::immediate::none)
            word[24] = static_cast<std::uint8_t>(random.below(40));
        if (kind.dst.need != isa::need::unused) put_tile(&word[36], random);
        if (kind.a.need != isa::need::unused) put_tile(&word[64], random);
        if (kind.b.need == isa::need::required) put_tile(&word[92], random);
        if (kind.s0.need != isa::need::unused)
            word[28] = static_cast<std::uint8_t>(random.below(6));
        if (random.below(2) == 0 && kind.a.need != isa::need::unused)
            std::copy_n(&word[36 + 4], 24, &word[64 + 4]);  // shapes that agree
    } else {
        for (unsigned n = 16; n < 64; ++n)
            if (random.below(6) == 0) word[n] = static_cast<std::uint8_t>(random.below(70));
    }
    for (auto n = random.below(3); n > 0 && random.below(2) == 0; --n)
        word[random.below(word.size())] = static_cast<std::uint8_t>(random.next());
    return word;
}

std::vector<std::uint8_t> some_program(fuzz_random& random) {
    std::vector<std::uint8_t> words;
    for (auto n = 1 + random.below(12); n > 0; --n) {
        const auto more = some_instruction(random);
        words.insert(words.end(), more.begin(), more.end());
    }
    return words;
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    log::replace_sink({});
    misuse::set_policy_of_all(misuse::policy::count);
    bench b(4);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    const auto sound =
        isa::assemble("reg_move rd=R1 imm=7\nupdate S[255]=9 nop\nhalt", "sound")[0].words;
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        for (unsigned e = 0; e < isa::engine_count; ++e) {
            const auto words = some_program(random);
            if (e == 0 && isa::assemble(isa::disassemble(words), "again")[0].words != words)
                std::abort();
            b.start(e, words);
        }
        sc_core::sc_start(sc_core::sc_time(200, sc_core::SC_US));
        for (unsigned e = 0; e < isa::engine_count; ++e)
            if (b.state(e) > 5) std::abort();
        b.reset.set(true);
        b.reset.set(false);
        b.start(4, sound);
        sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
        if (b.state(4) != 3 || b.core.sync().value(255) != 9) std::abort();
        b.reset.set(true);
        b.reset.set(false);
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
