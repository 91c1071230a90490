// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sw-stubs/programs/include/trn_program.h"

/// Contents of tensors as people write them, and their comparison. Numbers go through the formats
/// of compute_reference.h, which share nothing with the models.
namespace trn::tensors {

/// Whether elements have numbers: types 0 to 13. Others are bytes.
bool has_numbers(std::uint32_t type);
std::vector<double> numbers_of(std::uint32_t type, std::span<const std::uint8_t> bytes);
/// Rounded to nearest even.
std::vector<std::uint8_t> bytes_of(std::uint32_t type, std::span<const double> numbers);

/// Bytes of a tensor from what a person wrote:
///   0.5                     every element
///   random(-1, 1)           uniform numbers, known by `seed` and the tensor's name
///   random(-1, 1, 7)        the same with a seed of its own
///   index                   0, 1, 2, ... in the order of memory
///   w.npy, w.bin            a file: a NumPy array of the tensor's shape, or its bytes
/// `path_of` gives the path of a file's name. \throws std::runtime_error with one sentence
std::vector<std::uint8_t> content(const trn_tensor& tensor, const std::string& text,
                                  std::uint64_t seed,
                                  const std::function<std::string(const std::string&)>& path_of);

struct tolerance {
    double relative = 0, absolute = 0;  ///< both 0: bytes are equal
};
/// What is wrong with `found`, in a sentence: how many elements, the first and the worst of them.
std::optional<std::string> difference(const trn_tensor& tensor,
                                      std::span<const std::uint8_t> expected,
                                      std::span<const std::uint8_t> found, tolerance allowed);
/// The same against exact numbers; `allowed` is needed unless they are representable.
std::optional<std::string> difference(const trn_tensor& tensor, std::span<const double> expected,
                                      std::span<const std::uint8_t> found, tolerance allowed);

/// A NumPy file with the tensor, or its bytes, by the ending of the name. Types without a NumPy
/// type become unsigned integers of their size. \throws std::runtime_error
void write_file(const std::string& path, const trn_tensor& tensor,
                std::span<const std::uint8_t> bytes);

}  // namespace trn::tensors
