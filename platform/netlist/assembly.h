// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/config/document.h"

namespace trn {

/// Values of `${...}`: parameters of the file, and `i` where something repeats.
using variables = std::vector<std::pair<std::string, std::string>>;

/// One board or assembly file: its text with places, and its declared parameters.
struct assembly {
    struct declared {
        std::string name;
        std::string value;  ///< the default, as written; its form is the parameter's type
        config::node where;
    };
    std::string name;
    std::string description;
    std::filesystem::path folder;  ///< of the file
    std::shared_ptr<config::document> document;
    std::vector<declared> parameters;
    /// The file whose modules, bindings and ports these are, with other defaults; "" when its own.
    std::string variant_of;

    config::node root() const { return document->root(); }
};

enum class file_role { board, assembly };

/// Reads what stands at the top of a file; its modules and bindings are the planner's.
assembly read_assembly(config::document text, std::filesystem::path folder, file_role role);

/// What kind of value a default is ("size", "number", "text", ...), and why `text` is none of it.
std::string_view value_type(std::string_view text);
std::optional<config::refusal> not_of_type(std::string_view type, std::string_view text);

/// `text` with every ${name} replaced, or what is wrong with it.
config::parsed<std::string> substitute(std::string_view text, const variables& known);

}  // namespace trn
