// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "platform/framework/command_line/options.h"
#include "platform/framework/config/document.h"

namespace trn {

/// Parses the command line of a program whose options are all declared, and runs the callbacks of
/// the chosen ones. Adds --version. Improves on CLI11: for an unknown word the nearest option or
/// subcommand is suggested, empty values are refused, and numbers out of range are refused (CLI11
/// wraps them). \returns 0, also after --help; 2 after an error, which is printed
int parse_command_line(cli::command& app, int argc, char** argv);

/// Parses the words of a caller that is no command line: without --help and --version. \returns ""
/// or why they are refused, in a sentence
std::string parse_words(cli::command& app, std::vector<std::string> words);

/// Adds an option whose value is an enumerator's name, spelled as in board and scenario files.
template <class E, class T>
cli::option* add_choice(cli::command* command, const std::string& name, T& value,
                        const std::string& help,
                        std::vector<config::choice<E>> choices = {
                            std::begin(config::choices<E>::list),
                            std::end(config::choices<E>::list)}) {
    std::vector<std::string> words;
    for (const auto& choice : choices) words.emplace_back(choice.name);
    const auto set = [&value, choices](const std::string& word) {
        value = std::ranges::find(choices, word, &config::choice<E>::name)->value;
    };
    return command->add_option_function<std::string>(name, set, help)
        ->transform(cli::one_of(words));
}

}  // namespace trn
