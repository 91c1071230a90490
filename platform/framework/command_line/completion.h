// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/command_line/options.h"

namespace trn::cli {

/// A word that may complete a command line, with its description or "".
struct candidate {
    std::string word, about;
};

/// The words of a command line before the word that is being typed.
struct unfinished_line {
    std::vector<std::string> commands = {};          ///< chosen subcommands, outermost first
    std::vector<std::string> positionals = {};       ///< of the innermost
    std::map<std::string, std::string> values = {};  ///< of options: "--connect" to "DIR"
    std::string option = {};                         ///< whose value is typed now; "": none
    std::string joined = {};                         ///< "--option=" before `typed`, or ""
    std::string typed = {};                          ///< the word that is typed, or its value
    std::vector<candidate> next = {};  ///< subcommands and options, or values of `option`
};

/// Words that depend on more than the option tables, such as names of boards.
using completer = std::function<std::vector<candidate>(const unfinished_line&)>;

/// `line`, with the quotes of a shell, begins with the name of the program; its last word, which
/// may be "", is the one that is typed.
unfinished_line read_unfinished(command& app, std::string_view line);

/// What the last word of `line` may become, sorted: of the option tables, and of `more`.
std::vector<candidate> completions(command& app, std::string_view line, const completer& more);

/// A function for "bash", "zsh" or "fish" that completes words by "PROGRAM --complete LINE".
std::string completion_script(std::string_view shell, const std::string& program);

}  // namespace trn::cli

namespace trn {

/// As parse_command_line(app, argc, argv), which also has two options that are not in --help:
/// `--complete LINE` prints what the last word of LINE may become, here also by `more`, with
/// descriptions; `--write-manuals FOLDER` writes manual pages and scripts for shells.
int parse_command_line(cli::command& app, int argc, char** argv, const cli::completer& more);

}  // namespace trn
