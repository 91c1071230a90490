// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/command_line/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "platform/framework/command_line/help_format.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/units.h"

namespace trn::cli {

// --- Validators

validator::validator(CLI::Validator&& wrapped)
    : wrapped_(std::make_shared<const CLI::Validator>(std::move(wrapped))) {}

validator::validator(std::function<std::string(std::string&)> apply, std::string shown)
    : validator(CLI::Validator(std::move(apply), std::move(shown))) {}

validator one_of(std::vector<std::string> words) {
    const auto shown = fmt::format("{{{}}}", fmt::join(words, ","));
    const auto check = [words = std::move(words)](std::string& text) -> std::string {
        const auto known = std::ranges::find_if(
            words, [&](const std::string& word) { return same_word(word, text); });
        if (known == words.end())
            return fmt::format("'{}' is not a valid choice  {}", text, suggest(text, words));
        text = *known;
        return {};
    };
    return {check, shown};
}

validator one_of_numbers(std::vector<int> numbers) {
    return validator(CLI::IsMember(std::move(numbers)));
}

template <class T>
validator in_range(T min, T max) {
    const CLI::Range range(min, max);
    const auto check = [=](std::string& text) -> std::string {
        if (range(text).empty()) return {};
        return fmt::format("Value {} not in range {} to {}", text, min, max);  // on every release
    };
    return {check, range.get_description()};
}
template validator in_range(int, int);
template validator in_range(unsigned, unsigned);
template validator in_range(std::uint64_t, std::uint64_t);
template validator in_range(double, double);

validator non_negative_number() {
    return validator(CLI::Validator(CLI::NonNegativeNumber));
}

validator existing_file() {
    return validator(CLI::Validator(CLI::ExistingFile));
}

// --- Options

option* option::required() {
    wrapped_.required();
    return this;
}

option* option::needs(option* other) {
    wrapped_.needs(&other->wrapped_);
    return this;
}

option* option::needs(const std::string& other) {
    wrapped_.needs(other);
    return this;
}

option* option::excludes(option* other) {
    wrapped_.excludes(&other->wrapped_);
    return this;
}

option* option::take_all() {
    wrapped_.multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return this;
}

option* option::allow_extra_args(bool allowed) {
    wrapped_.allow_extra_args(allowed);
    return this;
}

option* option::delimiter(char separator) {
    wrapped_.delimiter(separator);
    return this;
}

option* option::check(const validator& checks) {
    wrapped_.check(*checks.wrapped_);
    return this;
}

option* option::transform(const validator& converts) {
    wrapped_.transform(*converts.wrapped_);
    return this;
}

option* option::type_name(const std::string& shown) {
    wrapped_.type_name(shown);
    return this;
}

option* option::capture_default_str() {
    wrapped_.capture_default_str();
    return this;
}

option* option::envname(const std::string& variable) {
    wrapped_.envname(variable);
    return this;
}

// --- Commands

command::command(const std::string& description, const std::string& name)
    : program_(std::make_unique<CLI::App>(description, name)), wrapped_(*program_) {
    wrapped_.formatter(std::make_shared<help_format>());  // of its subcommands, too
}

command::command(CLI::App& wrapped) : wrapped_(wrapped) {}

command::~command() = default;

option* command::own(CLI::Option* added) {
    return options_.emplace_back(std::make_unique<option>(*added)).get();
}

command* command::add_subcommand(const std::string& name, const std::string& description) {
    auto* added = wrapped_.add_subcommand(name, description);
    return subcommands_.emplace_back(std::make_unique<command>(*added)).get();
}

command* command::require_subcommand(int count) {
    wrapped_.require_subcommand(count);
    return this;
}

command* command::fallthrough() {
    wrapped_.fallthrough();
    return this;
}

command* command::group_options(const std::string& title,
                                std::initializer_list<const char*> names) {
    for (const auto* name : names) wrapped_.get_option(name)->group(title);
    return this;
}

command* command::group_subcommands(const std::string& title,
                                    std::initializer_list<const char*> names) {
    for (const auto* name : names) wrapped_.get_subcommand(name)->group(title);
    return this;
}

command* command::examples(std::initializer_list<example> all) {
    std::string text = "Examples:";
    for (const auto& [line, about] : all) text += fmt::format("\n  {}\n      {}", line, about);
    wrapped_.footer(text + "\n");
    return this;
}

command* command::callback(std::function<void()> runs) {
    wrapped_.callback(std::move(runs));
    return this;
}

namespace {

/// A value of 32 bits. CLI11's own error does not name the limit.
const CLI::Validator fits_unsigned{
    [](std::string& text) -> std::string {
        constexpr auto max = std::numeric_limits<unsigned>::max();
        const auto number = config::parse_unsigned(text);
        const auto* value = std::get_if<std::uint64_t>(&number);
        return value != nullptr && *value > max ? fmt::format("{} is more than {}", text, max) : "";
    },
    ""};

}  // namespace

template <class T>
option* command::add_option(const std::string& name, T& value, const std::string& description) {
    auto* added = wrapped_.add_option(name, value, description);
    if constexpr (std::is_same_v<T, unsigned> || std::is_same_v<T, std::optional<unsigned>>)
        added->check(fits_unsigned);
    return own(added);
}
#define TRN_OPTION_OF(...) \
    template option* command::add_option(const std::string&, __VA_ARGS__&, const std::string&)
TRN_OPTION_OF(std::string);
TRN_OPTION_OF(std::filesystem::path);
TRN_OPTION_OF(std::int64_t);
TRN_OPTION_OF(unsigned);
TRN_OPTION_OF(std::uint64_t);
TRN_OPTION_OF(double);
TRN_OPTION_OF(std::optional<std::int64_t>);
TRN_OPTION_OF(std::optional<unsigned>);
TRN_OPTION_OF(std::optional<std::uint64_t>);
TRN_OPTION_OF(std::optional<double>);
TRN_OPTION_OF(std::vector<std::string>);
TRN_OPTION_OF(std::vector<std::filesystem::path>);
#undef TRN_OPTION_OF

template <class T>
option* command::add_option_function(const std::string& name, std::function<void(const T&)> takes,
                                     const std::string& description) {
    return own(wrapped_.add_option_function<T>(name, takes, description));
}
template option* command::add_option_function(const std::string&,
                                              std::function<void(const std::string&)>,
                                              const std::string&);
template option* command::add_option_function(const std::string&,
                                              std::function<void(const std::vector<std::string>&)>,
                                              const std::string&);

template <class T>
option* command::add_flag(const std::string& name, T& value, const std::string& description) {
    if constexpr (std::is_same_v<T, int>) {
        // CLI11's own flags of numbers have a default since 2.3, which counts as given.
        const auto store = [&value](std::int64_t given) { value = static_cast<int>(given); };
        return own(wrapped_.add_flag_function(name, store, description)
                       ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
    } else {
        return own(wrapped_.add_flag(name, value, description));
    }
}
template option* command::add_flag(const std::string&, bool&, const std::string&);
template option* command::add_flag(const std::string&, int&, const std::string&);
template option* command::add_flag(const std::string&, std::string&, const std::string&);

option* command::add_flag_callback(const std::string& name, std::function<void()> runs,
                                   const std::string& description) {
    return own(wrapped_.add_flag_callback(name, std::move(runs), description));
}

std::vector<std::string> command::words(const std::set<std::string>& without) const {
    std::vector<std::string> words, options;
    for (const auto* option : wrapped_.get_options()) {
        if (option->count() == 0 || without.contains(option->get_name())) continue;
        // What a variable of the environment says needs no repetition.
        const std::string& variable = option->get_envname();
        const char* const set = variable.empty() ? nullptr : std::getenv(variable.c_str());
        if (set != nullptr && option->results() == std::vector<std::string>{set}) continue;
        const bool positional = !option->nonpositional();
        for (const auto& value : option->results())
            if (positional)
                words.push_back(value);
            else
                options.push_back(fmt::format("--{}={}", option->get_lnames().front(), value));
    }
    words.insert(words.end(), options.begin(), options.end());
    return words;
}

void refuse_missing(const std::string& name) {
    throw CLI::RequiredError(name);
}

void refuse_value(const std::string& name, const std::string& message) {
    throw CLI::ValidationError(name, message);
}

}  // namespace trn::cli
