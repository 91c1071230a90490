// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/command_line/options.h"

namespace trn::cli {

/// The words of a command line before the word that is being typed.
struct unfinished_line {
    std::vector<std::string> commands = {};          ///< chosen subcommands, outermost first
    std::vector<std::string> positionals = {};       ///< of the innermost
    std::map<std::string, std::string> values = {};  ///< of options: "--connect" to "DIR"
    std::string option = {};                         ///< whose value is typed now; "": none
    std::string typed = {};                          ///< the word that is typed
    std::vector<std::string> next = {};              ///< subcommands and options that may follow
};

/// `line` begins with the name of the program; its last word, which may be "", is left out.
unfinished_line read_unfinished(command& app, std::string_view line);

/// A function for bash that completes words by "PROGRAM completion bash --line LINE".
std::string bash_completion(const std::string& program);

}  // namespace trn::cli
