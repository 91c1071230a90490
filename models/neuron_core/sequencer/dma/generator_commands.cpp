// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/dma/generator_commands.h"

#include <algorithm>
#include <array>
#include <bit>

#include "models/dma/udma/dma_generator_regs.h"
#include "models/neuron_core/sequencer/timing/timing.h"
#include "models/soc/semaphores/semaphores_regs.h"

namespace trn {

namespace regs = dma_generator_regs;
using isa::dge_copy_fields;
using regs::reg;

namespace {

constexpr std::uint64_t generator_offset = 0x42000;  // bytes, in a DMA engine's address range

bool is_dynamic(const dge_copy_fields::side& s) {
    return (s.reg & 0x80) != 0;
}

/// Bytes that the register of a dynamic side adds to its base.
std::int64_t displacement(const dge_copy_fields::side& s, const register_unit& registers) {
    if (!is_dynamic(s)) return 0;
    return std::int64_t{static_cast<std::int32_t>(registers[s.reg & 0x3f])} * s.reg_unit;
}

/// Fault if a dynamic side leaves [base, base + limit); otherwise nothing.
std::optional<isa::fault> leaves_limit(const dge_copy_fields& f, const dge_copy_fields::side& s,
                                       const register_unit& registers) {
    if (!is_dynamic(s) || f.limit == 0) return std::nullopt;
    __int128 first = displacement(s, registers), last = first + f.piece_bytes;
    for (const auto& d : s.pattern) {
        const std::int64_t span = std::int64_t{d.stride} * (d.count - 1);
        (span < 0 ? first : last) += span;
    }
    if (first >= 0 && last <= f.limit) return std::nullopt;
    return isa::fault{isa::error::indirect_oob,
                      &s == &f.source ? isa::operand::a : isa::operand::dst,
                      static_cast<std::uint32_t>(first < 0 ? first : last) & 0xff'ffff};
}

void add(std::vector<std::uint32_t>& words, std::uint64_t value) {
    words.push_back(static_cast<std::uint32_t>(value));
    words.push_back(static_cast<std::uint32_t>(value >> 32));
}

}  // namespace

void generator_commands::reset() {
    next_instruction();
    dma_.reset();
}

progress generator_commands::execute(const dge_copy_fields& f, const register_unit& registers) {
    if (!in_progress() && (f.flags & dge_copy_fields::oob_skip) == 0)
        for (const auto* side : {&f.source, &f.destination})
            if (const auto fault = leaves_limit(f, *side, registers)) return *fault;
    for (; engine_ < dma_access::engines; ++engine_, stage_ = 0) {
        if ((f.engines >> engine_ & 1) == 0) continue;
        if (stage_ == 0) {
            if (const progress p = wait_until_free(f); !is_finished(p)) return p;
            stage_ = 1;
            if (core_.observer != nullptr) core_.observer->rings(own_, engine_, f.queue);
        }
        for (; stage_ <= bursts; ++stage_) {
            const burst b = burst_of(f, registers, stage_);
            const std::uint64_t address = dma_.address(engine_, generator_offset + b.offset);
            if (const progress p = dma_.write(engine_, address, b.words); !is_finished(p)) return p;
        }
        // The writes of parameters are posted; only START's acceptance takes time.
        clock_.reach(clock_.after(clock_.now(), dma_.delay()));
    }
    return finished{};
}

progress generator_commands::wait_until_free(const dge_copy_fields& f) {
    std::array<std::uint32_t, 1> status{};
    const std::uint64_t address =
        dma_.address(engine_, generator_offset + regs::offset(reg::status, f.queue));
    if (const progress p = dma_.read(engine_, address, status); !is_finished(p)) return p;
    if (regs::status::busy.get(status[0]) != 0) return poll_.again(engine_);
    poll_.end();
    return finished{};
}

generator_commands::burst generator_commands::burst_of(const dge_copy_fields& f,
                                                       const register_unit& registers,
                                                       unsigned number) const {
    const unsigned q = f.queue;
    const bool transposes = (f.flags & dge_copy_fields::transpose) != 0;
    const auto base_of = [&](const dge_copy_fields::side& s) {
        return s.base + static_cast<std::uint64_t>(displacement(s, registers));
    };
    switch (number) {
    case 1: {
        burst b{regs::offset(reg::source_lo, q), {}};
        add(b.words, base_of(f.source));
        add(b.words, base_of(f.destination));
        b.words.push_back(f.piece_bytes);
        b.words.push_back(0);  // LAST
        return b;
    }
    case 2: {
        burst b{regs::offset(reg::count, q * 4), {}};
        std::uint64_t units = 1;
        for (unsigned d = 0; d < 4; ++d) {
            b.words.push_back(f.source.pattern[d].count);
            b.words.push_back(static_cast<std::uint32_t>(f.source.pattern[d].stride));
            b.words.push_back(static_cast<std::uint32_t>(f.destination.pattern[d].stride));
            b.words.push_back(f.destination.pattern[d].count);
            if (d != 0 || !transposes) units *= f.source.pattern[d].count;
        }
        const unsigned sharers = static_cast<unsigned>(std::popcount(f.engines));
        const unsigned rank =
            static_cast<unsigned>(std::popcount(f.engines & ((1u << engine_) - 1)));
        const std::uint64_t first = units * rank / sharers, end = units * (rank + 1) / sharers;
        std::uint64_t mode = regs::mode::own_counts.mask() | regs::mode::part.mask();
        if (transposes) mode |= regs::mode::transpose.mask();
        if ((f.flags & dge_copy_fields::accumulate) != 0) mode |= regs::mode::accumulate.mask();
        if ((f.flags & dge_copy_fields::bf16) != 0) mode |= regs::mode::bf16.mask();
        if ((f.flags & dge_copy_fields::oob_skip) != 0) mode |= regs::mode::skip.mask();
        mode = regs::mode::priority.set(mode, f.priority);
        b.words.push_back(static_cast<std::uint32_t>(mode));
        b.words.push_back(static_cast<std::uint32_t>(first));
        b.words.push_back(static_cast<std::uint32_t>(end - first));
        return b;
    }
    case 3: {
        burst b{regs::offset(reg::source_first_lo, q), {}};
        for (const auto* side : {&f.source, &f.destination}) {
            const bool limited = is_dynamic(*side) && f.limit != 0;
            add(b.words, limited ? side->base : 0);
            add(b.words, limited ? side->base + f.limit : 0);
        }
        add(b.words,
            core_.id.semaphores +
                semaphores_regs::offset(semaphores_regs::reg::semaphore_increment, f.semaphore));
        add(b.words, dma_.address(engine_, generator_offset + regs::offset(reg::signal_value, q)));
        b.words.push_back(1);
        return b;
    }
    default:
        return {regs::offset(reg::start, q), {static_cast<std::uint32_t>(regs::start::go.mask())}};
    }
}

}  // namespace trn
