// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/assembler.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "models/neuron_isa/assembler/program_set.h"
#include "models/neuron_isa/instructions/codec.h"
#include "platform/framework/config/diagnostics.h"

using namespace trn;
using namespace trn::isa;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

std::vector<std::uint8_t> assemble_one(std::string_view text) {
    return assemble(text, "text").at(0).words;
}

std::string mistakes_of(std::string_view text) {
    try {
        assemble(text, "text");
    } catch (const config_error& error) {
        return error.what();
    }
    return "";
}

std::vector<std::uint8_t> from_hex(const std::string& text) {
    std::vector<std::uint8_t> bytes;
    std::istringstream in(text);
    for (unsigned value; in >> std::hex >> value;)
        bytes.push_back(static_cast<std::uint8_t>(value));
    return bytes;
}

// doc/spec/neuron-core.md, appendix A.
const char* const appendix_a = R"(
10 30 01 01 01 04 01 08 10 00 00 00 01 00 00 00
01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 10 00 40 00 01 7f 00 01 00 00 02
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 40 00 01 7f 00 01 00 00 02 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 08 00 40
00 01 7f 00 01 00 00 02 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
02 10 00 01 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 07 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00)";

TEST(Assembler, AppendixAOfTheSpecificationComesOutByteForByte) {
    EXPECT_EQ(assemble_one("wait S[4]>=16 update S[8]+=1 tensor_tensor op0=add "
                           "dst=sbuf[0:128, 4096] fp32 [512:1] a=sbuf[0:128, 0] fp32 [512:1] "
                           "b=sbuf[0:128, 2048] fp32 [512:1]\n"
                           "halt code=7\n"),
              from_hex(appendix_a));
}

/// Sets every field used by a row to a distinct value.
class filler {
public:
    explicit filler(unsigned seed) : random_(seed) {}

    instruction of(const row& kind) {
        instruction i;
        i.opcode = kind.opcode;
        i.flags = static_cast<std::uint8_t>((kind.is_long() ? flag::long_form : 0) |
                                            (below(2) != 0 ? flag::notify : 0) |
                                            (below(2) != 0 ? flag::stop : 0));
        wait(i);
        update(i);
        switch (kind.layout) {
        case layout::registers:
            registers(kind, i.control.emplace<register_fields>());
            break;
        case layout::sync:
            sync(i.control.emplace<sync_list>());
            break;
        case layout::writes:
            writes(i.control.emplace<write_list>());
            break;
        case layout::doorbells:
            doorbells(i.control.emplace<doorbell_sets>());
            break;
        case layout::dge:
            dge(i.control.emplace<dge_copy_fields>());
            break;
        default:
            tiles(kind, i);
            break;
        }
        return i;
    }

private:
    unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
    template <typename T>
    T any() {
        return static_cast<T>(random_());
    }

    void wait(instruction& i) {
        i.wait.mode = static_cast<std::uint8_t>(below(8));
        if (i.wait.mode == 0) return;
        i.wait.index = any<std::uint8_t>();
        if (i.wait.mode == 5 || i.wait.mode == 6) return;
        const bool reg = below(2) != 0;
        i.wait.value = reg ? static_cast<std::int32_t>(below(64)) : any<std::int32_t>();
        if (reg) i.flags |= flag::wait_reg;
    }
    void update(instruction& i) {
        const unsigned action = below(6);
        if (action == 0) return;
        i.update.mode = static_cast<std::uint8_t>(action | (below(2) != 0 ? at_issue : 0));
        i.update.index = any<std::uint8_t>();
        if (action > 3) return;
        const bool reg = below(2) != 0;
        i.update.value = reg ? static_cast<std::int32_t>(below(64)) : any<std::int32_t>();
        if (reg) i.flags |= flag::update_reg;
    }
    void registers(const row& kind, register_fields& f) {
        for (const field& one : kind.fields)
            if (one.member == &register_fields::immediate) f.immediate = below(2);
        for (const field& one : kind.fields) {
            if (one.name.empty()) continue;
            if (one.used == field::use::with_flag && f.immediate == 0) continue;
            if (one.used == field::use::without_flag && f.immediate == 1) continue;
            switch (one.content) {
            case field::kind::reg:
                f.*one.member = below(64);
                break;
            case field::kind::number:
                f.*one.member = 1 + below(5);
                break;
            case field::kind::type:
                f.*one.member = below(14);
                break;
            case field::kind::u32:
                f.*one.member = any<std::uint32_t>();
                break;
            case field::kind::i32:
                f.*one.member = static_cast<std::uint64_t>(std::int64_t{any<std::int32_t>()});
                break;
            case field::kind::address:
                f.*one.member = any<std::uint64_t>();
                break;
            case field::kind::place:
                break;
            }
        }
    }
    void sync(sync_list& list) {
        for (unsigned n = 0; n < 1 + below(6); ++n) {
            const bool update = below(2) != 0;
            const unsigned mode = 1 + below(update ? 5 : 7);
            list[n] = {static_cast<std::uint8_t>(mode | (update ? 0x80 : 0)), any<std::uint8_t>(),
                       0};
            const bool event = update ? mode > 3 : mode == 5 || mode == 6;
            if (!event) list[n].value = any<std::int32_t>();
        }
    }
    void writes(write_list& list) {
        for (unsigned n = 0; n < 1 + below(3); ++n) {
            list[n] = {any<std::uint64_t>(), any<std::uint32_t>(),
                       static_cast<std::uint8_t>(1u << below(4)), 0};
            if (below(2) == 0) continue;
            list[n].data = 0;
            list[n].reg_data = static_cast<std::uint8_t>(0x80 | below(64));
        }
    }
    void doorbells(doorbell_sets& sets) {
        for (unsigned n = 0; n < 1 + below(2); ++n)
            sets[n] = {static_cast<std::uint16_t>(1 + below(0xffff)), any<std::uint8_t>(),
                       any<std::uint16_t>(), any<std::uint16_t>()};
    }
    void dge(dge_copy_fields& f) {
        f.engines = any<std::uint16_t>();
        f.queue = any<std::uint8_t>();
        f.semaphore = any<std::uint8_t>();
        f.piece_bytes = any<std::uint16_t>();
        f.flags = static_cast<std::uint8_t>(below(16));
        f.priority = static_cast<std::uint8_t>(below(4));
        f.limit = any<std::uint64_t>();
        for (auto* side : {&f.source, &f.destination}) {
            side->base = any<std::uint64_t>();
            if (below(2) != 0) {
                side->reg = static_cast<std::uint8_t>(0x80 | below(64));
                side->reg_unit = any<std::uint32_t>();
            }
            for (auto& d : side->pattern) d = {any<std::int32_t>(), any<std::uint16_t>()};
        }
    }
    location where() {
        return {static_cast<space>(1 + below(2)), static_cast<std::uint8_t>(below(128)),
                below(1 << 18)};
    }
    tile_operand tile() {
        tile_operand t;
        t.place = where();
        t.type = static_cast<numerics::element>(below(20));
        t.dimensions = static_cast<std::uint8_t>(1 + below(4));
        t.partitions = static_cast<std::uint16_t>(1 + below(256));
        for (unsigned d = 0; d < t.dimensions; ++d)
            t.pattern[d] = {any<std::int16_t>(), any<std::uint16_t>()};
        t.offset_from_register = below(2) != 0;
        if (t.offset_from_register) t.reg = static_cast<std::uint8_t>(below(64));
        t.indirect = below(2) != 0;
        if (t.indirect) t.index = where();
        return t;
    }
    scalar_operand scalar() {
        scalar_operand s;
        s.kind = static_cast<scalar_kind>(1 + below(5));
        if (s.kind == scalar_kind::tile) {
            s.type = static_cast<numerics::element>(below(14));
            s.place = where();
        } else if (s.kind <= scalar_kind::i32) {
            s.value = any<std::uint32_t>();
        } else {
            s.reg = static_cast<std::uint8_t>(below(64));
        }
        return s;
    }
    void tiles(const row& kind, instruction& i) {
        const auto op = [&] { return static_cast<std::uint8_t>(below(24)); };
        if (kind.operators != operators::none) i.op0 = op();
        if (kind.operators == operators::two_operators) i.op1 = op();
        if (kind.reduce_cmds != 0) {
            i.reduce_cmd = static_cast<std::uint8_t>(below(5));
            if (kind.operators != operators::cumulative) i.reduce_op = op();
        }
        i.mode = static_cast<std::uint16_t>(random_() & kind.modes);
        if (kind.uses_subdim) i.subdim = any<std::uint8_t>();
        if (kind.uses_tile)
            i.tile = static_cast<std::uint8_t>(below(16) | below(3) << 4 | below(3) << 6);
        if (kind.dst.need != need::unused) i.dst = tile();
        if (kind.a.need != need::unused) i.a = tile();
        if (kind.b.need != need::unused) i.b = tile();
        if (kind.s0.need != need::unused) i.s0 = scalar();
        if (kind.s1.need != need::unused) i.s1 = scalar();
        if (kind.imm != immediate::none) i.imm = any<std::uint32_t>();
        if (kind.layout == layout::tiles_table) i.table_base = any<std::uint64_t>();
        if (kind.layout == layout::tiles_shuffle)
            for (auto& m : i.shuffle) m = any<std::uint8_t>();
        if (kind.layout == layout::tiles_pattern) {
            i.pattern.offset = any<std::int32_t>();
            i.pattern.multiplier = any<std::int32_t>();
            for (auto& s : i.pattern.steps) s = any<std::int32_t>();
            for (auto& c : i.pattern.counts) c = any<std::uint16_t>();
        }
    }

    std::mt19937_64 random_;
};

TEST(Assembler, TextOfEveryRowReadsBackAsTheSameBytesAndTheSameText) {
    for (const row& kind : table())
        for (unsigned seed = 0; seed < 40; ++seed) {
            const instruction i = filler(seed * 1000 + static_cast<unsigned>(kind.opcode)).of(kind);
            const bytes all = encode(i);
            const std::vector<std::uint8_t> words(all.begin(),
                                                  all.begin() + i.words() * word_bytes);
            EXPECT_EQ(decode(words).value, i) << kind.mnemonic;
            EXPECT_EQ(decode(words).unused_bits_set, 0) << kind.mnemonic;
            const std::string text = disassemble(words);
            ASSERT_THAT(text, Not(HasSubstr(".word"))) << kind.mnemonic << " " << text_of(i);
            EXPECT_THAT(text, HasSubstr(kind.mnemonic));
            EXPECT_EQ(assemble_one(text), words) << text;
            EXPECT_EQ(disassemble(assemble_one(text)), text);
        }
}

TEST(Assembler, RandomWordsReadBackAsTheSameBytes) {
    std::mt19937_64 random(22);
    for (unsigned round = 0; round < 300; ++round) {
        std::vector<std::uint8_t> words(4 * word_bytes);
        for (auto& b : words) b = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : 0);
        for (unsigned w = 0; w < 4; ++w) {
            const auto code = static_cast<unsigned>(table()[random() % table().size()].opcode);
            words[w * word_bytes] = static_cast<std::uint8_t>(code);
            words[w * word_bytes + 1] = static_cast<std::uint8_t>(code >> 8);
        }
        const std::string text = disassemble(words);
        EXPECT_EQ(assemble_one(text), words) << text;
    }
}

TEST(Assembler, LabelsBecomeDistancesFromTheBranch) {
    const auto words = assemble_one(
        "top: nop\n"
        "     branch target=end\n"
        "     loop rd=R1 step=2 imm=10 target=top\n"
        "end: halt\n");
    const auto target = [&](unsigned pc) {
        return static_cast<std::int32_t>(words[pc * 64 + 28] | words[pc * 64 + 29] << 8 |
                                         words[pc * 64 + 30] << 16 | words[pc * 64 + 31] << 24);
    };
    EXPECT_EQ(target(1), 2);
    EXPECT_EQ(target(2), -2);
    EXPECT_THAT(disassemble(words), HasSubstr("L0:\n    nop\n    branch if=always target=L3\n"));
}

TEST(Assembler, MistakesHaveAPlaceAndASuggestion) {
    EXPECT_THAT(mistakes_of("nop\ntensor_tensr\n"), HasSubstr("text:2:1: E26 'tensor_tensr'"));
    EXPECT_THAT(mistakes_of("tensor_tensr\n"), HasSubstr("did you mean 'tensor_tensor'?"));
    EXPECT_THAT(mistakes_of("halt cod=7"), HasSubstr("text:1:6: E11 halt has no 'cod'"));
    EXPECT_THAT(mistakes_of("halt code=x"), HasSubstr("text:1:11: E24"));
    EXPECT_THAT(mistakes_of("wait S[256]>=1 nop"), HasSubstr("text:1:8: E22 expected 0 to 255"));
    EXPECT_THAT(mistakes_of("branch target=nowhere"), HasSubstr("text:1:15: E15 no label"));
    EXPECT_THAT(mistakes_of("a: nop\na: nop"), HasSubstr("text:2:1: E35 label 'a' again"));
    EXPECT_THAT(mistakes_of("copy dst=sbuf[0:1, 0] fp32 [1:1]"), HasSubstr("E09 copy needs a="));
    EXPECT_THAT(mistakes_of(".engine tensr\n"), HasSubstr("did you mean 'tensor'?"));
    EXPECT_THAT(mistakes_of("reg_move rd=R64 imm=1"), HasSubstr("E22 expected 0 to 63"));
    EXPECT_THAT(mistakes_of("halt\nnop nop\nhalt x=1"), HasSubstr("text:3:6"));
}

TEST(Assembler, LabelsOfARefusedInstructionChangeNoWords) {
    const std::string refused = "again: loop rd=R1 step=0 imm=2 target=again\n";
    EXPECT_THAT(mistakes_of(".generation v4\n.engine vector\n" + refused),
                HasSubstr("text:3:8: E54 BAD_OPERAND"));
    EXPECT_THAT(mistakes_of(".generation v4\n.engine vector\n" + refused + ".engine sync\nhalt\n"),
                HasSubstr("text:3:8: E54 BAD_OPERAND"));
}

TEST(Assembler, AnInstructionHasEachFieldOnce) {
    const auto twice = [](std::string_view text, std::string_view place, std::string_view key) {
        EXPECT_THAT(mistakes_of(text),
                    HasSubstr(fmt::format("text:{} E07 '{}' is given twice", place, key)))
            << text;
    };
    twice("wait S[1]>=5 wait S[2]>=0 nop", "1:14:", "wait");
    twice("wait S[1]>=R1 wait S[2]>=5 nop", "1:15:", "wait");
    twice("update S[1]+=1 wait S[2]>=0 update S[2]+=1 nop", "1:29:", "update");
    twice("@notify @notify nop", "1:9:", "@notify");
    twice("rank rd=R1 rd=R2 what=chip", "1:12:", "rd");
    twice("halt code=1 code=2", "1:13:", "code");
    twice("dma_start engines=1 queue=2 m2s=1 queue=3", "1:35:", "queue");
    twice("dge_copy engines=1 queue=0 engines=2", "1:28:", "engines");
    twice("copy dst=sbuf[0:1, 0] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1] a=sbuf[0:1, 4] fp32 [1:1]",
          "1:60:", "a");
    twice("read_accumulator negate negate dst=sbuf[0:1, 0] fp32 [1:1]", "1:25:", "negate");
    EXPECT_EQ(mistakes_of("event_semaphore wait S[1]>=5 wait S[2]>=0 update S[3]+=1 update S[4]=1"),
              "");
    EXPECT_EQ(mistakes_of("dma_start engines=1 queue=2 m2s=1 engines=2 queue=2 m2s=2"), "");
    EXPECT_THAT(mistakes_of(".generation v4\n.generation v3\nnop"),
                HasSubstr("text:2:1: E07 a text has one .generation"));
}

TEST(Assembler, FieldsThatExcludeEachOtherAreRefusedTogether) {
    EXPECT_THAT(mistakes_of("reg_alu op=add rd=R1 ra=R2 rb=R3 imm=5"),
                HasSubstr("text:1:34: E13 reg_alu takes either rb= or imm="));
    EXPECT_THAT(mistakes_of("notify payload=5 ra=R3"), HasSubstr("either payload= or ra="));
    EXPECT_THAT(mistakes_of("reg_load rd=R1 type=int32 where=sbuf[0, 4] address=4096"),
                HasSubstr("either where= or address="));
}

TEST(Assembler, AGenerationMakesItRefuseWhatTheEngineWould) {
    EXPECT_THAT(
        mistakes_of(".generation v3\n.engine vector\nexponential dst=sbuf[0:1, 0] fp32 [1:1] "
                    "a=sbuf[0:1, 0] fp32 [1:1]\n"),
        AllOf(HasSubstr("text:3:1: E54 ILLEGAL_INSTRUCTION: not an instruction of this generation"),
              HasSubstr("^^^^^^^^^^^  exponential exists on v4\n")));
    EXPECT_THAT(
        mistakes_of(".generation v4\ncopy dst=sbuf[1:2, 0] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]"),
        AllOf(HasSubstr("text:2:6: E54 BAD_OPERAND in dst: partitions break the rules"),
              HasSubstr("up to 32 partitions start at 0, 32, 64 or 96")));
    EXPECT_THAT(mistakes_of(".generation v4\n.engine scalar\nwait S[1]>=1 iota "
                            "dst=sbuf[0:1, 0] int32 [1:1] pattern=(0, 1) [1:1]"),
                AllOf(HasSubstr("text:3:14: E54"), HasSubstr("iota is an instruction of gpsimd")));
    EXPECT_THAT(mistakes_of(".generation v4\n.engine vector\ncopy dst=sbuf[0:1, 0] fp32 [2:1] "
                            "a=sbuf[0:1, 262140] fp32 [2:1]"),
                HasSubstr("text:3:34: E54 OUT_OF_BOUNDS in a: an element is outside"));
    EXPECT_THAT(mistakes_of(".generation v4\n.engine scalar\nactivate op0=gelu cmd=reduce "
                            "dst=sbuf[0:1, 0] fp32 [4:1] a=sbuf[0:1, 0] fp32 [4:1]"),
                AllOf(HasSubstr("text:3:10: E54 ILLEGAL_INSTRUCTION: operator not allowed here"),
                      HasSubstr("cmd= needs reduce=")));
    EXPECT_EQ(mistakes_of(".generation v4\n.engine vector\nhalt\n"), "");
    EXPECT_THAT(mistakes_of(".generation v4\n.engine tensor\nmultiply transpose accumulate "
                            "dst=psum[0:8, 0] bf16 [16:1] a=sbuf[0:16, 0] bf16 [16:1]"),
                HasSubstr("text:3:1: E54 ILLEGAL_INSTRUCTION: MODE"));
    EXPECT_THAT(mistakes_of(".generation v4\n.engine tensor\nmultiply transpose "
                            "dst=psum[0:8, 0] bf16 [16:1] a=sbuf[0:32, 0] bf16 [16:1]"),
                HasSubstr("text:3:49: E54 BAD_OPERAND in a: shapes of the operands"));
}

TEST(Assembler, RepeatedElementsDoNotCountForTheLimitOfPsum) {
    const auto sum_of = [](unsigned count) {
        return fmt::format(
            ".generation v3\n.engine vector\ncopy dst=sbuf[0:8, 0] bf16 [{0}:1, 8:{0}] "
            "a=psum[0:8, 0] bf16 [{0}:1, 8:0]",
            count);
    };
    EXPECT_EQ(mistakes_of(sum_of(4096)), "");
    EXPECT_THAT(mistakes_of(sum_of(4097)), HasSubstr("BAD_OPERAND in a: more elements"));
}

TEST(Assembler, StreamsOfSeveralEnginesBecomeAProgramSetAndComeBack) {
    const auto set =
        assemble_set(".engine vector\nnop\nhalt\n.core 1\n.engine sync\nhalt code=3\n", "text");
    const auto file = write_program_set(set);
    ASSERT_TRUE(is_program_set(file));
    const auto back = read_program_set(file);
    ASSERT_EQ(back.streams.size(), 2u);
    EXPECT_EQ(back.cores, 2u);
    EXPECT_EQ(back.streams[0].engine, engine::vector);
    EXPECT_EQ(back.streams[0].words, set.streams[0].words);
    EXPECT_EQ(back.streams[0].lines, (std::vector<int>{2, 3}));
    EXPECT_EQ(back.streams[1].engine, engine::sync);
    EXPECT_EQ(back.streams[1].core, 1u);
    EXPECT_EQ(back.streams[1].words, set.streams[1].words);
    EXPECT_EQ(back.files, std::vector<std::string>{"text"});
    EXPECT_EQ(file.size() % 64, 0u);
}

TEST(Assembler, ProgramSetRepeatsNeitherLongNamesNorWords) {
    const std::string name(63, 'x'), body = ".repeat n 20\nnop\n.end\nhalt\n";
    const auto file =
        write_program_set(assemble_set(".tensor " + name + " fp32 [1] in\n" + ".engine sync\n" +
                                           body + ".core 1\n.engine sync\n" + body,
                                       "text"));
    EXPECT_EQ(read_program_set(file).tensors.front().name, name);
    auto changed = file;
    *std::ranges::search(changed, name).end() = 'x';  // the byte that ends the name
    EXPECT_THAT([&] { read_program_set(changed); },
                testing::ThrowsMessage<program_set_error>(HasSubstr("has over 63 bytes")));
    // Both streams (records of 16 bytes: core, engine, words, offset) have the words of both.
    changed = file;
    changed[136] = changed[152] = 42;
    std::ranges::copy(std::span(file).subspan(140, 4), changed.begin() + 156);
    EXPECT_THAT([&] { read_program_set(changed); },
                testing::ThrowsMessage<program_set_error>(HasSubstr("shares words")));
}

TEST(Assembler, AProgramSetWithBadNumbersIsRefused) {
    auto file = write_program_set(assemble_set(".engine sync\nhalt\n", "text"));
    const auto with = [&](std::size_t at, std::uint8_t value) {
        auto changed = file;
        changed[at] = value;
        return changed;
    };
    EXPECT_NO_THROW(read_program_set(file));
    EXPECT_THROW(read_program_set(with(0, 'X')), program_set_error);
    EXPECT_THROW(read_program_set(with(8, 1)), program_set_error);       // version
    EXPECT_THROW(read_program_set(with(12, 5)), program_set_error);      // generation
    EXPECT_THROW(read_program_set(with(16, 9)), program_set_error);      // cores
    EXPECT_THROW(read_program_set(with(20, 1)), program_set_error);      // bytes
    EXPECT_THROW(read_program_set(with(36, 200)), program_set_error);    // number of streams
    EXPECT_THROW(read_program_set(with(128, 1)), program_set_error);     // core of the stream
    EXPECT_THROW(read_program_set(with(132, 5)), program_set_error);     // engine
    EXPECT_THROW(read_program_set(with(136, 9)), program_set_error);     // words
    EXPECT_THROW(read_program_set(with(143, 0x80)), program_set_error);  // offset
    file.resize(70);
    EXPECT_THROW(read_program_set(file), program_set_error);
}

/// What a loader refuses on every chip (doc/models/neuron_isa/program_set.md).
TEST(Assembler, AProgramSetThatNoChipCanRunIsRefused) {
    const auto sound = assemble_set(R"(.tensor x fp32 [2, 64] in
.transfer load x -> sbuf[0:2, 0] S[4]
.engine sync
write @S[5].4=1 @control.vector.4=2
write @cc[1].4=1 @program.sync.4=2
halt
)",
                                    "text");
    EXPECT_NO_THROW(read_program_set(write_program_set(sound)));
    const auto expect_refused = [&](const char* words, auto change) {
        auto set = sound;
        change(set);
        EXPECT_THAT([&] { read_program_set(write_program_set(set)); },
                    testing::ThrowsMessage<program_set_error>(HasSubstr(words)));
    };
    expect_refused("tensor 0: rank 0, expected 1 to 8", [](auto& s) { s.tensors[0].shape = {}; });
    expect_refused("alignment is 2147483648", [](auto& s) { s.tensors[0].alignment = 1u << 31; });
    expect_refused("moves nothing", [](auto& s) { s.transfers[0].engines = 0; });
    expect_refused("moves nothing", [](auto& s) { s.transfers[0].rows = 0; });
    expect_refused("moves nothing", [](auto& s) { s.transfers[0].blocks = 0; });
    expect_refused("moves nothing", [](auto& s) { s.transfers[0].bytes = 0; });
    expect_refused("source is outside the tensor",
                   [](auto& s) { s.transfers[0].sides[0].offset = 260; });
    expect_refused("destination is outside the partitions",
                   [](auto& s) { s.transfers[0].sides[1].row = 127; });
    for (std::size_t n = 0; n < sound.relocations.size(); ++n)
        expect_refused("object is 256", [n](auto& s) { s.relocations[n].object = 256; });
    auto file = write_program_set(sound);
    file[0x20 + 8 * 7 + 7] = 1;  // 16 MiB more strings
    EXPECT_THAT([&] { read_program_set(file); },
                testing::ThrowsMessage<program_set_error>(HasSubstr("bytes of strings, at most")));
}

TEST(Assembler, ATensorWhoseSizeWrapsIsRefused) {
    auto set = assemble_set(".tensor x fp32 [1, 1] in\n.engine sync\nhalt\n", "text");
    EXPECT_NO_THROW(read_program_set(write_program_set(set)));
    set.tensors[0].shape = {2147418113, 2147549185};  // 2^64 + 4 bytes
    EXPECT_THROW(read_program_set(write_program_set(set)), program_set_error);
    set.tensors[0].shape = {1, 0};
    EXPECT_THROW(read_program_set(write_program_set(set)), program_set_error);
    EXPECT_THAT(mistakes_of(".tensor x fp32 [2147418113, 2147549185] in"),
                HasSubstr("text:1:29: E22 a tensor has less than 1 TiB"));
    // 2^72 bytes
    EXPECT_THAT(mistakes_of(".tensor x int8 [1099511627, 4294967295] in"),
                HasSubstr("text:1:29: E22 a tensor has less than 1 TiB"));
    EXPECT_EQ(mistakes_of(".tensor x int8 [1099511627, 1000] in"), "");
}

TEST(Assembler, ATransferWhoseNumberOfDescriptorsWrapsIsRefused) {
    EXPECT_THAT(mistakes_of(".tensor x int8 [8] in\n.transfer t x@(0, 0, 0) -> x@(0, 0, 0) "
                            "shape=(2147483648, 4294967294, 131072) engines=1\n"),
                HasSubstr("an engine would get 4294967296 descriptors, at most 65535"));
}

}  // namespace
