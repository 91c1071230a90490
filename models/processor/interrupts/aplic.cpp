// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/aplic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "models/misuse_rules.h"
#include "models/processor/interrupts/aplic_regs.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

using aplic_regs::reg;
namespace config_bits = aplic_regs::domaincfg;
namespace machine_page = aplic_regs::mmsiaddrcfgh;
namespace supervisor_page = aplic_regs::smsiaddrcfgh;

namespace {

constexpr std::uint64_t delegated = 1 << 10;  // sourcecfg.D
constexpr unsigned hart_shift = 18, source_shift = 16, page_shift = 12;
constexpr std::uint64_t hart_bits = std::uint64_t{0x3fff} << hart_shift, identity_bits = 0x7ff,
                        priority_bits = 0xff;

template <class Words>
bool has(const Words& bits, std::uint64_t id) {
    return (bits[id / 32] >> id % 32 & 1) != 0;
}
template <class Words>
void put(Words& bits, std::uint64_t id, bool value) {
    const std::uint32_t mask = std::uint32_t{1} << id % 32;
    bits[id / 32] = value ? bits[id / 32] | mask : bits[id / 32] & ~mask;
}
constexpr std::uint64_t low_bits(std::uint64_t value, std::uint64_t width) {
    return value & ((std::uint64_t{1} << width) - 1);
}

bool delivers(const register_bank& regs) {
    return regs.get(config_bits::ie) != 0;
}
bool sends_messages(const register_bank& regs) {
    return regs.get(config_bits::dm) != 0;
}

}  // namespace

aplic::aplic(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      source("source", cfg.sources + 1, [this](unsigned id, bool) { on_source(id); }),
      machine_external("machine_external", cfg.harts),
      supervisor_external("supervisor_external", cfg.harts),
      cfg_(cfg),
      machine_regs_(aplic_regs::table, {.latency = cfg.access_latency}),
      supervisor_regs_(aplic_regs::table, {.latency = cfg.access_latency}) {
    for (domain* own : {&root_, &child_}) {
        add_registers(*own);
        add_sources(*own);
        add_harts(*own);
    }
}

void aplic::add_registers(domain& own) {
    register_bank& regs = own.regs;
    regs.on_write(reg::domaincfg, [this, &own](register_access& a) { configure(own, a); });
    for (const reg each :
         {reg::mmsiaddrcfg, reg::mmsiaddrcfgh, reg::smsiaddrcfg, reg::smsiaddrcfgh})
        regs.on_write(each, [&own, each](register_access& a) {
            const std::uint64_t lock =
                each == reg::mmsiaddrcfgh ? a.old : own.regs.get(reg::mmsiaddrcfgh);
            if (!own.is_root || machine_page::l.get(lock) != 0) own.regs.set(each, a.old);
        });
    regs.on_write(reg::genmsi, [this, &own](register_access& a) {
        if (own.is_busy) return own.regs.set(reg::genmsi, a.old);  // its message comes back
        own.is_busy = sends_messages(own.regs);
        own.regs.set(reg::genmsi, own.is_busy ? a.value : 0);
        if (own.is_busy) send(own, a.value, a.delay);
        own.is_busy = false;
    });
}

void aplic::add_sources(domain& own) {
    register_bank& regs = own.regs;
    regs.on_write(reg::sourcecfg, [this, &own](register_access& a) {
        own.regs.set(reg::sourcecfg, a.old, a.index);
        configure_source(own, a.index + 1, a.written);
        for (domain* each : {&root_, &child_}) update(*each, a.delay);
    });
    regs.on_write(reg::target, [this, &own](register_access& a) {
        set_target(own, a.index + 1, a.value);
        update(own, a.delay);
    });
    regs.view(reg::setip, [&own](auto, unsigned word) { return own.pending[word]; });
    regs.view(reg::setie, [&own](auto, unsigned word) { return own.enabled[word]; });
    regs.view(reg::in_clrip, [this, &own](auto, unsigned word) { return inputs(own, word); });

    // A write changes active sources: those of the ones in a word, or the one with a number.
    using change = void (aplic::*)(domain&, unsigned);
    const auto of_word = [&, this](reg place, change apply) {
        regs.on_write(place, [this, &own, apply](register_access& a) {
            for (std::uint64_t bits = a.written; bits != 0; bits &= bits - 1) {
                const unsigned id = a.index * 32 + static_cast<unsigned>(std::countr_zero(bits));
                if (mode_of(own, id) != mode::inactive) (this->*apply)(own, id);
            }
            update(own, a.delay);
        });
    };
    const auto of_number = [&, this](reg place, change apply, bool is_swapped = false) {
        regs.on_write(place, [this, &own, apply, is_swapped](register_access& a) {
            const auto word = static_cast<std::uint32_t>(a.written);
            const std::uint32_t id = is_swapped ? __builtin_bswap32(word) : word;
            if (mode_of(own, id) != mode::inactive) (this->*apply)(own, id);
            update(own, a.delay);
        });
    };
    of_word(reg::setip, &aplic::set_pending);
    of_word(reg::in_clrip, &aplic::clear_pending);
    of_word(reg::setie, &aplic::enable);
    of_word(reg::clrie, &aplic::disable);
    of_number(reg::setipnum, &aplic::set_pending);
    of_number(reg::setipnum_le, &aplic::set_pending);
    of_number(reg::setipnum_be, &aplic::set_pending, true);
    of_number(reg::clripnum, &aplic::clear_pending);
    of_number(reg::setienum, &aplic::enable);
    of_number(reg::clrienum, &aplic::disable);
}

void aplic::add_harts(domain& own) {
    register_bank& regs = own.regs;
    for (const reg each : {reg::idc_idelivery, reg::idc_iforce, reg::idc_ithreshold})
        regs.on_write(each, [this, &own, each](register_access& a) {
            if (a.index >= cfg_.harts) own.regs.set(each, 0, a.index);
            update(own, a.delay);
        });
    for (const reg each : {reg::idc_topi, reg::idc_claimi})
        regs.view(each, [this, &own](auto, unsigned hart) { return top(own, hart); });
    regs.on_read(reg::idc_claimi,
                 [this, &own](register_access& a) { a.value = claim(own, a.index, a.delay); });
}

/// All state is 0 after a reset, where the specification leaves it open: every source is inactive.
void aplic::clear() {
    for (domain* own : {&root_, &child_}) {
        own->regs.reset();
        own->pending.fill(0);
        own->enabled.fill(0);
        for (irq_out& line : own->out) {
            line.cancel();
            line.set(false);
        }
    }
}

// --- Configuration

/// A new kind of delivery has another format of targets, and other rules for levels.
void aplic::configure(domain& own, const register_access& a) {
    if (config_bits::dm.get(a.old) != config_bits::dm.get(a.value)) {
        own.regs.set(reg::genmsi, 0);
        for (unsigned id = 1; id <= cfg_.sources; ++id) {
            set_target(own, id, own.regs.get(reg::target, id - 1));
            follow_input(own, id, input(own, id));
        }
    }
    update(own, a.delay);
}

void aplic::configure_source(domain& own, unsigned id, std::uint64_t value) {
    if (!is_visible(own, id)) return;
    const bool was_high = input(own, id), was_active = mode_of(own, id) != mode::inactive;
    const std::uint64_t kind = value & 7;
    const bool is_reserved = kind == 2 || kind == 3;
    // A leaf domain delegates nothing; the root has the child 0 only.
    if ((value & delegated) != 0)
        own.regs.set(reg::sourcecfg, own.is_root ? delegated : 0, id - 1);
    else
        own.regs.set(reg::sourcecfg, is_reserved ? 0 : kind, id - 1);
    if (own.is_root) deactivate(child_, id);
    if (mode_of(own, id) == mode::inactive) return deactivate(own, id);
    if (!was_active) set_target(own, id, 0);
    if (mode_of(own, id) >= mode::level1) follow_input(own, id, was_high);
}

/// The source has no state in the domain; in the child no configuration either, unless it is
/// delegated.
void aplic::deactivate(domain& own, unsigned id) {
    if (!is_visible(own, id)) own.regs.set(reg::sourcecfg, 0, id - 1);
    if (mode_of(own, id) != mode::inactive) return;
    put(own.pending, id, false);
    put(own.enabled, id, false);
    own.regs.set(reg::target, 0, id - 1);
}

void aplic::set_target(domain& own, unsigned id, std::uint64_t value) {
    std::uint64_t kept = 0;
    if (mode_of(own, id) == mode::inactive)
        kept = 0;
    else if (sends_messages(own.regs))
        kept = value & (hart_bits | identity_bits);
    else
        kept = (value & hart_bits) | std::max<std::uint64_t>(value & priority_bits, 1);
    own.regs.set(reg::target, kept, id - 1);
}

bool aplic::is_visible(const domain& own, std::uint64_t id) const {
    if (id < 1 || id > cfg_.sources) return false;
    const auto index = static_cast<unsigned>(id - 1);
    return own.is_root || root_.regs.get(reg::sourcecfg, index) == delegated;
}

aplic::mode aplic::mode_of(const domain& own, std::uint64_t id) const {
    if (!is_visible(own, id)) return mode::inactive;
    const std::uint64_t value = own.regs.get(reg::sourcecfg, static_cast<unsigned>(id - 1));
    return (value & delegated) != 0 ? mode::inactive : static_cast<mode>(value);
}

// --- Sources (AIA 4.7)

void aplic::enable(domain& own, unsigned id) {
    put(own.enabled, id, true);
}
void aplic::disable(domain& own, unsigned id) {
    put(own.enabled, id, false);
}

/// Software sets a bit: of a level only while it asserts the interrupt, by lines never.
void aplic::set_pending(domain& own, unsigned id) {
    const bool is_level = mode_of(own, id) >= mode::level1;
    if (!is_level || (sends_messages(own.regs) && input(own, id))) put(own.pending, id, true);
}

/// Software clears a bit, or the interrupt is taken.
void aplic::clear_pending(domain& own, unsigned id) {
    const bool is_level = mode_of(own, id) >= mode::level1;
    if (!is_level || sends_messages(own.regs)) put(own.pending, id, false);
}

/// The rectified input.
bool aplic::input(const domain& own, unsigned id) const {
    const mode kind = mode_of(own, id);
    if (kind < mode::edge1) return false;
    return source.level(id) != (kind == mode::edge0 || kind == mode::level0);
}

std::uint32_t aplic::inputs(const domain& own, unsigned word) const {
    std::uint32_t bits = 0;
    for (unsigned bit = 0; bit < 32; ++bit)
        if (input(own, word * 32 + bit)) bits |= std::uint32_t{1} << bit;
    return bits;
}

void aplic::on_source(unsigned id) {
    if (reset.level()) return;
    for (domain* own : {&root_, &child_}) {
        if (mode_of(*own, id) < mode::edge1) continue;
        follow_input(*own, id, !input(*own, id));
        update(*own, sc_core::SC_ZERO_TIME);
    }
}

void aplic::follow_input(domain& own, unsigned id, bool was_high) {
    const bool is_level = mode_of(own, id) >= mode::level1, is_high = input(own, id);
    if (is_high && (!was_high || (is_level && !sends_messages(own.regs))))
        put(own.pending, id, true);
    else if (is_level && !is_high)
        put(own.pending, id, false);
}

// --- Delivery

void aplic::update(domain& own, const sc_core::sc_time& delay) {
    if (sends_messages(own.regs)) send_pending(own, delay);
    for (unsigned hart = 0; hart < cfg_.harts; ++hart) {
        const bool is_open = delivers(own.regs) && !sends_messages(own.regs) &&
                             own.regs.get(reg::idc_idelivery, hart) != 0;
        own.out[hart].set(
            is_open && (own.regs.get(reg::idc_iforce, hart) != 0 || top(own, hart) != 0), delay);
    }
}

/// What an MSI to this module itself makes pending is sent after the next change of the domain, so
/// that software cannot keep it busy for ever.
void aplic::send_pending(domain& own, const sc_core::sc_time& delay) {
    if (sends_ || !delivers(own.regs)) return;
    sends_ = true;
    for (unsigned word = 0; word <= cfg_.sources / 32; ++word)
        for (std::uint32_t bits = own.pending[word] & own.enabled[word]; bits != 0;
             bits &= bits - 1) {
            const unsigned id = word * 32 + static_cast<unsigned>(std::countr_zero(bits));
            put(own.pending, id, false);
            send(own, own.regs.get(reg::target, id - 1), delay);
        }
    sends_ = false;
}

/// The time of the transfer is not that of the access which has caused it.
void aplic::send(const domain& own, std::uint64_t target, const sc_core::sc_time& delay) {
    const std::uint64_t address = address_of(own, target >> hart_shift);
    auto data = static_cast<std::uint32_t>(target & identity_bits);
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_WRITE_COMMAND, address, &data, sizeof data);
    sc_core::sc_time time = delay;
    if (memory.size() > 0) memory->b_transport(payload, time);
    if (!payload.is_response_ok())
        misuse::report(misuse::firmware_bus_error, *this, fmt::format("MSI to {:#x}", address));
}

/// AIA 4.9.1: both domains use the widths and the shift of groups of mmsiaddrcfgh.
std::uint64_t aplic::address_of(const domain& own, std::uint64_t hart) const {
    const register_bank& regs = root_.regs;
    const auto field = [&regs](register_field each) { return regs.get(each); };
    const std::uint64_t low_width = field(machine_page::lhxw);
    const std::uint64_t group = low_bits(hart >> low_width, field(machine_page::hhxw));
    const std::uint64_t number = low_bits(hart, low_width);
    const std::uint64_t page = own.is_root
                                   ? field(machine_page::ppn) << 32 | regs.get(reg::mmsiaddrcfg)
                                   : field(supervisor_page::ppn) << 32 | regs.get(reg::smsiaddrcfg);
    const std::uint64_t low_shift = field(own.is_root ? machine_page::lhxs : supervisor_page::lhxs);
    return (page | group << (field(machine_page::hhxs) + 12) | number << low_shift) << page_shift;
}

/// The pending and enabled source of the hart with the smallest priority number below its
/// threshold; among equals, the lowest number. In the format of topi; 0: none.
std::uint64_t aplic::top(const domain& own, unsigned hart) const {
    if (hart >= cfg_.harts || sends_messages(own.regs)) return 0;
    const std::uint64_t threshold = own.regs.get(reg::idc_ithreshold, hart);
    std::uint64_t best = threshold == 0 ? priority_bits + 1 : threshold, found = 0;
    for (unsigned word = 0; word <= cfg_.sources / 32; ++word)
        for (std::uint32_t bits = own.pending[word] & own.enabled[word]; bits != 0;
             bits &= bits - 1) {
            const unsigned id = word * 32 + static_cast<unsigned>(std::countr_zero(bits));
            const std::uint64_t target = own.regs.get(reg::target, id - 1);
            const std::uint64_t priority = target & priority_bits;
            if (target >> hart_shift != hart || priority >= best) continue;
            best = priority;
            found = std::uint64_t{id} << source_shift | priority;
        }
    return found;
}

std::uint64_t aplic::claim(domain& own, unsigned hart, const sc_core::sc_time& delay) {
    const std::uint64_t found = top(own, hart);
    if (found != 0)
        clear_pending(own, static_cast<unsigned>(found >> source_shift));
    else
        own.regs.set(reg::idc_iforce, 0, hart);
    update(own, delay);
    return found;
}

}  // namespace trn
