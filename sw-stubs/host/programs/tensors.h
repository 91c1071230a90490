// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sw-stubs/host/programs/loaded_program.h"
#include "sw-stubs/host/values/program_reference.h"
#include "sw-stubs/host/values/tensor_values.h"

namespace trn {

/// Names of tensors with the user's texts, in order: a text of tensors::content(), or for expected
/// outputs a reference of program_reference.h: "softmax(x)".
using tensor_texts = std::vector<std::pair<std::string, std::string>>;

/// Inputs and expected outputs of a program. Members throw std::runtime_error for an invalid text,
/// device_error when a copy fails.
class program_tensors {
public:
    using path_finder = std::function<std::string(const std::string& name)>;

    /// `path_of` returns the path of a file name in a text.
    program_tensors(const loaded_program& program, std::uint64_t seed, path_finder path_of)
        : program_(program), seed_(seed), path_of_(std::move(path_of)) {}

    /// Writes all tensors except scratch; with zeroes if `inputs` has no text.
    void write(const tensor_texts& inputs);
    /// Text about a tensor's difference from its expectation.
    std::optional<std::string> difference(const std::string& name, const std::string& text,
                                          tensors::tolerance allowed) const;

    /// The result of a reference for the written inputs. \throws std::runtime_error for an invalid
    /// text, and for an operand that was not written
    tensors::numbers reference(const std::string& text) const;
    /// As above, against the numbers of the reference `text`.
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
