// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sw-stubs/trnctl/session.h"

namespace trn {

struct session_options {
    std::string connect;  ///< a folder of sockets, or the control socket's address
    std::string board;    ///< or a board to start here
    std::string firmware;
    std::vector<std::string> set;  ///< "name=value" for the board's parameters
    bool functional = false;       ///< resources of `board` are not contended
    std::uint64_t seed = 0;        ///< of its random streams
    std::string trace;             ///< its event trace goes to this file
    std::vector<std::string>
        misuse;        ///< policies of misuse rules; later ones override earlier ones
    std::string chip;  ///< which function; "" = the only one
    std::string token_file;
};

/// connect_session() or board_session(). \throws user_error, config_error, control_error
std::unique_ptr<session> open_session(const session_options& options);
/// A session on a board in this process, which ends with it.
std::unique_ptr<session> board_session(const session_options& options);

}  // namespace trn
