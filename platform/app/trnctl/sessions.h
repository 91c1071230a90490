// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/app/hart_option.h"
#include "platform/app/protocol_option.h"
#include "sw-stubs/trnctl/session.h"

namespace trn {

struct session_options {
    std::string connect;  ///< folder of sockets, or address of the control socket
    std::string board;    ///< board to start in this process instead
    std::string firmware;
    std::vector<std::string> set;             ///< "name=value" for the board's parameters
    bool functional = false;                  ///< starts `board` without contention for resources
    hart_choice hart;                         ///< how harts of `board` execute
    std::vector<std::string> kind_libraries;  ///< of `board`
    protocol_choice protocol;  ///< whether calls between models of `board` are checked
    std::uint64_t seed = 0;    ///< seed of the board's random streams
    std::string trace;         ///< file of the board's event trace
    std::vector<std::string>
        misuse;        ///< policies of misuse rules; later ones override earlier ones
    std::string chip;  ///< the chip to use; "": the only one
    std::string token_file;
};

/// Opens connect_session() or board_session(). \throws user_error, config_error, control_error
std::unique_ptr<session> open_session(const session_options& options);
/// Starts a board in this process, which ends with the session.
std::unique_ptr<session> board_session(const session_options& options);

}  // namespace trn
