// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "models/neuron_core/engines/execution.h"
#include "models/neuron_isa/instructions/data_path.h"
#include "models/neuron_isa/numerics/alu.h"

namespace trn {

/// FP32 elements aligned to a cache line of the host: its widest loads and stores cross no line.
class row_buffer {
public:
    explicit row_buffer(std::size_t elements)
        : lines_((elements + line_elements - 1) / line_elements) {}
    float* data() { return lines_.data()->values; }

private:
    static constexpr std::size_t line_elements = 16;
    struct alignas(64) line {
        float values[line_elements];
    };
    std::vector<line> lines_;
};

/// Common part of Vector, Scalar and GPSIMD: instructions that process each partition as a separate
/// lane, and accumulators. Rows 23 to 33 and 36 of doc/spec/neuron-core.md 8.
class lane_engine : public isa::data_path {
public:
    lane_engine(isa::core_memory& memory, isa::generation generation)
        : memory_(memory), generation_(generation) {}

    isa::outcome execute(const isa::instruction& i, const isa::number_settings& numbers) final;
    void reset() override;

    const engine_misuse& misuse() const { return misuse_; }
    float accumulator(unsigned lane) const { return accumulators_[lane]; }

protected:
    static constexpr unsigned lanes = isa::max_partitions;

    /// Executes one opcode of the engine; throws isa::fault before the first write.
    virtual void run(execution& e) = 0;
    /// Whether COPY converts through FP32, as Scalar of v2 always does (spec 3.2).
    virtual bool copies_through_fp32() const { return false; }
    /// Whether TENSOR_TENSOR of three INT32 or UINT32 tiles is modulo 2^32 (spec 20.27).
    virtual bool computes_integers() const { return false; }

    void copy(execution& e);
    void memset(execution& e);
    void tensor_tensor(execution& e);
    void tensor_scalar(execution& e);
    void read_accumulator(execution& e);

    /// For each lane: row = A as FP32, `compute(lane, row)`, accumulate the row, DST = row.
    template <class Compute>
    void elementwise(execution& e, Compute&& compute);

    /// Carries out REDUCE_CMD before the first element.
    void prepare_accumulators(const execution& e, unsigned count);
    /// Accumulates rows of `n` lanes, `count` elements each, which follow each other in memory.
    void accumulate(const execution& e, unsigned first, unsigned n, const float* rows,
                    std::size_t count);

    isa::core_memory& memory_;
    const isa::generation generation_;
    engine_misuse misuse_;
    std::array<float, lanes> accumulators_{};
    bool undefined_accumulators_ = true;
};

/// Lanes whose rows are summed together, so that the latencies of the additions overlap.
inline constexpr unsigned lanes_at_once = 8;

template <class Compute>
void lane_engine::elementwise(execution& e, Compute&& compute) {
    const tile a = e.source_a();
    tile dst = e.destination();
    prepare_accumulators(e, a.partitions());
    const std::size_t n = a.elements();
    const unsigned step = e.command() < isa::accumulator_command::reduce ? 1 : lanes_at_once;
    row_buffer rows(n * step);
    for (unsigned first = 0; first < a.partitions(); first += step) {
        const unsigned count = std::min(step, a.partitions() - first);
        for (unsigned j = 0; j < count; ++j) {
            float* const row = rows.data() + j * n;
            a.read(first + j, row);
            compute(first + j, row);
            e.put(dst, first + j, row);
        }
        accumulate(e, first, count, rows.data(), n);
    }
}

}  // namespace trn
