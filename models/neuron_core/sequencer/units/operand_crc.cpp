// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/units/operand_crc.h"

#include <array>
#include <initializer_list>
#include <vector>

#include "models/neuron_core/tile/tile.h"
#include "models/neuron_isa/instructions/native_functions.h"

namespace trn {

namespace {

constexpr std::uint16_t polynomial = 0x1021, start = 0xffff;

constexpr auto table = [] {
    std::array<std::uint16_t, 256> all{};
    for (unsigned n = 0; n < all.size(); ++n) {
        unsigned crc = n << 8;
        for (int bit = 0; bit < 8; ++bit)
            crc = crc << 1 ^ ((crc & 0x8000) != 0 ? unsigned{polynomial} : 0u);
        all[n] = static_cast<std::uint16_t>(crc);
    }
    return all;
}();

struct used_tile {
    const isa::tile_operand* tile;
    isa::operand name;
};

std::optional<std::uint16_t> crc_of(isa::core_memory& memory, isa::engine e,
                                    std::initializer_list<used_tile> tiles) {
    if (memory.has_errors()) return std::nullopt;
    constexpr unsigned group_of_tensor = 32, group_of_others = 16;
    unsigned crc = start;
    std::vector<std::uint8_t> bytes;
    for (const auto& [operand, name] : tiles) {
        if (operand == nullptr || !operand->present()) continue;
        try {
            const tile t(memory, *operand, name,
                         e == isa::engine::tensor ? group_of_tensor : group_of_others);
            bytes.resize(t.elements() * t.element_bytes());
            for (unsigned p = 0; p < t.partitions(); ++p) {
                t.read(p, bytes.data());
                for (const std::uint8_t byte : bytes)
                    crc = (crc << 8 ^ table[(crc >> 8 ^ byte) & 0xff]) & 0xffff;
            }
        } catch (const isa::fault&) {  // an index outside the partition
            return std::nullopt;
        }
    }
    return static_cast<std::uint16_t>(crc);
}

}  // namespace

std::optional<std::uint16_t> crc_of_inputs(isa::core_memory& memory, isa::engine e,
                                           const isa::instruction& i) {
    return crc_of(memory, e,
                  {{&i.a, isa::operand::a}, {writes_b(i) ? nullptr : &i.b, isa::operand::b}});
}

std::optional<std::uint16_t> crc_of_outputs(isa::core_memory& memory, isa::engine e,
                                            const isa::instruction& i) {
    return crc_of(memory, e,
                  {{&i.dst, isa::operand::dst}, {writes_b(i) ? &i.b : nullptr, isa::operand::b}});
}

}  // namespace trn
