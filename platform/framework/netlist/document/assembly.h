// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

/// Values of `${...}`: parameters of the file, and the counter `i` of repetitions.
using variables = std::vector<std::pair<std::string, std::string>>;

/// Limit of the parameters of a file and of the keys of a module, which are looked up one by one.
inline constexpr std::size_t max_settings = 1000;

/// A board or assembly file: its text with source locations, and its declared parameters.
struct assembly {
    struct declared {
        std::string name;
        std::string value;  ///< default, as written; its form determines the parameter's type
        config::node node;
        std::string_view type;    ///< value_type(value)
        bool by_variant = false;  ///< set by a variant; presets do not override it
        std::optional<std::pair<std::uint64_t, std::uint64_t>> limits = {};  ///< of a number
    };
    /// Sets of values for other parameters, selected by one parameter.
    struct presets {
        std::string chooser;  ///< parameter whose value names one of `choices`
        std::vector<std::pair<std::string, std::vector<declared>>> choices;
    };
    std::string name;
    std::string description;
    std::filesystem::path folder;  ///< of the file
    std::shared_ptr<config::document> document;
    std::vector<declared> parameters;
    std::vector<presets> preset_tables;
    /// The file that defines the modules, bindings and ports of a variant; "" if it is not a
    /// variant.
    std::string variant_of;
    /// The keys `misuse` of a board, and of its variants.
    std::vector<config::node> misuse;

    config::node root() const { return document->root(); }
};

/// Names to suggest for a name that is not found.
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
    std::vector<std::string> names;
    for (const auto& item : list) names.push_back(item.name);
    return names;
}

/// `either`: a board, or an assembly used as a board.
enum class file_role { board, assembly, either };

/// Reads the header of a file; the planners read its modules and bindings.
assembly read_assembly(config::document text, std::filesystem::path folder, file_role role);

/// Sets values from the presets chosen in `values`, except for `given` parameters. Reports invalid
/// choices by the parameter's index, and each value with its choice, such as "product=trn3".
void apply_presets(
    const assembly& file, variables& values, std::vector<bool> given,
    const std::function<void(std::size_t parameter, const config::refusal&)>& refuse,
    const std::function<void(const assembly::declared& setting, const std::string& choice)>& note);

/// The type of a default ("size", "number", "text", ...), and why `text` is not of that type.
std::string_view value_type(std::string_view text);
std::optional<config::refusal> not_of_type(std::string_view type, std::string_view text);

/// Returns `text` with each ${name} replaced, or an error; `explain`: with the nearest name.
config::parsed<std::string> substitute(std::string_view text, const variables& known,
                                       bool explain = true);

}  // namespace trn
