// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/riscv_diff/program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <stdexcept>

#include "models/processor/riscv/decode/decode.h"

namespace trn::riscv::test {

namespace {

// Addresses of monitor.ld, and the virtual addresses of the code in S and U mode.
constexpr u64 code = 0x8001'0000, data = 0x8002'0000, tables = 0x8003'0000;
constexpr u64 supervisor_code = 0x4001'0000, user_code = 0x2001'0000;
constexpr u64 code_size = 0x1'0000, data_pages = 4, chunk_size = 128;
constexpr u64 chunks = code_size / chunk_size - 1;
constexpr u64 hole = 0x9'0000'0000;  // no memory and no device in either machine

// Registers used by the monitor.
constexpr unsigned data_base = 24, bad_base = 25, place = 26, chunk_number = 27;

enum : u64 { pte_v = 1, pte_r = 2, pte_w = 4, pte_x = 8, pte_u = 16, pte_a = 64, pte_d = 128 };

bool reserved(unsigned reg) {
    return reg >= data_base && reg <= chunk_number;
}

u32 addi(unsigned rd, unsigned rs1, i64 imm) {
    return 0x13 | rd << 7 | rs1 << 15 | static_cast<u32>(imm) << 20;
}
u32 lui(unsigned rd, u32 upper) {
    return 0x37 | rd << 7 | upper << 12;
}
u32 add(unsigned rd, unsigned rs1, unsigned rs2) {
    return 0x33 | rd << 7 | rs1 << 15 | rs2 << 20;
}

}  // namespace

random_program::random_program(const elf_program& monitor, u64 seed) : image(size), state_(seed) {
    for (const auto& segment : monitor.segments) {
        if (segment.address >= base + size) continue;  // the trace
        std::memcpy(&image[segment.address - base], segment.bytes.data(), segment.bytes.size());
    }
    for (u64 at = 0; at < data_pages * 4096; at += 8) put<u64>(data + at, next());
    make_tables(tables);
    make_parameters(monitor);
    make_code();
}

/// SplitMix64: a seed gives the same program on every machine.
u64 random_program::next() {
    u64 z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

template <typename T>
void random_program::put(u64 address, T value) {
    std::memcpy(&image.at(address - base), &value, sizeof value);
}

// --- Initial state of the machine

void random_program::make_parameters(const elf_program& monitor) {
    const auto symbol = [&](const char* name) {
        if (const auto at = monitor.symbol(name)) return *at;
        throw std::runtime_error(std::string("the monitor has no symbol ") + name);
    };
    const bool translates = below(3) != 0;
    const u64 parameters = symbol("parameters");

    // Two random regions over the data, then everything. Permission bits W without R are reserved.
    const auto random_config = [&](u64 mode) {
        constexpr std::array<u64, 6> permissions{0, 1, 3, 4, 5, 7};
        const u64 locked = below(4) == 0 ? 0x81 : 0;  // the monitor reads the data at the end
        return permissions[below(permissions.size())] | mode | locked;
    };
    const u64 napot_size = u64{8} << below(11);
    const u64 napot_at = (data + below(data_pages * 4096)) & ~(napot_size - 1);
    const u64 tor_from = data + below(0x3000), tor_to = tor_from + below(0x1000);
    put<u64>(parameters, napot_at >> 2 | (napot_size / 8 - 1));
    put<u64>(parameters + 8, tor_from >> 2);
    put<u64>(parameters + 16, tor_to >> 2);
    put<u64>(parameters + 24, ~u64{0} >> 10);
    const u64 first = below(2) == 0 ? 0 : random_config(0x18);
    const u64 third = below(2) == 0 ? 0 : random_config(0x08);
    // QEMU asks PMP about the aligned words around a misaligned access that crosses pages.
    protected_ = first != 0 || third != 0;
    put<u64>(parameters + 32, first | third << 16 | u64{0x1f} << 24);

    put<u64>(parameters + 40, translates ? u64{8} << 60 | tables >> 12 : 0);
    // QEMU and the model agree that these can be delegated.
    constexpr u64 delegable = 0xb1f8 & ~u64{1 << 8};
    u64 delegated = below(2) == 0 ? 0 : next() & (delegable | 1 << 8);
    for (const unsigned load : {4u, 5u, 13u})  // loads and stores: see AMO_IS_STORE
        delegated = (delegated & ~(u64{4} << load)) | (delegated & u64{1} << load) << 2;
    put<u64>(parameters + 48, delegated);
    put<u64>(parameters + 56, next() & (u64{1} << 18 | u64{1} << 19));  // SUM, MXR
    put<u64>(parameters + 64, chunks - 1);

    const u64 registers = symbol("registers");
    for (unsigned r = 1; r < 32; ++r) {
        constexpr std::array<u64, 6> corners{0, 1, ~u64{0}, u64{1} << 63, 0x7fffffff, 0x80000000};
        u64 value = below(3) == 0 ? corners[below(corners.size())] : next() >> below(64);
        if (r == data_base || r == place) value = data;
        if (r == bad_base) value = hole;
        if (r == chunk_number) value = 0;
        put<u64>(registers + 8 * (r - 1), value);
    }
    const u64 s_base = translates ? supervisor_code : code, u_base = translates ? user_code : code;
    const u64 bases = symbol("bases");
    for (const auto& [mode, at] :
         std::map<u64, u64>{{0, u_base}, {1, s_base}, {2, code}, {3, code}})
        put<u64>(bases + 8 * mode, at);
    put<u64>(symbol("s_base"), s_base);
    put<u64>(symbol("s_bases"), u_base);
    put<u64>(symbol("s_bases") + 8, s_base);
    put<u64>(symbol("last_chunk"), chunks - 1);
    for (u64 i = 0; i < 256; ++i) {
        constexpr std::array<u8, 5> modes{0, 1, 3, 3 | 0x80, 0};
        put<u8>(symbol("modes") + i, modes[below(modes.size())]);
    }
}

void random_program::make_tables(u64 at) {
    next_table_ = at + 4096;
    const auto accessed = u64{pte_v | pte_a | pte_d};
    for (u64 page = 0; page < 8; ++page)  // the monitor's pages, for S mode
        map(at, base + page * 4096, base + page * 4096, accessed | pte_r | pte_w | pte_x);
    for (u64 page = 0; page < code_size; page += 4096) {
        map(at, supervisor_code + page, code + page, accessed | pte_r | pte_x);
        map(at, user_code + page, code + page, accessed | pte_r | pte_x | pte_u);
    }
    for (u64 page = 0; page < data_pages; ++page) {
        constexpr std::array<u64, 10> flags{pte_r | pte_w | pte_u,
                                            pte_r | pte_w | pte_u,
                                            pte_r | pte_w | pte_u,
                                            pte_r | pte_u,
                                            pte_x | pte_u,
                                            pte_r | pte_w,
                                            pte_r | pte_w | pte_x,
                                            pte_w | pte_u,
                                            u64{1} << 60 | pte_r | pte_w,
                                            0};
        const u64 chosen = flags[below(flags.size())];
        map(at, data + page * 4096, data + page * 4096, chosen == 0 ? 0 : accessed | chosen);
    }
}

void random_program::map(u64 root, u64 va, u64 pa, u64 flags) {
    u64 table = root;
    for (const unsigned level : {2u, 1u}) {
        const u64 at = table + (va >> (12 + 9 * level) & 511) * 8;
        u64 entry;
        std::memcpy(&entry, &image.at(at - base), 8);
        if (entry == 0) {
            entry = next_table_ >> 2 | pte_v;
            next_table_ += 4096;
            put<u64>(at, entry);
        }
        table = entry >> 10 << 12;
    }
    put<u64>(table + (va >> 12 & 511) * 8, pa >> 2 | flags);
}

// --- Code

void random_program::make_code() {
    for (u64 chunk = 0; chunk < chunks; ++chunk) {
        aligned_ = protected_ || below(2) == 0;
        // Stores reach 2 KiB down, where the code ends.
        const u64 anywhere = 0x800 + below(data_pages * 4096 - 0x800);
        const u64 where = anywhere & (aligned_ ? ~u64{7} : ~u64{0});
        std::vector<piece> pieces{{addi(chunk_number, 0, static_cast<i64>(chunk)), 4},
                                  {lui(place, static_cast<u32>((where + 0x800) >> 12)), 4},
                                  {add(place, place, data_base), 4},
                                  {addi(place, place, static_cast<i64>(where & 0xfff)), 4}};
        u64 used = 16;
        while (used < chunk_size - 8) {
            pieces.push_back(random_piece());
            used += pieces.back().length;
        }
        for (; used < chunk_size - 4; used += 2) pieces.push_back({1, 2});  // c.nop
        pieces.push_back({0x73, 4});  // ecall: the monitor records the chunk's state
        lay_out(pieces, code + chunk * chunk_size);
    }
}

random_program::piece random_program::random_piece() {
    if (below(3) == 0) return {compressed(), 2};
    if (below(12) == 0) return {csr_instruction(), 4};
    if (below(10) != 0) return {instruction(), 4};
    piece p{control_instruction(), 4};
    const u32 opcode = p.bits & 0x7f;
    if (opcode == 0x6f || opcode == 0x63) p.skips = 1 + below(5);
    return p;
}

/// Writes the pieces one after another and resolves branches and jumps to their target piece.
void random_program::lay_out(const std::vector<piece>& pieces, u64 at) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const piece& p = pieces[i];
        u32 bits = p.bits, ahead = p.length;
        for (std::size_t k = i + 1; k < std::min(i + 1 + p.skips, pieces.size() - 1); ++k)
            ahead += pieces[k].length;
        if (p.skips != 0)
            bits |= (bits & 0x7f) == 0x6f ? (ahead >> 1 & 1023) << 21
                                          : (ahead >> 1 & 15) << 8 | (ahead >> 5 & 63) << 25;
        if (p.length == 2)
            put<u16>(at, static_cast<u16>(bits));
        else
            put<u32>(at, bits);
        at += p.length;
    }
}

unsigned random_program::target_register() {
    for (;;)
        if (const unsigned r = any_register(); !reserved(r)) return r;
}

/// Any row of the decode table except control flow and CSRs, with random operands.
u32 random_program::instruction() {
    static const auto rows = [] {
        std::vector<const row*> usable;
        for (const auto part : {rv64i_rows(), rv64m_rows(), rv64a_rows(), zb_rows()})
            for (const row& r : part)
                // QEMU 7.2 counts past bit 31 in ctzw when the low word is 0; the manual says 32.
                if (std::string_view(r.name) == "ctzw")
                    continue;
                else if (r.then == flow::result || r.then == flow::store || r.then == flow::other)
                    usable.push_back(&r);
        return usable;
    }();
    if (below(200) == 0) return below(2) == 0 ? 0xffffffff : 0x0000007f;  // illegal
    const row& r = *rows[below(rows.size())];
    u32 word = r.match | (static_cast<u32>(next()) & ~r.mask);
    const bool atomic = r.needs == extension::a;
    const bool memory = (r.match & 0x7f) == 0x03 || r.then == flow::store || atomic;
    word &= ~(31u << 7 & ~r.mask);
    if (r.then == flow::store)
        word |= static_cast<u32>(next()) & 31u << 7;
    else
        word |= target_register() << 7;
    if (memory) {
        const bool bad = below(12) == 0;
        word = (word & ~(31u << 15)) | (bad ? bad_base : place) << 15;
        // Outside memory, misaligned accesses may fault in more than one way: offset 0.
        if (bad && !atomic) word &= r.then == flow::store ? ~(0xfe000f80) : 0xfffff;
        if (protected_ && !atomic) word &= r.then == flow::store ? ~(7u << 7) : ~(7u << 20);
    }
    // An SC without reservation may fail before its address is checked: use valid addresses only.
    // QEMU 7.2 tries an AMO as a load first: where PMP forbids that, it sees no store page fault.
    const bool sc = atomic && (r.match >> 27) == 3;
    const bool left_out = sc || (atomic && (!aligned_ || protected_));
    return left_out ? addi(target_register(), any_register(), 1) : word;
}

/// A compressed instruction without a memory access or a jump.
u32 random_program::compressed() {
    for (;;) {
        const auto bits = static_cast<u16>(next());
        if ((bits & 3) == 3) continue;
        const decoded d = decode(bits, isa::usual());
        if (d.definition == nullptr || d.definition->then != flow::result) continue;
        const bool load = (d.definition->match & 0x7f) == 0x03;
        if (!load && !reserved(d.rd)) return bits;
    }
}

u32 random_program::csr_instruction() {
    // Without mcause, mtval and similar CSRs, by which code would observe QEMU's differences
    // (AMO_IS_STORE).
    constexpr std::array<u32, 15> readable{0x300, 0x302, 0x303, 0x304, 0x306, 0x341, 0x100, 0x106,
                                           0x140, 0x141, 0x180, 0x3a0, 0x3b0, 0xf14, 0x7c0};
    constexpr std::array<u32, 4> writable{0x341, 0x141, 0x106, 0x306};
    const bool writes = below(2) == 0;
    const u32 rd = target_register() << 7;
    if (writes) {
        // QEMU 7.2 keeps bit 0 of sepc and mepc and 64 bits of the counter-enable registers.
        const u32 csr = writable[below(writable.size())];
        const u32 even_immediate = static_cast<u32>(below(16)) * 2;
        const u32 funct3 = 5 + static_cast<u32>(below(3));
        return 0x73 | rd | funct3 << 12 | even_immediate << 15 | csr << 20;
    }
    if (below(4) == 0) {
        const u32 funct3 = below(2) == 0 ? 6 : 7;
        return 0x73 | rd | funct3 << 12 | 2u << 15 | 0x100u << 20;  // SIE of sstatus
    }
    const u32 csr = readable[below(readable.size())];
    return 0x73 | 2u << 12 | rd | csr << 20;
}

/// Branches and jumps (offset 0), jumps to unmapped addresses, intended traps.
u32 random_program::control_instruction() {
    constexpr std::array<u32, 6> conditions{0, 1, 4, 5, 6, 7};
    switch (below(8)) {
    case 0:
        return 0x6f | target_register() << 7;  // jal
    case 1:
        return 0x67 | target_register() << 7 | bad_base << 15;  // jalr
    case 2:
        return 0x00100073;  // ebreak
    case 3:
        return 0x73;  // ecall
    case 4:
        return below(2) == 0 ? 0x12000073 : 0x0000100f;  // sfence.vma, fence.i
    default:
        return 0x63 | conditions[below(6)] << 12 | any_register() << 15 | any_register() << 20;
    }
}

}  // namespace trn::riscv::test
