// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/queues/queue_settings.h"

#include <limits>

#include "models/dma/udma/udma_regs.h"

namespace trn {

namespace regs = udma_regs;
using regs::reg;

void dma_queue_settings::read(const register_bank& registers, unsigned queue, unsigned engine) {
    const auto of_queue = [&](reg setting) { return registers.get(setting, queue, engine); };
    const auto of_engine = [&](reg setting) { return registers.get(setting, 0, engine); };
    as_of_ = registers.changes(engine);

    constexpr auto works = regs::m2s_q_cfg::prefetch.mask() | regs::m2s_q_cfg::schedule.mask();
    // Contract 6.1: three bits together disable the stream of the write side.
    constexpr std::uint64_t stream_off = regs::s2m_stream_cfg::off_0.mask() |
                                         regs::s2m_stream_cfg::off_4.mask() |
                                         regs::s2m_stream_cfg::off_8.mask();
    is_enabled = (of_queue(reg::m2s_q_cfg) & of_queue(reg::s2m_q_cfg) & works) == works &&
                 (of_engine(reg::s2m_stream_cfg) & stream_off) != stream_off;
    has_barriers = regs::m2s_q_rate_limit_mask::dmb.get(of_queue(reg::m2s_q_rate_limit_mask)) == 0;

    const auto read_side = [&](dma_side side, reg low, reg high, reg length, reg selector) {
        ring_base[side] = (of_queue(low) & ~0xffull) | of_queue(high) << 32;
        ring_length[side] = static_cast<std::uint32_t>(of_queue(length));
        // The queue's selector masks the upper half of an address.
        address_mask[side] = of_queue(selector) << 32 | 0xffff'ffff;
    };
    read_side(dma_side::m2s, reg::m2s_q_base_lo, reg::m2s_q_base_hi, reg::m2s_q_length,
              reg::address_hi_tx);
    read_side(dma_side::s2m, reg::s2m_q_base_lo, reg::s2m_q_base_hi, reg::s2m_q_length,
              reg::address_hi_rx_0);

    namespace packet = regs::m2s_packet_length;
    namespace prefetch = regs::m2s_prefetch_cfg_2;
    const auto length = of_engine(reg::m2s_packet_length);
    length_0_is_64k = packet::length_0_is_64k.get(length) != 0;
    max_packet_bytes = static_cast<std::uint32_t>(packet::max_bytes.get(length));
    const auto limits = of_engine(reg::m2s_prefetch_cfg_2);
    max_compute_descriptors = static_cast<std::uint32_t>(prefetch::max_descriptors.get(limits));
    max_packet_descriptors = prefetch::limit.get(limits) != 0
                                 ? max_compute_descriptors
                                 : std::numeric_limits<std::uint32_t>::max();
}

}  // namespace trn
