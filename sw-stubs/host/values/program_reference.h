// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sw-stubs/programs/include/trn_program.h"

/// Reference results of programs, by textbook formulas in binary64; shares no code with the models.
namespace trn::tensors {

/// A tensor's shape and its elements as numbers, in memory order.
struct numbers {
    std::vector<std::uint64_t> shape;
    std::vector<double> values;

    std::uint64_t last() const { return shape.empty() ? 1 : shape.back(); }
};

/// Whether a text starts with a reference's name: "softmax(".
bool is_reference(const std::string& text);
/// Names of all references: "copy, add, ...".
std::string reference_names();
/// The result of a text such as "matmul(a, b)". `tensor_of` returns an operand by name. \throws
/// std::runtime_error, also for shapes that do not match
numbers reference_of(const std::string& text,
                     const std::function<numbers(const std::string& name)>& tensor_of);

}  // namespace trn::tensors
