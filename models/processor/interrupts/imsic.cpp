// SPDX-License-Identifier: Apache-2.0
#include "models/processor/interrupts/imsic.h"

#include <bit>

#include "models/processor/interrupts/imsic_regs.h"

namespace trn {

using imsic_regs::reg;

namespace {

constexpr unsigned word_bits = 64;

// Values of miselect and siselect (AIA 3.8).
constexpr unsigned eidelivery = 0x70, eithreshold = 0x72, first_eip = 0x80, first_eie = 0xc0,
                   last_eie = 0xff;

/// The word of the arrays that a register has the number of: even ones have 64 bits each.
constexpr unsigned word_of(unsigned number) {
    return (number - first_eip) % (first_eie - first_eip) / 2;
}

std::uint32_t swapped(std::uint64_t value) {
    return __builtin_bswap32(static_cast<std::uint32_t>(value));
}

}  // namespace

imsic::imsic(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      machine_regs_(imsic_regs::table, {.latency = cfg.access_latency}),
      supervisor_regs_(imsic_regs::table, {.latency = cfg.access_latency}) {
    sc_assert(cfg_.identities % word_bits == word_bits - 1);
    const auto connect = [this](register_bank& regs, file& own) {
        regs.on_write(reg::seteipnum_le,
                      [this, &own](register_access& a) { receive(own, a.written, a.delay); });
        regs.on_write(reg::seteipnum_be, [this, &own](register_access& a) {
            receive(own, swapped(a.written), a.delay);
        });
        const std::size_t words = (cfg_.identities + 1) / word_bits;
        own.pending.resize(words);
        own.enabled.resize(words);
    };
    connect(machine_regs_, machine_file_);
    connect(supervisor_regs_, supervisor_file_);
}

/// All state is 0 after a reset, where the specification leaves it open.
void imsic::clear() {
    for (file* each : {&machine_file_, &supervisor_file_}) {
        each->delivers = false;
        each->threshold = 0;
        each->pending.assign(each->pending.size(), 0);
        each->enabled.assign(each->enabled.size(), 0);
    }
    for (irq_out* each : {&machine_external, &supervisor_external}) {
        each->cancel();
        each->set(false);
    }
}

void imsic::receive(file& own, std::uint64_t identity, const sc_core::sc_time& delay) {
    if (identity == 0 || identity > cfg_.identities || reset.level()) return;
    own.pending[identity / word_bits] |= std::uint64_t{1} << identity % word_bits;
    update(own, delay);
}

/// The pending and enabled identity with the lowest number, which is the most important one; 0 if
/// there is none below the threshold.
unsigned imsic::file::top() const {
    for (unsigned word = 0; word < pending.size(); ++word) {
        const std::uint64_t bits = pending[word] & enabled[word];
        if (bits == 0) continue;
        const unsigned identity = word * word_bits + static_cast<unsigned>(std::countr_zero(bits));
        return threshold == 0 || identity < threshold ? identity : 0;
    }
    return 0;
}

void imsic::update(file& changed, const sc_core::sc_time& delay) {
    irq_out& line = &changed == &machine_file_ ? machine_external : supervisor_external;
    line.set(changed.delivers && changed.top() != 0, delay);
}

std::uint64_t imsic::read(riscv::privilege mode, unsigned number) const {
    const file& own = of(mode);
    if (number == eidelivery) return own.delivers ? 1 : 0;
    if (number == eithreshold) return own.threshold;
    if (number < first_eip || number > last_eie) return 0;
    const auto& array = number < first_eie ? own.pending : own.enabled;
    return word_of(number) < array.size() ? array[word_of(number)] : 0;
}

void imsic::write(riscv::privilege mode, unsigned number, std::uint64_t value,
                  const sc_core::sc_time& delay) {
    file& own = of(mode);
    if (number == eidelivery) {
        own.delivers = value <= 1 ? value == 1 : own.delivers;  // WARL
    } else if (number == eithreshold) {
        own.threshold = value & (std::bit_ceil(cfg_.identities + 1) - 1);
    } else if (number >= first_eip && number <= last_eie) {
        auto& array = number < first_eie ? own.pending : own.enabled;
        const unsigned word = word_of(number);
        if (word >= array.size()) return;
        array[word] = word == 0 ? value & ~std::uint64_t{1} : value;  // identity 0 does not exist
    }
    update(own, delay);
}

std::uint64_t imsic::top(riscv::privilege mode) const {
    const std::uint64_t identity = of(mode).top();
    return identity << 16 | identity;
}

void imsic::claim(riscv::privilege mode, const sc_core::sc_time& delay) {
    file& own = of(mode);
    const unsigned identity = own.top();
    own.pending[identity / word_bits] &= ~(std::uint64_t{1} << identity % word_bits);
    update(own, delay);
}

}  // namespace trn
