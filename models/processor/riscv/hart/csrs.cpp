// SPDX-License-Identifier: Apache-2.0
// Control and status registers (Priv. chapters 2 to 4). A CSR is a table row; those with side
// effects also have functions.
#include "models/processor/riscv/hart/csrs.h"

#include <array>
#include <span>
#include <utility>

#include "models/processor/riscv/debug/commit_log.h"
#include "models/processor/riscv/hart/hart.h"

namespace trn::riscv {

namespace {

using reader = u64 (*)(hart&, unsigned number);
using writer = void (*)(hart&, unsigned number, u64 value);

/// `count` registers from `number` on; a `#` in the name stands for the index, from `index` on.
struct csr_row {
    u16 number;
    const char* name;
    reader read;
    writer write;
    u16 count = 1;
    u16 index = 0;
    u16 stride = 1;
    extension needs = extension::zicsr;
};

constexpr u64 all = ~u64{0};

// --- Registers without side effects

template <u64 csr_state::*Member>
u64 stored(hart& h, unsigned) {
    return h.csr.*Member;
}
template <u64 csr_state::*Member, u64 Mask>
void masked(hart& h, unsigned, u64 value) {
    h.csr.*Member = value & Mask;
}
u64 zero(hart&, unsigned) {
    return 0;
}
void ignored(hart&, unsigned, u64) {}

/// Written by a function of the hart.
template <void (hart::*Set)(u64)>
void passed(hart& h, unsigned, u64 value) {
    (h.*Set)(value);
}

// --- Identity

u64 read_misa(hart& h, unsigned) {
    return h.settings().extensions.misa();
}
u64 read_hart_id(hart& h, unsigned) {
    return h.settings().hart_id;
}

// --- Status

constexpr u64 uxl = u64{3} << 32;
constexpr u64 sstatus_mask =
    mstatus::sie | mstatus::spie | mstatus::spp | mstatus::fs | mstatus::sum | mstatus::mxr;

u64 read_sstatus(hart& h, unsigned) {
    return h.csr.mstatus & (sstatus_mask | mstatus::sd | uxl);
}
void write_sstatus(hart& h, unsigned, u64 value) {
    h.set_mstatus((h.csr.mstatus & ~sstatus_mask) | (value & sstatus_mask));
}

// --- Traps

constexpr u64 supervisor_lines = bit(interrupt::supervisor_software) |
                                 bit(interrupt::supervisor_timer) |
                                 bit(interrupt::supervisor_external);
constexpr u64 machine_lines = bit(interrupt::machine_software) | bit(interrupt::machine_timer) |
                              bit(interrupt::machine_external);
/// All except calls from M mode; bit 0 is clear, as jumps cannot be misaligned with C.
constexpr u64 delegable = 0xb3fe;

u64 pc_mask(const hart& h) {
    return h.settings().extensions.has(extension::c) ? ~u64{1} : ~u64{3};
}

template <u64 csr_state::*Member>
void write_epc(hart& h, unsigned, u64 value) {
    h.csr.*Member = value & pc_mask(h);
}
template <u64 csr_state::*Member>
void write_tvec(hart& h, unsigned, u64 value) {
    h.csr.*Member = value & ~u64{2};  // direct or vectored
}

constexpr u64 ssip = bit(interrupt::supervisor_software),
              seip = bit(interrupt::supervisor_external);
/// STIP, if software can write it. Sstc, 2: with STCE, it is read-only.
u64 timer_bit(const hart& h) {
    return (h.csr.menvcfg & envcfg::stce) != 0 ? 0 : bit(interrupt::supervisor_timer);
}

void write_mideleg(hart& h, unsigned, u64 value) {
    h.csr.mideleg = value & supervisor_lines;
    h.interrupts_changed();
}
void write_mie(hart& h, unsigned, u64 value) {
    h.csr.mie = value & (supervisor_lines | machine_lines);
    h.interrupts_changed();
}
/// Interrupts of supervisor mode by mvien alone.
u64 virtual_lines(const hart& h) {
    return h.csr.mvien & ~h.csr.mideleg;
}
u64 read_sie(hart& h, unsigned) {
    return (h.csr.mie & h.csr.mideleg) | (h.csr.virtual_sie & virtual_lines(h));
}
void write_sie(hart& h, unsigned number, u64 value) {
    h.csr.virtual_sie = value & virtual_lines(h);
    write_mie(h, number, (h.csr.mie & ~h.csr.mideleg) | (value & h.csr.mideleg));
}
u64 read_mip(hart& h, unsigned) {
    if ((h.csr.menvcfg & envcfg::stce) != 0) h.update_timer();
    return h.pending();
}
void write_software_mip(hart& h, u64 mask, u64 value) {
    h.csr.software_mip = (h.csr.software_mip & ~mask) | (value & mask);
    h.interrupts_changed();
}
void write_mip(hart& h, unsigned, u64 value) {
    // AIA 5.3: with mvien.SEIP, SEIP is the external interrupt controller's.
    write_software_mip(h, (ssip | timer_bit(h) | seip) & ~(h.csr.mvien & seip), value);
}
u64 read_sip(hart& h, unsigned number) {
    return (read_mip(h, number) & h.csr.mideleg) | h.virtual_pending();
}
/// Bits that mvien enables are mvip's.
void write_virtual_mip(hart& h, u64 mask, u64 value) {
    h.csr.mvip = (h.csr.mvip & ~(mask & ssip)) | (value & mask & ssip);
    write_software_mip(h, mask & seip, value);
}
void write_sip(hart& h, unsigned, u64 value) {
    write_software_mip(h, ssip & h.csr.mideleg, value);
    write_virtual_mip(h, virtual_lines(h), value);
}

// --- Advanced interrupts (AIA 1.0, chapters 2, 3 and 5). Priorities of major interrupts are
// read-only 0, and there are no local interrupts.

constexpr unsigned siselect = 0x150, sireg = 0x151, stopei = 0x15c, stopi = 0xdb0, miselect = 0x350,
                   mireg = 0x351, mtopei = 0x35c, mtopi = 0xfb0;
constexpr unsigned first_priority = 0x30, last_priority = 0x3f, first_of_file = 0x70,
                   first_array = 0x80, last_of_file = 0xff;
constexpr u64 select_mask = 0x1ff;

/// Whether mireg or sireg is a register of the interrupt file; odd ones of the arrays do not exist.
bool selects_file(u64 select) {
    return select >= first_of_file && select <= last_of_file;
}
bool selects_register(u64 select, bool has_files) {
    if (select >= first_priority && select <= last_priority) return select % 2 == 0;
    return has_files && selects_file(select) && (select < first_array || select % 2 == 0);
}
/// The mode whose interrupts a CSR controls.
privilege mode_of(unsigned number) {
    return (number >> 8 & 3) == 3 ? privilege::machine : privilege::supervisor;
}
u64 select_of(const hart& h, unsigned number) {
    return number == mireg ? h.csr.miselect : h.csr.siselect;
}
u64 read_selected(hart& h, unsigned number) {
    const u64 select = select_of(h, number);
    if (!selects_file(select)) return 0;
    return h.memory().read_interrupt_file(mode_of(number), static_cast<unsigned>(select));
}
void write_selected(hart& h, unsigned number, u64 value) {
    const u64 select = select_of(h, number);
    if (selects_file(select))
        h.memory().write_interrupt_file(mode_of(number), static_cast<unsigned>(select), value);
}
u64 read_top_external(hart& h, unsigned number) {
    return h.memory().top_external(mode_of(number));
}
void write_top_external(hart& h, unsigned number, u64) {
    h.memory().claim_external(mode_of(number));
}
/// The priority is always 1, as all those of the arrays are 0.
u64 read_top(hart& h, unsigned number) {
    read_mip(h, number);  // at the present time
    const u64 first = hart::first_of(h.ready(mode_of(number)));
    return first == 0 ? 0 : first << 16 | 1;
}
void write_mvien(hart& h, unsigned, u64 value) {
    h.csr.mvien = value & (ssip | seip);
    h.interrupts_changed();
}
u64 read_mvip(hart& h, unsigned) {
    const u64 virtual_ssip = h.csr.mvien & ssip;
    return (h.csr.mvip & virtual_ssip) |
           (h.csr.software_mip & ((ssip & ~virtual_ssip) | timer_bit(h) | seip));
}
void write_mvip(hart& h, unsigned, u64 value) {
    const u64 virtual_ssip = h.csr.mvien & ssip;
    write_virtual_mip(h, virtual_ssip | seip, value);
    write_software_mip(h, (ssip & ~virtual_ssip) | timer_bit(h), value);
}

void write_senvcfg(hart& h, unsigned, u64 value) {
    h.csr.senvcfg =
        h.settle_envcfg(h.csr.senvcfg, value) & ~(envcfg::stce | envcfg::pbmte | envcfg::adue);
}

// --- Floating point

constexpr u64 fflags_mask = 0x1f, fcsr_mask = 0xff;
constexpr unsigned frm_shift = 5;

void write_fcsr(hart& h, unsigned, u64 value) {
    h.csr.fcsr = value & fcsr_mask;
    h.csr.mstatus |= mstatus::fs | mstatus::sd;
}
u64 read_fflags(hart& h, unsigned) {
    return h.csr.fcsr & fflags_mask;
}
void write_fflags(hart& h, unsigned number, u64 value) {
    write_fcsr(h, number, (h.csr.fcsr & ~fflags_mask) | (value & fflags_mask));
}
u64 read_frm(hart& h, unsigned) {
    return h.csr.fcsr >> frm_shift;
}
void write_frm(hart& h, unsigned number, u64 value) {
    write_fcsr(h, number, (h.csr.fcsr & fflags_mask) | value << frm_shift);
}

// --- Counters (Zicntr, Priv. 3.1.10-3.1.12). A running counter is the event count plus an offset;
// an inhibited one is its offset.

u64 read_cycle(hart& h, unsigned) {
    const bool inhibited = (h.csr.mcountinhibit & inhibit::cycle) != 0;
    return h.csr.cycle_offset + (inhibited ? 0 : h.cycles());
}
u64 read_instret(hart& h, unsigned) {
    const bool inhibited = (h.csr.mcountinhibit & inhibit::instret) != 0;
    return h.csr.instret_offset + (inhibited ? 0 : h.retired());
}
/// The instruction that writes a CSR; a debugger's write has none.
u64 writing_instructions(const hart& h) {
    return h.exec.operation == nullptr ? 0 : 1;
}
// Priv. 3.1.10: the next instruction reads the value written, so the writing instruction is not
// counted.
void write_cycle(hart& h, unsigned, u64 value) {
    const bool inhibited = (h.csr.mcountinhibit & inhibit::cycle) != 0;
    h.csr.cycle_offset = value - (inhibited ? 0 : h.cycles() + writing_instructions(h));
}
void write_instret(hart& h, unsigned, u64 value) {
    const bool inhibited = (h.csr.mcountinhibit & inhibit::instret) != 0;
    h.csr.instret_offset = value - (inhibited ? 0 : h.retired() + writing_instructions(h));
}
/// The write takes effect after its own instruction, which counts unless it was inhibited before.
void write_mcountinhibit(hart& h, unsigned number, u64 value) {
    const u64 before = h.csr.mcountinhibit, own = writing_instructions(h);
    const u64 cycle = read_cycle(h, number) + ((before & inhibit::cycle) != 0 ? 0 : own);
    const u64 instret = read_instret(h, number) + ((before & inhibit::instret) != 0 ? 0 : own);
    h.csr.mcountinhibit = value & (inhibit::cycle | inhibit::instret);
    write_cycle(h, number, cycle);
    write_instret(h, number, instret);
}
u64 read_time(hart& h, unsigned) {
    return h.memory().time();
}

// --- Physical memory protection

constexpr unsigned pmpcfg0 = 0x3a0, pmpaddr0 = 0x3b0;

u64 read_pmpcfg(hart& h, unsigned number) {
    u64 value = 0;
    for (unsigned i = 0; i < 8; ++i)
        value |= u64{h.protection.config((number - pmpcfg0) * 4 + i)} << (8 * i);
    return value;
}
void write_pmpcfg(hart& h, unsigned number, u64 value) {
    for (unsigned i = 0; i < 8; ++i)
        h.protection.set_config((number - pmpcfg0) * 4 + i, static_cast<u8>(value >> (8 * i)));
    h.protection_changed();
}
u64 read_pmpaddr(hart& h, unsigned number) {
    return h.protection.address(number - pmpaddr0);
}
void write_pmpaddr(hart& h, unsigned number, u64 value) {
    h.protection.set_address(number - pmpaddr0, value);
    h.protection_changed();
}

// --- Triggers

template <u64 (triggers::*Get)() const>
u64 read_trigger(hart& h, unsigned) {
    return (h.watch.*Get)();
}
template <void (triggers::*Set)(u64)>
void write_trigger(hart& h, unsigned, u64 value) {
    (h.watch.*Set)(value);
    h.triggers_changed();
}
void write_tselect(hart& h, unsigned, u64 value) {
    h.watch.set_select(value);
}

using c = csr_state;

constexpr csr_row table[] = {
    {0x001, "fflags", read_fflags, write_fflags, 1, 0, 1, extension::f},
    {0x002, "frm", read_frm, write_frm, 1, 0, 1, extension::f},
    {0x003, "fcsr", stored<&c::fcsr>, write_fcsr, 1, 0, 1, extension::f},

    {0x100, "sstatus", read_sstatus, write_sstatus},
    {0x104, "sie", read_sie, write_sie},
    {0x105, "stvec", stored<&c::stvec>, write_tvec<&c::stvec>},
    {0x106, "scounteren", stored<&c::scounteren>, masked<&c::scounteren, 0xffffffff>},
    {0x10a, "senvcfg", stored<&c::senvcfg>, write_senvcfg},
    {0x140, "sscratch", stored<&c::sscratch>, masked<&c::sscratch, all>},
    {0x141, "sepc", stored<&c::sepc>, write_epc<&c::sepc>},
    {0x142, "scause", stored<&c::scause>, masked<&c::scause, all>},
    {0x143, "stval", stored<&c::stval>, masked<&c::stval, all>},
    {0x144, "sip", read_sip, write_sip},
    {0x14d, "stimecmp", stored<&c::stimecmp>, passed<&hart::set_stimecmp>, 1, 0, 1,
     extension::sstc},
    {siselect, "siselect", stored<&c::siselect>, masked<&c::siselect, select_mask>, 1, 0, 1,
     extension::ssaia},
    {sireg, "sireg", read_selected, write_selected, 1, 0, 1, extension::ssaia},
    {stopei, "stopei", read_top_external, write_top_external, 1, 0, 1, extension::ssaia},
    {0x180, "satp", stored<&c::satp>, passed<&hart::set_satp>},

    {0x300, "mstatus", stored<&c::mstatus>, passed<&hart::set_mstatus>},
    {0x301, "misa", read_misa, ignored},
    {0x302, "medeleg", stored<&c::medeleg>, masked<&c::medeleg, delegable>},
    {0x303, "mideleg", stored<&c::mideleg>, write_mideleg},
    {0x304, "mie", stored<&c::mie>, write_mie},
    {0x305, "mtvec", stored<&c::mtvec>, write_tvec<&c::mtvec>},
    {0x306, "mcounteren", stored<&c::mcounteren>, masked<&c::mcounteren, 0xffffffff>},
    {0x308, "mvien", stored<&c::mvien>, write_mvien, 1, 0, 1, extension::smaia},
    {0x309, "mvip", read_mvip, write_mvip, 1, 0, 1, extension::smaia},
    {0x30a, "menvcfg", stored<&c::menvcfg>, passed<&hart::set_menvcfg>},
    {0x320, "mcountinhibit", stored<&c::mcountinhibit>, write_mcountinhibit},
    {0x323, "mhpmevent#", zero, ignored, 29, 3},
    {0x340, "mscratch", stored<&c::mscratch>, masked<&c::mscratch, all>},
    {0x341, "mepc", stored<&c::mepc>, write_epc<&c::mepc>},
    {0x342, "mcause", stored<&c::mcause>, masked<&c::mcause, all>},
    {0x343, "mtval", stored<&c::mtval>, masked<&c::mtval, all>},
    {0x344, "mip", read_mip, write_mip},
    {miselect, "miselect", stored<&c::miselect>, masked<&c::miselect, select_mask>, 1, 0, 1,
     extension::smaia},
    {mireg, "mireg", read_selected, write_selected, 1, 0, 1, extension::smaia},
    {mtopei, "mtopei", read_top_external, write_top_external, 1, 0, 1, extension::smaia},
    {pmpcfg0, "pmpcfg#", read_pmpcfg, write_pmpcfg, 2, 0, 2},
    {pmpaddr0, "pmpaddr#", read_pmpaddr, write_pmpaddr, 16},

    {0x7a0, "tselect", read_trigger<&triggers::select>, write_tselect},
    {0x7a1, "tdata1", read_trigger<&triggers::tdata1>, write_trigger<&triggers::set_tdata1>},
    {0x7a2, "tdata2", read_trigger<&triggers::tdata2>, write_trigger<&triggers::set_tdata2>},
    {0x7a3, "tdata3", zero, ignored},
    {0x7a4, "tinfo", read_trigger<&triggers::tinfo>, ignored},

    {0xb00, "mcycle", read_cycle, write_cycle},
    {0xb02, "minstret", read_instret, write_instret},
    {0xb03, "mhpmcounter#", zero, ignored, 29, 3},
    {0xc00, "cycle", read_cycle, ignored},
    {0xc01, "time", read_time, ignored},
    {0xc02, "instret", read_instret, ignored},
    {0xc03, "hpmcounter#", zero, ignored, 29, 3},
    {stopi, "stopi", read_top, ignored, 1, 0, 1, extension::ssaia},

    {0xf11, "mvendorid", zero, ignored},
    {0xf12, "marchid", zero, ignored},
    {0xf13, "mimpid", zero, ignored},
    {0xf14, "mhartid", read_hart_id, ignored},
    {0xf15, "mconfigptr", zero, ignored},
    {mtopi, "mtopi", read_top, ignored, 1, 0, 1, extension::smaia},
};

constexpr unsigned numbers = 4096;
constexpr unsigned fcsr = 0x003, satp = 0x180, stimecmp = 0x14d, sip = 0x144, mip = 0x344;

/// The row of a CSR, with any extension.
const csr_row* find(unsigned number) {
    static const auto index = [] {
        std::array<const csr_row*, numbers> rows{};
        for (const csr_row& row : table)
            for (unsigned i = 0; i < row.count; ++i) rows[row.number + i * row.stride] = &row;
        return rows;
    }();
    return number < numbers ? index[number] : nullptr;
}

/// The row of a CSR, if this hart implements it.
const csr_row* find(const hart& h, unsigned number) {
    const csr_row* row = find(number);
    return row != nullptr && h.settings().extensions.has(row->needs) ? row : nullptr;
}

/// Priv. 3.1.11, 4.1.5: counters are readable in a mode if all higher modes enable them.
bool counter_enabled(const hart& h, unsigned number) {
    const unsigned index = number & 31;
    if (h.mode() < privilege::machine && (h.csr.mcounteren >> index & 1) == 0) return false;
    return h.mode() > privilege::user || (h.csr.scounteren >> index & 1) != 0;
}

/// AIA 2.1, 2.2, 3.7 to 3.9: whether the register exists, and S mode may access its interrupt file.
bool accessible_window(hart& h, unsigned number) {
    const bool has_files = h.memory().has_interrupt_files();
    const bool is_window = number == mireg || number == sireg;
    if (is_window && !selects_register(select_of(h, number), has_files)) return false;
    if (!is_window && !has_files) return false;
    if (is_window && !selects_file(select_of(h, number))) return true;
    return h.mode() == privilege::machine || (h.csr.mvien & seip) == 0;
}

bool accessible(hart& h, unsigned number) {
    if (static_cast<unsigned>(h.mode()) < (number >> 8 & 3)) return false;  // Priv. 2.1
    if (number >= 0xc00 && number < 0xc20) return counter_enabled(h, number);
    if (number <= fcsr) return (h.csr.mstatus & mstatus::fs) != 0;
    if (number == stimecmp && h.mode() != privilege::machine)  // Sstc, 2.1
        return (h.csr.menvcfg & envcfg::stce) != 0 && (h.csr.mcounteren & 2) != 0;
    if (number == mireg || number == sireg || number == mtopei || number == stopei)
        return accessible_window(h, number);
    const bool trapped = (h.csr.mstatus & mstatus::tvm) != 0 && h.mode() == privilege::supervisor;
    return !(number == satp && trapped);
}

constexpr bool read_only(unsigned number) {
    return number >> 10 == 3;
}

}  // namespace

fault hart::csr_read(unsigned number, u64& value) {
    const csr_row* row = find(*this, number);
    if (row == nullptr || !accessible(*this, number)) return illegal();
    // An access of this run has changed a line: the next run sees it.
    const bool shows_lines = number == mip || number == sip || number == mtopi || number == stopi;
    if (shows_lines && ending_ == ending::requested) return {cause::alone, 0};
    value = row->read(*this, number);
    return {};
}

u64 hart::csr_to_modify(unsigned number, u64 value) const {
    if (number != mip && number != sip) return value;
    const u64 kept = number == sip ? ~supervisor_lines | virtual_lines(*this) : ~supervisor_lines;
    return (value & kept) | (csr.software_mip & ~kept);
}

void hart::log_csr(unsigned number, u64 value) {
    if (log_ != nullptr) log_->csr(number, csr_name(number), value);
}

/// Logs a write as Spike does: the underlying register with its new value.
void hart::log_write(unsigned number, u64 value) {
    switch (number) {
    case 0x100:
        return log_csr(0x300, csr.mstatus);  // sstatus, sie, sip are views
    case 0x104:
        log_csr(0x104, read_sie(*this, number));
        return log_csr(0x304, csr.mie);
    case 0x144:
        return log_csr(0x344, pending());
    case 0xb00:
    case 0xb02:
        return log_csr(number, value);  // counters: read by the next instruction
    default:
        return log_csr(number, find(number)->read(*this, number));
    }
}

fault hart::csr_write(unsigned number, u64 value) {
    const csr_row* row = find(*this, number);
    if (row == nullptr || read_only(number) || !accessible(*this, number)) return illegal();
    row->write(*this, number, value);
    if (log_ != nullptr) log_write(number, value);
    return {};
}

std::optional<u64> hart::read_csr(unsigned number) {
    const csr_row* row = find(*this, number);
    if (row == nullptr) return std::nullopt;
    return row->read(*this, number);
}

bool hart::write_csr(unsigned number, u64 value) {
    const csr_row* row = find(*this, number);
    if (row == nullptr || read_only(number)) return false;
    row->write(*this, number, value);
    return true;
}

void hart::set_mstatus(u64 value) {
    using namespace mstatus;
    constexpr u64 writable =
        sie | mie | spie | mpie | spp | mpp | fs | mprv | sum | mxr | tvm | tw | tsr;
    constexpr u64 reserved_mode = u64{2} << mpp_shift;
    u64 next = (value & writable) | lengths;
    if ((next & mpp) == reserved_mode) next = (next & ~mpp) | (csr.mstatus & mpp);  // WARL
    // Priv. 3.1.6.6: with S mode, FS may exist without F; software that saves contexts reads it.
    if ((next & fs) == fs) next |= sd;
    csr.mstatus = next;
    update_data_context();
    interrupts_changed();
}

/// The next value of menvcfg: bits of extensions that the hart lacks stay 0.
u64 hart::settle_envcfg(u64 old, u64 value) const {
    const isa has = cfg_.extensions;
    u64 writable = envcfg::fiom;
    if (has.has(extension::zicbom)) writable |= envcfg::cbie | envcfg::cbcfe;
    if (has.has(extension::zicboz)) writable |= envcfg::cbze;
    if (has.has(extension::svadu)) writable |= envcfg::adue;
    if (has.has(extension::svpbmt)) writable |= envcfg::pbmte;
    if (has.has(extension::sstc)) writable |= envcfg::stce;
    u64 next = value & writable;
    constexpr u64 reserved_cbie = u64{2} << 4;
    if ((next & envcfg::cbie) == reserved_cbie)  // WARL
        next = (next & ~envcfg::cbie) | (old & envcfg::cbie);
    return next;
}

void hart::set_menvcfg(u64 value) {
    const u64 changed = std::exchange(csr.menvcfg, settle_envcfg(csr.menvcfg, value)) ^ csr.menvcfg;
    if ((changed & (envcfg::adue | envcfg::pbmte)) != 0) forget_translations();
    if ((changed & envcfg::stce) != 0) update_timer();
}

void hart::set_stimecmp(u64 value) {
    csr.stimecmp = value;
    update_timer();
}

void hart::set_satp(u64 value) {
    const u64 scheme = value >> 60;
    const bool has_sv48 = cfg_.extensions.has(extension::sv48);
    // Priv. 4.1.11: the whole write has no effect.
    if (scheme != mmu::bare && scheme != mmu::sv39 && !(scheme == mmu::sv48 && has_sv48)) return;
    csr.satp = value;
    forget_translations();
}

const std::vector<csr_entry>& csr_list() {
    static const auto list = [] {
        std::vector<csr_entry> entries;
        for (unsigned number = 0; number < numbers; ++number) {
            const csr_row* row = find(number);
            if (row == nullptr) continue;
            std::string name = row->name;
            if (name.back() == '#') {
                name.pop_back();
                name += std::to_string(number - row->number + row->index);
            }
            entries.push_back({number, name});
        }
        return entries;
    }();
    return list;
}

const std::string& csr_name(unsigned number) {
    static const std::string unknown = "unknown";
    for (const auto& entry : csr_list())
        if (entry.number == number) return entry.name;
    return unknown;
}

}  // namespace trn::riscv
