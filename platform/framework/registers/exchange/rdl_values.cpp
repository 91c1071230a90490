// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/exchange/rdl_values.h"

#include <algorithm>
#include <bit>

#include "platform/framework/registers/exchange/rdl_words.h"

namespace trn::registers::rdl {

namespace {

constexpr std::size_t max_steps = 5'000'000;
constexpr int max_open = 32;

std::uint64_t ones(unsigned width) {
    return width >= 64 ? ~0ull : (1ull << width) - 1;
}
value number_of(std::uint64_t number, unsigned width = 64) {
    return {.kind = value_kind::number, .number = number & ones(width), .width = width};
}
value truth(bool holds) {
    return {.kind = value_kind::boolean, .number = holds ? 1u : 0u, .width = 1};
}
const config::place& place_of(const expression& e) {
    const auto* first = &e;
    while (first->token.place.line == 0 && !first->operands.empty()) first = &first->operands[0];
    return first->token.place;
}

}  // namespace

void evaluator::count(const config::place& place, std::size_t steps) const {
    steps_ += steps;
    if (steps_ > max_steps)
        reader_.refuse(place, mistake::too_many_values,
                       "more than 5,000,000 steps to compute properties and values");
}

value evaluator::evaluate(const expression& e, const scope& in) const {
    count(place_of(e));
    switch (e.kind) {
    case expression_kind::number:
        return number_of(e.token.value, e.token.width);
    case expression_kind::text:
        return {.kind = value_kind::text, .text = e.token.text};
    case expression_kind::reference:
        return reference(e, in);
    case expression_kind::enumerator: {
        const scope* found = nullptr;
        const auto* list = find_enumeration(e.words[0], in, &found);
        if (list != nullptr)
            for (const auto& each : entries(*list, *found).entries)
                if (each.name == e.words[1]) return number_of(each.value);
        reader_.refuse(e.token.place, mistake::not_a_choice,
                       fmt::format("no value '{}::{}'", e.words[0], e.words[1]));
    }
    case expression_kind::unary:
        return unary(e, in);
    case expression_kind::binary:
        return binary(e, in);
    case expression_kind::choice:
        return evaluate(e.operands[evaluate(e.operands[0], in).is_true() ? 1 : 2], in);
    case expression_kind::cast:
        return cast(e, in);
    case expression_kind::join:
    case expression_kind::repeat:
        return join(e, in);
    case expression_kind::array:
        break;
    }
    return {.kind = value_kind::array};
}

std::uint64_t evaluator::number(const expression& e, const scope& in) const {
    return operand(e, in).number;
}

value evaluator::operand(const expression& e, const scope& in) const {
    return as_number(evaluate(e, in), e);
}

value evaluator::as_number(value result, const expression& e) const {
    if (result.kind != value_kind::number && result.kind != value_kind::boolean)
        reader_.refuse(place_of(e), mistake::not_a_number,
                       result.kind == value_kind::reference
                           ? fmt::format("no parameter '{}'", printable(result.text))
                           : "a number is expected");
    return result;
}

void evaluator::too_large(const expression& e) const {
    reader_.refuse(e.token.place, mistake::out_of_range,
                   "the result is negative, or needs more than 64 bits");
}

const enumeration* evaluator::find_enumeration(const std::string& name, const scope& in,
                                               const scope** found_in) const {
    for (const scope* s = &in; s != nullptr; s = s->outer)
        if (const auto found = s->type->enumerations.find(name);
            found != s->type->enumerations.end()) {
            *found_in = s;
            return &found->second;
        }
    return nullptr;
}

value evaluator::entries(const enumeration& e, const scope& in) const {
    value out{.kind = value_kind::values};
    count(e.name.place, e.entries.size());
    if (++open_ > max_open)
        reader_.refuse(e.name.place, mistake::nested_too_deep,
                       fmt::format("the values of '{}' are of themselves, or of more than {} other "
                                   "enums",
                                   e.name.text, max_open));
    std::uint64_t next = 0;
    for (const auto& entry : e.entries) {
        if (entry.value) next = number(*entry.value, in);
        out.entries.push_back({entry.name.text, next, entry.name.place});
        ++next;
    }
    --open_;
    return out;
}

value evaluator::reference(const expression& e, const scope& in) const {
    const auto& word = e.words[0];
    if (e.words.size() == 1 && !e.has_index && !e.is_of_property) {
        if (e.token.is("true") || e.token.is("false")) return truth(word == "true");
        for (const scope* s = &in; s != nullptr; s = s->outer)
            if (const auto found = s->parameters.find(word); found != s->parameters.end())
                return found->second;
        if (!e.token.is_escaped &&
            std::ranges::find(rdl_value_words, word) != rdl_value_words.end())
            return {.kind = value_kind::word, .text = word};
    }
    return {.kind = value_kind::reference, .text = word};
}

value evaluator::unary(const expression& e, const scope& in) const {
    const auto a = operand(e.operands[0], in);
    const auto& sign = e.token.text;
    const auto all = ones(a.width);
    if (sign == "+") return a;
    if (sign == "-") return number_of(~a.number + 1, a.width);
    if (sign == "~") return number_of(~a.number, a.width);
    if (sign == "!") return truth(a.number == 0);
    if (sign == "&") return number_of(a.number == all ? 1 : 0, 1);
    if (sign == "~&") return number_of(a.number == all ? 0 : 1, 1);
    if (sign == "|") return number_of(a.number != 0 ? 1 : 0, 1);
    if (sign == "~|") return number_of(a.number != 0 ? 0 : 1, 1);
    const auto parity = static_cast<std::uint64_t>(std::popcount(a.number) % 2);
    return number_of(sign == "^" ? parity : 1 - parity, 1);
}

value evaluator::binary(const expression& e, const scope& in) const {
    const auto& sign = e.token.text;
    value a = evaluate(e.operands[0], in);
    value b = evaluate(e.operands[1], in);
    const auto is_text = [](const value& v) {
        return v.kind == value_kind::text || v.kind == value_kind::word;
    };
    if ((sign == "==" || sign == "!=") && is_text(a) && is_text(b))
        return truth((a.text == b.text) == (sign == "=="));
    return compute(e, as_number(std::move(a), e.operands[0]),
                   as_number(std::move(b), e.operands[1]));
}

value evaluator::compute(const expression& e, const value& a, const value& b) const {
    const auto& sign = e.token.text;
    const auto x = a.number;
    const auto y = b.number;
    const unsigned width = std::max(a.width, b.width);
    std::uint64_t result = 0;
    if (sign == "||") return truth(x != 0 || y != 0);
    if (sign == "&&") return truth(x != 0 && y != 0);
    if (sign == "==") return truth(x == y);
    if (sign == "!=") return truth(x != y);
    if (sign == "<") return truth(x < y);
    if (sign == "<=") return truth(x <= y);
    if (sign == ">") return truth(x > y);
    if (sign == ">=") return truth(x >= y);
    if (sign == "|") return number_of(x | y, width);
    if (sign == "&") return number_of(x & y, width);
    if (sign == "^") return number_of(x ^ y, width);
    if (sign == "^~" || sign == "~^") return number_of(~(x ^ y), width);
    if (sign == ">>") return number_of(y < 64 ? x >> y : 0, a.width);
    if (sign == "<<") {
        if (x != 0 && (y >= 64 || (x << y) >> y != x)) too_large(e);
        result = y < 64 ? x << y : 0;
        return number_of(result, result <= ones(a.width) ? a.width : 64);
    }
    if (sign == "/" || sign == "%") {
        if (y == 0) reader_.refuse(e.token.place, mistake::out_of_range, "division by zero");
        return number_of(sign == "/" ? x / y : x % y, width);
    }
    if (sign == "+"   ? __builtin_add_overflow(x, y, &result)
        : sign == "-" ? __builtin_sub_overflow(x, y, &result)
                      : sign == "*" && __builtin_mul_overflow(x, y, &result))
        too_large(e);
    if (sign == "**") {
        result = 1;
        if (x > 1 && y > 63) too_large(e);
        for (std::uint64_t n = x > 1 ? y : (x == 0 && y != 0 ? 1 : 0); n > 0; --n)
            if (__builtin_mul_overflow(result, x, &result)) too_large(e);
    }
    return number_of(result, result <= ones(width) ? width : 64);
}

value evaluator::cast(const expression& e, const scope& in) const {
    const auto& type = e.operands[0];
    const auto a = operand(e.operands[1], in);
    if (type.token.is("boolean")) return truth(a.number != 0);
    if (type.token.is("longint")) return number_of(a.number);
    const std::uint64_t width = type.token.is("bit") ? 1 : number(type, in);
    if (width == 0 || width > 64)
        reader_.refuse(e.token.place, mistake::out_of_range, "a number has 1 to 64 bits");
    return number_of(a.number, static_cast<unsigned>(width));
}

value evaluator::join(const expression& e, const scope& in) const {
    std::uint64_t times = 1;
    std::size_t first = 0;
    if (e.kind == expression_kind::repeat) {
        times = number(e.operands[0], in);
        first = 1;
    }
    if (times > 64) too_large(e);
    std::vector<value> parts;
    for (std::size_t i = first; i < e.operands.size(); ++i) {
        parts.push_back(evaluate(e.operands[i], in));
        if (parts.back().kind != value_kind::text) as_number(parts.back(), e.operands[i]);
    }
    value out = number_of(0);
    out.width = 0;
    std::string text;
    bool is_text = false;
    for (; times > 0; --times)
        for (const auto& part : parts) {
            is_text = is_text || part.kind == value_kind::text;
            text += part.text;
            out.width += part.kind == value_kind::text ? 0 : part.width;
            if (out.width > 64 || text.size() > 65536) too_large(e);
            if (part.kind != value_kind::text)
                out.number = (part.width < 64 ? out.number << part.width : 0) | part.number;
        }
    if (is_text) return {.kind = value_kind::text, .text = std::move(text)};
    out.width = std::max(out.width, 1u);
    return out;
}

}  // namespace trn::registers::rdl
