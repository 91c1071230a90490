// SPDX-License-Identifier: Apache-2.0
#include "models/udma/generator_command.h"

#include "models/udma/dma_descriptor_regs.h"
#include "models/udma/dma_generator_regs.h"

namespace trn {

namespace regs = dma_generator_regs;
namespace words = dma_descriptor_regs;
using regs::reg;

generator_command::generator_command(const register_bank& registers, unsigned queue,
                                     unsigned instance) {
    const auto get = [&](reg r, unsigned index) {
        return static_cast<std::uint32_t>(registers.get(r, index, instance));
    };
    const auto whole = [&](reg low, reg high) {
        return get(low, queue) | std::uint64_t{get(high, queue)} << 32;
    };
    source_.base = whole(reg::source_lo, reg::source_hi);
    destination_.base = whole(reg::destination_lo, reg::destination_hi);
    for (unsigned d = 0; d < counts_.size(); ++d) {
        const unsigned index = queue * 3 + d;
        counts_[d] = get(reg::count, index) & 0xffff;
        source_.strides[d] = static_cast<std::int32_t>(get(reg::source_stride, index));
        destination_.strides[d] = static_cast<std::int32_t>(get(reg::destination_stride, index));
    }
    bytes_ = static_cast<std::uint32_t>(regs::piece::bytes.get(get(reg::piece, queue)));
    write_barrier_ = regs::last::write_barrier.get(get(reg::last, queue)) != 0;
    interrupt_ = regs::last::interrupt.get(get(reg::last, queue)) != 0;
}

std::uint32_t generator_command::pieces() const {
    constexpr std::uint32_t longest = 1 << 16;
    std::uint64_t product = bytes_ >= 1 && bytes_ <= longest ? 1 : 0;
    for (const std::uint32_t count : counts_) product = product > max_pieces ? 0 : product * count;
    return product > max_pieces ? 0 : static_cast<std::uint32_t>(product);
}

std::uint64_t generator_command::address(const side& s, std::uint32_t piece) const {
    std::uint64_t at = s.base;
    for (unsigned d = 0; d < counts_.size(); ++d) {
        const auto steps = static_cast<std::int64_t>(piece % counts_[d]);
        at += static_cast<std::uint64_t>(steps * s.strides[d]);
        piece /= counts_[d];
    }
    return at;
}

dma_descriptor generator_command::source(std::uint32_t piece, unsigned ring_id) const {
    namespace control = words::m2s_control;
    const bool last = piece + 1 == pieces();
    const std::uint64_t at = address(source_, piece);
    std::uint64_t word = control::first.mask() | control::last.mask() | (bytes_ & 0xffff);
    word = control::ring_id.set(word, ring_id);
    const std::uint64_t meta = words::rows[static_cast<unsigned>(words::reg::m2s_meta)].reset |
                               (last && write_barrier_ ? words::m2s_meta::write_barrier.mask() : 0);
    return {{static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(meta),
             static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at >> 32)}};
}

dma_descriptor generator_command::destination(std::uint32_t piece, unsigned ring_id) const {
    namespace control = words::s2m_control;
    const bool last = piece + 1 == pieces();
    const std::uint64_t at = address(destination_, piece);
    std::uint64_t word = control::ring_id.set(bytes_ & 0xffff, ring_id);
    word |= last && interrupt_ ? control::interrupt.mask() : 0;
    return {{static_cast<std::uint32_t>(word), 0, static_cast<std::uint32_t>(at),
             static_cast<std::uint32_t>(at >> 32)}};
}

}  // namespace trn
