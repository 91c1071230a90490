// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

/// Declares the options of a command. CLI11 parses them; only options.cpp and command_line.cpp
/// include its header, which takes seconds to compile in each file.
namespace trn::cli {

/// A check or a conversion of the text of a value.
class validator {
public:
    explicit validator(CLI::Validator&& wrapped);
    /// `apply` may rewrite the text, and returns an error message or "". `shown` is in --help.
    validator(std::function<std::string(std::string&)> apply, std::string shown);

private:
    friend class option;
    std::shared_ptr<const CLI::Validator> wrapped_;
};

/// Accepts these words only; '-' and '_' are equal.
validator one_of(std::vector<std::string> words);
validator one_of_numbers(std::vector<int> numbers);
/// Instantiated for int, unsigned, std::uint64_t and double.
template <class T>
validator in_range(T min, T max);
validator non_negative_number();
validator existing_file();

class option {
public:
    explicit option(CLI::Option& wrapped) : wrapped_(wrapped) {}

    option* required();
    option* needs(option* other);
    option* needs(const std::string& other);
    option* excludes(option* other);
    /// Every use of the option adds its values. Without it, a second use of an option that has one
    /// value is refused.
    option* take_all();
    /// False: each use has one value, even if the option may be repeated.
    option* allow_extra_args(bool allowed);
    option* delimiter(char separator);
    option* check(const validator& checks);
    /// As check(), and keeps the rewritten text.
    option* transform(const validator& converts);
    option* type_name(const std::string& shown);
    /// Shows the variable's present value as the default in --help.
    option* capture_default_str();
    option* envname(const std::string& variable);

private:
    CLI::Option& wrapped_;
};

/// A command line for --help, and what it does.
struct example {
    std::string line, about;
};

/// A program or one of its subcommands. It owns its options and subcommands, to which the add
/// functions return pointers. Variables must live until parse_command_line() returns.
class command {
public:
    command(const std::string& description, const std::string& name);
    explicit command(CLI::App& wrapped);
    ~command();
    command(const command&) = delete;
    command& operator=(const command&) = delete;

    command* add_subcommand(const std::string& name, const std::string& description);
    command* require_subcommand(int count);
    /// Options of the parent are accepted after this subcommand too.
    command* fallthrough();
    /// Runs after parsing, if the subcommand was chosen.
    command* callback(std::function<void()> runs);

    /// Instantiated in options.cpp for each type that an option has.
    template <class T>
    option* add_option(const std::string& name, T& value, const std::string& description);
    /// Instantiated for std::string and std::vector<std::string>.
    template <class T>
    option* add_option_function(const std::string& name, std::function<void(const T&)> takes,
                                const std::string& description);
    /// Instantiated in options.cpp for each type that a flag has. A text is "true" for the flag,
    /// and the value of --flag=VALUE.
    template <class T>
    option* add_flag(const std::string& name, T& value, const std::string& description);
    option* add_flag_callback(const std::string& name, std::function<void()> runs,
                              const std::string& description);

    /// Lists declared options in --help under a title of their own. Precondition: they exist.
    command* group_options(const std::string& title, std::initializer_list<const char*> names);
    /// The same for subcommands; the title ends with "commands".
    command* group_subcommands(const std::string& title, std::initializer_list<const char*> names);
    /// Shown at the end of --help. A line that ends with " &" runs in the background.
    command* examples(std::initializer_list<example> all);

    /// The options given on the command line as words of another command line, except those in
    /// `without`.
    std::vector<std::string> words(const std::set<std::string>& without) const;

    CLI::App& wrapped() { return wrapped_; }

private:
    option* own(CLI::Option* added);

    std::unique_ptr<CLI::App> program_;  // null in a subcommand
    CLI::App& wrapped_;
    std::vector<std::unique_ptr<option>> options_;
    std::vector<std::unique_ptr<command>> subcommands_;
};

/// Ends parsing from a callback with the error that option `name` is missing.
[[noreturn]] void refuse_missing(const std::string& name);
/// Ends parsing from a callback with an error in the value of option `name`.
[[noreturn]] void refuse_value(const std::string& name, const std::string& message);

}  // namespace trn::cli
