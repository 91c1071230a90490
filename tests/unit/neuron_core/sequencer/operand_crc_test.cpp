// SPDX-License-Identifier: Apache-2.0
// CRCs of operands: doc/timeline.md, "Engines".
#include "models/neuron_core/sequencer/units/operand_crc.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace {

using namespace trn;

class small_memory final : public isa::core_memory {
public:
    static constexpr std::uint32_t pitch = 4096;

    std::uint8_t* bytes(isa::space) override { return bytes_.data(); }
    std::uint32_t partition_bytes(isa::space) const override { return pitch; }
    bool has_errors() const override { return broken; }
    bool check_read(isa::location, std::uint32_t) override { return !broken; }
    void written(isa::location, std::uint32_t) override {}

    std::uint8_t& at(unsigned partition, unsigned offset) {
        return bytes_[partition * pitch + offset];
    }
    bool broken = false;

private:
    std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(std::size_t{128} * pitch);
};

isa::tile_operand tile_at(std::uint32_t offset, numerics::element type, isa::dimension pattern,
                          unsigned partitions = 1) {
    isa::tile_operand t;
    t.place = {isa::space::sbuf, 0, offset};
    t.type = type;
    t.dimensions = 1;
    t.partitions = static_cast<std::uint16_t>(partitions);
    t.pattern[0] = pattern;
    return t;
}

/// Bit by bit, as in the standard.
std::uint16_t plain_crc(const std::vector<std::uint8_t>& bytes) {
    unsigned crc = 0xffff;
    for (const unsigned byte : bytes)
        for (int bit = 7; bit >= 0; --bit) {
            const bool carry = ((crc >> 15 & 1) ^ (byte >> bit & 1)) != 0;
            crc = (crc << 1 & 0xffff) ^ (carry ? 0x1021u : 0u);
        }
    return static_cast<std::uint16_t>(crc);
}

TEST(OperandCrc, HasTheCheckValueOfCrc16Ccitt) {
    small_memory memory;
    constexpr std::string_view digits = "123456789";
    std::memcpy(&memory.at(0, 16), digits.data(), digits.size());
    isa::instruction i;
    i.opcode = isa::opcode::copy;
    i.a = tile_at(16, numerics::element::uint8, {1, 9});
    EXPECT_EQ(crc_of_inputs(memory, isa::engine::vector, i), 0x29b1);
    EXPECT_EQ(crc_of_outputs(memory, isa::engine::vector, i), 0xffff) << "of nothing";
}

TEST(OperandCrc, IsOfElementsInPatternOrderPartitionAfterPartitionAThenB) {
    small_memory memory;
    std::vector<std::uint8_t> expected;
    for (const unsigned first : {0u, 512u})
        for (unsigned p = 0; p < 3; ++p)
            for (unsigned n = 0; n < 5; ++n)
                for (unsigned byte = 0; byte < 2; ++byte) {
                    auto& at = memory.at(p, first + 6 * n + byte);
                    at = static_cast<std::uint8_t>(37 * p + 11 * n + byte + first / 4);
                    expected.push_back(at);
                }
    isa::instruction i;
    i.opcode = isa::opcode::tensor_tensor;
    i.a = tile_at(0, numerics::element::bf16, {3, 5}, 3);
    i.b = tile_at(512, numerics::element::bf16, {3, 5}, 3);
    EXPECT_EQ(crc_of_inputs(memory, isa::engine::vector, i), plain_crc(expected));
}

TEST(OperandCrc, AResultInBCountsWithTheOutputs) {
    small_memory memory;
    isa::instruction i;
    i.opcode = isa::opcode::quantize_mx;
    i.dst = tile_at(0, numerics::element::uint8, {1, 4});
    i.a = tile_at(64, numerics::element::uint8, {1, 4});
    i.b = tile_at(128, numerics::element::uint8, {1, 4});
    const auto inputs = crc_of_inputs(memory, isa::engine::vector, i),
               outputs = crc_of_outputs(memory, isa::engine::vector, i);
    memory.at(0, 129) = 1;
    EXPECT_EQ(crc_of_inputs(memory, isa::engine::vector, i), inputs);
    EXPECT_NE(crc_of_outputs(memory, isa::engine::vector, i), outputs);
}

TEST(OperandCrc, IsNotMadeWhereReadsCountErrorsOrAnIndexIsOutside) {
    small_memory memory;
    isa::instruction i;
    i.opcode = isa::opcode::copy;
    i.a = tile_at(0, numerics::element::fp32, {1, 4});
    i.a.indirect = true;
    i.a.index = {isa::space::sbuf, 0, 2048};
    EXPECT_TRUE(crc_of_inputs(memory, isa::engine::vector, i));
    memory.at(3, 2049) = 0x10;  // offset 4096 of the fourth element
    EXPECT_FALSE(crc_of_inputs(memory, isa::engine::vector, i));
    memory.at(3, 2049) = 0;
    memory.broken = true;
    EXPECT_FALSE(crc_of_inputs(memory, isa::engine::vector, i));
}

}  // namespace
