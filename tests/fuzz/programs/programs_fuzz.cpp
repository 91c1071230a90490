// SPDX-License-Identifier: Apache-2.0
// Arbitrary programs on all engines of a core. Each engine ends in a readable state that agrees
// with its error, pc and notifications; only tiles, addresses and rings named by the programs are
// written; disassembly yields the same words again; runs are reproducible; and after a reset the
// next program runs.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "models/misuse_rules.h"
#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/neuron_core/sequencer/sequencer_regs.h"
#include "models/neuron_isa/assembler/assembler.h"
#include "models/neuron_isa/instructions/codec.h"
#include "models/soc/notification_queue/notification_queue_regs.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/fuzz.h"
#include "tests/support/small_chip.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using test::fuzz_random;
using test::small_chip;
using control = sequencer_regs::reg;
using nq = notification_queue_regs::reg;
using words = std::vector<std::uint8_t>;

constexpr unsigned engines = isa::engine_count, engine_of_sound = 4, slots = 16;
constexpr std::uint32_t programs_at = 0x1'0000, program_pitch = 0x1'0000;
constexpr std::uint32_t rings_at = 0x8'0000, ring_bytes = 0x1000;
constexpr std::uint64_t dma_at = 0x4000'0000;  // no engine uses this address
constexpr std::uint64_t sbuf_bytes = 1 << 20, psum_bytes = 1 << 18;
constexpr unsigned partitions = 128;
constexpr unsigned run_us = 20;
constexpr std::uint32_t wait_limit_us = 8;

[[noreturn]] void complain(const char* message, unsigned engine, std::uint64_t a, std::uint64_t b) {
    std::fprintf(stderr, "engine %u: %s (%llx, %llx)\n", engine, message,
                 static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
    std::abort();
}

std::uint32_t word_at(const words& program, std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, program.data() + at, sizeof value);
    return value;
}
std::uint64_t long_at(const words& program, std::size_t at) {
    return word_at(program, at) | std::uint64_t{word_at(program, at + 4)} << 32;
}

// --- Effects permitted to a program, decoded from its bytes independently of the model

struct permissions {
    std::set<std::pair<std::uint64_t, unsigned>> writes;  // address, bytes
    std::array<bool, partitions> sbuf{}, psum{};
    bool reads_time = false;

    void tile(const words& program, std::size_t at, unsigned count) {
        const std::uint32_t where = word_at(program, at);
        auto& marks = where >> 30 == 2 ? psum : sbuf;
        for (unsigned n = where >> 23 & 0x7f, end = n + count; n < end && n < partitions; ++n)
            marks[n] = true;
    }
    /// Adds the writes of a program; any word may be executed as the first of an instruction.
    void add(const words& program) {
        for (std::size_t at = 0; at < program.size(); at += isa::word_bytes) {
            const unsigned opcode = word_at(program, at) & 0xffff;
            if (opcode == 0x1005)  // WRITE
                for (std::size_t n = at + 16; n < at + 64; n += 16)
                    writes.insert({long_at(program, n), program[n + 12]});
            if (opcode == 0x1013) {  // REG_STORE
                for (const unsigned bytes : {1, 2, 4})
                    writes.insert({long_at(program, at + 24), bytes});
                tile(program, at + 32, 1);
            }
            reads_time |= opcode == 0x1032;
            if (opcode < 0x1800 || at + 2 * isa::word_bytes > program.size()) continue;
            tile(program, at + 36, program[at + 42] + 1u);
            // These also write operand B.
            if (opcode == 0x3037 || opcode == 0x3050 || opcode == 0x5008)
                tile(program, at + 92, program[at + 98] + 1u);
        }
    }
};

// --- Programs

/// Addresses that a WRITE may use without changing instructions of the engines.
std::uint64_t harmless_address(fuzz_random& random) {
    const std::uint64_t core = small_chip::aperture_of(0);
    switch (random.below(8)) {
    case 0:
        return core + neuron_core::semaphores_offset + random.below(0x2040);
    case 1:
    case 2:
        return core + neuron_core::semaphores_offset + 0x1400 + 4 * random.below(0x300);
    case 3:
        return core + random.below(sbuf_bytes) / 4 * 4;
    case 4:
        return core + neuron_core::psum_offset + random.below(psum_bytes) / 4 * 4;
    case 5:
        return 0xf'0000 + random.below(0x1'0010);
    case 6:
        return small_chip::aperture_of(1) + neuron_core::semaphores_offset + 4 * random.below(2048);
    default:
        return random.next();
    }
}
/// Addresses of control blocks, programs, rings and their registers, of this core and the other.
std::uint64_t wild_address(fuzz_random& random) {
    const std::uint64_t block = small_chip::aperture_of(random.below(8) == 0 ? 1 : 0) +
                                neuron_core::engines_offset +
                                core_engines::stride * random.below(5);
    switch (random.below(8)) {
    case 0:
    case 1:
        return block;  // CONTROL
    case 2:
    case 3:
        return block + 4 * random.below(0x140);
    case 4:
        return programs_at + random.below(engines * program_pitch) / 4 * 4;
    case 5:
        return rings_at + random.below(slots * ring_bytes);
    case 6:
        return small_chip::top_of(0) + 0x1000 + 4 * random.below(0x202);
    default:
        return harmless_address(random);
    }
}

/// Valid instructions of an engine, for each row of its instruction table; found by trial once.
class repertoire {
public:
    repertoire(isa::engine e, fuzz_random& random) : engine_(e) {
        for (const isa::row& kind : isa::table()) {
            if (!kind.runs_on(e, isa::generation::v4)) continue;
            unsigned found = 0;
            for (unsigned n = 0; n < 4000 && found < 24; ++n) {
                auto word = encoded(attempt(kind, random), kind);
                if (!accepted(word)) continue;
                known_.push_back(std::move(word));
                ++found;
            }
        }
    }
    const words& any(fuzz_random& random) const { return known_[random.below(known_.size())]; }

private:
    struct shape {
        std::uint16_t partitions;
        std::uint8_t dimensions;
        std::array<isa::dimension, 4> pattern;
    };

    static words encoded(const isa::instruction& i, const isa::row& kind) {
        const isa::bytes all = isa::encode(i);
        return {all.begin(), all.begin() + (kind.is_long() ? 128 : 64)};
    }
    bool accepted(const words& word) const {
        if (isa::check_header(std::span(word).first(16), engine_, isa::generation::v4))
            return false;
        auto d = isa::decode(word);
        static constexpr std::array<std::uint32_t, isa::register_count> registers{};
        const isa::core_traits traits{engine_, isa::generation::v4, sbuf_bytes / partitions,
                                      psum_bytes / partitions};
        return !isa::check(d, traits, registers);
    }

    static isa::location place(fuzz_random& random) {
        const bool psum = random.below(4) == 0;
        return {psum ? isa::space::psum : isa::space::sbuf,
                static_cast<std::uint8_t>(random.below(4) * 32),
                static_cast<std::uint32_t>(random.below(psum ? 1 << 11 : 1 << 13) & ~7u)};
    }
    static shape some_shape(fuzz_random& random) {
        static constexpr std::uint16_t counts[] = {1, 16, 32, 32, 64, 128};
        shape s{counts[random.below(6)], static_cast<std::uint8_t>(1 + random.below(2)), {}};
        for (unsigned d = 0; d < s.dimensions; ++d)
            s.pattern[d] = {
                static_cast<std::int16_t>(random.below(4)),
                static_cast<std::uint16_t>(random.below(3) == 0 ? 1 + random.below(16)
                                                                : 4 << random.below(5))};
        return s;
    }
    static isa::tile_operand tile(const shape& s, fuzz_random& random) {
        isa::tile_operand t;
        t.place = place(random);
        if (s.partitions > 64) t.place.partition = 0;
        t.type = static_cast<numerics::element>(random.below(random.below(2) == 0 ? 3 : 20));
        t.dimensions = s.dimensions;
        t.partitions = s.partitions;
        t.pattern = s.pattern;
        return t;
    }
    static isa::scalar_operand scalar(fuzz_random& random) {
        isa::scalar_operand s;
        s.kind = static_cast<isa::scalar_kind>(random.below(6));
        if (s.kind == isa::scalar_kind::tile)
            s.place = place(random);
        else if (s.kind >= isa::scalar_kind::register_fp32)
            s.reg = static_cast<std::uint8_t>(random.below(64));
        else if (s.kind != isa::scalar_kind::none)
            s.value =
                static_cast<std::uint32_t>(random.below(2) == 0 ? random.below(64) : random.next());
        return s;
    }
    static isa::instruction attempt(const isa::row& kind, fuzz_random& random) {
        isa::instruction i;
        i.opcode = kind.opcode;
        if (kind.is_long()) i.flags = isa::flag::long_form;
        switch (kind.layout) {
        case isa::layout::registers:
            i.control = some_fields(kind, random);
            return i;
        case isa::layout::sync: {
            isa::sync_list list;
            for (unsigned n = 0, end = 1 + static_cast<unsigned>(random.below(6)); n < end; ++n)
                list[n] = {static_cast<std::uint8_t>(random.below(8) | (random.below(2) << 7)),
                           static_cast<std::uint8_t>(random.below(4)),
                           static_cast<std::int32_t>(random.below(3))};
            i.control = list;
            return i;
        }
        case isa::layout::writes:
            i.control = isa::write_list{};  // each use sets its own
            return i;
        case isa::layout::doorbells:
            i.control = isa::doorbell_sets{{{static_cast<std::uint16_t>(random.below(4)),
                                             static_cast<std::uint8_t>(random.below(16)), 1, 1}}};
            return i;
        case isa::layout::dge: {
            isa::dge_copy_fields f;
            f.engines = 1;
            f.piece_bytes = 64;
            for (auto* side : {&f.source, &f.destination})
                for (auto& d : side->pattern) d = {0, 1};
            i.control = f;
            return i;
        }
        default:
            tiles(i, kind, random);
            return i;
        }
    }
    static isa::register_fields some_fields(const isa::row& kind, fuzz_random& random) {
        isa::register_fields f;
        f.immediate = random.below(2);
        for (const isa::field& one : kind.fields) {
            std::uint64_t value = random.below(8);
            if (one.content == isa::field::kind::number) value = random.below(40);
            if (one.content == isa::field::kind::type) value = random.below(20);
            if (one.content == isa::field::kind::address)
                value = random.below(2) == 0 ? 0 : harmless_address(random);
            if (one.content == isa::field::kind::i32 && random.below(2) == 0) value = -value;
            if (one.content == isa::field::kind::place) {
                if (random.below(2) == 0) f.place = place(random);
            } else if (one.member != nullptr) {
                f.*one.member = value;
            }
        }
        return f;
    }
    static void tiles(isa::instruction& i, const isa::row& kind, fuzz_random& random) {
        if (kind.operators != isa::operators::none) {
            i.op0 = static_cast<std::uint8_t>(random.below(40));
            i.op1 = static_cast<std::uint8_t>(random.below(2) == 0 ? 0 : random.below(40));
        }
        if (kind.reduce_cmds != 0 && random.below(2) == 0) {
            i.reduce_cmd = static_cast<std::uint8_t>(random.below(5));
            i.reduce_op = static_cast<std::uint8_t>(random.below(6));
        }
        if (random.below(2) == 0) i.mode = static_cast<std::uint16_t>(random.next() & kind.modes);
        if (kind.uses_subdim) i.subdim = static_cast<std::uint8_t>(1 + random.below(2));
        if (kind.imm != isa::immediate::none)
            i.imm =
                static_cast<std::uint32_t>(random.below(3) == 0 ? random.next() : random.below(40));
        const shape common = some_shape(random);
        const auto one = [&](isa::need need) {
            if (need == isa::need::unused || (need == isa::need::optional && random.below(2) == 0))
                return isa::tile_operand{};
            return tile(random.below(2) == 0 ? common : some_shape(random), random);
        };
        i.dst = one(kind.dst.need);
        i.a = one(kind.a.need);
        i.b = one(kind.b.need);
        if (i.a.present() && random.below(2) == 0) i.a.type = i.dst.type;
        if (kind.s0.need != isa::need::unused) i.s0 = scalar(random);
        if (kind.s1.need != isa::need::unused && random.below(2) == 0) i.s1 = scalar(random);
        if (kind.layout == isa::layout::tiles_pattern) {
            i.pattern.counts = {1, 1, 1, 1};
            for (unsigned d = 0; d < common.dimensions; ++d)
                i.pattern.counts[d] = common.pattern[d].count;
        }
        if (kind.layout == isa::layout::tiles_shuffle)
            for (auto& lane : i.shuffle) lane = static_cast<std::uint8_t>(random.below(32));
    }

    isa::engine engine_;
    std::vector<words> known_;
};

void put_writes(std::uint8_t* at, fuzz_random& random, bool wild) {
    for (auto n = 1 + random.below(3); n > 0; --n, at += 16) {
        const auto address = wild ? wild_address(random) : harmless_address(random);
        const auto data =
            static_cast<std::uint32_t>(random.below(4) == 0 ? random.next() : random.below(32));
        std::memcpy(at, &address, 8);
        std::memcpy(at + 8, &data, 4);
        at[12] = static_cast<std::uint8_t>(random.below(8) == 0 ? random.below(10) : 4);
    }
}

/// An instruction that is valid or, if `wild`, sometimes slightly invalid.
words some_instruction(const repertoire& known, fuzz_random& random, bool wild) {
    words word = known.any(random);
    if (random.below(4) == 0) {  // updates a semaphore that another engine may wait for
        word[6] = static_cast<std::uint8_t>(1 + random.below(5));
        word[7] = static_cast<std::uint8_t>(random.below(4));
        word[12] = static_cast<std::uint8_t>(random.below(3));
    }
    if (random.below(12) == 0) {
        word[4] = static_cast<std::uint8_t>(1 + random.below(7));
        word[5] = static_cast<std::uint8_t>(random.below(4));
        word[8] = static_cast<std::uint8_t>(random.below(3));
    }
    if ((word_at(word, 0) & 0xffff) == 0x1005) put_writes(&word[16], random, wild);
    if (random.below(8) == 0)
        for (auto n = 1 + random.below(3); n > 0; --n)
            word[random.below(word.size())] = static_cast<std::uint8_t>(random.next());
    return word;
}

words some_program(const repertoire& known, fuzz_random& random, bool wild) {
    words program;
    const bool noise = random.below(16) == 0;
    for (auto n = 1 + random.below(12); n > 0; --n) {
        auto more = some_instruction(known, random, wild);
        if (noise)  // random bytes after a header that is sometimes accepted
            for (std::size_t at = random.below(2) == 0 ? 16 : 4; at < more.size(); ++at)
                more[at] = static_cast<std::uint8_t>(random.next());
        program.insert(program.end(), more.begin(), more.end());
    }
    return program;
}

// --- The simulated cores

struct bench {
    test::tlm_driver aperture{"aperture"}, top{"top"};
    neuron_core core, other;
    small_chip chip{"chip"};
    memory ram{"ram", {1 << 20}};
    irq_out reset{"reset"}, power_lost{"power_lost"}, other_reset{"other_reset"},
        other_power{"other_power"};
    const words pattern = [] {
        words bytes(std::max(sbuf_bytes, psum_bytes));
        fuzz_random random(99);
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
        return bytes;
    }();

    static neuron_core::config config(unsigned number) {
        return {
            .sbuf_size = sbuf_bytes, .psum_size = psum_bytes, .number = number, .dma_base = dma_at};
    }
    bench() : core("core", config(0)), other("other", config(1)) {
        aperture.out.bind(chip.host_aperture);
        top.out.bind(chip.host_top);
        chip.connect(core, other, ram.in);
        reset.bind(core.reset);
        power_lost.bind(core.power_lost);
        other_reset.bind(other.reset);
        other_power.bind(other.power_lost);
    }

    static std::uint64_t at(control r, unsigned e, unsigned index = 0) {
        return neuron_core::engines_offset + core_engines::stride * e +
               sequencer_regs::offset(r, index);
    }
    std::uint32_t get(control r, unsigned e, unsigned index = 0) {
        return aperture.read<std::uint32_t>(at(r, e, index));
    }
    void set(control r, unsigned e, std::uint32_t value, unsigned index = 0) {
        aperture.write(at(r, e, index), value);
    }
    static std::uint32_t program_at(unsigned e) { return programs_at + program_pitch * e; }

    void reset_cores() {
        for (irq_out* line : {&reset, &other_reset}) {
            line->set(true);
            line->set(false);
        }
    }
    /// Resets both cores, fills all memories with their pattern, configures rings of all slots.
    void begin() {
        reset_cores();
        std::memcpy(ram.bytes().data(), pattern.data(), pattern.size());
        std::memcpy(core.sbuf().data(), pattern.data(), sbuf_bytes);
        std::memcpy(core.psum().data(), pattern.data(), psum_bytes);
        for (unsigned slot = 0; slot < slots; ++slot) {
            const auto put = [&](nq r, std::uint32_t value) {
                top.write(0x1000 + notification_queue_regs::offset(r, slot), value);
            };
            put(nq::slot_base_hi, 0);
            put(nq::slot_base_lo, rings_at + ring_bytes * slot);
            put(nq::slot_size, ring_bytes);
        }
        chip.writes.clear();
    }
    void start(unsigned e, const words& program) {
        std::ranges::copy(program, ram.bytes().data() + program_at(e));
        set(control::program_lo, e, program_at(e));
        set(control::program_hi, e, 0);
        set(control::program_words, e, static_cast<std::uint32_t>(program.size() / 64));
        set(control::wait_limit, e, wait_limit_us);
        set(control::control, e, static_cast<std::uint32_t>(sequencer_regs::control::start.mask()));
    }
    unsigned state(unsigned e) {
        return static_cast<unsigned>(sequencer_regs::status::state.get(get(control::status, e)));
    }
    unsigned error(unsigned e) {
        return static_cast<unsigned>(sequencer_regs::status::error.get(get(control::status, e)));
    }
    /// The payload of the last entry of a slot's ring; nullopt if the ring is empty.
    std::optional<std::uint32_t> last_entry(unsigned slot) {
        const auto head =
            top.read<std::uint32_t>(0x1000 + notification_queue_regs::offset(nq::slot_head, slot));
        const std::uint32_t position = head & 0x7fff'ffff;
        if (position == 0 && head >> 31 != 0) return std::nullopt;
        std::uint32_t payload;
        std::memcpy(&payload,
                    ram.bytes().data() + rings_at + ring_bytes * slot +
                        (position + ring_bytes - 16) % ring_bytes + 4,
                    sizeof payload);
        return payload;
    }

    /// Hash of the engines' software-visible state and of their memories.
    std::uint64_t digest() {
        std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
        const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100'0000'01b3; };
        for (unsigned e = 0; e < engines; ++e)
            for (std::uint64_t offset = 4; offset < 0x500; offset += 4) {
                const auto value = aperture.read(at(control::control, e) + offset);
                if (aperture.response == tlm::TLM_OK_RESPONSE) add(value);
            }
        for (unsigned n = 0; n < semaphores::count; ++n) {
            add(static_cast<std::uint32_t>(core.sync().value(n)));
            add(core.sync().event(n));
        }
        const auto add_all = [&](const std::uint8_t* bytes, std::size_t size) {
            for (std::size_t n = 0; n < size; n += 8) {
                std::uint64_t value;
                std::memcpy(&value, bytes + n, sizeof value);
                add(value);
            }
        };
        add_all(core.sbuf().data(), sbuf_bytes);
        add_all(core.psum().data(), psum_bytes);
        return hash;
    }
};

// --- Properties checked

void check_engine(bench& b, unsigned e, const words& program) {
    const unsigned state = b.state(e), error = b.error(e);
    const std::uint32_t pc = b.get(control::pc, e), retired = b.get(control::retired, e);
    const auto length = program.size() / 64;
    const auto wrong = [&](const char* message) {
        complain(message, e, state << 8 | error, std::uint64_t{retired} << 32 | pc);
    };
    switch (state) {
    case 1:
    case 2:  // loops of waits
        if (error != 0) wrong("runs with an error");
        break;
    case 3:
        if (error != 0) wrong("halted with an error");
        if (pc >= length || (word_at(program, 64 * pc) & 0xffff) != 0x1002)
            wrong("halted on what is no HALT");
        if (retired == 0) wrong("HALT did not retire");
        break;
    case 4:
        if (error != 12) wrong("stopped without a breakpoint");
        break;
    case 5:
        if (!((error >= 1 && error <= 7) || error == 11)) wrong("no error code of 10.1");
        if (b.get(control::error_pc, e) != pc) wrong("ERROR_PC is not PC");
        if (b.last_entry(e) != (error | pc << 8)) wrong("no notification of the error");
        if (error != 6 && pc >= length) wrong("failed outside its program");
        if (error == 1 && (b.get(control::error_detail, e) >> 8) == 0) wrong("without a reason");
        break;
    default:
        wrong("no state that a program ends in");
    }
    if (state != 3 && state != 5 && error != 12 && error != 0) wrong("an error without a failure");
    if (retired > run_us * 2400 + 65) wrong("more instructions than there was time for");
    if (pc < length && b.get(control::block, e) != 0 &&
        b.get(control::block, e) != word_at(program, 64 * pc))
        wrong("BLOCK is not the instruction at PC");
}

/// Checks that tiles, semaphores and RAM changed only where the programs may write.
void check_memories(bench& b, const permissions& allowed) {
    for (unsigned p = 0; p < partitions; ++p) {
        const auto same = [&](backing_store& store, std::uint64_t size) {
            const std::size_t pitch = size / partitions;
            return std::memcmp(store.data() + p * pitch, b.pattern.data() + p * pitch, pitch) == 0;
        };
        if (!allowed.sbuf[p] && !same(b.core.sbuf(), sbuf_bytes))
            complain("SBUF of a partition that no program names", p, 0, 0);
        if (!allowed.psum[p] && !same(b.core.psum(), psum_bytes))
            complain("PSUM of a partition that no program names", p, 0, 0);
    }
    for (const auto& w : b.chip.writes) {
        const bool entry = w.length == notification_queue::entry_bytes && w.address >= rings_at &&
                           w.address < rings_at + slots * ring_bytes;
        const bool doorbell = w.address >= dma_at && w.address < dma_at + 16 * 0x10'0000;
        if (!entry && !doorbell && allowed.writes.count({w.address, w.length}) == 0)
            complain("a write that no program names", 0, w.address, w.length);
    }
}

struct input {
    std::array<words, engines> programs;
    permissions allowed;
    bool wild;
};

void run(bench& b, const input& input) {
    b.begin();
    for (unsigned e = 0; e < engines; ++e) b.start(e, input.programs[e]);
    sc_core::sc_start(sc_core::sc_time(run_us, sc_core::SC_US));
}

/// Each input starts at a whole millisecond, so that all engines have the same clock phase.
void finish_millisecond() {
    const auto ms = sc_core::sc_time(1, sc_core::SC_MS);
    const auto past = sc_core::sc_time_stamp().value() % ms.value();
    sc_core::sc_start(sc_core::sc_time::from_value(ms.value() - past));
}

}  // namespace

int sc_main(int argc, char** argv) {
    misuse::set_rules(misuse::all_rules);
    log::replace_sink({});
    misuse::set_policy_of_all(misuse::policy::count);
    bench b;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    finish_millisecond();
    std::vector<repertoire> known;
    fuzz_random source(7);
    for (unsigned e = 0; e < engines; ++e) known.emplace_back(static_cast<isa::engine>(e), source);
    const auto sound =
        isa::assemble("reg_move rd=R1 imm=7\nupdate S[255]=9 nop\nhalt", "sound")[0].words;
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        input one{};
        one.wild = random.below(4) == 0;
        for (unsigned e = 0; e < engines; ++e) {
            one.programs[e] = some_program(known[e], random, one.wild);
            one.allowed.add(one.programs[e]);
        }
        const auto& first = one.programs[0];
        if (isa::assemble(isa::disassemble(first), "again")[0].words != first)
            complain("the text of a program is another program", 0, 0, 0);
        run(b, one);
        // Writes to SBUF by address are not tile accesses.
        for (const auto& [address, length] : one.allowed.writes) {
            const std::uint64_t offset = address - small_chip::aperture_of(0);
            if (offset < sbuf_bytes) one.allowed.sbuf[offset / (sbuf_bytes / partitions)] = true;
            if (offset - neuron_core::psum_offset < psum_bytes)
                one.allowed.psum[(offset - neuron_core::psum_offset) / (psum_bytes / partitions)] =
                    true;
        }
        for (unsigned e = 0; e < engines; ++e) {
            if (b.state(e) > 5) complain("no state", e, b.state(e), 0);
            if (!one.wild) check_engine(b, e, one.programs[e]);
        }
        if (!one.wild) check_memories(b, one.allowed);
        if (random.below(32) == 0 && !one.allowed.reads_time) {
            const auto before = b.digest();
            finish_millisecond();
            run(b, one);
            if (b.digest() != before) complain("another state the second time", 0, 0, 0);
        }
        b.reset_cores();
        b.start(engine_of_sound, sound);
        sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_US));
        if (b.state(engine_of_sound) != 3 || b.core.sync().value(255) != 9)
            complain("a sound program fails after a reset", engine_of_sound,
                     b.get(control::status, engine_of_sound), 0);
        b.reset_cores();
        finish_millisecond();
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}
