// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/dma/row_transfer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/neuron_core/sequencer/timing/timing.h"
#include "models/neuron_core/tile/tile.h"

namespace trn {

void row_transfer::next_instruction() {
    work_.reset();
    rings_.drop();
    poll_.end();
}

void row_transfer::reset() {
    work_.reset();
    rings_.reset();
    poll_.end();
}

progress row_transfer::execute(const isa::instruction& i) {
    if (!work_)
        if (const progress p = begin(i); !is_finished(p)) return p;
    work& w = *work_;
    if (clock_.now() < w.generated) {
        clock_.reach(w.generated);
        return sleeping{w.generated};
    }
    while (w.used != 0) {
        if (const progress p = w.posting ? post(w) : wait_for_queues(w); !is_finished(p)) return p;
        w.engine = 0;
        w.posting = !w.posting;
    }
    if (core_.observer != nullptr) core_.observer->polled(isa::engine::gpsimd);
    return finished{};
}

/// Reads and checks all indices first: an instruction that fails moves nothing.
progress row_transfer::begin(const isa::instruction& i) {
    const unsigned partitions = i.b.partitions;
    const auto columns = static_cast<std::size_t>(i.b.elements());
    const auto rows = std::max(static_cast<std::int32_t>(i.s0.value), 0);
    std::vector<std::uint32_t> indices(partitions * columns), column(columns);
    try {
        const tile index_tile(core_.memory, i.b, isa::operand::b);
        index_tile.require_readable();
        for (unsigned p = 0; p < partitions; ++p) {
            index_tile.read(p, column.data());
            for (std::size_t k = 0; k < columns; ++k) indices[k * partitions + p] = column[k];
        }
    } catch (const isa::fault& f) {
        return f;
    }
    const auto last = static_cast<std::uint32_t>(rows);
    if (!i.has_mode(isa::mode::oob_skip) &&
        std::ranges::any_of(indices, [last](std::uint32_t index) { return index >= last; }))
        return isa::fault{isa::error::indirect_oob, isa::operand::b, i.b.place.offset};
    const isa::cost cost = isa::cost_of(i, isa::engine::gpsimd, core_.id.generation);
    const isa::work done{.bytes_read = indices.size() * sizeof indices[0]};
    counters_.busy_cycles += cost.interval;
    counters_.bytes_read += done.bytes_read;
    core_.sram_bytes += done.bytes_read;
    timeline_.counted(cost.interval, done);
    work_.emplace(row_moves(core_, i, std::move(indices), last),
                  std::max(clock_.local(), clock_.now()) + cost.interval);
    for (unsigned e = 0; e < row_moves::engines; ++e)
        if (work_->moves.has_work(e))
            work_->used = static_cast<std::uint16_t>(work_->used | 1u << e);
    return finished{};
}

/// Finished when the queues of all engines in use are idle. Clears engines without further work
/// from `used`.
progress row_transfer::wait_for_queues(work& w) {
    for (; w.engine < row_moves::engines; ++w.engine) {
        const auto bit = static_cast<std::uint16_t>(1u << w.engine);
        if ((w.used & bit) == 0) continue;
        bool is_busy = false;
        if (const progress p = rings_.poll(w.engine, is_busy); !is_finished(p)) return p;
        if (is_busy) return poll_.again(w.engine);
        poll_.end();
        if (!w.moves.has_work(w.engine)) w.used = static_cast<std::uint16_t>(w.used & ~bit);
    }
    return finished{};
}

progress row_transfer::post(work& w) {
    for (; w.engine < row_moves::engines; ++w.engine) {
        if ((w.used >> w.engine & 1) == 0) continue;
        if (core_.observer != nullptr)
            core_.observer->rings(isa::engine::gpsimd, w.engine, software_rings::queue);
        if (const progress p = rings_.post(w.engine, w.moves); !is_finished(p)) return p;
    }
    return finished{};
}

}  // namespace trn
