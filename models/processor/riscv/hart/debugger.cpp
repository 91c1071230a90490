// SPDX-License-Identifier: Apache-2.0
// The hart as a debugger uses it: stops, registers and memory.
#include <algorithm>

#include "models/processor/riscv/decode/decode.h"
#include "models/processor/riscv/hart/hart.h"

namespace trn::riscv {

// --- Stops

void hart::halt(const stop& why) {
    debug_.halt(why);
    attention_ = true;
    stop_soon();
}

void hart::resume(bool single_step) {
    debug_.resume(single_step, pc_);
    attention_ = true;
    if (!waiting()) move_to(phase::one_next);
    if (single_step) end_wait();
}

void hart::end_wait() {
    move_to(phase::one_next);
    debug_.set_completes_wfi(true);
}

bool hart::leads_to(u64 pc) {
    u32 bits = 0;
    debug_read(pc_, {reinterpret_cast<u8*>(&bits), sizeof bits});
    const decoded d = decode(bits, cfg_.extensions);
    const u64 next = pc_ + d.length(), target = pc_ + static_cast<u64>(i64{d.imm});
    switch (d.definition == nullptr ? flow::leave : d.definition->then) {
    case flow::branch:
        return pc == target || pc == next;
    case flow::jump:
        return pc == target;
    case flow::jump_register:
        return pc == ((read_x(d.rs1) + static_cast<u64>(i64{d.imm})) & ~u64{1});
    default:
        return pc == next;
    }
}

void hart::add_breakpoint(u64 pc) {
    debug_.add(pc);
    invalidate_code();
}

void hart::remove_breakpoint(u64 pc) {
    debug_.remove(pc);
    invalidate_code();
}

void hart::add_watchpoint(const watchpoint& w) {
    debug_.add(w);
    triggers_changed();
}

void hart::remove_watchpoint(const watchpoint& w) {
    debug_.remove(w);
    triggers_changed();
}

void hart::set_pc(u64 pc) {
    pc_ = pc & ~u64{1};
    if (waiting()) move_to(phase::blocks);
}

void hart::set_mode(privilege mode) {
    change_mode(mode);
    interrupts_changed();
}

// --- Memory

/// Calls access(pa, part) for the part of `data` in each page, until a page is not mapped or
/// `access` fails. Returns the number of bytes accessed.
template <typename Byte, typename Access>
std::size_t hart::for_pages(u64 va, std::span<Byte> data, Access access) {
    std::size_t done = 0;
    while (done < data.size()) {
        const u64 count = std::min(data.size() - done, mmu::page_size - (va & mmu::page_mask));
        u64 pa = 0;
        if (!mmu_.debug_translate(va, data_mode(), pa) || !access(pa, data.subspan(done, count)))
            break;
        done += count;
        va += count;
    }
    return done;
}

std::size_t hart::debug_read(u64 va, std::span<u8> data) {
    return for_pages(va, data,
                     [this](u64 pa, std::span<u8> part) { return bus_.debug_read(pa, part); });
}

std::size_t hart::debug_write(u64 va, std::span<const u8> data) {
    return write_pages(va, data, &hart_bus::debug_write);
}

std::size_t hart::poke(u64 va, std::span<const u8> data) {
    return write_pages(va, data, &hart_bus::poke);
}

std::size_t hart::write_pages(u64 va, std::span<const u8> data,
                              bool (hart_bus::*write)(u64, std::span<const u8>)) {
    const auto done = for_pages(
        va, data, [&](u64 pa, std::span<const u8> part) { return (bus_.*write)(pa, part); });
    invalidate_code();
    return done;
}

}  // namespace trn::riscv
