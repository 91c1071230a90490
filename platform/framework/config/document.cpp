// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <unordered_map>

#include "platform/framework/config/file.h"

namespace trn::config {

using detail::shape;
using detail::source;
using detail::tree_node;

namespace {

constexpr std::size_t largest_file = 4u << 20;
constexpr std::size_t max_nodes = 200'000;
constexpr std::size_t deepest = 32;

std::string too_many_values() {
    return fmt::format("more than {} values", max_nodes);
}

/// Thrown to stop yaml-cpp after a limit was exceeded; the error has been reported.
struct give_up {};

/// yaml-cpp counts lines and columns from 0.
place place_of(const YAML::Mark& mark, std::size_t length) {
    return {mark.line + 1, mark.column + 1,
            static_cast<int>(std::clamp<std::size_t>(length, 1, 200))};
}

std::string_view shape_name(shape form) {
    constexpr std::array<std::string_view, 5> names{"nothing", "nothing", "a single value",
                                                    "a list", "a mapping"};
    return names.at(static_cast<std::size_t>(form));
}

/// Builds our tree from yaml-cpp's events; checks limits during parsing, before memory is
/// allocated.
class tree_builder : public YAML::EventHandler {
public:
    explicit tree_builder(source& target) : target_(target) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (!target_.nodes.empty())
            refuse(mistake::not_yaml, mark, "a second document in one file");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(shape::null, mark, "", anchor, 1);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(mistake::alias_refused, mark,
               "aliases (*name) are not used here; write it twice or use `count`");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        const auto index = add(shape::scalar, mark, tag, anchor, value.size());
        target_.nodes[index].text = value;
        target_.nodes[index].plain = tag == "?";
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(add(shape::list, mark, tag, anchor, 1), mark);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(add(shape::map, mark, tag, anchor, 1), mark);
    }
    void OnSequenceEnd() override { open_.pop_back(); }
    void OnMapEnd() override {
        reject_duplicates(target_.nodes[open_.back().index]);
        open_.pop_back();
    }

private:
    struct level {
        std::uint32_t index;
        bool key_pending = false;  ///< inside a map: a key was read, its value follows
        std::uint32_t key = 0;
    };

    [[noreturn]] void refuse(mistake code, const YAML::Mark& mark, std::string message) {
        target_.report(code, place_of(mark, 1), std::move(message));
        throw give_up{};
    }

    std::uint32_t add(shape form, const YAML::Mark& mark, const std::string& tag,
                      YAML::anchor_t anchor, std::size_t length) {
        if (anchor != 0) refuse(mistake::alias_refused, mark, "anchors (&name) are not used here");
        if (!tag.empty() && tag != "?" && tag != "!")
            refuse(mistake::alias_refused, mark, "tags (!name) are not used here");
        if (target_.nodes.size() >= max_nodes)
            refuse(mistake::too_many_values, mark, too_many_values());
        const auto index = static_cast<std::uint32_t>(target_.nodes.size());
        target_.nodes.push_back({.form = form, .place = place_of(mark, length)});
        attach(index, mark);
        return index;
    }

    void attach(std::uint32_t index, const YAML::Mark& mark) {
        if (open_.empty()) return;
        level& top = open_.back();
        tree_node& parent = target_.nodes[top.index];
        if (parent.form == shape::list) {
            parent.items.push_back(index);
        } else if (!top.key_pending) {
            if (target_.nodes[index].form != shape::scalar)
                refuse(mistake::bad_name, mark, "a key must be a single word");
            top.key = index;
            top.key_pending = true;
        } else {
            parent.entries.emplace_back(top.key, index);
            top.key_pending = false;
        }
    }

    void open(std::uint32_t index, const YAML::Mark& mark) {
        if (open_.size() >= deepest)
            refuse(mistake::nested_too_deep, mark,
                   fmt::format("nested deeper than {} levels", deepest));
        open_.push_back({index});
    }

    void reject_duplicates(const tree_node& map) {
        std::unordered_map<std::string_view, int> first_line;
        for (const auto& [key, value] : map.entries) {
            const tree_node& k = target_.nodes[key];
            const auto [first, fresh] = first_line.emplace(k.text, k.place.line);
            if (!fresh)
                target_.report(mistake::duplicate_key, k.place,
                               fmt::format("duplicate key '{}'", k.text),
                               fmt::format("first on line {}", first->second));
        }
    }

    source& target_;
    std::vector<level> open_;
};

void index_lines(source& target) {
    target.line_starts.push_back(0);
    for (std::size_t i = 0; i < target.text.size(); ++i)
        if (target.text[i] == '\n') target.line_starts.push_back(i + 1);
}

[[noreturn]] void refuse_byte(const source& target, std::size_t offset, mistake code,
                              std::string message) {
    const auto line =
        std::upper_bound(target.line_starts.begin(), target.line_starts.end(), offset);
    target.report(code,
                  {static_cast<int>(line - target.line_starts.begin()),
                   static_cast<int>(offset - *(line - 1)) + 1, 1},
                  std::move(message));
    throw give_up{};
}

/// The place after a quoted value that begins at `start` and ends in the same line; `start` for
/// other text. A value begins after a bracket, a comma, or ": " or "- ".
std::size_t end_of_quoted(std::string_view text, std::size_t start) {
    const char quote = text[start];
    if (quote != '"' && quote != '\'') return start;
    const auto before = text.find_last_not_of(' ', start == 0 ? text.npos : start - 1);
    if (start == 0 || before == text.npos) return start;
    const bool has_space = before + 1 < start;
    const std::string_view brackets = "[{,", indicators = ":-";
    if (brackets.find(text[before]) == brackets.npos &&
        !(has_space && indicators.find(text[before]) != indicators.npos))
        return start;
    for (auto i = start + 1; i < text.size() && text[i] != '\n'; ++i) {
        if (quote == '"' && text[i] == '\\')
            ++i;
        else if (text[i] == quote && quote == '\'' && text.substr(i + 1).starts_with('\''))
            ++i;
        else if (text[i] == quote)
            return i + 1;
    }
    return start;
}

/// Refuses control characters, which make columns meaningless (UTF-16 text contains NULs), and more
/// brackets and commas than a file may have values: yaml-cpp keeps 240 bytes for each of them until
/// the outermost bracket is closed, before it reports the first value. Those in quoted text do not
/// count.
void check_text(const source& target) {
    std::size_t values = 0, quoted = 0;
    for (std::size_t i = 0; i < target.text.size(); ++i) {
        if (i >= quoted) quoted = end_of_quoted(target.text, i);
        const auto byte = static_cast<unsigned char>(target.text[i]);
        if (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t')
            refuse_byte(target, i, mistake::not_yaml,
                        fmt::format("byte 0x{:02x} is not text", byte));
        if (i >= quoted && (byte == '[' || byte == '{' || byte == ',') && ++values > max_nodes)
            refuse_byte(target, i, mistake::too_many_values, too_many_values());
    }
}

/// yaml-cpp refuses a tab before the first word of a line without naming it.
std::string hint_of_tab(std::string_view text, int position) {
    const auto line =
        text.substr(0, static_cast<std::size_t>(std::max(position, 0))).rfind('\n') + 1;
    const auto tab = text.find_first_not_of(' ', line);
    return tab < text.size() && text[tab] == '\t' ? "lines are indented with spaces, not tabs" : "";
}

void build_tree(source& target) {
    try {
        check_text(target);
        std::istringstream stream(target.text);
        YAML::Parser parser(stream);
        tree_builder builder(target);
        while (parser.HandleNextDocument(builder)) {
        }
        if (target.nodes.empty()) target.nodes.push_back({.form = shape::null, .place = {1, 1, 1}});
    } catch (const give_up&) {
        target.problems->throw_if_any();
    } catch (const YAML::Exception& error) {
        const YAML::Mark mark = error.mark.is_null() ? YAML::Mark() : error.mark;
        target.report(mistake::not_yaml, place_of(mark, 1), "not YAML: " + error.msg,
                      hint_of_tab(target.text, mark.pos));
        target.problems->throw_if_any();
    }
}

}  // namespace

bool is_word(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

void source::report(mistake code, const place& place, std::string message,
                    std::string suggestion) const {
    if (problems->is_full()) return;
    diagnostic problem{.code = code,
                       .file = name,
                       .line = place.line,
                       .column = place.column,
                       .message = std::move(message),
                       .length = place.length,
                       .suggestion = std::move(suggestion)};
    if (place.line > 0 && static_cast<std::size_t>(place.line) <= line_starts.size()) {
        const std::size_t start = line_starts[static_cast<std::size_t>(place.line) - 1];
        const auto line = std::string_view(text).substr(start, text.find('\n', start) - start);
        problem.quote(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    }
    problems->add(std::move(problem));
}

document document::load(const std::filesystem::path& file, diagnostics& problems) {
    auto refuse = [&](mistake code, std::string message) {
        problems.add({.code = code, .file = file.string(), .message = std::move(message)});
        problems.throw_if_any();
    };
    std::vector<std::uint8_t> text;
    try {
        std::error_code error;
        if (std::filesystem::file_size(file, error) > largest_file && !error)
            refuse(mistake::file_too_large, "is larger than 4 MiB");
        text = read_file(file, largest_file);
    } catch (const file_error& why) {
        refuse(mistake::unreadable_file, fmt::format("cannot be read: {}", why.what()));
    }
    return parse({text.begin(), text.end()}, file.string(), problems);
}

document document::parse(std::string text, std::string name, diagnostics& problems) {
    auto target = std::make_unique<source>();
    target->name = std::move(name);
    target->text = std::move(text);
    target->problems = &problems;
    if (target->text.size() > largest_file) {
        problems.add({.code = mistake::file_too_large,
                      .file = target->name,
                      .message = "is larger than 4 MiB"});
        problems.throw_if_any();
    }
    index_lines(*target);
    build_tree(*target);
    return document(std::move(target));
}

node document::root() const {
    return {source_.get(), 0};
}

void document::reject_unused() const {
    for (const tree_node& map : source_->nodes)
        for (const auto& [key, value] : map.entries) {
            const tree_node& k = source_->nodes[key];
            if (!k.used)
                source_->report(mistake::unused_key, k.place,
                                fmt::format("'{}' has no effect here", k.text));
        }
}

bool node::is_map() const {
    return exists() && get().form == shape::map;
}
bool node::is_list() const {
    return exists() && get().form == shape::list;
}
bool node::is_scalar() const {
    return exists() && get().form == shape::scalar;
}
place node::place() const {
    return exists() ? get().place : config::place{};
}
std::string_view node::file() const {
    return exists() ? std::string_view(source_->name) : "";
}
std::string_view node::raw() const {
    return is_scalar() ? std::string_view(get().text) : "";
}

std::vector<node> node::items() const {
    if (!exists()) return {};
    if (!is_list()) {
        report(mistake::wrong_shape,
               fmt::format("a list was expected, not {}", shape_name(get().form)));
        return {};
    }
    std::vector<node> list;
    for (const auto index : get().items) list.push_back({source_, index});
    return list;
}

std::vector<node::entry> node::entries() const {
    if (!exists()) return {};
    if (!is_map()) {
        report(mistake::wrong_shape,
               fmt::format("a mapping was expected, not {}", shape_name(get().form)));
        return {};
    }
    std::vector<entry> list;
    for (const auto& [key, value] : get().entries) {
        const tree_node& k = source_->nodes[key];
        k.used = true;
        list.push_back({k.text, node{source_, key}, node{source_, value}});
    }
    return list;
}

std::vector<std::string> node::keys() const {
    std::vector<std::string> names;
    if (is_map())
        for (const auto& [key, value] : get().entries) names.push_back(source_->nodes[key].text);
    return names;
}

std::size_t node::size() const {
    if (!exists()) return 0;
    return is_list() ? get().items.size() : get().entries.size();
}

node node::find(std::string_view wanted) const {
    if (!exists()) return {};
    if (!is_map()) {
        report(mistake::wrong_shape,
               fmt::format("a mapping was expected, not {}", shape_name(get().form)));
        return {};
    }
    for (const auto& [key, value] : get().entries) {
        const tree_node& k = source_->nodes[key];
        if (k.text != wanted) continue;
        k.used = true;
        return {source_, value};
    }
    return {};
}

node node::at(std::string_view key) const {
    const node value = find(key);
    if (exists() && is_map() && !value)
        report(mistake::missing_key, fmt::format("key '{}' is missing", key));
    return value;
}

place node::key_place(std::string_view wanted) const {
    if (is_map())
        for (const auto& [key, value] : get().entries)
            if (source_->nodes[key].text == wanted) return source_->nodes[key].place;
    return place();
}

void node::only(std::span<const std::string_view> known, std::string_view noun) const {
    if (!is_map()) return;
    for (const auto& [key, value] : get().entries) {
        const tree_node& k = source_->nodes[key];
        if (std::ranges::find(known, k.text) != known.end()) continue;
        k.used = true;  // do not report this key again
        if (source_->problems->is_full()) continue;
        source_->report(mistake::unknown_key, k.place,
                        fmt::format("{} has no key '{}'", noun, k.text), suggest(k.text, known));
    }
}

void node::report(mistake code, std::string message, std::string suggestion) const {
    if (exists()) source_->report(code, get().place, std::move(message), std::move(suggestion));
}

void node::report_at(const config::place& place, mistake code, std::string message,
                     std::string suggestion) const {
    if (exists()) source_->report(code, place, std::move(message), std::move(suggestion));
}

const std::string* node::scalar(std::string_view expected, bool must_be_plain) const {
    const tree_node& value = get();
    if (value.form != shape::scalar) {
        report(mistake::wrong_shape,
               fmt::format("a {} was expected, not {}", expected, shape_name(value.form)));
        return nullptr;
    }
    if (must_be_plain && !value.plain) {
        report(mistake::wrong_shape,
               fmt::format("a {} was expected, not a quoted string", expected));
        return nullptr;
    }
    return &value.text;
}

template <class T>
T node::quantity(parsed<T> (*parse)(std::string_view), std::string_view noun) const {
    const std::string* text = scalar(noun, false);
    if (text == nullptr) return T{};
    const auto value = parse(*text);
    if (const auto* why = std::get_if<refusal>(&value)) {
        report(why->code, why->message, why->suggestion);
        return T{};
    }
    return std::get<T>(value);
}

template double node::quantity(parsed<double> (*)(std::string_view), std::string_view) const;
template bytes node::quantity(parsed<bytes> (*)(std::string_view), std::string_view) const;
template picoseconds node::quantity(parsed<picoseconds> (*)(std::string_view),
                                    std::string_view) const;
template data_rate node::quantity(parsed<data_rate> (*)(std::string_view), std::string_view) const;
template lane_rate node::quantity(parsed<lane_rate> (*)(std::string_view), std::string_view) const;
template hertz node::quantity(parsed<hertz> (*)(std::string_view), std::string_view) const;

std::uint64_t node::unsigned_up_to(std::uint64_t max) const {
    if (scalar("number", true) == nullptr) return 0;
    const auto value = quantity(&parse_unsigned, "number");
    if (value <= max) return value;
    report(mistake::out_of_range, fmt::format("{} is larger than {}", raw(), max));
    return 0;
}

std::int64_t node::signed_within(std::int64_t min, std::int64_t max) const {
    if (scalar("number", true) == nullptr) return 0;
    const auto value = quantity(&parse_signed, "number");
    if (value >= min && value <= max) return value;
    report(mistake::out_of_range, fmt::format("{} is not within {} to {}", raw(), min, max));
    return 0;
}

bool node::boolean() const {
    const std::string* text = scalar("true or false", true);
    if (text == nullptr) return false;
    if (*text == "true" || *text == "false") return *text == "true";
    report(mistake::not_a_boolean, fmt::format("'{}' is neither true nor false", *text));
    return false;
}

std::string node::string() const {
    const std::string* text = scalar("text", false);
    return text != nullptr ? *text : std::string();
}

std::string node::name() const {
    if (!exists()) return {};
    const std::string* text = scalar("name", false);
    if (text == nullptr) return {};
    if (!is_word(*text) || text->size() > 128 || ((*text)[0] >= '0' && (*text)[0] <= '9')) {
        report(
            mistake::bad_name,
            fmt::format("'{}' is not a name: letters, digits and _ only, not starting with a digit",
                        text->substr(0, 64)));
        return {};
    }
    return *text;
}

std::size_t node::choose(std::span<const std::string_view> names) const {
    const std::string* text = scalar("word", false);
    if (text == nullptr) return 0;
    const auto found =
        std::ranges::find_if(names, [&](std::string_view name) { return same_word(name, *text); });
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    report(mistake::not_a_choice, fmt::format("'{}' is not a valid choice", text->substr(0, 64)),
           suggest(*text, names));
    return 0;
}

}  // namespace trn::config
