// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engines/execution.h"

#include <cstring>

#include "models/neuron_isa/numerics/rules.h"

namespace trn {

using numerics::element;

tile execution::source(const isa::tile_operand& operand, isa::operand which) const {
    tile t(memory_, operand, which, index_group_);
    t.require_readable();
    return t;
}

scalar_values execution::s0(unsigned lanes, float absent) const {
    return scalar_values(memory_, i.s0, isa::operand::s0, lanes, absent);
}
scalar_values execution::s1(unsigned lanes, float absent) const {
    return scalar_values(memory_, i.s1, isa::operand::s1, lanes, absent);
}

void execution::convert(element type, unsigned partition, std::size_t elements, const float* values,
                        std::uint8_t* to) const {
    numbers_.convert(
        type, values, elements,
        numerics::rules::rounding_position(partition, static_cast<std::uint32_t>(elements), 0), to);
}

void execution::put(tile& to, unsigned partition, const float* values) {
    if (std::uint8_t* const row = to.whole_row(partition)) {
        convert(to.type(), partition, to.elements(), values, row);
        numbers_.detect(to.type(), row, to.elements());
        return to.row_written(partition);
    }
    bits_.resize(to.elements() * to.element_bytes());
    convert(to.type(), partition, to.elements(), values, bits_.data());
    put_bits(to, partition, bits_.data());
}

void execution::put_bits(tile& to, unsigned partition, const std::uint8_t* from) {
    numbers_.detect(to.type(), from, to.elements());
    to.write(partition, from);
}

void execution::put_bits(tile& to, unsigned partition, const std::uint32_t* from) {
    if (!numbers_.detects(to.type())) return to.write(partition, from);
    const std::size_t size = to.element_bytes();
    bits_.resize(to.elements() * size);
    for (std::size_t k = 0; k < to.elements(); ++k)  // little endian
        std::memcpy(bits_.data() + k * size, &from[k], size);
    put_bits(to, partition, bits_.data());
}

void execution::put_where(tile& to, unsigned partition, const std::uint8_t* from,
                          const std::uint8_t* mask) {
    const unsigned size = to.element_bytes();
    for (std::size_t k = 0; k < to.elements(); ++k)
        if (mask[k] != 0) numbers_.detect(to.type(), from + k * size, 1);
    to.write_where(partition, from, mask);
}

}  // namespace trn
