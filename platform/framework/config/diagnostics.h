// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trn {

/// Errors of users. Each has a number, a row in catalogue(), a row in doc/diagnostics.md and a
/// test.
enum class mistake : unsigned {
    // reading a file
    unreadable_file = 1,
    file_too_large = 2,
    not_yaml = 3,
    alias_refused = 4,
    nested_too_deep = 5,
    too_many_values = 6,
    duplicate_key = 7,
    wrong_shape = 8,
    missing_key = 9,
    // keys
    unknown_type = 10,
    unknown_key = 11,
    unknown_parameter = 12,
    unused_key = 13,
    missing_parameter = 14,
    unknown_variable = 15,
    // values
    unit_missing = 20,
    unknown_unit = 21,
    out_of_range = 22,
    not_whole = 23,
    not_a_number = 24,
    not_a_boolean = 25,
    not_a_choice = 26,
    bad_name = 27,
    // registers
    register_overlap = 30,
    register_outside = 31,
    misaligned = 32,
    bad_bits = 33,
    field_overlap = 34,
    duplicate_name = 35,
    reset_too_wide = 36,
    bad_array = 37,
    block_name = 38,
    stale_document = 39,
    // boards
    unknown_module = 40,
    unknown_port = 41,
    wrong_direction = 42,
    bound_twice = 43,
    unbound = 44,
    range_overlap = 45,
    range_too_large = 46,
    bad_bind_line = 47,
    range_expected = 48,
    line_outside = 49,
    bad_count = 50,
    module_twice = 51,
    include_cycle = 52,
    too_many_modules = 53,
    refused_by_model = 54,
    unknown_board = 55,
    not_two_plugs = 56,
    too_many_lanes = 57,
    lane_mismatch = 58,
    no_block_has_room = 59,
    endless_access = 60,
};

struct mistake_row {
    mistake code;
    std::string_view title;
};

/// All codes in ascending order, with the titles of doc/diagnostics.md.
std::span<const mistake_row> catalogue();

/// One error with its place. Lines and columns count from 1; 0 stands for the whole file.
struct diagnostic {
    mistake code{};
    std::string file = {};
    int line = 0;
    int column = 0;
    std::string message = {};
    std::string source_line = {};
    int length = 0;  ///< number of carets
    std::string suggestion = {};
    std::size_t skipped = 0;  ///< bytes of a long line before those that source_line keeps
    /// Line of another file that this line was made from; 0: unknown.
    std::string origin_file = {};
    int origin_line = 0;

    /// Sets source_line to `whole`, or to the part of a long line around `column`.
    void quote(std::string_view whole);
    /// The part of source_line around `column` that text() shows.
    std::string excerpt() const;
    /// The text for a terminal: place, code and message; the source line; carets and suggestion.
    std::string text() const;
};

/// Errors of the user in a file or on the command line: commands print what() and exit with 2.
class config_error : public std::exception {
public:
    explicit config_error(std::vector<diagnostic> list);
    explicit config_error(diagnostic problem) : config_error(std::vector{std::move(problem)}) {}

    const std::vector<diagnostic>& list() const { return list_; }
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::vector<diagnostic> list_;
    std::string text_;
};

/// Collects the errors of reading a file, so that a user sees all of them at once (at most 100 are
/// kept).
class diagnostics {
public:
    void add(diagnostic problem);
    /// Whether add() has no effect any more.
    bool is_full() const;
    bool empty() const { return list_.empty(); }
    const std::vector<diagnostic>& list() const { return list_; }
    /// Throws config_error with the errors, sorted by file and place; does nothing without errors.
    void throw_if_any() const;

private:
    std::vector<diagnostic> list_;
};

/// Makes `text` safe for one line of a terminal: control characters, which could move the cursor or
/// change the display, and invalid UTF-8 become escapes such as \x1b; very long text is cut.
std::string printable(std::string_view text);
/// Like printable(), for several lines: keeps tabs, and a carriage return at the end of a line.
std::string printable_lines(std::string_view text);

/// Whether two words are equal, where '-' equals '_'.
bool same_word(std::string_view a, std::string_view b);

/// "did you mean 'x'?  (known: a, b)" for a misspelt word; "" if `known` is empty.
std::string suggest(std::string_view wrong, std::span<const std::string_view> known);
std::string suggest(std::string_view wrong, std::span<const std::string> known);
/// "did you mean 'x'?" alone; "" if no known word is near.
std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> known);
std::string did_you_mean(std::string_view wrong, std::span<const std::string> known);

}  // namespace trn
