// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engines/execution.h"

#include <cstring>

#include "models/neuron_isa/numerics/rules.h"

namespace trn {

using numerics::element;

tile execution::source(const isa::tile_operand& operand, isa::operand name) const {
    tile t(memory_, operand, name, index_group_);
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
                        std::uint8_t* bits) const {
    numbers_.convert(
        type, values, elements,
        numerics::rules::rounding_position(partition, static_cast<std::uint32_t>(elements), 0),
        bits);
}

void execution::put(tile& target, unsigned partition, const float* values) {
    if (std::uint8_t* const row = target.whole_row(partition)) {
        convert(target.type(), partition, target.elements(), values, row);
        numbers_.detect(target.type(), row, target.elements());
        return target.row_written(partition);
    }
    bits_.resize(target.elements() * target.element_bytes());
    convert(target.type(), partition, target.elements(), values, bits_.data());
    put_bits(target, partition, bits_.data());
}

void execution::put_bits(tile& target, unsigned partition, const std::uint8_t* values) {
    numbers_.detect(target.type(), values, target.elements());
    target.write(partition, values);
}

void execution::put_bits(tile& target, unsigned partition, const std::uint32_t* values) {
    if (!numbers_.detects(target.type())) return target.write(partition, values);
    const std::size_t size = target.element_bytes();
    bits_.resize(target.elements() * size);
    for (std::size_t k = 0; k < target.elements(); ++k)  // little endian
        std::memcpy(bits_.data() + k * size, &values[k], size);
    put_bits(target, partition, bits_.data());
}

void execution::put_where(tile& target, unsigned partition, const std::uint8_t* values,
                          const std::uint8_t* mask) {
    const unsigned size = target.element_bytes();
    for (std::size_t k = 0; k < target.elements(); ++k)
        if (mask[k] != 0) numbers_.detect(target.type(), values + k * size, 1);
    target.write_where(partition, values, mask);
}

void execution::put_selected(tile& target, const tile& source, unsigned partition,
                             const float* values, const std::uint8_t* mask) {
    const std::size_t size = target.element_bytes(), n = target.elements();
    bits_.resize(n * size);
    convert(target.type(), partition, n, values, bits_.data());
    if (source.type() == target.type()) {
        kept_.resize(n * size);
        source.read(partition, kept_.data());
        for (std::size_t k = 0; k < n; ++k)
            if (mask[k] != 0) std::memcpy(&bits_[k * size], &kept_[k * size], size);
    }
    put_bits(target, partition, bits_.data());
}

}  // namespace trn
