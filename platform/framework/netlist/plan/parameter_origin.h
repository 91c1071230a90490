// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace trn {

/// Where the value of a parameter comes from.
struct parameter_origin {
    enum class source : std::uint8_t {
        kind_default,  ///< table of the kind
        file_default,  ///< `parameters:` of a board, of an assembly, or of a variant
        preset,        ///< `presets:` of that file
        setting,       ///< key of the module in a file
        command_line,
        program,  ///< changed after the board was read
    };
    source given_by = source::kind_default;
    std::string file = {};  ///< "": in no file
    int line = 0, column = 0;
    std::string written = {};       ///< in the file: "${hbm_size}"; of a preset, its name
    std::string default_text = {};  ///< of a parameter that a file declares
    std::string text = {};          ///< the value
};
std::string_view to_string(parameter_origin::source given_by);

/// By the full name of the parameter: "chip0.hbm0.size"; "devices" of the board.
using parameter_origins = std::map<std::string, parameter_origin, std::less<>>;
/// Receives an origin while a board is read; of several for a parameter the last is valid.
using on_origin = std::function<void(std::string name, parameter_origin origin)>;

/// Whether `scope` is the parameter, or a module that contains it; "": the board.
bool is_within(std::string_view scope, std::string_view parameter);

}  // namespace trn
