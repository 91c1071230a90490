// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/command_line/completion.h"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <utility>

#include "completion_scripts.h"  // of completion/*.in

namespace trn::cli {

namespace {

/// The option of a command, or of the commands around it; null when there is none.
const CLI::Option* find_option(const CLI::App* app, const std::string& name) {
    for (; app != nullptr; app = app->get_parent())
        if (const auto* found = app->get_option_no_throw(name)) return found;
    return nullptr;
}

const CLI::App* find_command(const CLI::App* app, const std::string& name) {
    for (const auto* subcommand : app->get_subcommands([](const CLI::App*) { return true; }))
        if (subcommand->get_name() == name) return subcommand;
    return nullptr;
}

/// The words of a line of a shell, without their quotes; the last one is "" after a space.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    bool begun = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && quote != '\'') {
            if (++i < text.size()) words.back() += text[i];
        } else if (c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else if (quote == 0 && (c == ' ' || c == '\t')) {
            if (begun) words.emplace_back();
            begun = false;
            continue;
        } else {
            words.back() += c;
        }
        begun = true;
    }
    return words;
}

std::vector<candidate> followers(const CLI::App* app, bool commands_too) {
    std::vector<candidate> found;
    if (commands_too)
        for (const auto* subcommand : app->get_subcommands([](const CLI::App*) { return true; }))
            found.push_back({subcommand->get_name(), subcommand->get_description()});
    for (; app != nullptr; app = app->get_parent())
        for (const auto* option : app->get_options())
            for (const auto& name : option->get_lnames())
                found.push_back({"--" + name, option->get_description()});
    return found;
}

/// The words of a type such as "TEXT:{contended,functional}".
std::vector<candidate> choices_of(const CLI::Option& option) {
    const auto type = option.get_type_name();
    const auto begin = type.find('{'), end = type.find('}');
    std::vector<candidate> found;
    if (begin == type.npos || end == type.npos) return found;
    for (auto word = begin + 1; word < end;) {
        const auto next = std::min(type.find(',', word), end);
        found.push_back({type.substr(word, next - word), ""});
        word = next + 1;
    }
    return found;
}

/// Choices of the positional that is typed.
std::vector<candidate> choices_of_positional(const CLI::App* app, std::size_t position) {
    for (const auto* option : app->get_options())
        if (option->get_positional() && position-- == 0) return choices_of(*option);
    return {};
}

}  // namespace

unfinished_line read_unfinished(command& app, std::string_view text) {
    auto words = words_of(text);
    unfinished_line line;
    line.typed = words.back();
    words.pop_back();
    if (!words.empty()) words.erase(words.begin());  // the program
    const CLI::App* innermost = &app.wrapped();
    for (const auto& word : words) {
        if (!line.option.empty()) {
            line.values[std::exchange(line.option, "")] = word;
        } else if (word.starts_with("--")) {
            const auto sign = word.find('=');
            const auto name = word.substr(0, sign);
            if (sign != word.npos)
                line.values[name] = word.substr(sign + 1);
            else if (const auto* option = find_option(innermost, name))
                if (option->get_expected_max() > 0 && option->get_type_size() > 0)
                    line.option = name;
        } else if (const auto* command = find_command(innermost, word)) {
            innermost = command;
            line.commands.push_back(word);
        } else {
            line.positionals.push_back(word);
        }
    }
    // "--option=value"
    if (const auto sign = line.typed.find('=');
        line.option.empty() && line.typed.starts_with("--") && sign != std::string::npos) {
        line.option = line.typed.substr(0, sign);
        line.joined = line.typed.substr(0, sign + 1);
        line.typed.erase(0, sign + 1);
    }
    if (line.option.empty()) {
        line.next = followers(innermost, line.positionals.empty());
        const auto values = choices_of_positional(innermost, line.positionals.size());
        line.next.insert(line.next.end(), values.begin(), values.end());
    } else if (const auto* option = find_option(innermost, line.option)) {
        line.next = choices_of(*option);
    }
    return line;
}

std::vector<candidate> completions(command& app, std::string_view text, const completer& more) {
    const auto line = read_unfinished(app, text);
    auto all = line.next;
    if (!line.typed.starts_with('-') && more) {
        const auto found = more(line);
        all.insert(all.end(), found.begin(), found.end());
    }
    std::erase_if(all, [&](const candidate& next) {
        return !next.word.starts_with(line.typed) ||
               (line.typed.empty() && next.word.starts_with('-'));
    });
    std::ranges::stable_sort(all, {}, &candidate::word);
    const auto equal = std::ranges::unique(all, {}, &candidate::word);
    all.erase(equal.begin(), equal.end());
    for (auto& next : all) next.word.insert(0, line.joined);
    return all;
}

std::string completion_script(std::string_view shell, const std::string& program) {
    std::string text = shell == "zsh"    ? completion_scripts::zsh
                       : shell == "fish" ? completion_scripts::fish
                                         : completion_scripts::bash;
    constexpr std::string_view name = "@program@";
    for (auto place = text.find(name); place != text.npos;
         place = text.find(name, place + program.size()))
        text.replace(place, name.size(), program);
    return text;
}

}  // namespace trn::cli
