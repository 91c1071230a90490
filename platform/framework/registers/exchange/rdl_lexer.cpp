// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/exchange/rdl_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace trn::registers {

namespace {

constexpr std::size_t max_tokens = 1'000'000;
constexpr std::size_t max_conditions = 32;

bool is_word_char(char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
int digit_of(char c) {
    if (is_digit(c)) return c - '0';
    const int lower = std::tolower(static_cast<unsigned char>(c));
    return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

/// Adds a digit; false if the value needs more than 64 bits.
bool append(std::uint64_t& value, unsigned base, int digit) {
    std::uint64_t product = 0;
    return !__builtin_mul_overflow(value, base, &product) &&
           !__builtin_add_overflow(product, static_cast<std::uint64_t>(digit), &value);
}

}  // namespace

std::vector<rdl_token> rdl_lexer::all() {
    std::vector<rdl_token> tokens;
    for (;;) {
        const bool more = skip_space();
        if (!more) break;
        if (peek() == '`') {
            directive();
            continue;
        }
        if (peek() == '<' && peek(1) == '%')
            reader_.unsupported(place(2), "Perl in SystemRDL",
                                "give the file that Perl has made of it");
        if (!conditions_.empty() && !conditions_.back().is_active) {
            advance();
            continue;
        }
        tokens.push_back(next());
        if (tokens.size() > max_tokens)
            reader_.refuse(place(), mistake::too_many_values,
                           "more than 1,000,000 words and signs");
    }
    if (!conditions_.empty())
        reader_.refuse(conditions_.back().place, mistake::not_yaml, "`endif is missing");
    tokens.push_back({.place = place()});
    return tokens;
}

void rdl_lexer::advance(std::size_t count) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_)
        if (text_[at_] == '\n') {
            ++line_;
            column_ = 1;
        } else {
            ++column_;
        }
}

/// To the next character that is no space and in no comment; false at the end.
bool rdl_lexer::skip_space() {
    while (at_ < text_.size()) {
        if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
            advance();
        } else if (peek() == '/' && peek(1) == '/') {
            while (at_ < text_.size() && peek() != '\n') advance();
        } else if (peek() == '/' && peek(1) == '*') {
            const auto begin = place(2);
            const auto end = text_.find("*/", at_ + 2);
            if (end == text_.npos)
                reader_.refuse(begin, mistake::not_yaml, "the comment does not end");
            advance(end + 2 - at_);
        } else {
            return true;
        }
    }
    return false;
}

std::string rdl_lexer::take_word() {
    std::string out;
    while (is_word_char(peek())) {
        out += peek();
        advance();
    }
    return out;
}

/// `ifdef, `ifndef, `elsif, `else, `endif, `define without a value, `undef.
void rdl_lexer::directive() {
    auto begin = place();
    advance();
    const std::string name = take_word();
    begin.length = static_cast<int>(name.size() + 1);
    const bool is_active = conditions_.empty() || conditions_.back().is_active;
    const auto argument = [&] {
        while (peek() == ' ' || peek() == '\t') advance();
        auto word = take_word();
        if (word.empty())
            reader_.refuse(begin, mistake::not_yaml, fmt::format("`{} has no name", name));
        return word;
    };
    if (name == "ifdef" || name == "ifndef") {
        if (conditions_.size() >= max_conditions)
            reader_.refuse(begin, mistake::nested_too_deep, "conditions nested deeper than 32");
        const bool holds = defined_.contains(argument()) == (name == "ifdef");
        conditions_.push_back({is_active && holds, holds, is_active, begin});
    } else if (name == "else" || name == "elsif") {
        if (conditions_.empty())
            reader_.refuse(begin, mistake::not_yaml, fmt::format("`{} without `ifdef", name));
        auto& c = conditions_.back();
        const bool holds = !c.was_active && (name == "else" || defined_.contains(argument()));
        c.is_active = c.is_outer_active && holds;
        c.was_active = c.was_active || holds;
    } else if (name == "endif") {
        if (conditions_.empty()) reader_.refuse(begin, mistake::not_yaml, "`endif without `ifdef");
        conditions_.pop_back();
    } else if (!is_active) {
        return;
    } else if (name == "define") {
        const std::string macro = argument();
        while (peek() == ' ' || peek() == '\t' || peek() == '\r') advance();
        if (at_ < text_.size() && peek() != '\n' && !(peek() == '/' && peek(1) == '/'))
            reader_.unsupported(begin, "a macro with a value",
                                "give the file after the preprocessor");
        defined_.insert(macro);
    } else if (name == "undef") {
        defined_.erase(argument());
    } else if (name == "include") {
        reader_.unsupported(begin, "`include", "give one file, in which the included text stands");
    } else {
        reader_.unsupported(begin, fmt::format("the directive `{}", name.substr(0, 40)),
                            "give the file after the preprocessor");
    }
}

rdl_token rdl_lexer::next() {
    if (is_digit(peek())) return number();
    if (is_word_char(peek()) || (peek() == '\\' && is_word_char(peek(1)))) return word();
    if (peek() == '"') return quoted();
    return sign();
}

rdl_token rdl_lexer::word() {
    rdl_token token{.kind = token_kind::word, .place = place()};
    if (peek() == '\\') {
        token.is_escaped = true;
        advance();
    }
    token.text = take_word();
    token.place.length = static_cast<int>(token.text.size());
    return token;
}

/// 12, 0x1f, 8'hff; `_` between digits.
rdl_token rdl_lexer::number() {
    rdl_token token{.kind = token_kind::number, .place = place()};
    const std::size_t begin = at_;
    unsigned base = 10;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
        base = 16;
        advance(2);
        if (digit_of(peek()) >= 16)
            reader_.refuse(token.place, mistake::not_a_number, "0x without digits");
    }
    for (; is_word_char(peek()); advance()) {
        if (peek() == '_') continue;
        const int digit = digit_of(peek());
        if (digit >= static_cast<int>(base))
            reader_.refuse(place(), mistake::not_a_number, "a number ends in letters");
        if (!append(token.value, base, digit))
            reader_.refuse(token.place, mistake::out_of_range,
                           "the number needs more than 64 bits");
    }
    if (base == 10 && peek() == '\'' &&
        std::string_view("bdhoBDHO").find(peek(1)) != std::string_view::npos)
        sized_number(token);
    token.place.length = static_cast<int>(at_ - begin);
    token.text = text_.substr(begin, at_ - begin);
    return token;
}

void rdl_lexer::sized_number(rdl_token& token) {
    if (token.value == 0 || token.value > 64)
        reader_.refuse(token.place, mistake::out_of_range, "a number has 1 to 64 bits");
    token.width = static_cast<unsigned>(token.value);
    token.value = 0;
    advance();
    const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(peek())));
    const unsigned base = kind == 'b' ? 2 : kind == 'o' ? 8 : kind == 'd' ? 10 : 16;
    advance();
    bool has_digit = false;
    for (; is_word_char(peek()); advance()) {
        if (peek() == '_') continue;
        const int digit = digit_of(peek());
        has_digit = true;
        if (digit >= static_cast<int>(base))
            reader_.refuse(place(), mistake::not_a_number,
                           fmt::format("no digit of base {}", base));
        if (!append(token.value, base, digit))
            reader_.refuse(token.place, mistake::out_of_range,
                           "the number needs more than 64 bits");
    }
    if (!has_digit) reader_.refuse(token.place, mistake::not_a_number, "a number without digits");
    if (token.width < 64 && token.value >> token.width != 0)
        reader_.refuse(token.place, mistake::reset_too_wide,
                       fmt::format("the number does not fit {} bits", token.width));
}

rdl_token rdl_lexer::quoted() {
    rdl_token token{.kind = token_kind::text, .place = place()};
    advance();
    while (peek() != '"') {
        if (at_ >= text_.size())
            reader_.refuse(token.place, mistake::not_yaml, "the text has no closing quote");
        if (peek() == '\\' && (peek(1) == '"' || peek(1) == '\\')) advance();
        token.text += peek();
        advance();
    }
    advance();
    return token;
}

rdl_token rdl_lexer::sign() {
    static constexpr std::array<std::string_view, 19> signs{
        "'{", "->", "::", "+=", "%=", "==", "!=", "<=", ">=", "<<",
        ">>", "&&", "||", "**", "~&", "~|", "~^", "^~", "'("};
    rdl_token token{.kind = token_kind::sign, .place = place()};
    const auto* const two = std::ranges::find_if(
        signs, [&](std::string_view s) { return text_.substr(at_).starts_with(s); });
    token.text = two != signs.end() ? std::string(*two) : std::string(1, peek());
    token.place.length = static_cast<int>(token.text.size());
    static constexpr std::string_view single = "{}()[];:,.=@#?+-*/%<>&|^~!'";
    if (two == signs.end() && single.find(peek()) == single.npos)
        reader_.refuse(token.place, mistake::not_yaml,
                       fmt::format("'{}' has no meaning in SystemRDL", printable(token.text)));
    advance(token.text.size());
    return token;
}

}  // namespace trn::registers
