// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/misuse/allowance_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "platform/framework/misuse/policy.h"

namespace trn::misuse {

namespace {

constexpr std::array<std::string_view, 8> keys{"rule", "at",    "function", "line",
                                               "from", "until", "count",    "reason"};
constexpr std::uint64_t max_count = 1'000'000'000, max_line = 10'000'000;

/// The texts of an allowance by key, and its errors.
class texts {
public:
    virtual ~texts() = default;
    /// Nothing without the key, or after an error.
    virtual std::optional<std::string> find(std::string_view key) const = 0;
    virtual void refuse(std::string_view key, const config::refusal& why) const = 0;

    /// Nothing, and an error, for an empty text.
    std::optional<std::string> text(std::string_view key) const {
        auto found = find(key);
        if (!found || found->find_first_not_of(" \t\r\n") != found->npos) return found;
        refuse(key, {mistake::wrong_shape, fmt::format("'{}' must not be empty", key), ""});
        return std::nullopt;
    }
    /// Also refuses a comma, which separates the keys on the command line.
    std::optional<std::string> name(std::string_view key) const {
        auto found = text(key);
        if (!found || found->find(',') == found->npos) return found;
        refuse(key, {mistake::wrong_shape, fmt::format("'{}' must not have a comma", key), ""});
        return std::nullopt;
    }
    template <class T>
    std::optional<T> value(std::string_view key, config::parsed<T> (*parse)(std::string_view)) {
        const auto found = find(key);
        if (!found) return std::nullopt;
        const auto value = parse(*found);
        if (const auto* good = std::get_if<T>(&value)) return *good;
        refuse(key, std::get<config::refusal>(value));
        return std::nullopt;
    }
};

/// Splits "mailbox.c:120".
void read_line(const texts& texts, allowance& parsed) {
    const auto text = texts.name("line");
    if (!text) return;
    const auto colon = text->rfind(':');
    const auto number = config::parse_unsigned(
        colon == text->npos ? std::string_view() : std::string_view(*text).substr(colon + 1));
    const auto* line = std::get_if<std::uint64_t>(&number);
    if (line == nullptr || *line == 0 || *line > max_line || colon == 0)
        return texts.refuse(
            "line", {mistake::wrong_shape, fmt::format("'{}' is no source file with a line", *text),
                     "such as mailbox.c:120"});
    parsed.file = text->substr(0, colon);
    parsed.line = *line;
}

void read_times(texts& texts, allowance& parsed) {
    if (const auto begin = texts.value("from", config::parse_time)) parsed.from_ps = begin->value;
    const auto end = texts.value("until", config::parse_time);
    if (!end) return;
    parsed.until_ps = end->value;
    if (parsed.until_ps <= parsed.from_ps)
        texts.refuse(
            "until",
            {mistake::out_of_range,
             fmt::format("'until' must be after {}", to_string(picoseconds{parsed.from_ps})), ""});
}

allowance read(texts& texts) {
    allowance parsed;
    if (const auto name = texts.text("rule")) {
        if (const auto found = find(*name))
            parsed.broken = *found;
        else
            texts.refuse("rule",
                         {mistake::not_a_choice, fmt::format("there is no misuse rule '{}'", *name),
                          suggest_rule(*name)});
    }
    parsed.modules = texts.name("at").value_or("");
    parsed.function = texts.name("function").value_or("");
    read_line(texts, parsed);
    read_times(texts, parsed);
    if (const auto count = texts.value("count", config::parse_unsigned)) {
        parsed.count = *count;
        if (*count == 0 || *count > max_count)
            texts.refuse("count", {mistake::out_of_range,
                                   fmt::format("'count' must be 1 to {}", max_count), ""});
    }
    parsed.reason = texts.text("reason").value_or("");
    return parsed;
}

/// An allowance in a YAML file.
class node_texts final : public texts {
public:
    node_texts(const config::node& map, const text_of& text) : map_(map), text_(text) {
        map.only(keys, "an allowance");
        for (const auto* key : {"rule", "reason"}) failed_ |= !map.at(key);
    }
    std::optional<std::string> find(std::string_view key) const override {
        const auto value = map_.find(key);
        if (!value) return std::nullopt;
        auto text = text_(value);
        failed_ |= !text;
        return text;
    }
    void refuse(std::string_view key, const config::refusal& why) const override {
        failed_ = true;
        map_.find(key).report(why.code, why.message, why.suggestion);
    }
    bool failed() const { return failed_; }

private:
    const config::node map_;
    const text_of& text_;
    mutable bool failed_ = false;
};

/// An allowance on the command line. The first error is thrown.
class option_texts final : public texts {
public:
    option_texts(std::string_view text, std::string origin) : origin_(std::move(origin)) {
        for (bool more = true; more;) {
            const auto equals = text.find('=');
            const auto key = text.substr(0, std::min(equals, text.find(',')));
            if (std::ranges::find(keys, key) == keys.end())
                refuse(key, {mistake::unknown_key, fmt::format("an allowance has no key '{}'", key),
                             suggest(key, keys)});
            if (equals != key.size())
                refuse(key, {mistake::wrong_shape, fmt::format("'{}' has no value", key),
                             "such as rule=TRN-DMA-004,count=3,reason=..."});
            text.remove_prefix(equals + 1);
            const auto end = key == "reason" ? text.size() : std::min(text.find(','), text.size());
            if (find(key))
                refuse(key, {mistake::duplicate_key, fmt::format("'{}' is given twice", key), ""});
            values_.emplace_back(key, text.substr(0, end));
            more = end < text.size();
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        for (const auto* key : {"rule", "reason"})
            if (!find(key))
                refuse(key, {mistake::missing_key, fmt::format("'{}' is missing", key), ""});
    }
    std::optional<std::string> find(std::string_view key) const override {
        for (const auto& [known, text] : values_)
            if (known == key) return text;
        return std::nullopt;
    }
    [[noreturn]] void refuse(std::string_view, const config::refusal& why) const override {
        throw config_error(diagnostic{.code = why.code,
                                      .file = origin_,
                                      .message = why.message,
                                      .suggestion = why.suggestion});
    }

private:
    const std::string origin_;
    std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace

std::vector<allowance> read_allowances(const config::node& list, const text_of& text,
                                       const fault_of& fault) {
    std::vector<allowance> all;
    const auto items = list.items();
    if (items.size() > max_allowances) {
        list.report(mistake::out_of_range,
                    fmt::format("a list has at most {} allowances", max_allowances));
        return all;
    }
    for (const auto& item : items) {
        if (!item.is_map()) {
            item.report(mistake::wrong_shape, "an allowance is a mapping with 'rule' and 'reason'");
            continue;
        }
        node_texts texts(item, text);
        auto parsed = read(texts);
        parsed.place = fmt::format("{}:{}:{}", item.file(), item.place().line, item.place().column);
        if (const auto why =
                fault && !parsed.modules.empty() ? fault(parsed.modules) : std::nullopt)
            texts.refuse("at", *why);
        if (!texts.failed()) all.push_back(std::move(parsed));
    }
    return all;
}

std::vector<allowance> load_allowances(const std::filesystem::path& file) {
    diagnostics problems;
    const auto document = config::document::load(file, problems);
    const auto root = document.root();
    root.only({"allow"}, "a file of allowances");
    auto all = read_allowances(root.at("allow"), [](const config::node& value) {
        const auto text = value.as<std::string>();
        return value.is_scalar() ? std::optional(text) : std::nullopt;
    });
    problems.throw_if_any();
    return all;
}

allowance parse_allowance(std::string_view text, const std::string& origin) {
    option_texts texts(text, origin);
    auto parsed = read(texts);
    parsed.place = origin;
    return parsed;
}

}  // namespace trn::misuse
