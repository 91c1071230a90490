// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/units/posted_writes.h"

#include <cstring>

namespace trn {

namespace {

// Offsets of a queue's doorbells in a DMA engine (contract 6.1, 6.2).
constexpr std::uint64_t m2s_doorbell = 0x1038, s2m_doorbell = 0x21038, queue_stride = 0x1000;

}  // namespace

void posted_writes::reset() {
    accepted_ = 0;
    ++resets_;
    pending_.abandon();
}

progress posted_writes::post(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    sc_core::sc_time delay;
    const auto resets = resets_;
    const auto result =
        core_.port.access(tlm::TLM_WRITE_COMMAND, address, const_cast<std::uint8_t*>(bytes.data()),
                          static_cast<unsigned>(bytes.size()), pending_, delay);
    if (resets != resets_) return abandoned{};
    if (result == memory_port::outcome::deferred) return sleeping{};
    if (result == memory_port::outcome::failed)
        return isa::fault{isa::error::write_failed, isa::operand::none, accepted_};
    clock_.reach(clock_.after(clock_.now(), delay));
    ++accepted_;
    return finished{};
}

progress posted_writes::write_all(const isa::write_list& list, const register_unit& registers) {
    while (accepted_ < list.size() && list[accepted_].size != 0) {
        const isa::posted_write& w = list[accepted_];
        const std::uint64_t data = (w.reg_data & 0x80) != 0 ? registers[w.reg_data & 0x3f] : w.data;
        std::uint8_t bytes[sizeof data];
        std::memcpy(bytes, &data, sizeof data);
        if (const progress p = post(w.address, std::span(bytes).first(w.size)); !is_finished(p))
            return p;
    }
    return finished{};
}

progress posted_writes::ring_doorbells(const isa::doorbell_sets& sets) {
    unsigned number = 0;
    for (const isa::doorbell_set& set : sets)
        for (unsigned e = 0; e < 16; ++e) {
            if ((set.engines >> e & 1) == 0) continue;
            if (core_.observer != nullptr) core_.observer->rings(engine_, e, set.queue);
            const std::uint64_t queue =
                core_.id.dma_base + e * core_.id.dma_stride + set.queue * queue_stride;
            for (const bool m2s : {false, true}) {
                const std::uint32_t count = m2s ? set.m2s_count : set.s2m_count;
                if (number++ < accepted_) continue;  // accepted before a deferral
                if (count == 0) {
                    ++accepted_;
                    continue;
                }
                std::uint8_t bytes[sizeof count];
                std::memcpy(bytes, &count, sizeof count);
                if (const progress p = post(queue + (m2s ? m2s_doorbell : s2m_doorbell), bytes);
                    !is_finished(p))
                    return p;
            }
        }
    return finished{};
}

}  // namespace trn
