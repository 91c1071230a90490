// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/tile/tile.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "models/neuron_isa/numerics/unaligned.h"

namespace trn {

namespace {

using isa::error;
using isa::fault;
using numerics::load;
using numerics::store;

fault unreadable(isa::operand name, std::uint32_t offset) {
    return {error::memory, name, offset};
}

/// Calls `move` with the size of an element as a compile-time constant.
template <class Move>
void with_size(unsigned bytes, Move&& move) {
    switch (bytes) {
    case 1:
        return move(std::uint8_t{});
    case 2:
        return move(std::uint16_t{});
    case 4:
        return move(std::uint32_t{});
    default:
        return move(std::uint64_t{});
    }
}

/// Reports writes of a partition's elements: every one if the memory has errors, else one per page.
class element_reports {
public:
    explicit element_reports(isa::core_memory& memory)
        : memory_(memory), all_(memory.has_errors()) {}

    void wrote(isa::location first, std::uint32_t length) {
        const std::uint32_t page = first.offset / isa::core_memory::page_bytes;
        if (page == page_ && !all_) return;
        page_ = page;
        memory_.written(first, length);
    }

private:
    isa::core_memory& memory_;
    const bool all_;
    std::uint32_t page_ = ~0u;
};

}  // namespace

tile::tile(isa::core_memory& memory, const isa::tile_operand& operand, isa::operand name,
           unsigned index_group)
    : memory_(&memory),
      operand_(operand),
      name_(name),
      group_(index_group),
      elements_(operand.elements()) {
    contiguous_ = !operand_.indirect;
    std::int64_t next = 1;
    for (unsigned d = 0; d < operand_.dimensions; ++d) {
        const isa::dimension& dim = operand_.pattern[d];
        contiguous_ &= dim.count == 1 || dim.stride == next;
        next *= dim.count;
    }
    if (operand_.indirect)
        for (unsigned g = 0; g * group_ < operand_.partitions; ++g) read_indices(g);
}

void tile::read_indices(unsigned group) {
    const isa::location& index = operand_.index;
    const std::uint32_t pitch = memory_->partition_bytes(index.space);
    const std::uint32_t limit = memory_->partition_bytes(operand_.place.space);
    auto& offsets = offsets_.emplace_back(elements_);
    for (std::size_t i = 0; i < elements_; ++i) {
        isa::location place = index;
        place.partition =
            static_cast<std::uint8_t>((index.partition + group * group_ + i % group_) % 128);
        place.offset += static_cast<std::uint32_t>(i / group_ * 4);
        if (memory_->has_errors() && !memory_->check_read(place, 4))
            throw unreadable(name_, place.offset);
        offsets[i] = load<std::uint32_t>(memory_->bytes(index.space) +
                                         std::size_t{place.partition} * pitch + place.offset);
        const std::uint64_t first =
            operand_.place.offset + std::uint64_t{offsets[i]} * element_bytes();
        if (first + element_bytes() > limit)
            throw fault{error::indirect_oob, name_,
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(first, 0xff'ffff))};
    }
}

std::uint8_t* tile::base(unsigned partition) const {
    const auto space = operand_.place.space;
    return memory_->bytes(space) +
           std::size_t{operand_.place.partition + partition} * memory_->partition_bytes(space) +
           operand_.place.offset;
}

isa::location tile::location_of(unsigned partition, std::int64_t byte) const {
    return {operand_.place.space, static_cast<std::uint8_t>(operand_.place.partition + partition),
            static_cast<std::uint32_t>(operand_.place.offset + byte)};
}

template <class Visit>
void tile::for_runs(unsigned partition, Visit&& visit) const {
    const std::int64_t size = element_bytes();
    if (contiguous_) return visit(std::int64_t{0}, size, elements_);
    if (operand_.indirect) {
        for (const std::uint32_t offset : offsets_[partition / group_])
            visit(std::int64_t{offset} * size, size, std::size_t{1});
        return;
    }
    const auto& p = operand_.pattern;
    const auto count = [&](unsigned d) -> unsigned {
        return d < operand_.dimensions ? p[d].count : 1;
    };
    for (unsigned d3 = 0; d3 < count(3); ++d3)
        for (unsigned d2 = 0; d2 < count(2); ++d2)
            for (unsigned d1 = 0; d1 < count(1); ++d1)
                visit(size * (std::int64_t{d3} * p[3].stride + std::int64_t{d2} * p[2].stride +
                              std::int64_t{d1} * p[1].stride),
                      size * p[0].stride, std::size_t{p[0].count});
}

void tile::require_readable() const {
    if (!memory_->has_errors()) return;
    for (unsigned p = 0; p < partitions(); ++p)
        for_runs(p, [&](std::int64_t first, std::int64_t stride, std::size_t count) {
            const bool dense = stride == element_bytes();
            const auto length =
                static_cast<std::uint32_t>(dense ? element_bytes() * count : element_bytes());
            for (std::size_t i = 0; i < (dense ? 1 : count); ++i) {
                const isa::location place =
                    location_of(p, first + static_cast<std::int64_t>(i) * stride);
                if (!memory_->check_read(place, length)) throw unreadable(name_, place.offset);
            }
        });
}

void tile::read(unsigned partition, std::uint8_t* destination) const {
    const std::uint8_t* const source = base(partition);
    with_size(element_bytes(), [&](auto type) {
        using word = decltype(type);
        for_runs(partition, [&](std::int64_t first, std::int64_t stride, std::size_t count) {
            if (stride == sizeof(word)) {
                std::memcpy(destination, source + first, count * sizeof(word));
                destination += count * sizeof(word);
                return;
            }
            const std::uint8_t* element = source + first;
            for (std::size_t i = 0; i < count; ++i, element += stride, destination += sizeof(word))
                store(destination, load<word>(element));
        });
    });
}

void tile::read(unsigned partition, float* destination) const {
    if (contiguous_) return numerics::decode(type(), base(partition), destination, elements_);
    raw_.resize(elements_ * element_bytes());
    read(partition, raw_.data());
    numerics::decode(type(), raw_.data(), destination, elements_);
}

void tile::read(unsigned partition, std::uint32_t* destination) const {
    raw_.resize(elements_ * element_bytes());
    read(partition, raw_.data());
    with_size(element_bytes(), [&](auto kind) {
        using word = decltype(kind);
        for (std::size_t i = 0; i < elements_; ++i)
            destination[i] = static_cast<std::uint32_t>(load<word>(raw_.data() + i * sizeof(word)));
    });
}

void tile::write(unsigned partition, const std::uint8_t* source) {
    std::uint8_t* const destination = base(partition);
    element_reports reports(*memory_);
    with_size(element_bytes(), [&](auto type) {
        using word = decltype(type);
        for_runs(partition, [&](std::int64_t first, std::int64_t stride, std::size_t count) {
            if (stride == sizeof(word)) {
                std::memcpy(destination + first, source, count * sizeof(word));
                source += count * sizeof(word);
                memory_->written(location_of(partition, first),
                                 static_cast<std::uint32_t>(count * sizeof(word)));
                return;
            }
            std::int64_t byte = first;
            for (std::size_t i = 0; i < count; ++i, byte += stride, source += sizeof(word)) {
                store(destination + byte, load<word>(source));
                reports.wrote(location_of(partition, byte), sizeof(word));
            }
        });
    });
}

void tile::row_written(unsigned partition) {
    memory_->written(location_of(partition, 0),
                     static_cast<std::uint32_t>(elements_ * element_bytes()));
}

void tile::write(unsigned partition, const std::uint32_t* source) {
    raw_.resize(elements_ * element_bytes());
    with_size(element_bytes(), [&](auto kind) {
        using word = decltype(kind);
        for (std::size_t i = 0; i < elements_; ++i)
            store(raw_.data() + i * sizeof(word), static_cast<word>(source[i]));
    });
    write(partition, raw_.data());
}

void tile::write_where(unsigned partition, const std::uint8_t* source, const std::uint8_t* mask) {
    std::uint8_t* const destination = base(partition);
    const unsigned size = element_bytes();
    element_reports reports(*memory_);
    for_runs(partition, [&](std::int64_t first, std::int64_t stride, std::size_t count) {
        std::int64_t byte = first;
        for (std::size_t i = 0; i < count; ++i, byte += stride, source += size)
            if (*mask++ != 0) {
                std::memcpy(destination + byte, source, size);
                reports.wrote(location_of(partition, byte), size);
            }
    });
}

scalar_values::scalar_values(isa::core_memory& memory, const isa::scalar_operand& operand,
                             isa::operand name, unsigned lanes, float absent)
    : values_(lanes, absent), bits_(lanes) {
    switch (operand.kind) {
    case isa::scalar_kind::none:
        return;
    case isa::scalar_kind::fp32:
        values_.assign(lanes, std::bit_cast<float>(operand.value));
        return;
    case isa::scalar_kind::i32:
        values_.assign(lanes, static_cast<float>(static_cast<std::int32_t>(operand.value)));
        bits_.assign(lanes, operand.value);
        return;
    default:
        break;
    }
    isa::tile_operand column;
    column.place = operand.place;
    column.type = operand.type;
    column.dimensions = 1;
    column.partitions = static_cast<std::uint16_t>(lanes);
    column.pattern[0] = {1, 1};
    const tile t(memory, column, name);
    t.require_readable();
    for (unsigned p = 0; p < lanes; ++p) {
        t.read(p, &values_[p]);
        t.read(p, &bits_[p]);
    }
}

}  // namespace trn
