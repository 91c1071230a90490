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

/// Contents of tensors in user input, and their comparison. Number formats: compute_reference.h,
/// which shares no code with the models.
namespace trn::tensors {

/// Whether elements have numbers: types 0 to 13. Others are bytes.
bool has_numbers(std::uint32_t type);
std::vector<double> numbers_of(std::uint32_t type, std::span<const std::uint8_t> bytes);
/// Rounded to nearest even.
std::vector<std::uint8_t> bytes_of(std::uint32_t type, std::span<const double> numbers);

/// Bytes of a tensor from the user's text:
///   0.5                     every element
/// random(-1, 1)           uniform numbers, defined by `seed` and the tensor's name
/// random(-1, 1, 7)        as above with an explicit seed
///   index                   0, 1, 2, ... in the order of memory
/// w.npy, w.bin            a file: a NumPy array of the tensor's shape, or its bytes `path_of`
/// returns the path of a file name. \throws std::runtime_error
std::vector<std::uint8_t> content(const trn_tensor& tensor, const std::string& text,
                                  std::uint64_t seed,
                                  const std::function<std::string(const std::string&)>& path_of);

struct tolerance {
    double relative = 0, absolute = 0;  ///< both 0: bytes must be equal
};
/// Text about the wrong elements of `found`: their number, the first and the worst.
std::optional<std::string> difference(const trn_tensor& tensor,
                                      std::span<const std::uint8_t> expected,
                                      std::span<const std::uint8_t> found, tolerance allowed);
/// As above, against exact numbers; needs `allowed` unless the type represents them exactly.
std::optional<std::string> difference(const trn_tensor& tensor, std::span<const double> expected,
                                      std::span<const std::uint8_t> found, tolerance allowed);

/// Writes the tensor as a NumPy file or as plain bytes, by the file's extension. Types without a
/// NumPy type are written as unsigned integers of their size. \throws std::runtime_error
void write_file(const std::string& path, const trn_tensor& tensor,
                std::span<const std::uint8_t> bytes);

}  // namespace trn::tensors
