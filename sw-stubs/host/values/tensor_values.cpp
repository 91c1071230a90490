// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/values/tensor_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "sw-stubs/host/values/compute_reference.h"
#include "sw-stubs/host/values/npy_file.h"
#include "sw-stubs/host/values/pattern.h"
#include "sw-stubs/host/values/program_reference.h"

namespace trn::tensors {

namespace {

template <typename... T>
[[noreturn]] void fail(fmt::format_string<T...> format, T&&... values) {
    throw std::runtime_error(fmt::format(format, std::forward<T>(values)...));
}

std::uint64_t element_count(const trn_tensor& tensor) {
    return tensor.bytes / trn_tensor_type_bytes(tensor.type);
}

std::optional<double> number_in(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    double value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::uint64_t hash_of(std::string_view name) {
    std::uint64_t key = 0;
    for (const char c : name) key = mix(key + static_cast<unsigned char>(c) + 1);
    return key;
}

/// "random(low, high)" or "random(low, high, seed)"
std::vector<double> random_numbers(const trn_tensor& tensor, std::string_view text,
                                   std::uint64_t seed) {
    std::vector<double> arguments;
    std::string_view rest = text.substr(7, text.size() - 8);
    for (bool more = true; more;) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        const auto value = number_in(rest.substr(0, end));
        if (!value) fail("'{}': expected random(LOW, HIGH) or random(LOW, HIGH, SEED)", text);
        arguments.push_back(*value);
        more = end < rest.size();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (arguments.size() < 2 || arguments.size() > 3 || arguments[0] > arguments[1])
        fail("'{}': expected random(LOW, HIGH) or random(LOW, HIGH, SEED)", text);
    if (!std::isfinite(arguments[0]) || !std::isfinite(arguments[1]))
        fail("'{}': LOW and HIGH must be finite", text);
    constexpr double max_seed = 0x1p53;
    if (arguments.size() == 3 && !(arguments[2] >= 0 && arguments[2] <= max_seed &&
                                   arguments[2] == std::floor(arguments[2])))
        fail("'{}': SEED must be a whole number from 0 to 2^53", text);
    const std::uint64_t own = arguments.size() == 3
                                  ? mix(static_cast<std::uint64_t>(std::llround(arguments[2])))
                                  : mix(seed) + hash_of(tensor.name);
    std::vector<double> numbers(element_count(tensor));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = arguments[0] + (arguments[1] - arguments[0]) *
                                        static_cast<double>(mix(own + i) >> 11) * 0x1p-53;
    return numbers;
}

std::vector<std::uint8_t> read_bytes(const std::string& path, std::uint64_t limit) {
    std::ifstream in(path, std::ios::binary);
    std::vector<std::uint8_t> bytes;
    char block[65536];
    while (in.read(block, sizeof block), in.gcount() > 0) {
        bytes.insert(bytes.end(), block, block + in.gcount());
        if (bytes.size() > limit) fail("{} has more than {} bytes", path, limit);
    }
    if (!in.eof()) fail("{} cannot be read", path);
    return bytes;
}

std::string shape_text(const trn_tensor& tensor) {
    return fmt::format("[{}]", fmt::join(tensor.dimensions, tensor.dimensions + tensor.rank, ", "));
}

std::vector<std::uint8_t> from_npy(const trn_tensor& tensor, const std::string& path) {
    constexpr std::uint64_t max_header = 65'536, max_element = 8;
    const npy_array array =
        read_npy(read_bytes(path, element_count(tensor) * max_element + max_header), path);
    const std::vector<std::uint64_t> shape(tensor.dimensions, tensor.dimensions + tensor.rank);
    if (array.shape != shape)
        fail("{}: its shape is [{}], tensor {} has {}", path, fmt::join(array.shape, ", "),
             tensor.name, shape_text(tensor));
    const bool same_bits = array.kind == 'V' || (array.kind == 'u' && !has_numbers(tensor.type)) ||
                           (array.kind == 'u' && tensor.type < TRN_INT8);
    if (!same_bits && has_numbers(tensor.type)) return bytes_of(tensor.type, array.numbers());
    if (array.element_bytes != trn_tensor_type_bytes(tensor.type))
        fail("{}: elements of {} bytes, {} of tensor {} have {}", path, array.element_bytes,
             trn_tensor_type_name(tensor.type), tensor.name, trn_tensor_type_bytes(tensor.type));
    return array.bytes;
}

/// Index of element `number`: "[3, 17]".
std::string place_text(const trn_tensor& tensor, std::uint64_t number) {
    std::vector<std::uint64_t> place(tensor.rank);
    for (std::size_t d = tensor.rank; d-- > 0; number /= tensor.dimensions[d])
        place[d] = number % tensor.dimensions[d];
    return fmt::format("[{}]", fmt::join(place, ", "));
}

bool is_close(double expected, double found, tolerance allowed) {
    if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
    if (std::isinf(expected) || std::isinf(found)) return expected == found;
    return std::fabs(found - expected) <= allowed.absolute + allowed.relative * std::fabs(expected);
}

}  // namespace

bool has_numbers(std::uint32_t type) {
    return type <= TRN_UINT32;
}

std::vector<double> numbers_of(std::uint32_t type, std::span<const std::uint8_t> bytes) {
    const std::size_t size = trn_tensor_type_bytes(type);
    std::vector<double> numbers(bytes.size() / size);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::uint32_t code = 0;
        for (std::size_t b = 0; b < size; ++b) code |= std::uint32_t{bytes[i * size + b]} << 8 * b;
        numbers[i] = reference::decode(static_cast<trn_element>(type), code);
    }
    return numbers;
}

std::vector<std::uint8_t> bytes_of(std::uint32_t type, std::span<const double> numbers) {
    const std::size_t size = trn_tensor_type_bytes(type);
    std::vector<std::uint8_t> bytes(numbers.size() * size);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint32_t code =
            reference::encode(static_cast<trn_element>(type), numbers[i], false);
        for (std::size_t b = 0; b < size; ++b)
            bytes[i * size + b] = static_cast<std::uint8_t>(code >> 8 * b);
    }
    return bytes;
}

std::vector<std::uint8_t> content(const trn_tensor& tensor, const std::string& text,
                                  std::uint64_t seed,
                                  const std::function<std::string(const std::string&)>& path_of) {
    const auto encoded = [&](std::span<const double> numbers) {
        if (!has_numbers(tensor.type))
            fail("tensor {}: {} has no numbers here, give a file", tensor.name,
                 trn_tensor_type_name(tensor.type));
        return bytes_of(tensor.type, numbers);
    };
    if (const auto constant = number_in(text))
        return encoded(std::vector<double>(element_count(tensor), *constant));
    if (text == "index") {
        std::vector<double> numbers(element_count(tensor));
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
        return encoded(numbers);
    }
    if (text.starts_with("random(") && text.ends_with(")"))
        return encoded(random_numbers(tensor, text, seed));
    if (text.find('(') != std::string::npos && text.ends_with(")"))
        fail("'{}' is not random(LOW, HIGH), nor a reference to compare with: {}", text,
             reference_names());
    const std::string path = path_of(text);
    if (!std::filesystem::exists(path))
        fail(
            "{} cannot be read: there is no such file, and it is not a number, index or "
            "random(LOW, HIGH)",
            path);
    if (text.ends_with(".npy")) return from_npy(tensor, path);
    auto bytes = read_bytes(path, tensor.bytes);
    if (bytes.size() != tensor.bytes)
        fail("{} has {} bytes, tensor {} {} {} has {}", path, bytes.size(), tensor.name,
             trn_tensor_type_name(tensor.type), shape_text(tensor), tensor.bytes);
    return bytes;
}

std::optional<std::string> difference(const trn_tensor& tensor,
                                      std::span<const std::uint8_t> expected,
                                      std::span<const std::uint8_t> found, tolerance allowed) {
    if (std::ranges::equal(expected, found)) return std::nullopt;
    if (has_numbers(tensor.type) && (allowed.relative > 0 || allowed.absolute > 0))
        return difference(tensor, numbers_of(tensor.type, expected), found, allowed);
    const std::size_t size = trn_tensor_type_bytes(tensor.type);
    std::uint64_t wrong = 0;
    std::optional<std::uint64_t> first;
    for (std::uint64_t i = 0; i < found.size() / size; ++i)
        if (std::memcmp(&expected[i * size], &found[i * size], size) != 0) {
            ++wrong;
            if (!first) first = i;
        }
    const auto element = [&](std::span<const std::uint8_t> bytes) {
        const auto code = bytes.subspan(*first * size, size);
        std::string bits = "0x";
        for (std::size_t b = size; b-- > 0;) bits += fmt::format("{:02x}", code[b]);
        return has_numbers(tensor.type)
                   ? fmt::format("{:.9g} ({})", numbers_of(tensor.type, code)[0], bits)
                   : bits;
    };
    return fmt::format("tensor {}: {} of {} elements differ; the first, {}, is {} instead of {}",
                       tensor.name, wrong, found.size() / size, place_text(tensor, *first),
                       element(found), element(expected));
}

std::optional<std::string> difference(const trn_tensor& tensor, std::span<const double> expected,
                                      std::span<const std::uint8_t> found, tolerance allowed) {
    const std::vector<double> numbers = numbers_of(tensor.type, found);
    std::uint64_t wrong = 0, first = 0, worst = 0;
    double largest = -1;
    for (std::uint64_t i = 0; i < numbers.size(); ++i) {
        if (is_close(expected[i], numbers[i], allowed)) continue;
        if (wrong++ == 0) first = i;
        const double off = std::fabs(numbers[i] - expected[i]);
        if (off > largest) {
            largest = off;
            worst = i;
        }
    }
    if (wrong == 0) return std::nullopt;
    return fmt::format(
        "tensor {}: {} of {} elements differ by more than {:g} + {:g} x |expected|; the first, {}, "
        "is {:.9g} instead of {:.9g}; the worst, {}, is {:.9g} instead of {:.9g}",
        tensor.name, wrong, numbers.size(), allowed.absolute, allowed.relative,
        place_text(tensor, first), numbers[first], expected[first], place_text(tensor, worst),
        numbers[worst], expected[worst]);
}

void write_file(const std::string& path, const trn_tensor& tensor,
                std::span<const std::uint8_t> bytes) {
    std::ofstream out(path, std::ios::binary);
    if (path.ends_with(".npy")) {
        static constexpr std::string_view types[] = {"<f4", "<f4", "<u2", "<f2", "|u1",
                                                     "|u1", "|u1", "|u1", "|i1", "|u1",
                                                     "<i2", "<u2", "<i4", "<u4"};
        static constexpr std::string_view by_size[] = {"", "|u1", "<u2", "",   "<u4",
                                                       "", "",    "",    "<u8"};
        const std::string header =
            npy_header(tensor.type < std::size(types) ? types[tensor.type]
                                                      : by_size[trn_tensor_type_bytes(tensor.type)],
                       {tensor.dimensions, tensor.dimensions + tensor.rank});
        out.write(header.data(), static_cast<std::streamsize>(header.size()));
    }
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) fail("{} cannot be written", path);
}

}  // namespace trn::tensors
