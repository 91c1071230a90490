// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/framework/config/document.h"

namespace trn {

/// Parses the command line of a program whose options are all declared, and runs the callbacks of
/// what was chosen. Adds --version. Beyond CLI11: a word that is no subcommand or option is named
/// with the nearest one, an empty value is refused, and a number must be one (CLI11 wraps what is
/// negative or too large).
/// \returns 0, also after --help; 2 after a mistake, which is then printed
int parse_command_line(CLI::App& app, int argc, char** argv);

/// The value is one of these words; '-' and '_' are the same in them.
CLI::Validator one_of(std::vector<std::string> words);

/// An option whose value is a word of an enumeration, as board and scenario files spell it.
template <class E, class T>
CLI::Option* add_choice(CLI::App* to, const std::string& name, T& value, const std::string& what,
                        std::vector<config::choice<E>> choices = {
                            std::begin(config::choices<E>::list),
                            std::end(config::choices<E>::list)}) {
    std::vector<std::string> words;
    for (const auto& one : choices) words.emplace_back(one.name);
    const auto set = [&value, choices](const std::string& word) {
        value = std::ranges::find(choices, word, &config::choice<E>::name)->value;
    };
    return to->add_option_function<std::string>(name, set, what)->transform(one_of(words));
}

}  // namespace trn
