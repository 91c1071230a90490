// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/generator/described_table.h"

#include <utility>

namespace trn::registers {

register_row row_of(const register_spec& description, unsigned width, std::uint32_t slot) {
    register_row row{.name = description.name,
                     .offset = description.offset,
                     .dims = {},
                     .count = description.count(),
                     .slot = slot,
                     .reset = description.reset,
                     .bits = description.bits(width),
                     .known_by = description.known_by,
                     .fidelity = description.fidelity,
                     .contract_skip = description.contract_skip};
    // A single dimension becomes the innermost one, so that index 0..count-1 uses its stride.
    const std::size_t missing = row.dims.size() - description.dims.size();
    for (std::size_t d = missing; d < row.dims.size(); ++d)
        row.dims[d] = description.dims[d - missing];
    return row;
}

described_table::described_table(block_spec description) : description_(std::move(description)) {
    std::uint32_t slot = 0;
    for (const auto& each : description_.registers) {
        const auto number = static_cast<std::uint16_t>(rows_.size());
        rows_.push_back(row_of(each, description_.width, slot));
        slot += each.count();
        for (const auto& field : each.fields)
            fields_.push_back({field.name,
                               {number, static_cast<std::uint8_t>(field.lsb),
                                static_cast<std::uint8_t>(field.width)}});
    }
    table_ = {description_.block,
              description_.width,
              description_.size,
              description_.holes,
              rows_,
              fields_,
              slot};
}

}  // namespace trn::registers
