// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/command_line/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

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

/// The words of a line; the last one is "" after a space.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text)
        if (c != ' ')
            words.back() += c;
        else if (!words.back().empty())
            words.emplace_back();
    return words;
}

std::vector<std::string> followers(const CLI::App* app, bool commands_too) {
    std::vector<std::string> names;
    if (commands_too)
        for (const auto* subcommand : app->get_subcommands([](const CLI::App*) { return true; }))
            names.push_back(subcommand->get_name());
    for (; app != nullptr; app = app->get_parent())
        for (const auto* option : app->get_options())
            for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
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
    if (line.option.empty()) line.next = followers(innermost, line.positionals.empty());
    return line;
}

std::string bash_completion(const std::string& program) {
    // A '=' ends a word for bash, so it passes the line. Arguments continue after their '='.
    return fmt::format(R"(_{0}() {{
    mapfile -t COMPREPLY < <({0} completion bash --line "${{COMP_LINE:0:COMP_POINT}}" 2>/dev/null)
    [[ ${{COMPREPLY[0]-}} == *= ]] && compopt -o nospace
}}
complete -o default -F _{0} {0}
)",
                       program);
}

}  // namespace trn::cli
