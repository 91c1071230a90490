// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/diagnostics_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "platform/framework/config/json.h"

namespace trn {

std::string to_json_line(const diagnostic& mistaken) {
    nlohmann::json object{{"file", mistaken.file}, {"message", mistaken.message}};
    if (mistaken.code != mistake{})
        object["code"] = fmt::format("E{:02}", static_cast<unsigned>(mistaken.code));
    if (mistaken.line > 0) {
        object["line"] = mistaken.line;
        object["column"] = mistaken.column;
        object["length"] = mistaken.length;
        object["excerpt"] = mistaken.excerpt();
    }
    if (!mistaken.suggestion.empty()) object["suggestion"] = mistaken.suggestion;
    if (mistaken.origin_line > 0)
        object["origin"] = {{"file", mistaken.origin_file}, {"line", mistaken.origin_line}};
    return config::to_ascii(object) + "\n";
}

}  // namespace trn
