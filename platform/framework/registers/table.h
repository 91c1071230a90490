// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace trn {

/// Source of information about a register (house style R8).
enum class knowledge : std::uint8_t { driver, document, inferred, invented };
/// Fidelity of the model.
enum class fidelity : std::uint8_t { exact, approximate, stub };
/// Behaviour at offsets without a register.
enum class hole_policy : std::uint8_t { error, ram, zero };

constexpr std::string_view to_string(knowledge k) {
    constexpr std::string_view names[] = {"driver", "document", "inferred", "invented"};
    return names[static_cast<unsigned>(k)];
}
constexpr std::string_view to_string(fidelity f) {
    constexpr std::string_view names[] = {"exact", "approximate", "stub"};
    return names[static_cast<unsigned>(f)];
}

/// A field of a register; `reg` is the row of its register in the block's table.
struct register_field {
    std::uint16_t reg;
    std::uint8_t lsb;
    std::uint8_t width;

    constexpr std::uint64_t mask() const {
        return (width >= 64 ? ~0ull : (1ull << width) - 1) << lsb;
    }
    constexpr std::uint64_t get(std::uint64_t value) const { return (value & mask()) >> lsb; }
    /// `value` with this field replaced.
    constexpr std::uint64_t set(std::uint64_t value, std::uint64_t field) const {
        return (value & ~mask()) | ((field << lsb) & mask());
    }
};

struct field_row {
    std::string_view name;
    register_field field;
};

struct array_dimension {
    std::uint64_t stride = 0;  ///< bytes
    std::uint32_t count = 1;
};

/// Access kinds of the bits of a register, as masks. A bit without an effect of a written 0 or 1
/// keeps its value.
struct bit_access {
    std::uint64_t readable;              ///< others read 0
    std::uint64_t stored;                ///< takes the value written
    std::uint64_t clears;                ///< writing 1 clears
    std::uint64_t sets;                  ///< writing 1 sets
    std::uint64_t drained;               ///< reading clears
    std::uint64_t kept = 0;              ///< writing 0 clears
    std::uint64_t toggles = 0;           ///< writing 1 toggles
    std::uint64_t zero_sets = 0;         ///< writing 0 sets
    std::uint64_t zero_toggles = 0;      ///< writing 0 toggles
    std::uint64_t filled = 0;            ///< reading sets
    std::uint64_t once = 0;              ///< only the first write after a reset has its effect
    std::uint64_t written_by_model = 0;  ///< writing does what a hook of the model does
    std::uint64_t read_by_model = 0;     ///< reading changes the value as a hook does

    constexpr std::uint64_t writable() const {
        return stored | clears | sets | kept | toggles | zero_sets | zero_toggles |
               written_by_model;
    }
    /// The value after a write, without the protection of `once`.
    constexpr std::uint64_t after_write(std::uint64_t old, std::uint64_t written) const {
        std::uint64_t value = (old & ~stored) | (written & stored);
        value &= ~((written & clears) | (~written & kept));
        value |= (written & sets) | (~written & zero_sets);
        return value ^ ((written & toggles) | (~written & zero_toggles));
    }
    constexpr std::uint64_t after_read(std::uint64_t old) const {
        return (old & ~drained) | filled;
    }
    /// What a write must contain so that these bits keep the `value`, where that is possible.
    constexpr std::uint64_t neutral(std::uint64_t value) const {
        return (value & stored) | ((kept | zero_sets | zero_toggles) & ~(clears | sets));
    }
};

/// One register, or an array of up to three dimensions (the first is the outermost).
struct register_row {
    std::string_view name;
    std::uint64_t offset;  ///< of the first element, bytes
    std::array<array_dimension, 3> dims;
    std::uint32_t count;  ///< elements of all dimensions
    std::uint32_t slot;   ///< number of elements in all preceding rows
    std::uint64_t reset;
    bit_access bits;
    knowledge known_by;
    trn::fidelity fidelity;
    std::string_view contract_skip;  ///< reason to exclude it from the contract test, or ""

    /// Offset of element `index` (row-major over the dimensions).
    constexpr std::uint64_t element(std::uint32_t index) const {
        const std::uint32_t inner = dims[1].count * dims[2].count;
        return offset + index / inner * dims[0].stride +
               index % inner / dims[2].count * dims[1].stride +
               index % dims[2].count * dims[2].stride;
    }
};

/// A block's registers, generated from its YAML.
struct register_table {
    std::string_view block;
    unsigned width;      ///< bytes of every register
    std::uint64_t size;  ///< bytes of the aperture
    hole_policy holes;
    std::span<const register_row> rows;
    std::span<const field_row> fields;
    std::uint32_t slots;  ///< elements of all rows
};

}  // namespace trn
