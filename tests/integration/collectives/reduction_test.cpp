// SPDX-License-Identifier: Apache-2.0
// Reductions by the DMA engines, compared bit for bit with the reference.
#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

using Reductions = CollectiveTest;

TEST_F(Reductions, AreBitExact) {
    boot("trn3-sled");
    collective_group group(*this, all(), image());
    for (const auto op : {TRN_COLL_ALL_REDUCE, TRN_COLL_REDUCE_SCATTER})
        for (const auto type :
             {TRN_BF16, TRN_FP32, TRN_FP16, TRN_INT8, TRN_UINT8, TRN_INT32, TRN_UINT32}) {
            SCOPED_TRACE(trn_coll_op_text(op) + std::to_string(type));
            expect_right(group.run({.op = op, .type = type, .bytes = 20'000, .check = true}));
        }
    for (const auto with : {TRN_COLL_SUM, TRN_COLL_MIN, TRN_COLL_MAX})
        expect_right(group.run({.op = TRN_COLL_ALL_REDUCE,
                                .with = with,
                                .bytes = 5 * MiB,
                                .iterations = 2,
                                .check = true}));
}

}  // namespace
}  // namespace trn::test
