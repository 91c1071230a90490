// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/neuron_core/sequencer/sequencer_regs.h"
#include "models/neuron_isa/assembler/assembler.h"
#include "models/soc/notification_queue/notification_queue_regs.h"
#include "models/soc/semaphores/semaphores_regs.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/memory_path.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

/// A core of generation 4 whose memory port maps 1 MiB at 0; each engine's program is at 0x10000
/// and above, notification rings are at 0x1000 and above.
class engine_test : public testing::Test {
protected:
    using control = sequencer_regs::reg;
    using nq = notification_queue_regs::reg;
    using sem = semaphores_regs::reg;
    using engine = isa::engine;
    static constexpr engine T = engine::tensor, S = engine::scalar, G = engine::gpsimd,
                            V = engine::vector, Y = engine::sync;
    enum state : unsigned { idle, running, waiting, halted, stopped, failed };

    static constexpr std::uint64_t nq_at = 0x1000;

    explicit engine_test(const neuron_core::config& config = {}) : core("core", config) {}

    void SetUp() override {
        connect();
        reset.bind(core.reset);
        power_lost.bind(core.power_lost);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        for (unsigned slot = 0; slot < 16; ++slot) {
            set_ring(nq::slot_base_hi, slot, 0);
            set_ring(nq::slot_base_lo, slot, 0x1000 * (slot + 1));
            set_ring(nq::slot_size, slot, 0x1000);
        }
    }

    /// Connects the test to the core's aperture, and the core's memory port to the RAM at 0.
    virtual void connect() {
        aperture.out.bind(core.aperture);
        top.out.bind(core.top);
        bind_memory(core.memory, ram.in, path);
    }

    std::uint64_t at(control r, engine e, unsigned index = 0) const {
        return neuron_core::engines_offset + core_engines::stride * static_cast<unsigned>(e) +
               sequencer_regs::offset(r, index);
    }
    std::uint32_t get(control r, engine e, unsigned index = 0) {
        return aperture.read(at(r, e, index));
    }
    void set(control r, engine e, std::uint32_t value, unsigned index = 0) {
        ASSERT_EQ(aperture.write(at(r, e, index), value), tlm::TLM_OK_RESPONSE);
    }

    static std::uint64_t program_at(engine e) {
        return 0x40000 + 0x10000 * static_cast<unsigned>(e);
    }
    /// Writes a program without starting it.
    void load(engine e, const std::vector<std::uint8_t>& words) {
        std::copy(words.begin(), words.end(), ram.bytes().data() + program_at(e));
        set(control::program_lo, e, static_cast<std::uint32_t>(program_at(e)));
        set(control::program_words, e, static_cast<std::uint32_t>(words.size() / 64));
    }
    void load(engine e, std::string_view text) { load(e, words_of(text)); }
    static std::vector<std::uint8_t> words_of(std::string_view text) {
        return isa::assemble(text, "program").at(0).words;
    }
    void start(engine e) { set(control::control, e, sequencer_regs::control::start.mask()); }
    /// Loads and starts a program, and simulates a millisecond at most.
    void run(engine e, std::string_view text) {
        load(e, text);
        start(e);
        run_for(1000);
    }
    static void run_for(double us) { sc_core::sc_start(sc_core::sc_time(us, sc_core::SC_US)); }

    unsigned state_of(engine e) {
        return static_cast<unsigned>(sequencer_regs::status::state.get(get(control::status, e)));
    }
    unsigned error_of(engine e) {
        return static_cast<unsigned>(sequencer_regs::status::error.get(get(control::status, e)));
    }
    std::uint32_t reg(engine e, unsigned n) { return get(control::r, e, n); }

    std::int32_t semaphore(unsigned n) { return core.sync().value(n); }
    std::uint32_t event(unsigned n) { return core.sync().event(n); }

    struct entry {
        std::uint8_t kind, source;
        std::uint32_t payload;
        bool operator==(const entry&) const = default;
    };
    /// Entries of a ring, oldest first.
    std::vector<entry> entries(unsigned slot) {
        std::vector<entry> found;
        const std::uint32_t head =
            top.read(nq_at + notification_queue_regs::offset(nq::slot_head, slot)) & 0x7fff'ffff;
        for (std::uint32_t at = 0; at < head; at += notification_queue::entry_bytes) {
            std::uint32_t words[2];
            std::memcpy(words, ram.bytes().data() + 0x1000 * (slot + 1) + at, sizeof words);
            found.push_back({static_cast<std::uint8_t>(words[0]),
                             static_cast<std::uint8_t>(words[0] >> 8), words[1]});
        }
        return found;
    }

    float& sbuf_float(unsigned partition, std::uint32_t offset) {
        return *reinterpret_cast<float*>(core.sbuf().data() + partition * 262'144u + offset);
    }

    tlm_driver aperture{"aperture"}, top{"top"};
    neuron_core core;
    std::optional<memory_path> path;
    memory ram{"ram", {1 << 20}};
    irq_out reset{"reset"}, power_lost{"power_lost"};

private:
    void set_ring(nq r, unsigned slot, std::uint32_t value) {
        top.write(nq_at + notification_queue_regs::offset(r, slot), value);
    }
};

}  // namespace trn::test
