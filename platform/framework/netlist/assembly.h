// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/framework/config/document.h"

namespace trn {

/// Values of `${...}`: parameters of the file, and `i` where something repeats.
using variables = std::vector<std::pair<std::string, std::string>>;

/// One board or assembly file: its text with places, and its declared parameters.
struct assembly {
    struct declared {
        std::string name;
        std::string value;  ///< the default, as written; its form is the parameter's type
        config::node where;
        bool by_variant = false;  ///< a variant said so: no preset says otherwise
    };
    /// Values of other parameters that one parameter chooses.
    struct presets {
        std::string chooser;  ///< the parameter whose value is the name of one of `choices`
        std::vector<std::pair<std::string, std::vector<declared>>> choices;
    };
    std::string name;
    std::string description;
    std::filesystem::path folder;  ///< of the file
    std::shared_ptr<config::document> document;
    std::vector<declared> parameters;
    std::vector<presets> preset_tables;
    /// The file whose modules, bindings and ports these are, with other defaults; "" when its own.
    std::string variant_of;

    config::node root() const { return document->root(); }
};

/// A board may be an assembly that is alone: `either` reads both.
enum class file_role { board, assembly, either };

/// Reads what stands at the top of a file; its modules and bindings are the planner's.
assembly read_assembly(config::document text, std::filesystem::path folder, file_role role);

/// Sets what the presets chosen in `values` say, except the parameters that are `given`. Tells a
/// value that chooses none by its parameter's index.
void apply_presets(
    const assembly& file, variables& values, std::vector<bool> given,
    const std::function<void(std::size_t parameter, const config::refusal&)>& refuse);

/// What kind of value a default is ("size", "number", "text", ...), and why `text` is none of it.
std::string_view value_type(std::string_view text);
std::optional<config::refusal> not_of_type(std::string_view type, std::string_view text);

/// `text` with every ${name} replaced, or what is wrong with it.
config::parsed<std::string> substitute(std::string_view text, const variables& known);

}  // namespace trn
