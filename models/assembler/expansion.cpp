// SPDX-License-Identifier: Apache-2.0
#include "models/assembler/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace trn::isa {

namespace {

constexpr std::size_t max_lines = 1 << 20;
constexpr std::uint64_t max_steps = 1 << 24;   // lines looked at, repetitions included
constexpr unsigned max_depth = 32;             // of parentheses, definitions and repetitions
constexpr std::size_t max_line_bytes = 4'096;  // of an expanded line

struct expansion_error {
    mistake code;
    std::size_t at;
    std::string message, suggestion = {};
};

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// The name that `text` begins with, "" if none.
std::string_view name_in(std::string_view text) {
    if (text.empty() || !begins_name(text.front())) return {};
    std::size_t end = 1;
    while (end < text.size() && (begins_name(text[end]) || is_digit(text[end]))) ++end;
    return text.substr(0, end);
}

struct names {
    std::map<std::string, std::int64_t, std::less<>> constants;
    std::map<std::string, std::string, std::less<>> definitions;
};

/// Evaluates sums and products of whole numbers; `origin` is the column of `text` in its line.
class expression {
public:
    expression(std::string_view text, std::size_t origin, const names& known)
        : text_(text), origin_(origin), known_(known) {}

    std::int64_t value() {
        const std::int64_t result = sum(0);
        if (at() != text_.size())
            fail(mistake::wrong_shape, "expected + - * / %, or the end of the expression");
        return result;
    }

private:
    [[noreturn]] void fail(mistake code, std::string message, std::string suggestion = {}) const {
        throw expansion_error{code, origin_ + at_, std::move(message), std::move(suggestion)};
    }
    std::size_t at() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        return at_;
    }
    char accept(std::string_view any) {
        if (at() == text_.size() || any.find(text_[at_]) == std::string_view::npos) return 0;
        return text_[at_++];
    }

    std::int64_t apply(char op, std::int64_t a, std::int64_t b) const {
        std::int64_t result = 0;
        bool overflow = false;
        switch (op) {
        case '+':
            overflow = __builtin_add_overflow(a, b, &result);
            break;
        case '-':
            overflow = __builtin_sub_overflow(a, b, &result);
            break;
        case '*':
            overflow = __builtin_mul_overflow(a, b, &result);
            break;
        default:
            if (b == 0) fail(mistake::out_of_range, "division by 0");
            overflow = a == std::numeric_limits<std::int64_t>::min() && b == -1;
            if (!overflow) result = op == '/' ? a / b : a % b;
        }
        if (overflow) fail(mistake::out_of_range, "the value has more than 64 bits");
        return result;
    }

    std::int64_t sum(unsigned depth) {
        std::int64_t left = product(depth);
        while (const char op = accept("+-")) left = apply(op, left, product(depth));
        return left;
    }
    std::int64_t product(unsigned depth) {
        std::int64_t left = unary(depth);
        while (const char op = accept("*/%")) left = apply(op, left, unary(depth));
        return left;
    }
    std::int64_t unary(unsigned depth) {
        if (depth == max_depth) fail(mistake::nested_too_deep, "the expression is nested too deep");
        if (accept("-") != 0) return apply('-', 0, unary(depth + 1));
        if (accept("(") != 0) {
            const std::int64_t inner = sum(depth + 1);
            if (accept(")") == 0) fail(mistake::wrong_shape, "expected ')'");
            return inner;
        }
        return operand();
    }
    std::int64_t operand() {
        const std::string_view rest = text_.substr(at());
        if (const std::string_view name = name_in(rest); !name.empty()) {
            const auto found = known_.constants.find(name);
            if (found == known_.constants.end()) unknown(name);
            at_ += name.size();
            return found->second;
        }
        const bool hex = rest.starts_with("0x");
        const char* const begin = rest.data() + (hex ? 2 : 0);
        std::int64_t number = 0;
        const auto [end, failed] =
            std::from_chars(begin, rest.data() + rest.size(), number, hex ? 16 : 10);
        if (failed == std::errc::result_out_of_range)
            fail(mistake::out_of_range, "the number has more than 64 bits");
        if (failed != std::errc{})
            fail(mistake::not_a_number, "expected a number, a constant or '('");
        at_ += static_cast<std::size_t>(end - rest.data());
        return number;
    }
    [[noreturn]] void unknown(std::string_view name) const {
        std::vector<std::string_view> known;
        for (const auto& [one, value] : known_.constants) known.emplace_back(one);
        fail(mistake::unknown_variable, fmt::format("no constant '{}'", name),
             suggest(name, std::span<const std::string_view>(known)));
    }

    std::string_view text_;
    const std::size_t origin_;
    const names& known_;
    std::size_t at_ = 0;
};

class expander {
public:
    expander(std::string_view text, const std::string& file, diagnostics& mistakes)
        : file_(file), mistakes_(mistakes) {
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            lines_.push_back(text.substr(at, end - at));
            at = end + 1;
        }
    }

    std::vector<source_line> expand() {
        block(0, lines_.size(), 0);
        return std::move(out_);
    }

private:
    void report(std::size_t line, const expansion_error& error) {
        ++reported_;
        mistakes_.add({error.code, file_, static_cast<int>(line) + 1,
                       static_cast<int>(error.at) + 1, error.message, std::string(lines_[line]), 1,
                       error.suggestion});
    }

    /// The directive of a line and what follows it without its comment; "" for other lines.
    static std::pair<std::string_view, std::string_view> directive(std::string_view line) {
        const std::string_view code = trimmed(line.substr(0, line.find_first_of("#;")));
        for (const std::string_view word : {".set", ".define", ".repeat", ".end"})
            if (code.starts_with(word) &&
                (code.size() == word.size() || is_space(code[word.size()])))
                return {word, trimmed(code.substr(word.size()))};
        return {};
    }
    std::size_t column(std::size_t line, std::string_view part) const {
        return part.empty() ? 0 : static_cast<std::size_t>(part.data() - lines_[line].data());
    }

    /// The line of the .end of the .repeat at `line`, or `end`.
    std::size_t end_of(std::size_t line, std::size_t end) {
        std::size_t open = 0;
        for (std::size_t n = line; n < end; ++n) {
            count_step();
            const std::string_view word = directive(lines_[n]).first;
            if (word == ".repeat") ++open;
            if (word == ".end" && --open == 0) return n;
        }
        return end;
    }

    void count_step() {
        if (++steps_ <= max_steps) return;
        full_ = true;
        throw expansion_error{mistake::out_of_range, 0, "the repetitions are too many"};
    }

    void block(std::size_t begin, std::size_t end, unsigned depth) {
        for (std::size_t n = begin; n < end && !full_; ++n) {
            const auto [word, rest] = directive(lines_[n]);
            std::size_t last = n;
            try {
                count_step();
                if (word == ".repeat") {
                    last = end_of(n, end);
                    repeat(n, last, end, rest, depth);
                } else if (word == ".end") {
                    throw expansion_error{mistake::wrong_shape, 0, ".end without .repeat"};
                } else if (word == ".set") {
                    const auto [name, value] = named(n, rest, "a constant and its value");
                    names_.constants.insert_or_assign(std::string(name), evaluate(n, value));
                } else if (word == ".define") {
                    const auto [name, value] = named(n, rest, "a name and its text");
                    names_.definitions.insert_or_assign(std::string(name), std::string(value));
                } else {
                    line(n);
                }
            } catch (const expansion_error& error) {
                report(n, error);
            }
            n = last;
        }
    }

    std::pair<std::string_view, std::string_view> named(std::size_t line, std::string_view rest,
                                                        std::string_view expected) const {
        const std::string_view name = name_in(rest);
        const std::string_view value = trimmed(rest.substr(name.size()));
        if (name.empty() || value.empty() || !is_space(rest[name.size()]))
            throw expansion_error{mistake::wrong_shape, column(line, rest),
                                  fmt::format("expected {}", expected)};
        return {name, value};
    }
    std::int64_t evaluate(std::size_t line, std::string_view text) const {
        return expression(text, column(line, text), names_).value();
    }

    void repeat(std::size_t first, std::size_t last, std::size_t end, std::string_view rest,
                unsigned depth) {
        if (last == end) throw expansion_error{mistake::wrong_shape, 0, ".repeat without .end"};
        if (depth == max_depth)
            throw expansion_error{mistake::nested_too_deep, 0, ".repeat is nested too deep"};
        const auto [name, text] = named(first, rest, "a name and a count");
        const std::int64_t count = evaluate(first, text);
        if (count < 0 || count > static_cast<std::int64_t>(max_lines))
            throw expansion_error{mistake::out_of_range, column(first, text),
                                  fmt::format("expected a count of 0 to {}", max_lines)};
        const std::string index(name);
        const auto outer = names_.constants.find(index);
        const bool hidden = outer != names_.constants.end();
        const std::int64_t before = hidden ? outer->second : 0;
        const std::size_t reported = reported_;  // a mistake is reported once
        for (std::int64_t n = 0; n < count && !full_ && reported == reported_; ++n) {
            count_step();
            names_.constants.insert_or_assign(index, n);
            block(first + 1, last, depth + 1);
        }
        if (hidden)
            names_.constants[index] = before;
        else
            names_.constants.erase(index);
    }

    void line(std::size_t n) {
        if (out_.size() == max_lines) {
            full_ = true;
            throw expansion_error{mistake::out_of_range, 0,
                                  fmt::format("a program has at most {} lines", max_lines)};
        }
        const std::string_view text = lines_[n];
        const std::string_view code = text.substr(0, text.find_first_of("#;"));
        out_.push_back({static_cast<int>(n) + 1, replaced(n, code, 0)});
    }

    /// `text` with each {...} replaced. `text` is a part of line n, or of a definition used there.
    std::string replaced(std::size_t n, std::string_view text, unsigned depth) const {
        std::string result;
        while (!text.empty()) {
            const std::size_t open = text.find('{');
            result += text.substr(0, open);
            if (result.size() > max_line_bytes)
                throw expansion_error{mistake::out_of_range, 0, "the expanded line is too long"};
            if (open == std::string_view::npos) break;
            const std::size_t close = text.find('}', open);
            const std::size_t at = depth == 0 ? column(n, text) + open : 0;
            if (close == std::string_view::npos)
                throw expansion_error{mistake::wrong_shape, at, "'{' without '}'"};
            const std::string_view inner = trimmed(text.substr(open + 1, close - open - 1));
            const auto definition = names_.definitions.find(inner);
            if (definition != names_.definitions.end()) {
                if (depth == max_depth)
                    throw expansion_error{mistake::nested_too_deep, at,
                                          fmt::format("'{}' is defined by itself", inner)};
                result += replaced(n, definition->second, depth + 1);
            } else {
                result += std::to_string(expression(inner, at + 1, names_).value());
            }
            text.remove_prefix(close + 1);
        }
        return result;
    }

    std::vector<std::string_view> lines_;
    const std::string& file_;
    diagnostics& mistakes_;
    names names_;
    std::vector<source_line> out_;
    std::uint64_t steps_ = 0;
    std::size_t reported_ = 0;
    bool full_ = false;  // at a limit
};

}  // namespace

std::vector<source_line> expand(std::string_view text, const std::string& file,
                                diagnostics& mistakes) {
    return expander(text, file, mistakes).expand();
}

}  // namespace trn::isa
