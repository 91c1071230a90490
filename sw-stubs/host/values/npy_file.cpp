// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/values/npy_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <charconv>
#include <stdexcept>

#include "sw-stubs/host/values/compute_reference.h"

namespace trn {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t max_dimensions = 32, max_size = std::uint64_t{1} << 40;

[[noreturn]] void refuse(const std::string& name, std::string_view why) {
    throw std::runtime_error(fmt::format("{}: not a NumPy file that can be read: {}", name, why));
}

/// Text after `key` and its colon in the header's dictionary.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& name) {
    const auto found = header.find(fmt::format("'{}'", key));
    const auto colon = found == header.npos ? found : header.find(':', found);
    if (colon == header.npos) refuse(name, fmt::format("its header has no {}", key));
    header.remove_prefix(colon + 1);
    while (header.starts_with(' ')) header.remove_prefix(1);
    return header;
}

std::vector<std::uint64_t> shape_in(std::string_view text, const std::string& name) {
    std::vector<std::uint64_t> shape;
    const auto end = text.find(')');
    if (!text.starts_with('(') || end == text.npos) refuse(name, "its shape is not a tuple");
    text = text.substr(1, end - 1);
    while (!text.empty()) {
        if (text.front() == ' ' || text.front() == ',') {
            text.remove_prefix(1);
            continue;
        }
        std::uint64_t size = 0;
        const auto [rest, failed] = std::from_chars(text.data(), text.data() + text.size(), size);
        if (failed != std::errc{} || size > max_size || shape.size() == max_dimensions)
            refuse(name, "a bad size in its shape");
        shape.push_back(size);
        text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    }
    return shape;
}

}  // namespace

npy_array read_npy(std::span<const std::uint8_t> file, const std::string& name) {
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    if (!text.starts_with(magic) || file.size() < 12) refuse(name, "it does not begin as one");
    const unsigned version = file[6];
    if (version < 1 || version > 3) refuse(name, fmt::format("version {}", version));
    const std::size_t begin = version == 1 ? 10 : 12;
    std::uint64_t length = file[8] | std::uint64_t{file[9]} << 8;
    if (version > 1) length |= std::uint64_t{file[10]} << 16 | std::uint64_t{file[11]} << 24;
    if (length > file.size() - begin) refuse(name, "its header is cut off");
    const std::string_view header = text.substr(begin, length);

    npy_array array;
    const std::string_view type = value_of(header, "descr", name);
    if (type.size() < 5 || type[0] != '\'' || (type[1] != '<' && type[1] != '|'))
        refuse(name, "its elements are not little-endian numbers");
    array.kind = type[2];
    array.element_bytes = static_cast<std::uint32_t>(type[3] - '0');
    const bool known = std::string_view("fiubV").find(array.kind) != std::string_view::npos &&
                       std::has_single_bit(array.element_bytes) && array.element_bytes <= 8 &&
                       type[4] == '\'' && (array.kind != 'f' || array.element_bytes > 1);
    if (!known) refuse(name, fmt::format("elements of type {}", type.substr(0, 6)));
    if (value_of(header, "fortran_order", name).starts_with("True"))
        refuse(name, "its first dimension is the fastest: save it in C order");
    array.shape = shape_in(value_of(header, "shape", name), name);
    std::uint64_t bytes = array.element_bytes;
    for (const std::uint64_t size : array.shape) {
        // Each factor is limited before the multiplication.
        if (bytes != 0 && size > max_size / bytes) refuse(name, "it is too large");
        bytes *= size;
    }
    const auto data = file.subspan(begin + length);
    if (data.size() != bytes)
        refuse(name, fmt::format("{} bytes follow its header, expected {}", data.size(), bytes));
    array.bytes.assign(data.begin(), data.end());
    return array;
}

std::vector<double> npy_array::numbers() const {
    std::vector<double> result(bytes.size() / element_bytes);
    for (std::size_t i = 0; i < result.size(); ++i) {
        std::uint64_t word = 0;
        for (std::size_t b = 0; b < element_bytes; ++b)
            word |= std::uint64_t{bytes[i * element_bytes + b]} << 8 * b;
        const unsigned spare = 64 - 8 * element_bytes;
        if (kind == 'i')
            result[i] = static_cast<double>(static_cast<std::int64_t>(word << spare) >> spare);
        else if (kind != 'f')
            result[i] = static_cast<double>(word);
        else if (element_bytes == 8)
            result[i] = std::bit_cast<double>(word);
        else
            result[i] = reference::decode(element_bytes == 4 ? TRN_FP32 : TRN_FP16,
                                          static_cast<std::uint32_t>(word));
    }
    return result;
}

std::string npy_header(std::string_view type, std::span<const std::uint32_t> shape) {
    constexpr std::size_t begin = 10, alignment = 64;
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                     type, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    while ((begin + header.size() + 1) % alignment != 0) header += ' ';
    header += '\n';
    std::string all(magic);
    all += '\x01';
    all += '\0';
    all += static_cast<char>(header.size() & 0xff);
    all += static_cast<char>(header.size() >> 8);
    return all + header;
}

}  // namespace trn
