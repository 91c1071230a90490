// SPDX-License-Identifier: Apache-2.0
// Bytes of SBUF and PSUM that instructions access: doc/spec/neuron-core.md 3.9, 8.4, 8.6, 10.3.
#include "models/neuron_core/sequencer/timing/footprint.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/neuron_core/sequencer/timing/timing.h"
#include "models/neuron_isa/assembler/assembler.h"
#include "models/neuron_isa/instructions/codec.h"

namespace {

using namespace trn;
using namespace trn::isa;

instruction of(std::string_view text) {
    return decode(assemble(text, "text").at(0).words).value;
}

std::vector<unsigned> members(const partition_set& set) {
    std::vector<unsigned> all;
    for (unsigned p = 0; p < 128; ++p)
        if (set.meets({p, 1})) all.push_back(p);
    return all;
}

constexpr partition_sizes sizes{262'144, 16'384};

const auto quantize =
    of("quantize_mx dst=sbuf[0:64, 8192] fp8_e4m3fn_x4 [4:1] a=sbuf[0:64, 0] bf16 [16:1] "
       "b=sbuf[4:40, 16384] e8m0 [4:1]");

TEST(Footprint, PartitionSetsCrossTheirWords) {
    EXPECT_EQ(members({62, 4}), (std::vector<unsigned>{62, 63, 64, 65}));
    EXPECT_EQ(members({0, 128}).size(), 128u);
    EXPECT_EQ(members({128, 0}).size(), 0u);
    EXPECT_EQ((partition_set{96, 32}).count(), 32u);
    EXPECT_EQ((partition_set{66, 2}).first(), 66u);
    EXPECT_FALSE((partition_set{0, 64}).meets({64, 64}));
    EXPECT_EQ((partition_set{0, 65} & partition_set{63, 9}).count(), 2u);
}

TEST(Footprint, ScalesAreFourPartitionsOfEachQuadrant) {
    const std::vector<unsigned> used{4, 5, 6, 7, 36, 37, 38, 39};
    EXPECT_EQ(members(footprints_of(quantize, sizes).b.partitions), used);
    const auto mx =
        of("load_stationary mx a=sbuf[0:64, 0] fp8_e5m2_x4 [64:1] b=sbuf[4:40, 512] e8m0 [64:1]");
    EXPECT_EQ(members(footprints_of(mx, sizes).b.partitions), used);
}

TEST(Footprint, NonzeroCountUsesTheFirstPartitionOfEachProcessor) {
    const auto f = footprints_of(of("nonzero_count dst=sbuf[0:48, 64] int32 [5:1] "
                                    "a=sbuf[0:48, 0] int32 [4:1] s0=i32(-1)"),
                                 sizes);
    EXPECT_EQ(members(f.dst.partitions), (std::vector<unsigned>{0, 16, 32}));
    EXPECT_EQ(members(f.a.partitions), (std::vector<unsigned>{0, 16, 32}));
}

TEST(Footprint, ShuffleReadsWholeQuadrantsAndLeavesPartitions) {
    std::string mask = "255";
    for (int n = 1; n < 32; ++n) mask += n < 3 ? ",31" : ",255";
    const auto f = footprints_of(
        of("shuffle dst=sbuf[32:36, 64] fp32 [4:1] a=sbuf[64:68, 0] fp32 [4:1] mask=[" + mask +
           "]"),
        sizes);
    EXPECT_EQ(members(f.dst.partitions), (std::vector<unsigned>{33, 34}));
    EXPECT_EQ(members(f.a.partitions).front(), 64u);
    EXPECT_EQ(f.a.partitions.count(), 32u);
}

TEST(Footprint, CountersDistinguishOperandsThatAreRead) {
    const work quantized = work_of(quantize, engine::vector, generation::v4);
    EXPECT_EQ(quantized.bytes_read, 64u * 16 * 2);
    EXPECT_EQ(quantized.bytes_written, 64u * 4 * 4 + 8 * 4);
    const work topk = work_of(of("topk imm=16 dst=sbuf[0:16, 64] bf16 [2:1] a=sbuf[0:16, 0] bf16 "
                                 "[1:1] b=sbuf[0:16, 128] uint32 [2:1]"),
                              engine::gpsimd, generation::v4);
    EXPECT_EQ(topk.bytes_read, 16u * 2);
    EXPECT_EQ(topk.bytes_written, 16u * 2 * 2 + 16 * 2 * 4);
    const work count = work_of(of("nonzero_count dst=sbuf[0:32, 64] int32 [5:1] "
                                  "a=sbuf[0:32, 0] int32 [4:1] s0=i32(-1)"),
                               engine::gpsimd, generation::v4);
    EXPECT_EQ(count.bytes_read, 2u * 4 * 4);
    EXPECT_EQ(count.bytes_written, 2u * 5 * 4);
}

}  // namespace
