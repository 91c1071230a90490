// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// NumPy's file format for one array, versions 1 to 3 (numpy.lib.format).
namespace trn {

struct npy_array {
    char kind = 0;  ///< f, i, u, b, or V for plain bytes
    std::uint32_t element_bytes = 0;
    std::vector<std::uint64_t> shape;
    std::vector<std::uint8_t> bytes;  ///< little endian, the last dimension fastest

    /// Precondition: kind is not V.
    std::vector<double> numbers() const;
};

/// `name`: of the file, for messages. \throws std::runtime_error
npy_array read_npy(std::span<const std::uint8_t> file, const std::string& name);
/// The file's header, before the elements. `type`: NumPy's, such as "<f4".
std::string npy_header(std::string_view type, std::span<const std::uint32_t> shape);

}  // namespace trn
