// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/diagnostics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "platform/framework/config/nearest_words.h"
#include "platform/framework/terminal_text.h"

namespace trn {

namespace {

constexpr std::size_t max_diagnostics = 100;
constexpr std::size_t widest_excerpt = 160;
constexpr std::size_t max_known_words = 24;
constexpr std::size_t max_compared_words = 10'000;
constexpr std::size_t longest_shown = 2000;
constexpr std::size_t longest_kept = 10'000;  // of a message, or of the line around a mistake

constexpr std::array rows{
    mistake_row{mistake::unreadable_file, "a file cannot be read"},
    mistake_row{mistake::file_too_large, "a file is larger than 4 MiB"},
    mistake_row{mistake::not_yaml, "the text is not YAML, SystemRDL or XML"},
    mistake_row{mistake::alias_refused, "anchors, aliases and tags are not used here"},
    mistake_row{mistake::nested_too_deep, "values, or files, nested deeper than 32 levels"},
    mistake_row{mistake::too_many_values, "more than 200,000 values in one file"},
    mistake_row{mistake::duplicate_key, "the same key twice in one mapping"},
    mistake_row{mistake::wrong_shape, "a mapping, a list or a single value was expected"},
    mistake_row{mistake::missing_key, "a required key is missing"},
    mistake_row{mistake::unknown_type, "no such kind, assembly, step or sequence"},
    mistake_row{mistake::unknown_key, "unknown key"},
    mistake_row{mistake::unknown_parameter, "a parameter the kind does not have"},
    mistake_row{mistake::unused_key, "a key without effect in this place"},
    mistake_row{mistake::missing_parameter, "a parameter without default is not given"},
    mistake_row{mistake::unknown_variable, "${...} names no parameter"},
    mistake_row{mistake::unit_missing, "a bare number where a unit is due"},
    mistake_row{mistake::unknown_unit, "a unit of another quantity, or none"},
    mistake_row{mistake::out_of_range, "a number outside its range"},
    mistake_row{mistake::not_whole, "finer than the smallest unit (1 byte, 1 ps, 1 Hz)"},
    mistake_row{mistake::not_a_number, "a number was expected"},
    mistake_row{mistake::not_a_boolean, "true or false was expected"},
    mistake_row{mistake::not_a_choice, "an unknown choice"},
    mistake_row{mistake::bad_name, "not usable as a name"},
    mistake_row{mistake::register_overlap, "two registers at one offset"},
    mistake_row{mistake::register_outside, "a register outside the aperture"},
    mistake_row{mistake::misaligned, "an offset or stride that is not a multiple of the width"},
    mistake_row{mistake::bad_bits, "a bit range that is malformed or outside the register"},
    mistake_row{mistake::field_overlap, "two fields on one bit"},
    mistake_row{mistake::duplicate_name, "a register, field or value named twice"},
    mistake_row{mistake::reset_too_wide, "a value that does not fit its register or field"},
    mistake_row{mistake::bad_array, "an array of registers that cannot be laid out"},
    mistake_row{mistake::block_name, "the block's name differs from its file's"},
    mistake_row{mistake::stale_document, "generated documentation is stale or has no markers"},
    mistake_row{mistake::unknown_module, "a bind line or an allowance names an unknown module"},
    mistake_row{mistake::unknown_port, "the module has no such socket, interrupt line or port"},
    mistake_row{mistake::wrong_direction, "the two ends of a bind line do not fit"},
    mistake_row{mistake::bound_twice, "a socket that takes one binding has two"},
    mistake_row{mistake::unbound, "an unbound socket or interrupt"},
    mistake_row{mistake::range_overlap, "two ranges of a router overlap"},
    mistake_row{mistake::range_too_large, "a range reaches past the end of its target"},
    mistake_row{mistake::bad_bind_line, "a bind line that cannot be read"},
    mistake_row{mistake::range_expected, "a range is missing, or not allowed"},
    mistake_row{mistake::line_outside, "an index outside the port"},
    mistake_row{mistake::bad_count, "a count, or a list that repeats, outside its bounds"},
    mistake_row{mistake::module_twice, "two modules with one name"},
    mistake_row{mistake::include_cycle, "an assembly, file or sequence that contains itself"},
    mistake_row{mistake::too_many_modules, "more than 200,000 modules or 2,000,000 bindings"},
    mistake_row{mistake::refused_by_model, "the model cannot be built with these parameters"},
    mistake_row{mistake::unknown_board, "no such board or kind"},
    mistake_row{mistake::not_two_plugs, "'<->' joins two plugs"},
    mistake_row{mistake::too_many_lanes, "links with more lanes than the device has for them"},
    mistake_row{mistake::lane_mismatch, "two ends of a wire with different numbers of lanes"},
    mistake_row{mistake::no_block_has_room, "a link that fits in no block of the chip"},
    mistake_row{mistake::endless_access, "accesses that pass too many routers, or some again"},
};

/// The part of the source line that is shown, made printable, and the caret's offset in it.
std::pair<std::string, std::size_t> shown_part(const diagnostic& mistaken) {
    const std::string_view line = mistaken.source_line;
    const auto column =
        static_cast<std::size_t>(std::max(mistaken.column, 1) - 1) - mistaken.skipped;
    std::size_t start = 0;
    if (line.size() > widest_excerpt && column > widest_excerpt / 2)
        start = column - widest_excerpt / 2;
    start = std::min(start, line.size());
    std::string shown(line.substr(start, widest_excerpt));
    for (std::size_t i = 0, length = 0; i < shown.size(); i += length) {
        const auto rest = std::string_view(shown).substr(i);
        length = terminal::code_point(rest);
        const bool whole = length > 0 && !terminal::is_control(rest.substr(0, length));
        length = std::max<std::size_t>(length, 1);
        if (!whole) std::fill_n(shown.begin() + static_cast<std::ptrdiff_t>(i), length, ' ');
    }
    return {shown, column - start};
}

/// Width on a terminal: UTF-8 continuation bytes have none.
std::size_t cells(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

template <class Word>
std::string nearest_among(std::string_view wrong, std::span<const Word> known) {
    if (wrong.size() > 64) return {};
    const std::size_t limit = wrong.size() < 4 ? 1 : std::max<std::size_t>(2, wrong.size() / 3);
    std::size_t shortest = limit + 1;
    const Word* nearest = nullptr;
    for (const Word& word : known.first(std::min(known.size(), max_compared_words))) {
        const std::size_t longer = std::max(word.size(), wrong.size()),
                          shorter = std::min(word.size(), wrong.size());
        if (longer - shorter >= shortest) continue;  // the distance is at least this
        if (const auto far = edit_distance(wrong, word); far < shortest)
            shortest = far, nearest = &word;
    }
    return nearest == nullptr ? "" : fmt::format("did you mean '{}'?", *nearest);
}

template <class Word>
std::string suggest_among(std::string_view wrong, std::span<const Word> known) {
    if (known.empty()) return {};
    auto text = nearest_among(wrong, known);
    if (!text.empty()) text += "  ";
    const auto shown = known.first(std::min(known.size(), max_known_words));
    return text + fmt::format("(known: {}{})", fmt::join(shown, ", "),
                              shown.size() < known.size() ? ", ..." : "");
}

}  // namespace

std::span<const mistake_row> catalogue() {
    return rows;
}

void diagnostic::quote(std::string_view whole) {
    skipped = 0;
    if (whole.size() > longest_kept) {
        skipped = std::min(static_cast<std::size_t>(std::max(column, 1)) - 1, whole.size());
        skipped -= std::min(skipped, longest_kept / 2);
    }
    source_line = whole.substr(skipped, longest_kept);
}

/// A message is one line; lines below it that begin with four spaces are an excerpt of another
/// file.
static std::string printable_message(std::string_view text) {
    std::string shown;
    for (std::size_t end; (end = text.find("\n    ")) != text.npos; text.remove_prefix(end + 1))
        shown += printable(text.substr(0, end)) + "\n";
    return shown + printable(text);
}

std::string diagnostic::excerpt() const {
    return shown_part(*this).first;
}

std::string diagnostic::text() const {
    std::string place = printable(file);
    if (line > 0) place += fmt::format(":{}:{}", line, column);
    std::string out = fmt::format("{}{}E{:02} {}\n", place, place.empty() ? "" : ": ",
                                  static_cast<unsigned>(code), printable_message(message));
    const auto advice = printable(suggestion);
    if (line == 0 || source_line.empty()) {
        if (!advice.empty()) out += "    " + advice + "\n";
        return out;
    }
    const auto [shown, caret] = shown_part(*this);
    const std::string_view view = shown;
    const auto start = std::min(caret, view.size());
    const auto indent = cells(view.substr(0, start));
    const auto marked = view.substr(start, static_cast<std::size_t>(length));
    out += shown + "\n" + std::string(indent, ' ');
    out += std::string(std::max<std::size_t>(cells(marked), 1), '^');
    return out + (advice.empty() ? "" : "  " + advice) + "\n";
}

/// Sorts by file and place, and drops repetitions.
config_error::config_error(std::vector<diagnostic> list) : list_(std::move(list)) {
    std::stable_sort(list_.begin(), list_.end(), [](const diagnostic& a, const diagnostic& b) {
        return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
    });
    const auto same = [](const diagnostic& a, const diagnostic& b) {
        return std::tie(a.file, a.line, a.column, a.code, a.message) ==
               std::tie(b.file, b.line, b.column, b.code, b.message);
    };
    list_.erase(std::unique(list_.begin(), list_.end(), same), list_.end());
    for (const auto& problem : list_) text_ += problem.text();
}

void diagnostics::add(diagnostic problem) {
    if (is_full()) return;
    if (problem.message.size() > longest_kept)
        problem.message = problem.message.substr(0, longest_kept) + "...";
    if (problem.source_line.size() > longest_kept) problem.quote(std::string(problem.source_line));
    list_.push_back(std::move(problem));
}

bool diagnostics::is_full() const {
    return list_.size() >= max_diagnostics;
}

void diagnostics::throw_if_any() const {
    if (!list_.empty()) throw config_error(list_);
}

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        if (shown.size() >= longest_shown) return shown + "...";
        text.remove_prefix(terminal::append_printable(text, shown));
    }
    return shown;
}

std::string printable_lines(std::string_view text) {
    std::string shown;
    for (;;) {
        const auto end = text.find_first_of("\t\n");
        auto part = text.substr(0, end);
        if (part.ends_with('\r')) part.remove_suffix(1);
        shown += printable(part);
        if (end == std::string_view::npos) return shown;
        shown += text[end];
        text.remove_prefix(end + 1);
    }
}

bool same_word(std::string_view a, std::string_view b) {
    const auto bar = [](char c) { return c == '-' ? '_' : c; };
    return std::ranges::equal(a, b, {}, bar, bar);
}

std::string suggest(std::string_view wrong, std::span<const std::string_view> known) {
    return suggest_among(wrong, known);
}

std::string suggest(std::string_view wrong, std::span<const std::string> known) {
    return suggest_among(wrong, known);
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> known) {
    return nearest_among(wrong, known);
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string> known) {
    return nearest_among(wrong, known);
}

}  // namespace trn
