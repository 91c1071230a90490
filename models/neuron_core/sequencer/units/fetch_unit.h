// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/neuron_core/sequencer/shared/engine_settings.h"
#include "models/neuron_core/sequencer/shared/engine_timeline.h"
#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/shared/progress.h"
#include "models/neuron_core/sequencer/units/program_buffer.h"
#include "models/neuron_core/sequencer/units/register_unit.h"

namespace trn {

/// Fetches and decodes the program of one engine (spec 5.2).
class fetch_unit {
public:
    fetch_unit(sequencer_environment& environment, const isa::core_traits& traits,
               engine_clock& clock, engine_counters& counters, const engine_timeline& timeline,
               sc_core::sc_event& wake)
        : core_(environment),
          traits_(traits),
          clock_(clock),
          counters_(counters),
          timeline_(timeline),
          pending_(wake) {}

    /// Reads base and length of the program from the control block.
    void start(const engine_settings& settings);
    /// Discards all buffered words.
    void drop();
    void reset();

    /// Makes the instruction at `pc` available, and prefetches the next blocks.
    progress fetch(std::uint32_t pc, const register_unit& registers);
    /// The instruction at `pc`; null until fetch() has finished for it.
    const program_buffer::entry* decoded(std::uint32_t pc) const { return buffer_.decoded(pc); }
    /// Whether fetch(pc) has no work.
    bool is_ready(std::uint32_t pc) { return has_followers(pc) && decoded(pc) != nullptr; }
    /// Whether `pc` is in the block whose successors have been fetched.
    bool has_followers(std::uint32_t pc) const {
        return pc / program_buffer::block_words == fetched_for_;
    }
    /// 32-bit word `n` of the instruction at `pc`; 0 if it is not buffered.
    std::uint32_t buffered(std::uint32_t pc, unsigned n) const;

private:
    progress decode(std::uint32_t pc, const register_unit& registers);
    progress fetch_word(std::uint32_t pc, std::uint8_t* word);
    progress fetch_block(std::uint32_t number, std::uint32_t pc, bool demanded);
    progress failed() const;

    sequencer_environment& core_;
    const isa::core_traits& traits_;
    engine_clock& clock_;
    engine_counters& counters_;
    const engine_timeline& timeline_;
    program_buffer buffer_;
    pending_access pending_;
    std::uint64_t base_ = 0;
    std::uint32_t words_ = 0;
    std::uint32_t fetched_for_ = ~0u;  // block whose successors have been fetched
};

}  // namespace trn
