// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/neuron_isa/instructions/instruction.h"

namespace trn::isa {

/// Access of one core's engines to SBUF and PSUM, without simulated time.
class core_memory {
public:
    virtual ~core_memory() = default;

    /// First byte of partition 0; partition p follows at p * partition_bytes(space).
    virtual std::uint8_t* bytes(space memory) = 0;
    virtual std::uint32_t partition_bytes(space memory) const = 0;
    /// Whether any word holds an injected fault; if not, check_read() always succeeds.
    virtual bool has_errors() const = 0;
    /// Counts corrected errors; false when a byte of the range is uncorrectable.
    virtual bool check_read(location first, std::uint32_t length) = 0;
    /// Reports that an engine wrote bytes; a word written whole loses its error. Of several writes
    /// to one page of a partition, only the first must be reported, before the next write; while
    /// has_errors(), every write must be reported.
    virtual void written(location first, std::uint32_t length) = 0;
    static constexpr std::uint32_t page_bytes = 4096;
};

/// FP_CONFIG and SEED as they apply to one instruction.
struct number_settings {
    bool stochastic = false;
    bool saturate = false;
    bool nan_detect = false;
    bool inf_detect = false;
    std::uint32_t seed = 0;  ///< SEED + retired instructions of the engine
};

/// Software errors despite which an instruction computed a defined result.
struct mistakes {
    bool activation_out_of_range = false;    ///< spec 3.6
    bool reduce_without_reset = false;       ///< spec 3.5
    bool psum_accumulate_undefined = false;  ///< spec 4.1
};

/// Result of a data-path instruction.
struct outcome {
    std::optional<isa::fault> fault;  ///< if set, nothing was written
    bool numerical = false;           ///< wrote a NaN (or Inf) that the settings detect
    isa::mistakes mistakes = {};
};

/// Computes the instructions of one engine. The object holds the state between instructions
/// (accumulators, stationary tiles, match registers, generators).
class data_path {
public:
    virtual ~data_path() = default;

    /// Executes `i` at once. Precondition: `i` has passed decode() and check(), with registers
    /// resolved: OFFSET_REG is part of `place.offset`, scalar registers are immediates, the
    /// register of a data pattern is part of its offset.
    virtual outcome execute(const instruction& i, const number_settings& numbers) = 0;
    /// Core reset: makes accumulators and stationary undefined and seeds generators (spec 5.3,
    /// 3.8).
    virtual void reset() = 0;
};

}  // namespace trn::isa
