// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sw-stubs/host/loaded_program.h"
#include "sw-stubs/host/program_reference.h"
#include "sw-stubs/host/tensor_values.h"

namespace trn {

/// Tensors with what a person wrote for them, in order: a text of tensors::content(), or for an
/// expected output also a reference of program_reference.h: "softmax(x)".
using tensor_texts = std::vector<std::pair<std::string, std::string>>;

/// Inputs and expected outputs of a program. Members throw std::runtime_error with one sentence
/// about a wrong text, device_error when a copy fails.
class program_tensors {
public:
    using path_finder = std::function<std::string(const std::string& name)>;

    /// `path_of`: the path of a file that a text names.
    program_tensors(const loaded_program& program, std::uint64_t seed, path_finder path_of)
        : program_(program), seed_(seed), path_of_(std::move(path_of)) {}

    /// Every tensor but scratch is written: with zeroes where `in` has no text.
    void write(const tensor_texts& in);
    /// What is wrong with a tensor, in a sentence.
    std::optional<std::string> difference(const std::string& name, const std::string& text,
                                          tensors::tolerance allowed) const;

    /// The result of a reference for what was written. \throws std::runtime_error when the text is
    /// none, and for an operand that was not written
    tensors::numbers reference(const std::string& text) const;
    /// What is wrong with a tensor whose numbers are expected, by the text that they come from.
    std::optional<std::string> difference(const std::string& name, const std::string& text,
                                          const tensors::numbers& expected,
                                          tensors::tolerance allowed) const;

private:
    const loaded_program& program_;
    const std::uint64_t seed_;
    const path_finder path_of_;
    std::map<std::string, std::vector<std::uint8_t>> written_;  ///< operands of references
};

}  // namespace trn
