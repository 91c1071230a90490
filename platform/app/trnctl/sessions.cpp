// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnctl/sessions.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/framework/config/file.h"

namespace trn {

namespace {

/// The first line of the file; "" when there is no file.
std::string token_in(const std::string& file) {
    constexpr std::uint64_t largest_token = 4096;
    if (file.empty()) return {};
    try {
        const auto text = read_file(file, largest_token);
        std::string token(text.begin(), std::find(text.begin(), text.end(), '\n'));
        if (token.empty()) throw file_error("its first line is empty");
        return token;
    } catch (const file_error& why) {
        throw user_error(fmt::format("cannot read the token in {}: {}", file, why.what()));
    }
}

}  // namespace

std::unique_ptr<session> open_session(const session_options& options) {
    if (!options.connect.empty() && !options.board.empty())
        throw user_error(
            "--connect and --board exclude each other: a running platform, or a board of its own");
    if (options.connect.empty() && options.board.empty())
        throw user_error("give a target: --connect DIR of a running platform, or --board BOARD");
    return options.board.empty()
               ? connect_session(options.connect, options.chip, token_in(options.token_file))
               : board_session(options);
}

}  // namespace trn
