// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "platform/app/trnctl/sessions.h"
#include "platform/framework/command_line/options.h"
#include "sw-stubs/trnctl/commands.h"

namespace trn {

/// What a command line chose: the target, the form of the output, and a command's work.
struct invocation {
    using work = std::function<void(session&)>;

    session_options target = {};
    output out = {};
    work chosen = {};  ///< runs after parsing, on a session with the target; empty: --help

    /// For commands whose effect must last after this process. \throws user_error without a running
    /// platform
    session& running(session& platform) const;
};

/// Adds a command that chooses `work`. `parent` is the program, or the command that it belongs to.
cli::command* add_command(cli::command& parent, invocation& line, const std::string& name,
                          const std::string& help, invocation::work work);
/// Adds a command that has commands of its own.
cli::command* add_command_group(cli::command& app, const std::string& name,
                                const std::string& help);

// Locations and sizes are read with the command line, before a board is built.

/// \throws user_error
location read_place(const std::string& text);
/// \throws user_error
std::uint64_t read_size(const std::string& text);
/// `place` must live until the line is parsed.
void add_place(cli::command* command, const std::string& name, location& place,
               const std::string& help);
/// Adds an option that takes a number of ns, or a time with a unit.
void add_nanoseconds(cli::command* command, const std::string& name, std::uint64_t& ns,
                     const std::string& help);
cli::option* add_size(cli::command* command, const std::string& name, std::uint64_t& size,
                      const std::string& help);

}  // namespace trn
