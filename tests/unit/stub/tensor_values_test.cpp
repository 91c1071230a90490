// SPDX-License-Identifier: Apache-2.0
// Contents of tensors in user input: rounding of references, NumPy files.
#include "sw-stubs/host/values/tensor_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "sw-stubs/host/values/npy_file.h"

namespace trn::test {
namespace {

using testing::ElementsAre;

std::uint32_t encoded(trn_element type, double number) {
    const auto bytes = tensors::bytes_of(type, std::array{number});
    std::uint32_t code = 0;
    for (std::size_t b = 0; b < bytes.size(); ++b) code |= std::uint32_t{bytes[b]} << 8 * b;
    return code;
}

TEST(TensorValues, NumbersAreRoundedOnceToTheTensorsType) {
    // Just above the middle of two BF16 numbers, and exactly the middle after rounding to FP32.
    EXPECT_EQ(encoded(TRN_BF16, 1.003906250001), 0x3f81u);
    EXPECT_EQ(encoded(TRN_BF16, 1.00390625), 0x3f80u) << "the middle goes to the even number";
    EXPECT_EQ(encoded(TRN_FP16, 1.000488281250001), 0x3c01u);
    EXPECT_EQ(encoded(TRN_FP8_E5M2, 1.1250000000001), 0x3du);
    EXPECT_EQ(encoded(TRN_FP32, 1.0), 0x3f800000u);
    EXPECT_EQ(encoded(TRN_BF16, 1e300), 0x7f80u);
    EXPECT_EQ(encoded(TRN_FP32, 1e-300), 0u);
}

TEST(TensorValues, WholeNumbersOf32BitsAreExact) {
    const std::vector<std::uint8_t> bytes{1, 0, 0, 1, 0xff, 0xff, 0xff, 0x7f};
    EXPECT_THAT(tensors::numbers_of(TRN_INT32, bytes), ElementsAre(16'777'217, 2'147'483'647));
    EXPECT_EQ(tensors::bytes_of(TRN_INT32, tensors::numbers_of(TRN_INT32, bytes)), bytes);
}

TEST(TensorValues, ANumPyFileWhoseSizeWrapsIsRefused) {
    const auto file = [](const std::string& shape) {
        std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }\n";
        std::string all = "\x93NUMPY";
        all += {'\x01', '\0', static_cast<char>(text.size()), '\0'};
        all += text + std::string(4, '\0');
        return std::vector<std::uint8_t>(all.begin(), all.end());
    };
    EXPECT_EQ(read_npy(file("1, 1"), "x.npy").bytes.size(), 4u);
    // 2^64 + 4 bytes
    EXPECT_THROW(read_npy(file("2147418113, 2147549185"), "x.npy"), std::runtime_error);
}

}  // namespace
}  // namespace trn::test
