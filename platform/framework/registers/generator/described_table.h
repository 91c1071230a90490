// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "platform/framework/registers/generator/schema.h"
#include "platform/framework/registers/table.h"

namespace trn::registers {

/// The row of a register that begins at `slot`; its texts are those of `description`.
register_row row_of(const register_spec& description, unsigned width, std::uint32_t slot);

/// A description as the table that the generated header would have.
class described_table {
public:
    explicit described_table(block_spec description);
    described_table(const described_table&) = delete;  // the table refers to this object
    described_table& operator=(const described_table&) = delete;

    const register_table& table() const { return table_; }

private:
    const block_spec description_;
    std::vector<register_row> rows_;
    std::vector<field_row> fields_;
    register_table table_;
};

}  // namespace trn::registers
