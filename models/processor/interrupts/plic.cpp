// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/plic.h"

#include <bit>

#include "models/processor/interrupts/plic_regs.h"

namespace trn {

using plic_regs::reg;

namespace {

constexpr unsigned words_per_context = 32;

bool has(const std::vector<std::uint32_t>& bits, std::uint32_t id) {
    return (bits[id / 32] >> id % 32 & 1) != 0;
}
void put(std::vector<std::uint32_t>& bits, std::uint32_t id, bool value) {
    const std::uint32_t mask = std::uint32_t{1} << id % 32;
    bits[id / 32] = value ? bits[id / 32] | mask : bits[id / 32] & ~mask;
}

}  // namespace

plic::plic(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      source("source", cfg.sources + 1, [this](unsigned id, bool level) { on_source(id, level); }),
      out("out", cfg.contexts),
      cfg_(cfg),
      regs_(plic_regs::table, {.latency = cfg.access_latency}),
      pending_(words_per_context),
      in_service_(words_per_context) {
    regs_.on_write(reg::priority, [this](register_access& a) {
        if (!exists(a.index)) regs_.set(reg::priority, 0, a.index);
        update();
    });
    regs_.view(reg::pending, [this](auto, unsigned word) { return pending_[word]; });
    regs_.on_write(reg::enable, [this](register_access& a) {
        const unsigned context = a.index / words_per_context, word = a.index % words_per_context;
        const std::uint32_t kept = context < cfg_.contexts ? existing(word) : 0;
        regs_.set(reg::enable, a.value & kept, a.index);
        update();
    });
    regs_.on_write(reg::context_threshold, [this](register_access&) { update(); });
    regs_.on_read(reg::context_claim, [this](register_access& a) { a.value = claim(a.index); });
    regs_.on_write(reg::context_claim, [this](register_access& a) {
        regs_.set(reg::context_claim, 0, a.index);
        complete(a.index, static_cast<std::uint32_t>(a.written));
    });
}

/// Clears enables and sources in service; sources that are still high become pending again.
void plic::clear() {
    regs_.reset();
    for (unsigned id = 0; id <= cfg_.sources; ++id) {
        put(in_service_, id, false);
        put(pending_, id, exists(id) && source.level(id) && !reset.level());
    }
    update();
}

/// The gateway of a level-sensitive source: one request, then none until its completion.
void plic::on_source(unsigned id, bool level) {
    if (!exists(id) || !level || has(in_service_, id) || reset.level()) return;
    put(pending_, id, true);
    update();
}

std::uint32_t plic::claim(unsigned context) {
    const std::uint32_t id = context < cfg_.contexts ? best(context) : 0;
    if (id == 0) return 0;
    put(pending_, id, false);
    put(in_service_, id, true);
    update();
    return id;
}

void plic::complete(unsigned context, std::uint32_t id) {
    // PLIC 1.0.0 chapter 9: a completion for a source that the context has not enabled is ignored.
    if (context >= cfg_.contexts || !exists(id) || !enabled(context, id)) return;
    put(in_service_, id, false);
    on_source(id, source.level(id));
}

void plic::update() {
    for (unsigned context = 0; context < cfg_.contexts; ++context) {
        const std::uint32_t id = best(context);
        const bool above =
            id != 0 && regs_.get(reg::priority, id) > regs_.get(reg::context_threshold, context);
        out[context].set(above);
    }
}

/// The pending and enabled source with the highest priority; among equals, the lowest number.
std::uint32_t plic::best(unsigned context) const {
    std::uint32_t found = 0;
    std::uint64_t priority = 0;
    for (unsigned word = 0; word <= cfg_.sources / 32; ++word) {
        std::uint32_t bits = pending_[word];
        if (bits == 0) continue;
        bits &=
            static_cast<std::uint32_t>(regs_.get(reg::enable, context * words_per_context + word));
        for (; bits != 0; bits &= bits - 1) {
            const std::uint32_t id = word * 32 + static_cast<std::uint32_t>(std::countr_zero(bits));
            if (const std::uint64_t p = regs_.get(reg::priority, id); p > priority) {
                found = id;
                priority = p;
            }
        }
    }
    return found;
}

bool plic::enabled(unsigned context, std::uint32_t id) const {
    return (regs_.get(reg::enable, context * words_per_context + id / 32) >> id % 32 & 1) != 0;
}

/// Mask of the existing sources in a word.
std::uint32_t plic::existing(unsigned word) const {
    std::uint32_t bits = 0;
    for (std::uint32_t id = word * 32; id < word * 32 + 32; ++id)
        if (exists(id)) bits |= std::uint32_t{1} << id % 32;
    return bits;
}

}  // namespace trn
