// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/selection/selection_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "platform/framework/config/diagnostics.h"

namespace trn::scenario {

namespace {

using node = selection_expression::node;
using operation = node::operation;

std::string lower(std::string_view text) {
    std::string all(text);
    for (auto& c : all)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return all;
}

/// `position` counts bytes from 0.
[[noreturn]] void refuse(std::string_view text, std::size_t position, std::size_t length,
                         const std::string& why) {
    const auto cells = [](std::string_view part) {
        return static_cast<std::size_t>(
            std::ranges::count_if(part, [](char c) { return (c & 0xc0) != 0x80; }));
    };
    const auto before = cells(text.substr(0, position));
    const auto marked = std::max<std::size_t>(cells(text.substr(position, length)), 1);
    throw std::invalid_argument(fmt::format("-k, column {}: {}\n    {}\n    {}{}", before + 1, why,
                                            text, std::string(before, ' '),
                                            std::string(marked, '^')));
}

/// Recursive descent: any = all ("or" all)*; all = one ("and" one)*; one = "not" one | "(" any ")"
/// | word.
class parser {
public:
    explicit parser(std::string_view text) : text_(text) { next(); }

    node whole() {
        auto all = any();
        if (token_.empty()) return all;
        if (token_ == ")") fail("this ')' closes nothing");
        fail(
            fmt::format("'and' or 'or' was expected before '{}'; a word with blanks is written "
                        "in quotes",
                        token_));
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        refuse(text_, start_, token_.size(), why);
    }
    bool is_operator(std::string_view word) const { return !quoted_ && token_ == word; }
    void next();
    node any() {
        return chain("or", operation::any, [this] { return all(); });
    }
    node all() {
        return chain("and", operation::all, [this] { return operand(); });
    }
    template <class Operand>
    node chain(std::string_view separator, operation kind, Operand operand);
    node operand();
    node word();

    const std::string_view text_;
    std::string_view token_;  // empty at the end; a word in quotes with them
    bool quoted_ = false;
    std::size_t start_ = 0, depth_ = 0;
};

void parser::next() {
    constexpr std::string_view blanks = " \t\n", ends = " \t\n()\"'";
    start_ = std::min(text_.find_first_not_of(blanks, start_ + token_.size()), text_.size());
    const char first = start_ < text_.size() ? text_[start_] : ')';
    quoted_ = first == '"' || first == '\'';
    std::size_t end = start_ + 1;
    if (quoted_) {
        end = text_.find(first, start_ + 1);
        if (end == text_.npos) refuse(text_, start_, 1, "this quotation does not end");
        ++end;
    } else if (first != '(' && first != ')') {
        end = std::min(text_.find_first_of(ends, start_), text_.size());
    }
    token_ = text_.substr(std::min(start_, text_.size()), end - start_);
}

template <class Operand>
node parser::chain(std::string_view separator, operation kind, Operand operand) {
    node list{.kind = kind};
    list.parts.push_back(operand());
    while (is_operator(separator)) {
        next();
        list.parts.push_back(operand());
    }
    return list.parts.size() == 1 ? std::move(list.parts.front()) : list;
}

node parser::operand() {
    if (++depth_ > selection_expression::max_depth)
        fail(fmt::format("more than {} levels of 'not' and '('", selection_expression::max_depth));
    node inner;
    if (is_operator("not")) {
        next();
        inner = {.kind = operation::negation};
        inner.parts.push_back(operand());
    } else if (is_operator("(")) {
        const auto open = start_;
        next();
        inner = any();
        if (token_.empty()) refuse(text_, open, 1, "this '(' is not closed");
        if (!is_operator(")"))
            fail(
                fmt::format("'and', 'or' or ')' was expected before '{}'; a "
                            "word with blanks is written in quotes",
                            token_));
        next();
    } else {
        inner = word();
    }
    --depth_;
    return inner;
}

node parser::word() {
    if (token_.empty()) fail("a word, 'not' or '(' was expected at the end");
    for (const std::string_view wrong : {")", "and", "or"})
        if (is_operator(wrong))
            fail(fmt::format("a word, 'not' or '(' was expected before '{}'", token_));
    if (!quoted_ && std::string_view("!&|").find(token_.front()) != std::string_view::npos)
        fail("the operators are 'and', 'or' and 'not'");
    const auto inner = quoted_ ? token_.substr(1, token_.size() - 2) : token_;
    if (inner.empty()) fail("an empty word");
    node made{
        .kind = operation::word, .word = lower(inner), .column = start_, .length = token_.size()};
    next();
    return made;
}

/// The texts in which words are sought, in lower case.
std::vector<std::string> texts_of(const scenario& run) {
    std::vector<std::string> all{lower(run.name),
                                 lower(std::filesystem::path(run.file).filename().string())};
    for (const auto& tag : run.tags) all.push_back(lower(tag));
    return all;
}

bool contain(const std::vector<std::string>& texts, const std::string& word) {
    return std::ranges::any_of(texts,
                               [&](const auto& text) { return text.find(word) != text.npos; });
}

bool holds(const node& part, const std::vector<std::string>& texts) {
    const auto inner = [&](const node& each) { return holds(each, texts); };
    switch (part.kind) {
    case operation::word:
        return contain(texts, part.word);
    case operation::negation:
        return !inner(part.parts.front());
    case operation::all:
        return std::ranges::all_of(part.parts, inner);
    case operation::any:
        return std::ranges::any_of(part.parts, inner);
    }
    return false;
}

/// The words of names, tags and files, for suggestions.
std::vector<std::string> known_words(std::span<const scenario> all) {
    std::vector<std::string> known;
    for (const auto& run : all)
        for (const auto& text : texts_of(run))
            for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
                end = text.find_first_of(" [],.", begin);
                if (const auto word = text.substr(begin, end - begin); !word.empty())
                    known.push_back(word);
            }
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return known;
}

}  // namespace

selection_expression selection_expression::parse(const std::string& text) {
    if (text.size() > max_length)
        throw std::invalid_argument(
            fmt::format("-k: an expression has at most {} characters", max_length));
    selection_expression made;
    made.text_ = text;
    made.root_ = parser(text).whole();
    return made;
}

bool selection_expression::selects(const scenario& run) const {
    return holds(root_, texts_of(run));
}

void selection_expression::check_words(std::span<const scenario> all) const {
    check_words(root_, all);
}

void selection_expression::check_words(const node& part, std::span<const scenario> all) const {
    if (part.kind == operation::negation) return;
    for (const auto& each : part.parts) check_words(each, all);
    if (part.kind != operation::word || std::ranges::any_of(all, [&](const auto& run) {
            return contain(texts_of(run), part.word);
        }))
        return;
    const auto hint = did_you_mean(part.word, known_words(all));
    refuse(text_, part.column, part.length,
           fmt::format("no scenario has '{}' in its name, tags or file{}", part.word,
                       hint.empty() ? "; --list shows them" : ": " + hint));
}

}  // namespace trn::scenario
