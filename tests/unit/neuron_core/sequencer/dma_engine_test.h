// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "models/dma/udma/udma.h"
#include "models/dma/udma/udma_regs.h"
#include "models/memory/hbm/hbm.h"
#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/neuron_core/sequencer/sequencer_regs.h"
#include "models/neuron_isa/assembler/assembler.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

/// Two cores of an LNC pair on one address map with a group of 16 DMA engines and an HBM stack.
/// Programs, rings and data are in HBM.
class dma_engine_test : public testing::Test {
protected:
    using control = sequencer_regs::reg;
    using engine = isa::engine;
    static constexpr engine S = engine::scalar, G = engine::gpsimd, Y = engine::sync;
    enum state : unsigned { idle, running, waiting, halted, stopped, failed };
    static constexpr std::uint64_t dma_at = 0x10'0200'0000, core_at = 0x20'0000'0000,
                                   core_stride = 0x10'0000'0000, ring_at = 0x4000'0000,
                                   table = 0x1000'0000, result = 0x2000'0000;

    explicit dma_engine_test(isa::generation g = isa::generation::v4)
        : dma("dma", {.engines = 16}),
          cores{neuron_core("core0", config_of(0, g)), neuron_core("core1", config_of(1, g))} {
        cpu.out.bind(bus.target);
        dma.memory.bind(bus.target);
        bus.initiator.bind(stack.in);
        bus.initiator.bind(dma.registers);
        bus.map({0, 36ull << 30, 0, 0});
        bus.map({dma_at, dma.settings().stride * 16, 0, 1});
        stack_control.out.bind(stack.control);
        for (unsigned line = 0; line < dma_resets.size(); ++line)
            dma_resets[line].bind(dma.reset, line);
        for (unsigned c = 0; c < 2; ++c) {
            bus.initiator.bind(cores[c].aperture);
            bus.map({core_at + c * core_stride, neuron_core::aperture_size, 0, 2 + c});
            tops[c].out.bind(cores[c].top);
            cores[c].memory.bind(bus.target);
            resets[c].bind(cores[c].reset);
            power_lost[c].bind(cores[c].power_lost);
        }
    }

    void SetUp() override { sc_core::sc_start(sc_core::SC_ZERO_TIME); }

    static neuron_core::config config_of(unsigned number, isa::generation g) {
        return {.generation = static_cast<unsigned>(g),
                .number = number,
                .dma_base = dma_at,
                .dma_stride = 0x100000,
                .aperture_base = core_at + number * core_stride};
    }

    /// Initialises rings of `length` descriptors for `queue` of the DMA engines in `mask`.
    void init_rings(unsigned queue, std::uint32_t length, unsigned mask = 0xffff) {
        using r = udma_regs::reg;
        for (unsigned e = 0; e < 16; ++e) {
            if ((mask >> e & 1) == 0) continue;
            const std::uint64_t base = ring_at + ((e * 16ull + queue) << 18);
            set_dma(e, r::m2s_q_base_lo, queue, static_cast<std::uint32_t>(base));
            set_dma(e, r::m2s_q_length, queue, length);
            set_dma(e, r::m2s_q_cfg, queue, 0x03030000);
            set_dma(e, r::s2m_q_base_lo, queue, static_cast<std::uint32_t>(base + (1 << 17)));
            set_dma(e, r::s2m_q_length, queue, length);
            set_dma(e, r::s2m_q_cfg, queue, 0x03030000);
        }
    }
    void set_dma(unsigned e, udma_regs::reg r, unsigned index, std::uint32_t value) {
        ASSERT_EQ(cpu.write(dma_at + e * 0x100000ull + udma_regs::offset(r, index), value),
                  tlm::TLM_OK_RESPONSE);
    }

    std::uint64_t at(control r, engine e, unsigned core, unsigned index = 0) const {
        return core_at + core * core_stride + neuron_core::engines_offset +
               core_engines::stride * static_cast<unsigned>(e) + sequencer_regs::offset(r, index);
    }
    std::uint32_t get(control r, engine e, unsigned core = 0, unsigned index = 0) {
        return cpu.read(at(r, e, core, index));
    }
    void start(engine e, std::string_view text, unsigned core = 0) {
        const auto words = isa::assemble(text, "program").at(0).words;
        const std::uint64_t base =
            0x3000'0000 + (core * isa::engine_count + static_cast<unsigned>(e)) * 0x10000ull;
        put(base, words.data(), words.size());
        cpu.write(at(control::program_lo, e, core), static_cast<std::uint32_t>(base));
        cpu.write(at(control::program_words, e, core),
                  static_cast<std::uint32_t>(words.size() / 64));
        cpu.write(at(control::control, e, core),
                  static_cast<std::uint32_t>(sequencer_regs::control::start.mask()));
    }
    /// Starts a program and simulates a millisecond.
    void run(engine e, std::string_view text, unsigned core = 0) {
        start(e, text, core);
        run_for(1000);
    }
    static void run_for(double us) { sc_core::sc_start(sc_core::sc_time(us, sc_core::SC_US)); }

    unsigned state_of(engine e, unsigned core = 0) {
        return static_cast<unsigned>(
            sequencer_regs::status::state.get(get(control::status, e, core)));
    }
    unsigned error_of(engine e, unsigned core = 0) {
        return static_cast<unsigned>(
            sequencer_regs::status::error.get(get(control::status, e, core)));
    }
    std::int32_t semaphore(unsigned n, unsigned core = 0) { return cores[core].sync().value(n); }

    /// Address of CONTROL of core 0's Sync engine.
    std::uint64_t at_control() const { return at(control::control, Y, 0); }

    void put(std::uint64_t address, const void* bytes, std::size_t length) {
        std::memcpy(stack.bytes().data() + address, bytes, length);
        stack.accessed(tlm::TLM_WRITE_COMMAND, address, length);
    }
    template <typename T>
    T& word(std::uint64_t address) {
        return *reinterpret_cast<T*>(stack.bytes().data() + address);
    }
    template <typename T>
    T& sbuf(unsigned partition, std::uint32_t offset) {
        return *reinterpret_cast<T*>(cores[0].sbuf().data() + partition * 262'144ull + offset);
    }

    template <typename T>
    void set_sbuf(unsigned partition, std::uint32_t offset, std::type_identity_t<T> value) {
        ASSERT_EQ(cpu.write<T>(core_at + partition * 262'144ull + offset, value),
                  tlm::TLM_OK_RESPONSE);
    }

    tlm_driver cpu{"cpu"}, stack_control{"stack_control"};
    std::array<tlm_driver, 2> tops{tlm_driver("top0"), tlm_driver("top1")};
    router bus{"bus", {}};
    hbm stack{"stack", {}};
    udma dma;
    std::array<neuron_core, 2> cores;
    std::array<irq_out, 2> dma_resets{irq_out("dma_reset0"), irq_out("dma_reset1")};
    std::array<irq_out, 2> resets{irq_out("reset0"), irq_out("reset1")};
    std::array<irq_out, 2> power_lost{irq_out("power_lost0"), irq_out("power_lost1")};
};

}  // namespace trn::test
