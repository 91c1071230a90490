// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace trn {

/// How a model communicates through a socket.
enum class coding_style : std::uint8_t {
    restricted,           ///< this project's protocol (doc/tlm.md)
    loosely_timed,        ///< b_transport, which may wait; initiators are threads
    approximately_timed,  ///< non-blocking transport with phases
};

/// For users: "loosely timed".
std::string_view to_string(coding_style style);

}  // namespace trn
