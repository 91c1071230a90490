// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/command_line/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>
#include <variant>

#include "platform/framework/command_line/completion.h"
#include "platform/framework/command_line/manual.h"
#include "platform/framework/command_line/version.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/units.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

/// Version text: "trnvp 0.1.0 (c85505ea89aa)"; without the commit if built outside of git.
std::string version_of(const CLI::App& app) {
    const std::string_view built = built_commit();
    return fmt::format("{} {}{}", app.get_name(), project_version(),
                       built.empty() ? "" : fmt::format(" ({})", built));
}

/// Rewrites a number in decimal, which CLI11 then converts to the option's type. \returns an error
/// message or ""
template <class T>
std::string read_number(config::parsed<T> (*parse)(std::string_view), std::string& text) {
    const auto value = parse(text);
    if (const auto* why = std::get_if<config::refusal>(&value)) return why->message;
    text = fmt::format("{}", std::get<T>(value));
    return {};
}

void check_values(CLI::Option& option) {
    if (option.get_items_expected_max() == 0) return;  // a flag
    const auto type = option.get_type_name();
    option.transform(CLI::Validator(
        [type](std::string& text) -> std::string {
            if (text.empty()) return "an empty value";
            if (type.starts_with("UINT")) return read_number(config::parse_unsigned, text);
            if (type.starts_with("INT")) return read_number(config::parse_signed, text);
            if (type.starts_with("FLOAT")) return read_number(config::parse_real, text);
            return {};
        },
        ""));
}

void check_values_of(CLI::App& app) {
    for (auto* option : app.get_options()) check_values(*option);
    for (auto* sub : app.get_subcommands({})) check_values_of(*sub);
}

std::vector<std::string> subcommands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* sub : app.get_subcommands({})) names.push_back(sub->get_name());
    return names;
}

/// "--name" of every option that is allowed after `app` on the command line.
std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    if (app.get_fallthrough() && app.get_parent() != nullptr)
        for (auto& name : options_of(*app.get_parent()))
            if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    return names;
}

/// The innermost subcommand on the command line, or the program.
const CLI::App& chosen_command(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : chosen_command(*chosen.front());
}

/// Error message if a word stands where a subcommand is required, else "".
std::string unknown_subcommand(const CLI::App& app) {
    const auto& command = chosen_command(app);
    const auto known = subcommands_of(command);
    const auto left = app.remaining(true);
    const auto word =
        std::ranges::find_if(left, [](const auto& text) { return !text.starts_with("-"); });
    if (known.empty() || word == left.end()) return {};
    return fmt::format("no subcommand '{}'{}  {}", *word,
                       &command == &app ? "" : " of '" + command.get_name() + "'",
                       suggest(*word, known));
}

/// Error message for the first word that no option or subcommand takes; "" without one.
std::string unknown_word(const CLI::App& app) {
    const auto left = app.remaining(true);
    if (left.empty()) return {};
    const auto word = left.front().substr(0, left.front().find('='));
    if (!word.starts_with("-")) {
        const auto subcommand = unknown_subcommand(app);
        return subcommand.empty() ? fmt::format("unexpected argument '{}'", word) : subcommand;
    }
    const auto& command = chosen_command(app);
    const auto known = options_of(command);
    if (std::ranges::find(known, word) != known.end())
        return fmt::format("{} belongs after '{}'", word, command.get_name());
    return fmt::format("no option '{}'  {}", word, suggest(word, known));
}

/// "trnvp report": the words that lead to the chosen command.
std::string words_of(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return app.get_name() + (chosen.empty() ? "" : " " + words_of(*chosen.front()));
}

/// CLI11 puts two blank lines between groups of options.
std::string one_blank_line(std::string text) {
    for (std::size_t position = 0; (position = text.find("\n\n\n", position)) != text.npos;)
        text.erase(position, 1);
    return text;
}

/// "a subcommand is required  (known: merge, compare)", or the form of the whole command.
std::string missing_word(const CLI::App& app, const std::string& why) {
    const auto names = subcommands_of(chosen_command(app));
    if (!names.empty() && why.starts_with("A subcommand"))
        return "a subcommand is required  " + suggest("", names);
    const auto help = app.help();
    const auto usage = help.find("Usage: ");
    if (usage == help.npos) return why;
    const auto begin = usage + std::string_view("Usage: ").size();
    return fmt::format("{}: {}", why, help.substr(begin, help.find('\n', begin) - begin));
}

/// CLI11's message; of an option that was given too often, ours.
std::string reason_of(const CLI::ParseError& wrong) {
    constexpr std::string_view too_many = ": At Most 1 required but received ";
    const std::string text = wrong.what();
    const auto place = text.find(too_many);
    if (place == text.npos) return text;
    return fmt::format("{} has one value and is given {} times", text.substr(0, place),
                       text.substr(place + too_many.size()));
}

int refuse(const CLI::App& app, const std::string& why) {
    print_to(stderr, "{}: {}\n{} --help shows the possibilities and examples.\n", app.get_name(),
             printable(why), words_of(app));
    return 2;
}

}  // namespace

std::string parse_words(cli::command& command, std::vector<std::string> words) {
    auto& app = command.wrapped();
    app.set_help_flag();
    check_values_of(app);
    std::ranges::reverse(words);  // as CLI11 takes them
    try {
        app.parse(std::move(words));
        return {};
    } catch (const CLI::ParseError& wrong) {
        const auto unknown = unknown_word(app);
        return printable(unknown.empty() ? reason_of(wrong) : unknown);
    }
}

int parse_command_line(cli::command& command, int argc, char** argv) {
    return parse_command_line(command, argc, argv, {});
}

int parse_command_line(cli::command& command, int argc, char** argv, const cli::completer& more) {
    auto& app = command.wrapped();
    app.set_version_flag("--version", version_of(app), "print the version and the commit");
    if (argc > 2 && argv[argc - 2] == std::string_view("--complete")) {
        for (const auto& next : cli::completions(command, argv[argc - 1], more))
            print_to(stdout, "{}\t{}\n", printable(next.word), printable(next.about));
        return 0;
    }
    if (argc > 2 && argv[argc - 2] == std::string_view("--write-manuals")) {
        const auto why = cli::write_manuals(app, argv[argc - 1]);
        return why.empty() ? 0 : refuse(app, why);
    }
    check_values_of(app);
    try {
        app.parse(argc, argv);
        return 0;
    } catch (const CLI::Success& asked) {  // --help, --version
        const auto unknown = unknown_subcommand(app);
        if (!unknown.empty()) return refuse(app, unknown);
        const bool helps = asked.get_name() == "CallForHelp";
        print_raw(stdout, helps ? one_blank_line(app.help()) : asked.what() + std::string("\n"));
        return 0;
    } catch (const CLI::ParseError& wrong) {
        const auto unknown = unknown_word(app);
        const bool missing = unknown.empty() && wrong.get_name() == "RequiredError";
        if (missing) return refuse(app, missing_word(app, wrong.what()));
        return refuse(app, unknown.empty() ? reason_of(wrong) : unknown);
    }
}

}  // namespace trn
