// SPDX-License-Identifier: Apache-2.0
// Engines and operands permitted by each row: doc/spec/neuron-core.md 8, 13 and 20.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "models/neuron_isa/assembler/assembler.h"
#include "models/neuron_isa/instructions/codec.h"

using namespace trn;
using namespace trn::isa;

namespace {

using registers_of = std::array<std::uint32_t, register_count>;

/// The error of engine `e` of generation `g`.
error answer(const std::vector<std::uint8_t>& words, engine e, generation g,
             const registers_of& registers = {}) {
    static constexpr std::uint32_t sbuf[] = {196'608, 229'376, 262'144};
    if (const auto f = check_header(std::span(words).first(16), e, g)) return f->code;
    decoded d = decode(words);
    const auto f = check(d, {e, g, sbuf[static_cast<unsigned>(g) - 2]}, registers);
    return f ? f->code : error::none;
}

error answer(std::string_view text, engine e = engine::vector, generation g = generation::v4) {
    return answer(assemble(text, "text").at(0).words, e, g);
}

// Tiles of 128 partitions and 512, 128 or one elements.
const std::string D = " dst=sbuf[0:128, 8192] fp32 [512:1]", A = " a=sbuf[0:128, 0] fp32 [512:1]",
                  B = " b=sbuf[0:128, 4096] fp32 [512:1]", S0 = " s0=fp32(1.0)",
                  S1 = " s1=fp32(1.0)", I = " dst=sbuf[0:128, 8192] int32 [512:1]",
                  M = " a=sbuf[0:128, 0] bf16 [128:1]", Z = " a=sbuf[0:128, 0] bf16 [512:1]",
                  C = " dst=sbuf[0:128, 8192] fp32 [1:1]";

struct row_case {
    opcode code;
    std::string text;
    std::string v2, v3, v4;  ///< engines: T, S, G, V, Y
};

std::vector<row_case> cases() {
    using o = opcode;
    const std::string all = "TSGVY";
    return {
        {o::nop, "nop", all, all, all},
        {o::halt, "halt code=1", all, all, all},
        {o::event_semaphore, "event_semaphore wait S[1]>=1", all, all, all},
        {o::drain, "drain", all, all, all},
        {o::write, "write 0x100.4=1", all, all, all},
        {o::notify, "notify payload=1", all, all, all},
        {o::reg_move, "reg_move rd=R1 imm=1", all, all, all},
        {o::reg_alu, "reg_alu op=add rd=R1 ra=R2 rb=R3", all, all, all},
        {o::reg_load, "reg_load rd=R1 type=fp32 address=0x100", all, all, all},
        {o::reg_store, "reg_store ra=R1 type=fp32 address=0x100", all, all, all},
        {o::branch, "branch if=lt ra=R1 rb=R2 target=0", all, all, all},
        {o::loop, "loop rd=R1 step=1 imm=3 target=0", all, all, all},
        {o::call, "call rd=R1 target=0", all, all, all},
        {o::return_, "return ra=R1", all, all, all},
        {o::flush, "flush", all, all, all},
        {o::delay, "delay cycles=1", all, all, all},
        {o::rank, "rank rd=R1 what=chip", all, all, all},
        {o::dma_start, "dma_start engines=1 queue=3 m2s=1 s2m=1", all, all, all},
        {o::dge_copy,
         "dge_copy engines=1 queue=3 semaphore=1 piece=64 source=0x100 [8:64] "
         "destination=0x1000 [8:64]",
         "", "SY", "SY"},
        {o::dma_gather,
         "dma_gather imm=2048 dst=sbuf[0:128, 0] fp32 [512:1] b=sbuf[0:128, 4096] int32 [1:1] "
         "s0=i32(10) table=0x1000",
         "G", "G", "G"},
        {o::dma_scatter,
         "dma_scatter imm=2048 a=sbuf[0:128, 0] fp32 [512:1] b=sbuf[0:128, 4096] int32 [1:1] "
         "s0=i32(10) table=0x1000",
         "G", "G", "G"},
        {o::dma_gather_transpose,
         "dma_gather_transpose imm=64 dst=sbuf[0:32, 0] bf16 [16:1] b=sbuf[0:16, 4096] int32 [1:1] "
         "s0=i32(10) table=0x1000",
         "", "G", "G"},
        {o::load_stationary, "load_stationary" + M, "T", "T", "T"},
        {o::multiply, "multiply dst=psum[0:128, 0] fp32 [512:1]" + Z, "T", "T", "T"},
        {o::copy, "copy" + D + A, "VGS", "VGS", "VGS"},
        {o::memset, "memset imm=1.0" + D, "VG", "VG", "VG"},
        {o::copy_predicated, "copy_predicated" + D + A + " b=sbuf[0:128, 4096] uint8 [512:1]", "V",
         "V", "V"},
        {o::tensor_tensor, "tensor_tensor op0=add" + D + A + B, "VG", "VG", "VG"},
        {o::tensor_scalar, "tensor_scalar op0=mult op1=add" + D + A + S0 + S1, "V", "VS", "VS"},
        {o::scalar_tensor_tensor, "scalar_tensor_tensor op0=add op1=mult" + D + A + B + S0, "V",
         "V", "V"},
        {o::tensor_reduce, "tensor_reduce op0=max subdim=1" + C + A, "V", "V", "V"},
        {o::tensor_scalar_reduce,
         "tensor_scalar_reduce op0=add reduce=max cmd=reset_reduce" + D + A + S0, "V", "V", "V"},
        {o::tensor_scalar_cumulative,
         "tensor_scalar_cumulative op0=mult op1=add cmd=reset_reduce" + D + A + S0, "V", "V", "V"},
        {o::tensor_tensor_scan, "tensor_tensor_scan op0=mult op1=add" + D + A + B + S0, "V", "V",
         "V"},
        {o::read_accumulator, "read_accumulator" + C, "VS", "VS", "VS"},
        {o::transpose_32, "transpose_32" + D + A, "V", "V", "V"},
        {o::shuffle,
         "shuffle" + D + A +
             " mask=[31,30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,"
             "3,2,1,255]",
         "V", "V", "V"},
        {o::reciprocal, "reciprocal" + D + A, "V", "V", "V"},
        {o::exponential, "exponential" + D + A + S0, "", "", "V"},
        {o::bn_stats, "bn_stats dst=sbuf[0:128, 8192] fp32 [6:1]" + A, "V", "V", "V"},
        {o::bn_aggr, "bn_aggr dst=sbuf[0:128, 8192] fp32 [2:1] a=sbuf[0:128, 0] fp32 [12:1]", "V",
         "V", "V"},
        {o::max8, "max8 dst=sbuf[0:128, 8192] fp32 [8:1]" + A, "V", "V", "V"},
        {o::match_load, "match_load a=sbuf[0:128, 0] fp32 [8:1]", "V", "V", "V"},
        {o::find_index8, "find_index8 dst=sbuf[0:128, 8192] uint16 [8:1]" + A, "V", "V", "V"},
        {o::match_replace8, "match_replace8 imm=-1.0" + D + A, "V", "V", "V"},
        {o::range_select, "range_select op0=is_ge op1=is_lt" + D + A + S0 + S1, "", "V", "V"},
        {o::select_reduce, "select_reduce" + D + A + " b=sbuf[0:128, 4096] uint8 [512:1]" + S0, "V",
         "V", "V"},
        {o::dropout, "dropout" + D + A + S0, "V", "V", "V"},
        {o::rng, "rng" + I, "V", "VG", "VG"},
        {o::rand2, "rand2" + D + S0 + S1, "", "", "V"},
        {o::set_rng_seed, "set_rng_seed a=sbuf[0:1, 0] uint32 [1:1]", "V", "V", "V"},
        {o::rand_set_state, "rand_set_state a=sbuf[0:128, 0] uint32 [24:1]", "", "", "V"},
        {o::rand_set_state, "rand_set_state a=sbuf[0:128, 0] uint32 [6:1]", "", "G", "G"},
        {o::rand_get_state, "rand_get_state dst=sbuf[0:128, 0] uint32 [24:1]", "", "", "V"},
        {o::rand_get_state, "rand_get_state dst=sbuf[0:128, 0] uint32 [6:1]", "", "G", "G"},
        {o::quantize_mx,
         "quantize_mx dst=sbuf[0:128, 8192] fp8_e4m3fn_x4 [32:1]" + M +
             " b=sbuf[0:100, 4096] e8m0 [32:1]",
         "", "", "V"},
        {o::activate, "activate op0=exp" + D + A, "S", "S", "S"},
        {o::activate2, "activate2 op0=exp imm=259" + D + A + S0 + S1, "", "", "S"},  // mult, add
        {o::load_table, "load_table set=3", "S", "S", "S"},
        {o::iota, "iota" + I + " pattern=(0, 512) [512:1]", "G", "G", "G"},
        {o::affine_select, "affine_select op0=is_ge" + D + A + S0 + " pattern=(0, 1) [512:-1]", "G",
         "G", "G"},
        {o::local_gather,
         "local_gather imm=2 dst=sbuf[0:128, 8192] fp32 [64:1]" + A +
             " b=sbuf[0:128, 4096] uint16 [2:1] s0=i32(32)",
         "G", "G", "G"},
        {o::gather_n, "gather_n" + D + A + " b=sbuf[0:128, 4096] uint32 [512:1]", "G", "G", "G"},
        {o::partition_reduce, "partition_reduce op0=add dst=sbuf[0:1, 8192] fp32 [512:1]" + A, "G",
         "G", "G"},
        {o::sequence_bounds,
         "sequence_bounds dst=sbuf[0:1, 8192] fp32 [18:1] a=sbuf[0:1, 0] fp32 [9:1]", "G", "G",
         "G"},
        {o::nonzero_count, "nonzero_count dst=sbuf[0:128, 8192] int32 [513:1]" + A + " s0=i32(-1)",
         "", "G", "G"},
        {o::topk,
         "topk imm=1000 dst=sbuf[0:128, 8192] bf16 [16:1] a=sbuf[0:128, 0] bf16 [64:1] "
         "b=sbuf[0:128, 4096] uint32 [16:1]",
         "G", "G", "G"},
        {o::pool_call, "pool_call imm=1" + D + A, "G", "G", "G"},
    };
}

TEST(InstructionRows, EveryRowIsExecutedByItsEnginesAndGenerationsOnly) {
    constexpr std::string_view letters = "TSGVY";
    std::set<opcode> seen;
    for (const row_case& c : cases()) {
        seen.insert(c.code);
        const auto words = assemble(c.text, "text").at(0).words;
        ASSERT_EQ(find(static_cast<opcode>(words[0] | words[1] << 8))->opcode, c.code);
        for (unsigned g = 2; g <= 4; ++g) {
            const std::string& may = g == 2 ? c.v2 : g == 3 ? c.v3 : c.v4;
            for (unsigned e = 0; e < engine_count; ++e) {
                const error got = answer(words, static_cast<engine>(e), static_cast<generation>(g));
                const bool allowed = may.find(letters[e]) != std::string::npos;
                if (allowed)
                    EXPECT_EQ(name_of(got), "") << c.text << " v" << g << letters[e];
                else
                    EXPECT_NE(got, error::none) << c.text << " v" << g << letters[e];
            }
        }
    }
    EXPECT_EQ(seen.size(), table().size());
}

TEST(InstructionRows, EveryRowRefusesTheOtherLength) {
    for (const row_case& c : cases()) {
        auto words = assemble(c.text, "text").at(0).words;
        words.resize(128);
        words[2] ^= flag::long_form;
        for (unsigned e = 0; e < engine_count; ++e)
            EXPECT_EQ(answer(words, static_cast<engine>(e), generation::v4),
                      error::illegal_instruction)
                << c.text;
    }
}

TEST(InstructionRows, BothSourcesOfTwoTensorInstructionsMayNotBeInPsum) {
    const std::string psum = " a=psum[0:128, 0] fp32 [512:1] b=psum[0:128, 4096] fp32 [512:1]";
    EXPECT_EQ(answer("tensor_tensor op0=add" + D + psum), error::bad_operand);
    EXPECT_EQ(answer("tensor_tensor_scan op0=add op1=add" + D + psum + S0), error::bad_operand);
    EXPECT_EQ(answer("scalar_tensor_tensor op0=add op1=add" + D + psum + S0), error::bad_operand);
    EXPECT_EQ(answer("copy_predicated" + D +
                     " a=psum[0:128, 0] fp32 [512:1] b=psum[0:128, 4096] uint32 [512:1]"),
              error::bad_operand);
    EXPECT_EQ(answer("select_reduce" + D + S0 +
                     " a=psum[0:128, 0] fp32 [512:1] b=psum[0:128, 4096] uint16 [512:1]"),
              error::bad_operand);
}

TEST(InstructionRows, ScalarsHaveTheTypesOfTheirEngine) {
    const auto with = [](const char* type, engine e) {
        return answer(fmt::format("tensor_scalar op0={} dst=sbuf[0:32, 64] fp32 [4:1] "
                                  "a=sbuf[0:32, 0] fp32 [4:1] s0=sbuf[0, 4096] {}",
                                  e == engine::gpsimd ? "pow" : "mult", type),
                      e);
    };
    EXPECT_EQ(with("fp8_e3m4", engine::vector), error::none);
    EXPECT_EQ(with("fp8_e5m2", engine::gpsimd), error::none);
    EXPECT_EQ(with("fp8_e3m4", engine::gpsimd), error::bad_operand);
    EXPECT_EQ(with("int64", engine::vector), error::bad_operand);
}

TEST(InstructionRows, QuantisationReadsSbuf) {
    const auto from = [](const char* memory) {
        return answer(
            fmt::format("quantize_mx dst=sbuf[0:32, 8192] fp8_e5m2_x4 [4:1] "
                        "a={}[0:32, 0] bf16 [16:1] b=sbuf[0:4, 4096] e8m0 [4:1]",
                        memory));
    };
    EXPECT_EQ(from("sbuf"), error::none);
    EXPECT_EQ(from("psum"), error::bad_operand);
}

TEST(InstructionRows, BothOperatorsAreOfOneKindAndBitvecTypesAreIntegersOfOneSize) {
    const std::string tiles = " dst=sbuf[0:1, 64] int16 [4:1] a=sbuf[0:1, 0] uint16 [4:1]";
    const std::string scalars = " s0=i32(3) s1=i32(4)";
    EXPECT_EQ(answer("tensor_scalar op0=bitwise_and op1=shift_left" + tiles + scalars),
              error::none);
    EXPECT_EQ(answer("tensor_scalar op0=bitwise_and op1=add" + tiles + scalars),
              error::illegal_instruction);
    EXPECT_EQ(answer("tensor_scalar op0=bitwise_and" + tiles + " s0=fp32(1.0)"),
              error::bad_operand);
    EXPECT_EQ(answer("tensor_scalar op0=bitwise_and s0=i32(1) dst=sbuf[0:1, 64] int32 [4:1] "
                     "a=sbuf[0:1, 0] int16 [4:1]"),
              error::bad_operand);
    EXPECT_EQ(answer("tensor_tensor op0=bitwise_xor" + D + A + B), error::bad_operand);
    EXPECT_EQ(answer("tensor_tensor op0=bitwise_xor dst=sbuf[0:1, 64] int16 [4:1] a=sbuf[0:1, 0] "
                     "int16 [4:1] b=sbuf[0:1, 0] int16 [4:1]",
                     engine::gpsimd),
              error::illegal_instruction);
    const auto over_partitions = [](const char* dst, const char* a) {
        return answer(fmt::format("partition_reduce op0=bitwise_and dst=sbuf[0:1, 64] {} [4:1] "
                                  "a=sbuf[0:8, 0] {} [4:1]",
                                  dst, a),
                      engine::gpsimd);
    };
    EXPECT_EQ(over_partitions("int16", "uint16"), error::none);
    EXPECT_EQ(over_partitions("int16", "int32"), error::bad_operand);
    EXPECT_EQ(over_partitions("int32", "fp32"), error::bad_operand);
    EXPECT_EQ(over_partitions("fp32", "fp32"), error::bad_operand);
}

TEST(InstructionRows, BytesOfScalarsAreZeroInInstructionsWithoutThem) {
    const auto with = [](const std::string& text, unsigned byte, engine e) {
        auto words = assemble(text, "text").at(0).words;
        words.at(byte) = 1;
        return answer(words, e, generation::v4);
    };
    std::string mask = "255";
    for (unsigned lane = 1; lane < 32; ++lane) mask += ",0";
    const std::string shuffle = "shuffle" + D + A + " mask=[" + mask + "]";
    const std::string iota = "iota dst=sbuf[0:1, 0] int32 [4:1] pattern=(0, 1) [4:1]";
    EXPECT_EQ(answer(shuffle), error::none);
    EXPECT_EQ(answer(iota, engine::gpsimd), error::none);
    for (const unsigned byte : {28u, 29u, 30u, 31u, 32u, 35u}) {
        EXPECT_EQ(with(shuffle, byte, engine::vector), error::illegal_instruction) << byte;
        EXPECT_EQ(with(iota, byte, engine::gpsimd), error::illegal_instruction) << byte;
    }
    for (const unsigned byte : {124u, 127u})  // after the mask
        EXPECT_EQ(with(shuffle, byte, engine::vector), error::illegal_instruction) << byte;
}

TEST(InstructionRows, AccumulatorsOfABitvecOperatorStartWithAnyScalar) {
    const std::string text =
        "tensor_scalar_reduce op0=bitwise_and reduce=add cmd=load_reduce dst=sbuf[0:1, 64] int16 "
        "[4:1] a=sbuf[0:1, 0] uint16 [4:1]";
    EXPECT_EQ(answer(text + " s0=i32(3) s1=fp32(0.5)"), error::none);
    EXPECT_EQ(answer(text + " s0=fp32(3.0) s1=fp32(0.5)"), error::bad_operand);
}

TEST(InstructionRows, TheReluParameterBelongsToPrelu) {
    const auto S = engine::scalar;
    EXPECT_EQ(answer("activate op0=prelu imm=0.5" + D + A, S), error::none);
    EXPECT_EQ(answer("activate op0=exp imm=0.5" + D + A, S), error::illegal_instruction);
    const std::string parameter = " b=sbuf[0:128, 4096] fp32 [1:1]";
    EXPECT_EQ(answer("activate2 op0=prelu imm=0" + D + A + parameter, S), error::none);
    EXPECT_EQ(answer("activate2 op0=exp imm=0" + D + A + parameter, S), error::illegal_instruction);
}

TEST(InstructionRows, AlignmentCountsTheRegisterOfTheOffset) {
    const auto at = [](unsigned offset, std::uint32_t value) {
        registers_of registers{};
        registers[1] = value;
        const auto text = fmt::format(
            "copy dst=psum[0:128, {} + R1] bf16 [4:1] a=sbuf[0:128, 0] bf16 [4:1]", offset);
        return answer(assemble(text, "text").at(0).words, engine::vector, generation::v4,
                      registers);
    };
    EXPECT_EQ(at(0, 0), error::none);
    EXPECT_EQ(at(0, 1), error::bad_operand) << "PSUM starts are multiples of 4 bytes";
    EXPECT_EQ(at(0, 2), error::none);
    EXPECT_EQ(at(2, 1), error::none);
    EXPECT_EQ(at(0, static_cast<std::uint32_t>(-2)), error::out_of_bounds);
}

TEST(InstructionRows, MatmulResultsFitTheLimitsOfTheirGeneration) {
    const auto of = [](unsigned n, const char* type, unsigned offset) {
        return fmt::format("multiply dst=psum[0:128, {}] {} [{}:1] a=sbuf[0:128, 0] bf16 [{}:1]",
                           offset, type, n, n);
    };
    const auto T = engine::tensor;
    EXPECT_EQ(answer(of(512, "fp32", 2048), T, generation::v3), error::none);
    EXPECT_EQ(answer(of(513, "fp32", 0), T, generation::v3), error::bad_operand);
    EXPECT_EQ(answer(of(512, "fp32", 1024), T, generation::v3), error::bad_operand);  // two banks
    EXPECT_EQ(answer(of(256, "bf16", 0), T, generation::v3), error::bad_operand);
    EXPECT_EQ(answer(of(4096, "fp32", 0), T, generation::v4), error::none);
    EXPECT_EQ(answer(of(8192, "bf16", 0), T, generation::v4), error::none);
    EXPECT_EQ(answer(of(8193, "bf16", 0), T, generation::v4), error::bad_operand);
}

TEST(InstructionRows, TilesOfTheArrayKeepTheirRules) {
    const auto of = [](const char* tile, unsigned row, unsigned rows, unsigned columns) {
        return fmt::format("load_stationary tile={} a=sbuf[{}:{}, 0] bf16 [{}:1]", tile, row,
                           row + rows, columns);
    };
    const auto T = engine::tensor;
    EXPECT_EQ(answer(of("(32, 96, 32, 32)", 32, 32, 32), T), error::none);
    EXPECT_EQ(answer(of("(32, 96, 32, 32)", 32, 32, 32), T, generation::v2), error::bad_operand);
    EXPECT_EQ(answer(of("(32, 0, 64, 128)", 32, 32, 32), T), error::bad_operand);  // start
    EXPECT_EQ(answer(of("(64, 0, 64, 64)", 64, 64, 65), T), error::bad_operand);   // columns
    EXPECT_EQ(answer(of("(64, 0, 64, 64)", 0, 64, 64), T), error::bad_operand);    // partitions
    auto words = assemble(of("(0, 0, 64, 64)", 0, 64, 64), "text").at(0).words;
    words[23] = 0x30;  // size code 3
    EXPECT_EQ(answer(words, T, generation::v4), error::illegal_instruction);
}

TEST(InstructionRows, ModesOfTheArrayBelongToTheirGenerations) {
    const auto T = engine::tensor;
    const std::string row = "load_stationary double_row a=sbuf[0:128, 0] fp8_e4m3 [64:1, 2:64]";
    const std::string sparse =
        "load_stationary sparse=2 imm=4 a=sbuf[0:128, 0] bf16 [64:1] "
        "b=sbuf[0:128, 512] uint16 [16:1]";
    const std::string mx =
        "load_stationary mx a=sbuf[0:64, 0] fp8_e5m2_x4 [64:1] "
        "b=sbuf[0:36, 512] e8m0 [64:1]";
    for (const auto& [text, first] :
         {std::pair{row, 3}, {sparse, 3}, {"load_stationary transpose" + M, 3}, {mx, 4}})
        for (int g = 2; g <= 4; ++g)
            EXPECT_EQ(answer(text, T, static_cast<generation>(g)),
                      g >= first ? error::none : error::illegal_instruction)
                << text << " v" << g;
    EXPECT_EQ(answer("load_stationary sparse=3 imm=2 a=sbuf[0:128, 0] bf16 [64:1] "
                     "b=sbuf[0:128, 512] uint16 [16:1]",
                     T),
              error::bad_operand);  // 2:6 is not a valid pattern
    EXPECT_EQ(answer("load_stationary mx transpose a=sbuf[0:64, 0] fp8_e5m2_x4 [64:1]", T),
              error::illegal_instruction);
}

TEST(InstructionRows, TransposesDoNotAccumulate) {
    const std::string operands = " dst=psum[0:8, 0] bf16 [16:1] a=sbuf[0:16, 0] bf16 [16:1]";
    EXPECT_EQ(answer("multiply transpose" + operands, engine::tensor), error::none);
    EXPECT_EQ(answer("multiply transpose accumulate" + operands, engine::tensor),
              error::illegal_instruction);
}

TEST(InstructionRows, AnOperandInPsumHas4096ElementsWithoutRepeatedOnes) {
    const auto copied = [](const char* dst, const char* to, const char* a, const char* from) {
        return answer(
            fmt::format("copy dst={}[0:8, 0] bf16 {} a={}[0:8, 0] bf16 {}", dst, to, a, from),
            engine::vector, generation::v3);
    };
    const auto read = [&](const char* from, const char* to) {
        return copied("sbuf", to, "psum", from);
    };
    const auto written = [&](const char* to, const char* from) {
        return copied("psum", to, "sbuf", from);
    };
    EXPECT_EQ(read("[4096:1]", "[4096:1]"), error::none);
    EXPECT_EQ(read("[4097:1]", "[4097:1]"), error::bad_operand);
    EXPECT_EQ(read("[6144:0]", "[6144:1]"), error::none);
    EXPECT_EQ(read("[4096:1, 15:0]", "[4096:1, 15:4096]"), error::none);
    EXPECT_EQ(read("[4097:1, 15:0]", "[4097:1, 15:4097]"), error::bad_operand);
    EXPECT_EQ(read("[64:1, 64:1]", "[4096:1]"), error::none);
    EXPECT_EQ(read("[64:1, 65:1]", "[4160:1]"), error::bad_operand) << "overlaps are counted";
    EXPECT_EQ(written("[2:0, 4096:1]", "[8192:1]"), error::none);
    EXPECT_EQ(written("[2:0, 4097:1]", "[8194:1]"), error::bad_operand);
    EXPECT_EQ(read("[4096:1, 16:0]", "[4096:1, 16:4096]"), error::none) << "65,536 in all";
    EXPECT_EQ(read("[2:0, 32769:0]", "[2:0, 32769:1]"), error::bad_operand);
}

TEST(InstructionRows, IndirectOperandsKeepTheirRules) {
    const auto of = [](const char* dst, const char* a) {
        return fmt::format(
            "copy dst=sbuf[{}] fp32 [16:1] a=sbuf[{}] fp32 [16:1] index sbuf[{}, 4096]", dst, a,
            std::string_view(a).substr(0, 2) == "32" ? 32 : 0);
    };
    EXPECT_EQ(answer(of("0:32, 64", "0:32, 0")), error::none);
    EXPECT_EQ(answer(of("0:32, 64", "0:32, 0"), engine::vector, generation::v3),
              error::illegal_instruction);
    EXPECT_EQ(answer(of("0:32, 64", "32:64, 0")), error::none);
    EXPECT_EQ(
        answer(
            "copy dst=sbuf[0:32, 64] fp32 [16:1] a=sbuf[32:64, 0] fp32 [16:1] index sbuf[0, 4096]"),
        error::bad_operand);
    EXPECT_EQ(answer("copy dst=sbuf[0:32, 64] fp32 [8:1, 2:8] a=sbuf[0:32, 0] fp32 [8:1, 2:8] "
                     "index sbuf[0, 4096]"),
              error::bad_operand);
}

TEST(InstructionRows, IndicesLieWhereTheEngineReads) {
    const auto from = [](const char* memory, engine e) {
        return answer(fmt::format("copy dst=sbuf[0:32, 64] fp32 [16:1] a=sbuf[0:32, 0] fp32 [16:1] "
                                  "index {}[0, 4096]",
                                  memory),
                      e);
    };
    for (const engine e : {engine::vector, engine::scalar, engine::gpsimd})
        EXPECT_EQ(from("sbuf", e), error::none);
    EXPECT_EQ(from("psum", engine::vector), error::none);
    EXPECT_EQ(from("psum", engine::gpsimd), error::bad_operand);
    EXPECT_EQ(
        answer("load_stationary a=sbuf[0:32, 0] bf16 [16:1] index psum[0, 4096]", engine::tensor),
        error::bad_operand);
}

TEST(InstructionRows, ResultsOfReductionsAreNotIndirect) {
    const std::string a = " a=sbuf[0:1, 0] fp32 [16:1]";
    const auto to = [](unsigned n) {
        return fmt::format(" dst=sbuf[0:1, 64] fp32 [{}:1] index sbuf[0, 4096]", n);
    };
    EXPECT_EQ(answer("copy" + to(16) + a), error::none);
    EXPECT_EQ(answer("tensor_reduce op0=add subdim=1" + to(1) + a), error::bad_operand);
    EXPECT_EQ(answer("partition_reduce op0=add" + to(16) + a, engine::gpsimd), error::bad_operand);
}

}  // namespace
