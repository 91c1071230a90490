// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/neuron_core/sequencer/sequencer_regs.h"
#include "models/neuron_isa/assembler/assembler.h"
#include "sw-stubs/host/machine/device.h"

namespace trn::test {

/// Host access to an engine of a Trainium3 core: programs through BAR4, the control block through
/// BAR0 (contract 3.2, 3.4).
class host_engine {
public:
    using reg = sequencer_regs::reg;
    enum state : unsigned { idle, running, waiting, halted, stopped, failed };

    static constexpr std::uint64_t cores_at = 0xd000'0000;  ///< offset of the cores in BAR0
    /// Where start() puts programs in HBM stack 0; 64 KiB for each engine of each core.
    static constexpr std::uint64_t programs_at = 0x4000'0000;

    host_engine(device& chip, isa::engine engine, unsigned core = 0)
        : chip_(chip), engine_(static_cast<unsigned>(engine)), core_(core) {}

    std::uint64_t bar_offset(reg r, unsigned index = 0) const {
        return cores_at + core_ * neuron_core::aperture_size + neuron_core::engines_offset +
               core_engines::stride * engine_ + sequencer_regs::offset(r, index);
    }
    /// AXI address of a register.
    std::uint64_t address(reg r, unsigned index = 0) const {
        return trn_sbuf_address(chip_, core_,
                                neuron_core::engines_offset + core_engines::stride * engine_ +
                                    sequencer_regs::offset(r, index));
    }
    std::uint32_t get(reg r, unsigned index = 0) const {
        std::uint32_t value = 0;
        chip_.check(trn_bar_read(chip_, bar_offset(r, index), &value));
        return value;
    }
    void set(reg r, std::uint64_t value, unsigned index = 0) const {
        chip_.check(trn_bar_write(chip_, bar_offset(r, index), static_cast<std::uint32_t>(value)));
    }
    unsigned state() const {
        return static_cast<unsigned>(sequencer_regs::status::state.get(get(reg::status)));
    }
    unsigned error() const {
        return static_cast<unsigned>(sequencer_regs::status::error.get(get(reg::status)));
    }
    void reset() const { set(reg::control, sequencer_regs::control::reset.mask()); }

    /// Offset of this engine's program in HBM stack 0.
    std::uint64_t program_offset() const { return programs_at + 0x10000 * (8 * core_ + engine_); }
    /// Starts the program at `address`, which is already in memory: writes base, word count and
    /// START.
    void start_at(std::uint64_t address, std::size_t words) const {
        set(reg::program_lo, address);
        set(reg::program_hi, address >> 32);
        set(reg::program_words, words);
        set(reg::control, sequencer_regs::control::start.mask());
    }
    void start(std::string_view text) const {
        const auto bytes = isa::assemble(text, "program").at(0).words;
        chip_.check(trn_window_write(chip_, 0, program_offset(), bytes.data(), bytes.size()));
        start_at(trn_hbm_address(chip_, 0, program_offset()), bytes.size() / isa::word_bytes);
    }
    /// Polls every microsecond until the engine is neither running nor waiting. Returns false after
    /// 1 ms.
    bool ends() const {
        for (int n = 0; n < 1000; ++n) {
            if (const unsigned now = state(); now != running && now != waiting) return true;
            chip_.check(trn_sleep(chip_, 1000));
        }
        return false;
    }

private:
    device& chip_;
    unsigned engine_, core_;
};

}  // namespace trn::test
