// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/neuron_isa/instructions/data_path.h"

/// Tiles: a range of partitions with an access pattern inside each (doc/spec/neuron-core.md 2).
/// Partitions are numbered from the tile's first.
namespace trn {

/// A tile operand in SBUF or PSUM. Precondition of all functions: the operand has passed check(),
/// so that the pattern is inside the partition.
class tile {
public:
    /// `index_group` is G of spec 2.4: 32 for Tensor, 16 for the other engines. Reads the index
    /// tile of an indirect operand; throws isa::fault when an index is outside of the partition or
    /// unreadable.
    tile(isa::core_memory& memory, const isa::tile_operand& operand, isa::operand name,
         unsigned index_group = 16);

    unsigned partitions() const { return operand_.partitions; }
    std::size_t elements() const { return elements_; }  ///< per partition
    numerics::element type() const { return operand_.type; }
    unsigned element_bytes() const { return numerics::size_of(operand_.type); }

    /// Throws isa::fault (MEMORY) when a byte of the tile has an uncorrectable error.
    void require_readable() const;

    /// Reads elements in pattern order: packed bit patterns, or converted to FP32.
    void read(unsigned partition, std::uint8_t* destination) const;
    void read(unsigned partition, float* destination) const;
    /// Integers of up to 4 bytes, zero-extended.
    void read(unsigned partition, std::uint32_t* destination) const;

    /// All elements, partition after partition: as bit patterns, or one value of type T each.
    template <class T>
    std::vector<T> read_all() const {
        const std::size_t row = elements_ * (sizeof(T) == 1 ? element_bytes() : 1);
        std::vector<T> rows(partitions() * row);
        for (unsigned p = 0; p < partitions(); ++p) read(p, rows.data() + p * row);
        return rows;
    }

    /// If elements overlap, the last one in pattern order remains.
    void write(unsigned partition, const std::uint8_t* source);
    void write(unsigned partition, const std::uint32_t* source);
    /// Pointer for writing in place, if a partition's elements are contiguous; else null.
    std::uint8_t* whole_row(unsigned partition) { return contiguous_ ? base(partition) : nullptr; }
    void row_written(unsigned partition);
    /// Writes the elements whose `mask` is not 0.
    void write_where(unsigned partition, const std::uint8_t* source, const std::uint8_t* mask);

private:
    std::uint8_t* base(unsigned partition) const;
    isa::location location_of(unsigned partition, std::int64_t byte) const;
    /// Calls visit(first byte, stride in bytes, count) for each run along the fastest dimension.
    template <class Visit>
    void for_runs(unsigned partition, Visit&& visit) const;
    void read_indices(unsigned group);

    isa::core_memory* memory_;
    isa::tile_operand operand_;
    isa::operand name_;
    unsigned group_;
    std::size_t elements_;
    bool contiguous_;
    std::vector<std::vector<std::uint32_t>> offsets_;  // per group of partitions, in elements
    mutable std::vector<std::uint8_t> raw_;
};

/// A scalar operand: one value per partition.
class scalar_values {
public:
    /// `lanes` partitions; throws isa::fault (MEMORY) like tile. For an absent operand: `absent`
    /// for all.
    scalar_values(isa::core_memory& memory, const isa::scalar_operand& operand, isa::operand name,
                  unsigned lanes, float absent = 0);
    const float& operator[](unsigned lane) const { return values_[lane]; }
    /// Low bits of the value as an integer, for bitvec operators.
    std::uint32_t bits(unsigned lane) const { return bits_[lane]; }

private:
    std::vector<float> values_;
    std::vector<std::uint32_t> bits_;
};

}  // namespace trn
