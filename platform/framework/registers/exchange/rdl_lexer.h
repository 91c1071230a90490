// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/registers/exchange/foreign_reader.h"

namespace trn::registers {

enum class token_kind : std::uint8_t { end, word, number, text, sign };

struct rdl_token {
    token_kind kind{};
    std::string text = {};    ///< of a text, without quotes and escapes
    std::uint64_t value = 0;  ///< of a number
    unsigned width = 64;      ///< of a number, bits
    config::place place = {};
    bool is_escaped = false;  ///< a word with a backslash is no keyword

    bool is(std::string_view sign_or_word) const {
        return (kind == token_kind::sign || (kind == token_kind::word && !is_escaped)) &&
               text == sign_or_word;
    }
};

/// Splits SystemRDL into tokens. Comments and parts excluded by `ifdef are left out; other
/// directives and Perl are refused.
class rdl_lexer {
public:
    explicit rdl_lexer(const foreign_reader& reader) : reader_(reader), text_(reader.file().text) {}

    /// All tokens; the last one is the end.
    std::vector<rdl_token> all();

private:
    bool skip_space();
    void directive();
    rdl_token next();
    rdl_token word();
    rdl_token number();
    void sized_number(rdl_token& token);
    rdl_token quoted();
    rdl_token sign();
    std::string take_word();

    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    void advance(std::size_t count = 1);
    config::place place(int length = 1) const { return {line_, column_, length}; }

    const foreign_reader& reader_;
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    int column_ = 1;
    struct condition {
        bool is_active, was_active, is_outer_active;
        config::place place;
    };
    std::vector<condition> conditions_;
    std::set<std::string> defined_;
};

}  // namespace trn::registers
