// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/neuron_core/sequencer/sequencer_regs.h"
#include "models/neuron_isa/instructions/data_path.h"
#include "platform/framework/registers/register_bank.h"

namespace trn {

/// The configuration that software wrote into one engine's control block.
class engine_settings {
public:
    engine_settings(const register_bank& bank, isa::engine engine)
        : bank_(bank), instance_(static_cast<unsigned>(engine)) {}

    std::uint64_t program_base() const {
        return (get(sequencer_regs::reg::program_hi) << 32 | get(sequencer_regs::reg::program_lo)) &
               ~std::uint64_t{isa::word_bytes - 1};
    }
    std::uint32_t program_words() const { return word(sequencer_regs::reg::program_words); }
    /// Table of source lines; 0: none.
    std::uint64_t lines_base() const {
        return get(sequencer_regs::reg::lines_hi) << 32 | get(sequencer_regs::reg::lines_lo);
    }
    std::uint32_t start_pc() const { return word(sequencer_regs::reg::start_pc); }
    std::uint64_t wait_limit_us() const { return get(sequencer_regs::reg::wait_limit); }
    std::uint32_t notify_config() const { return word(sequencer_regs::reg::notify_config); }
    unsigned throttle_slot() const {
        return static_cast<unsigned>(
            bank_.get(sequencer_regs::throttle_config::slot, 0, instance_));
    }
    bool traces() const {
        return bank_.get(sequencer_regs::notify_config::traces, 0, instance_) != 0;
    }
    /// FP_CONFIG, and SEED plus the number of issued instructions.
    isa::number_settings numbers(std::uint64_t issued) const {
        namespace fp = sequencer_regs::fp_config;
        const auto config = word(sequencer_regs::reg::fp_config);
        return {.stochastic = fp::stochastic.get(config) != 0,
                .saturate = fp::saturate.get(config) != 0,
                .nan_detect = fp::nan_detect.get(config) != 0,
                .inf_detect = fp::inf_detect.get(config) != 0,
                .seed = word(sequencer_regs::reg::seed) + static_cast<std::uint32_t>(issued)};
    }

private:
    std::uint64_t get(sequencer_regs::reg setting) const {
        return bank_.get(setting, 0, instance_);
    }
    std::uint32_t word(sequencer_regs::reg setting) const {
        return static_cast<std::uint32_t>(get(setting));
    }

    const register_bank& bank_;
    const unsigned instance_;
};

}  // namespace trn
