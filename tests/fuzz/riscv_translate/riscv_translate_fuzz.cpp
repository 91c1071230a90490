// SPDX-License-Identifier: Apache-2.0
// Random programs in all modes, with traps, Sv39 and PMP, and random loops: after each quantum, a
// translating hart and one that checks each block have the state of an interpreting hart. Between
// quanta interrupts change, and memory including code is written by another initiator.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "models/processor/riscv/decode/decode.h"
#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/hart/hart.h"
#include "models/processor/riscv/translate/translate.h"
#include "tests/integration/riscv_diff/program.h"
#include "tests/support/fuzz.h"

namespace {

using namespace trn::riscv;
using translate::mode;

constexpr u64 uart = 0x1000'0000, power = 0x10'0000, ram_base = test::random_program::base;

/// The part of QEMU's virt machine that the monitor of the programs uses.
class machine : public hart_bus {
public:
    machine(const std::vector<u8>& image, mode how, unsigned threshold) : ram_(1 << 20) {
        std::copy(image.begin(), image.end(), ram_.begin());
        // A small region becomes full in some runs.
        translate::choose(how, {.threshold = threshold, .region = 64 << 10});
        cpu_ = std::make_unique<hart>(
            hart::config{.extensions = isa::full(), .reset_vector = ram_base}, *this,
            make_code_cache());
    }

    hart& cpu() { return *cpu_; }
    bool off() const { return off_; }
    u64 printed() const { return printed_; }
    std::vector<u8>& ram() { return ram_; }

    bool read(u64, std::span<u8>) override { return false; }
    bool write(u64 pa, std::span<const u8> data) override {
        if (pa == uart) printed_ = printed_ * 31 + data[0];
        if (pa == power) off_ = true;
        return pa == uart || pa == power;
    }
    bool debug_read(u64, std::span<u8>) override { return false; }
    bool debug_write(u64, std::span<const u8>) override { return false; }
    std::optional<direct_memory> direct(u64 pa) override {
        if (pa - ram_base >= ram_.size()) return std::nullopt;
        return direct_memory{ram_base, ram_base + ram_.size() - 1, ram_.data(), true, true};
    }
    u64 time() override { return 0; }

private:
    std::vector<u8> ram_;
    std::unique_ptr<hart> cpu_;
    u64 printed_ = 0;
    bool off_ = false;
};

struct state {
    u64 ticks, retired, pc, printed, fcsr;
    privilege mode;
    std::array<u64, 33> x;
    std::array<u64, 32> f;
    bool operator==(const state&) const = default;
};

state state_of(machine& m) {
    const hart& h = m.cpu();
    state now{h.ticks(), h.retired(), h.pc(), m.printed(), h.csr.fcsr, h.mode(), h.x, h.f};
    now.x[32] = 0;  // last value written to x0: not architectural state
    return now;
}

/// Changes interrupts or memory between quanta; the same for each machine, given the same `choice`.
void interfere(machine& m, u64 choice) {
    switch (choice % 8) {
    case 0:
        m.cpu().drive(interrupt::supervisor_software, (choice >> 8 & 1) != 0);
        break;
    case 1: {  // mostly in the code
        const u64 at = (choice >> 8) % (test::random_program::size / 4) * 4;
        const auto word = static_cast<u32>(choice >> 32);
        std::memcpy(&m.ram()[at], &word, 4);
        break;
    }
    case 2:
        m.cpu().invalidate_code();
        break;
    case 3:
        m.cpu().forget_direct(ram_base, ram_base + 0xfff);
        break;
    default:
        break;
    }
}

void compare(const machine& expected, const machine& other, const state& a, const state& b,
             const char* how) {
    const bool same_memory =
        const_cast<machine&>(expected).ram() == const_cast<machine&>(other).ram();
    if (a == b && same_memory) return;
    std::fprintf(stderr, "%s: ticks %llu, pc %#llx; interpreted: ticks %llu, pc %#llx; memory %s\n",
                 how, static_cast<unsigned long long>(b.ticks),
                 static_cast<unsigned long long>(b.pc), static_cast<unsigned long long>(a.ticks),
                 static_cast<unsigned long long>(a.pc), same_memory ? "equal" : "differs");
    for (unsigned i = 1; i < 32; ++i)
        if (a.x[i] != b.x[i])
            std::fprintf(stderr, "x%u: %#llx; interpreted: %#llx\n", i,
                         static_cast<unsigned long long>(b.x[i]),
                         static_cast<unsigned long long>(a.x[i]));
    for (unsigned i = 0; i < 32; ++i)
        if (a.f[i] != b.f[i])
            std::fprintf(stderr, "f%u: %#llx; interpreted: %#llx\n", i,
                         static_cast<unsigned long long>(b.f[i]),
                         static_cast<unsigned long long>(a.f[i]));
    std::abort();
}

constexpr u32 branch(u32 f3, u32 rs1, u32 rs2, i32 offset) {
    const auto o = static_cast<u32>(offset);
    return 0x63 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | f3 << 12 | rs1 << 15 | rs2 << 20 |
           (o >> 5 & 63) << 25 | (o >> 12 & 1) << 31;
}

/// Shifts of one register left and right, mostly by 32 bits in total, joined by OR or XOR.
void add_rotation(std::vector<u32>& words, trn::test::fuzz_random& random) {
    const auto any = [&](u64 n) { return static_cast<u32>(random.below(n)); };
    const u32 right = 3 + any(8), left = 3 + any(8), of = any(12);
    const u32 count = 1 + any(31), rest = any(4) == 0 ? any(32) : 32 - count;
    words.push_back(0x501b | right << 7 | of << 15 | count << 20);  // srliw
    words.push_back(0x101b | left << 7 | of << 15 | rest << 20);    // slliw
    const u32 f3 = any(4) == 0 ? 4 : 6;                             // xor, or
    words.push_back(0x33 | (3 + any(8)) << 7 | f3 << 12 | right << 15 | left << 20);
}

/// A floating-point instruction with a valid rounding mode.
u32 valid_rounding(const row& r, u32 word, trn::test::fuzz_random& random) {
    constexpr u32 mode_mask = 7 << 12;
    constexpr std::array<u32, 6> modes{0, 1, 2, 3, 4, 7};
    return (r.mask & mode_mask) != 0
               ? word
               : (word & ~mode_mask) | modes[random.below(modes.size())] << 12;
}

/// A repeated loop of random instructions that compute, load and store, with a random number of
/// rounds. x1 counts, x2 points to data.
std::vector<u8> random_loop(trn::test::fuzz_random& random) {
    std::vector<u32> words{0x000061b7,                                           // lui x3, 6
                           0x3001a073,                                           // csrs mstatus, x3
                           0x00080117,                                           // auipc x2, 0x80
                           static_cast<u32>(random.below(64)) << 20 | 0x10113};  // addi x2, x2
    for (u32 r = 3; r < 32; ++r) words.push_back(r * 8 << 20 | r << 7 | 0x13003);  // ld
    for (u32 r = 0; r < 32; ++r) words.push_back(r * 4 << 20 | r << 7 | 0x13007);  // fld
    const std::size_t outer = words.size();
    words.push_back(static_cast<u32>(1 + random.below(40)) << 20 | 0x93);  // addi x1, x0
    const std::size_t inner = words.size();
    // Few registers make instructions depend on each other.
    const bool few_registers = random.below(2) != 0;
    const auto back = [&](std::size_t to) {
        return (static_cast<i32>(to) - static_cast<i32>(words.size())) * 4;
    };
    for (auto n = 2 + random.below(58); n > 0; --n) {
        if (random.below(16) == 0) add_rotation(words, random);
        if (random.below(16) == 0) {  // branch over the next instruction
            words.push_back(branch(random.below(2) == 0 ? 1 : 6, static_cast<u32>(random.below(32)),
                                   static_cast<u32>(random.below(32)), 8));
            words.push_back(0x00000013);
            continue;
        }
        if (random.below(24) == 0) {  // branch to the start of the loop
            words.push_back(branch(random.below(2) == 0 ? 0 : 6, static_cast<u32>(random.below(12)),
                                   static_cast<u32>(random.below(12)), back(inner)));
            continue;
        }
        const auto parts = {rv64i_rows(),  rv64i_rows(), rv64i_rows(), rv64m_rows(),
                            zb_rows(),     zb_rows(),    rv64m_rows(), rv64i_rows(),
                            zicond_rows(), rv64f_rows(), rv64d_rows()};
        const auto rows = *(parts.begin() + random.below(parts.size()));
        const row& r = rows[random.below(rows.size())];
        const bool is_float = r.needs == extension::f || r.needs == extension::d;
        if (r.then != flow::result && r.then != flow::store && !is_float) continue;
        u32 word = r.match | (static_cast<u32>(random.next()) & ~r.mask);
        if (few_registers)
            word &= ~((24u << 7) | (24u << 15) | (r.layout == format::r ? 24u << 20 : 0));
        word |= r.match;
        if (is_float) word = valid_rounding(r, word, random);
        const u32 opcode = word & 0x7f;
        const bool is_store = opcode == 0x23 || opcode == 0x27;
        if (opcode == 0x03 || opcode == 0x07 || is_store) word = (word & ~(31u << 15)) | 2u << 15;
        const u32 rd = word >> 7 & 31;
        // Redirects results from x1, x2 to x17, x18.
        if (!is_store && (rd == 1 || rd == 2)) word |= 1u << 11;
        words.push_back(word);
    }
    words.push_back(0xfff08093);  // addi x1, x1, -1
    words.push_back(branch(1, 1, 0, back(inner)));
    words.push_back(branch(0, 0, 0, back(outer)));
    constexpr std::size_t data = 0x7f000, data_end = 0x81000;  // x2 +- 2 KiB
    std::vector<u8> image(data_end);
    std::memcpy(image.data(), words.data(), words.size() * 4);
    for (std::size_t at = data; at < data_end; at += 8) {
        const u64 value = random.next() >> random.below(64);
        std::memcpy(&image[at], &value, sizeof value);
    }
    return image;
}

u64 instructions = 0;

}  // namespace

// The SystemC library requires it; the hart does not use SystemC.
extern "C" int sc_main(int, char**) {
    return 0;
}

int main(int argc, char** argv) {
    const trn::elf_program monitor = trn::read_elf(MONITOR);
    const int status = trn::test::fuzz(argc, argv, [&](trn::test::fuzz_random& random) {
        const bool loops = random.below(2) != 0;
        const auto image =
            loops ? random_loop(random) : test::random_program(monitor, random.next()).image;
        const auto threshold = static_cast<unsigned>(1 + random.below(3));
        const bool disturbed = !loops && random.below(2) != 0;
        machine interpreted(image, mode::interpret, 0);
        machine translated(image, mode::translate, threshold);
        machine checked(image, mode::check, threshold);
        const u64 limit = loops ? 10'000 : 200'000;
        while (!interpreted.off() && interpreted.cpu().ticks() < limit) {
            const u64 quantum = 1 + random.below(random.below(4) == 0 ? 10'000 : 200);
            const u64 choice = random.next();
            for (machine* const m : {&interpreted, &translated, &checked}) {
                if (disturbed) interfere(*m, choice);
                m->cpu().run(quantum);
                if (m->cpu().waiting()) m->cpu().end_wait();
            }
            const state expected = state_of(interpreted);
            compare(interpreted, translated, expected, state_of(translated), "translated");
            compare(interpreted, checked, expected, state_of(checked), "checked");
        }
        instructions += interpreted.cpu().ticks();
    });
    std::printf("%llu instructions in each mode\n", static_cast<unsigned long long>(instructions));
    return status;
}
