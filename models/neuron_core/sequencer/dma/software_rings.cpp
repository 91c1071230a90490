// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/dma/software_rings.h"

#include <algorithm>
#include <array>

#include "models/dma/udma/dma_descriptor_regs.h"
#include "models/dma/udma/udma_regs.h"

namespace trn {

namespace regs = udma_regs;
using regs::reg;

namespace {

constexpr std::uint32_t descriptor_bytes = 16;
constexpr std::size_t max_posted = 256;      // descriptors per post
constexpr std::uint64_t max_write = 0x1000;  // bytes; no write crosses a multiple of it

}  // namespace

void software_rings::reset() {
    drop();
    dma_.reset();
}

progress software_rings::read_ring(unsigned engine, bool m2s, ring& r) {
    std::array<std::uint32_t, 1> word{};
    std::array<std::uint32_t, 4> values{};
    const std::array registers{m2s ? reg::m2s_q_base_lo : reg::s2m_q_base_lo,
                               m2s ? reg::m2s_q_base_hi : reg::s2m_q_base_hi,
                               m2s ? reg::m2s_q_length : reg::s2m_q_length,
                               m2s ? reg::m2s_q_tail : reg::s2m_q_tail};
    for (unsigned n = 0; n < registers.size(); ++n) {
        const std::uint64_t address = dma_.address(engine, regs::offset(registers[n], queue));
        if (const progress p = dma_.read(engine, address, word); !is_finished(p)) return p;
        values[n] = word[0];
    }
    r = {values[0] | std::uint64_t{values[1]} << 32, values[2] & 0xff'ffff,
         static_cast<std::uint32_t>(regs::m2s_q_tail::index.get(values[3])),
         static_cast<std::uint32_t>(regs::m2s_q_tail::ring_id.get(values[3]))};
    return finished{};
}

progress software_rings::post(unsigned engine, row_moves& moves) {
    if (dropped_) writes_.clear();
    dropped_ = false;
    if (writes_.empty()) {
        ring m2s{}, s2m{};
        if (const progress p = read_ring(engine, true, m2s); !is_finished(p)) return p;
        if (const progress p = read_ring(engine, false, s2m); !is_finished(p)) return p;
        if (std::min(m2s.length, s2m.length) < moves.max_descriptors())
            return isa::fault{isa::error::write_failed, isa::operand::none, engine};
        const std::size_t room = std::min<std::size_t>({m2s.length, s2m.length, max_posted});
        std::vector<dma_descriptor> sources, destinations;
        row_moves::packet packet;
        while (std::max(sources.size(), destinations.size()) + moves.max_descriptors() <= room &&
               moves.next(engine, packet)) {
            sources.insert(sources.end(), packet.sources.begin(), packet.sources.end());
            destinations.insert(destinations.end(), packet.destinations.begin(),
                                packet.destinations.end());
        }
        if (sources.empty()) return finished{};
        lay_out(s2m, destinations);
        lay_out(m2s, sources);
        const auto doorbell = [&](reg target, std::size_t count) {
            writes_.push_back({dma_.address(engine, regs::offset(target, queue)),
                               {static_cast<std::uint32_t>(count)}});
        };
        doorbell(reg::s2m_q_tail_increment, destinations.size());
        doorbell(reg::m2s_q_tail_increment, sources.size());
        next_ = 0;
    }
    for (; next_ < writes_.size(); ++next_)
        if (const progress p = dma_.write(engine, writes_[next_].address, writes_[next_].words);
            !is_finished(p))
            return p;
    writes_.clear();
    return finished{};
}

/// Appends the writes of `descriptors` from the ring's tail on, with ring ids.
void software_rings::lay_out(ring r, std::span<const dma_descriptor> descriptors) {
    r.index %= r.length;
    for (auto [words] : descriptors) {
        words[0] = static_cast<std::uint32_t>(
            dma_descriptor_regs::m2s_control::ring_id.set(words[0], r.pass));
        const std::uint64_t address = r.base + std::uint64_t{r.index} * descriptor_bytes;
        if (r.index == 0 || address % max_write == 0 || writes_.empty() ||
            writes_.back().address + writes_.back().words.size() * 4 != address)
            writes_.push_back({address, {}});
        writes_.back().words.insert(writes_.back().words.end(), words.begin(), words.end());
        if (++r.index == r.length) {
            r.index = 0;
            r.pass = (r.pass + 1) & 3;
        }
    }
}

progress software_rings::poll(unsigned engine, bool& is_busy) {
    std::array<std::uint32_t, 1> status{};
    is_busy = false;
    for (const reg side_status : {reg::m2s_q_status, reg::s2m_q_status}) {
        const std::uint64_t address = dma_.address(engine, regs::offset(side_status, queue));
        if (const progress p = dma_.read(engine, address, status); !is_finished(p)) return p;
        if (regs::m2s_q_status::aborted.get(status[0]) != 0)
            return isa::fault{isa::error::write_failed, isa::operand::none, engine};
        is_busy |= regs::m2s_q_status::pending.get(status[0]) != 0;
    }
    return finished{};
}

}  // namespace trn
