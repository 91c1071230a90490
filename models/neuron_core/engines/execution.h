// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/neuron_core/tile/tile.h"
#include "models/neuron_core/tile/written_numbers.h"
#include "models/neuron_isa/instructions/data_path.h"
#include "models/neuron_isa/numerics/alu.h"

namespace trn {

/// Software errors despite which an engine computes a defined result; counts since construction.
struct engine_misuse {
    std::uint64_t activation_out_of_range = 0;    ///< elements (spec 3.6)
    std::uint64_t reduce_without_reset = 0;       ///< instructions (spec 3.5)
    std::uint64_t psum_accumulate_undefined = 0;  ///< instructions (spec 4.1)

    /// Which counts have changed since `before`.
    isa::mistakes since(const engine_misuse& before) const {
        return {activation_out_of_range != before.activation_out_of_range,
                reduce_without_reset != before.reduce_without_reset,
                psum_accumulate_undefined != before.psum_accumulate_undefined};
    }
};

/// One instruction being executed: memory, number settings, and whether it has written a NaN or Inf
/// that the settings detect. Operands are opened, and so checked, before the first write; a failed
/// check throws isa::fault.
class execution {
public:
    execution(isa::core_memory& memory, const isa::instruction& i,
              const isa::number_settings& numbers, unsigned index_group = 16)
        : i(i), memory_(memory), numbers_(numbers), index_group_(index_group) {}

    const isa::instruction& i;

    tile source(const isa::tile_operand& operand, isa::operand name) const;
    tile source_a() const { return source(i.a, isa::operand::a); }
    tile source_b() const { return source(i.b, isa::operand::b); }
    tile destination() const { return tile(memory_, i.dst, isa::operand::dst, index_group_); }
    /// Opens B as a result.
    tile result_b() const { return tile(memory_, i.b, isa::operand::b, index_group_); }
    scalar_values s0(unsigned lanes, float absent = 0) const;
    scalar_values s1(unsigned lanes, float absent = 0) const;

    /// Writes FP32 values converted to the tile's type, with canonical NaNs.
    void put(tile& target, unsigned partition, const float* values);
    /// Converts `elements` values of a partition like put(), into bit patterns of `type`.
    void convert(numerics::element type, unsigned partition, std::size_t elements,
                 const float* values, std::uint8_t* bits) const;
    void put_bits(tile& target, unsigned partition, const std::uint8_t* values);
    void put_bits(tile& target, unsigned partition, const std::uint32_t* values);
    void put_where(tile& target, unsigned partition, const std::uint8_t* values,
                   const std::uint8_t* mask);
    /// Writes `values`, of which those with `mask` not 0 are elements of `source`: bit by bit if
    /// both tiles have one type.
    void put_selected(tile& target, const tile& source, unsigned partition, const float* values,
                      const std::uint8_t* mask);

    bool has_mode(std::uint16_t bits) const { return i.has_mode(bits); }
    numerics::alu op0() const { return static_cast<numerics::alu>(i.op0); }
    numerics::alu op1() const { return static_cast<numerics::alu>(i.op1); }
    numerics::alu reduce_op() const { return static_cast<numerics::alu>(i.reduce_op); }
    isa::accumulator_command command() const {
        return static_cast<isa::accumulator_command>(i.reduce_cmd);
    }
    bool is_bitvec() const { return is_bitvec(op0()) || is_bitvec(op1()); }

    /// Whether a NaN or Inf that the settings detect was written.
    bool numerical() const { return numbers_.numerical(); }

private:
    static bool is_bitvec(numerics::alu op) { return numerics::is_bitvec(op); }

    isa::core_memory& memory_;
    written_numbers numbers_;
    const unsigned index_group_;
    std::vector<std::uint8_t> bits_, kept_;
};

}  // namespace trn
