// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/values/program_reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>
#include <string_view>

namespace trn::tensors {

namespace {

using operands = std::span<const numbers>;

struct named_reference {
    std::string_view name;
    std::size_t count;  ///< of operands
    std::string_view doc;
    numbers (*result)(operands);
};

[[noreturn]] void refuse(const std::string& why) {
    throw std::runtime_error(why);
}

void need_equal(std::uint64_t a, std::uint64_t b, std::string_view noun) {
    if (a != b) refuse(fmt::format("the {} do not fit: {} and {}", noun, a, b));
}

void need_rank(const numbers& x, std::size_t rank) {
    if (x.shape.size() != rank)
        refuse(fmt::format("an operand has {} dimensions, expected {}", x.shape.size(), rank));
}

template <typename Function>
numbers each(operands inputs, Function&& function) {
    for (const numbers& other : inputs)
        need_equal(other.values.size(), inputs[0].values.size(), "numbers of elements");
    numbers out = inputs[0];
    for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] = function(i);
    return out;
}

numbers copy(operands inputs) {
    return inputs[0];
}
numbers add(operands inputs) {
    return each(inputs, [&](std::size_t i) { return inputs[0].values[i] + inputs[1].values[i]; });
}
numbers subtract(operands inputs) {
    return each(inputs, [&](std::size_t i) { return inputs[0].values[i] - inputs[1].values[i]; });
}
numbers multiply(operands inputs) {
    return each(inputs, [&](std::size_t i) { return inputs[0].values[i] * inputs[1].values[i]; });
}
numbers exponential(operands inputs) {
    return each(inputs, [&](std::size_t i) { return std::exp(inputs[0].values[i]); });
}
numbers relu(operands inputs) {
    return each(inputs, [&](std::size_t i) { return std::max(inputs[0].values[i], 0.0); });
}
numbers gelu(operands inputs) {
    return each(inputs, [&](std::size_t i) {
        const double x = inputs[0].values[i];
        return x / 2 * std::erfc(-x / std::numbers::sqrt2);
    });
}

/// a[M, K] times b[K, N]; a[K, M] if `transposed`.
numbers product(const numbers& a, const numbers& b, bool transposed) {
    need_rank(a, 2);
    need_rank(b, 2);
    const std::uint64_t m = a.shape[transposed ? 1 : 0], k = a.shape[transposed ? 0 : 1],
                        n = b.shape[1];
    need_equal(k, b.shape[0], "contracted dimensions");
    numbers out{{m, n}, std::vector<double>(m * n)};
    for (std::uint64_t i = 0; i < m; ++i)
        for (std::uint64_t j = 0; j < k; ++j) {
            const double factor = a.values[transposed ? j * m + i : i * k + j];
            for (std::uint64_t l = 0; l < n; ++l)
                out.values[i * n + l] += factor * b.values[j * n + l];
        }
    return out;
}
numbers matmul(operands inputs) {
    return product(inputs[0], inputs[1], false);
}
numbers matmul_transposed(operands inputs) {
    return product(inputs[0], inputs[1], true);
}
numbers transpose(operands inputs) {
    need_rank(inputs[0], 2);
    const std::uint64_t rows = inputs[0].shape[0], columns = inputs[0].shape[1];
    numbers out{{columns, rows}, inputs[0].values};
    for (std::uint64_t i = 0; i < rows; ++i)
        for (std::uint64_t j = 0; j < columns; ++j)
            out.values[j * rows + i] = inputs[0].values[i * columns + j];
    return out;
}

template <typename Function>
numbers each_row(const numbers& x, Function&& function) {
    numbers out = x;
    const std::uint64_t size = std::max<std::uint64_t>(x.last(), 1);
    for (std::uint64_t begin = 0; begin + size <= out.values.size(); begin += size)
        function(std::span(out.values).subspan(begin, size));
    return out;
}

void normalise_exponentials(std::span<double> row) {
    const double largest = *std::ranges::max_element(row);
    double sum = 0;
    for (double& value : row) sum += value = std::exp(value - largest);
    for (double& value : row) value /= sum;
}
numbers softmax(operands inputs) {
    return each_row(inputs[0], normalise_exponentials);
}

/// Operands: input, gain and bias of the last dimension.
numbers layer_norm(operands inputs) {
    constexpr double epsilon = 1e-5;
    need_equal(inputs[1].values.size(), inputs[0].last(), "last dimension and gain");
    need_equal(inputs[2].values.size(), inputs[0].last(), "last dimension and bias");
    return each_row(inputs[0], [&](std::span<double> row) {
        double mean = 0, variance = 0;
        for (const double value : row) mean += value;
        mean /= static_cast<double>(row.size());
        for (const double value : row) variance += (value - mean) * (value - mean);
        variance /= static_cast<double>(row.size());
        for (std::size_t i = 0; i < row.size(); ++i)
            row[i] = (row[i] - mean) / std::sqrt(variance + epsilon) * inputs[1].values[i] +
                     inputs[2].values[i];
    });
}

/// softmax(q kT / sqrt(d)) v of q[M, d], k[N, d], v[N, e].
numbers attention(operands inputs) {
    need_rank(inputs[0], 2);
    const numbers k[] = {inputs[1]};
    numbers scores = product(inputs[0], transpose(k), false);
    const double scale = 1 / std::sqrt(static_cast<double>(inputs[0].shape[1]));
    for (double& value : scores.values) value *= scale;
    return product(each_row(scores, normalise_exponentials), inputs[2], false);
}

constexpr named_reference named_references[] = {
    {"copy", 1, "x", copy},
    {"add", 2, "a + b", add},
    {"subtract", 2, "a - b", subtract},
    {"multiply", 2, "a x b, element by element", multiply},
    {"exp", 1, "e^x", exponential},
    {"relu", 1, "max(x, 0)", relu},
    {"gelu", 1, "x (1 + erf(x / sqrt 2)) / 2", gelu},
    {"matmul", 2, "a[M, K] b[K, N]", matmul},
    {"matmul_transposed", 2, "a[K, M] transposed, times b[K, N]", matmul_transposed},
    {"transpose", 1, "of two dimensions", transpose},
    {"softmax", 1, "over the last dimension", softmax},
    {"layer_norm", 3, "of x over its last dimension, with gain and bias, epsilon 1e-5", layer_norm},
    {"attention", 3, "softmax(q kT / sqrt d) v of q[M, d], k[N, d], v[N, e]", attention},
};

const named_reference* find(const std::string& text) {
    const auto name = std::string_view(text).substr(0, text.find('('));
    const auto found = std::ranges::find(named_references, name, &named_reference::name);
    return text.ends_with(')') && found != std::end(named_references) ? found : nullptr;
}

}  // namespace

bool is_reference(const std::string& text) {
    return find(text) != nullptr;
}

std::string reference_names() {
    std::string names;
    for (const named_reference& entry : named_references)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
    return names;
}

numbers reference_of(const std::string& text,
                     const std::function<numbers(const std::string& name)>& tensor_of) {
    const named_reference* reference = find(text);
    if (reference == nullptr) refuse(fmt::format("'{}' is not a reference", text));
    std::vector<numbers> inputs;
    const std::size_t begin = text.find('(') + 1;
    std::string_view rest = std::string_view(text).substr(begin, text.size() - 1 - begin);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        std::string_view name = rest.substr(0, end);
        while (name.starts_with(' ')) name.remove_prefix(1);
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (inputs.size() <= reference->count) inputs.push_back(tensor_of(std::string(name)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (inputs.size() != reference->count)
        refuse(fmt::format("{} takes {} operands: {}", reference->name, reference->count,
                           reference->doc));
    return reference->result(inputs);
}

}  // namespace trn::tensors
