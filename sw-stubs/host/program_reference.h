// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sw-stubs/programs/include/trn_program.h"

/// What programs are to compute, in binary64 and by the textbook: it shares nothing with the
/// models.
namespace trn::tensors {

/// A tensor with its elements as numbers, in the order of memory.
struct numbers {
    std::vector<std::uint64_t> shape;
    std::vector<double> values;

    std::uint64_t last() const { return shape.empty() ? 1 : shape.back(); }
};

/// Whether a text begins as a reference does: "softmax(".
bool is_reference(const std::string& text);
/// Names of all references: "copy, add, ...".
std::string reference_names();
/// The result of a text such as "matmul(a, b)". `tensor_of` gives an operand by its name.
/// \throws std::runtime_error with one sentence, also when the shapes do not fit
numbers reference_of(const std::string& text,
                     const std::function<numbers(const std::string& name)>& tensor_of);

}  // namespace trn::tensors
