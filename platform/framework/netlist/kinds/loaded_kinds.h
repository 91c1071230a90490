// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

/// Kinds of the libraries that this process has loaded, in that order.
std::vector<const kind*> loaded_kinds();

/// Loads a library; boards can then name its kinds. It stays loaded until the process ends; a
/// library that is already loaded is not loaded again. Returns why it is refused: it cannot be
/// loaded, has no kinds or another stamp, throws, or has a kind with a name of `known` or of
/// another library. A crash in the library, or its exit(), ends the process with a line that names
/// it.
std::optional<std::string> load_kinds(const std::filesystem::path& library, const kind_list& known);
/// The file of the library that has this kind; empty: a kind of the program.
std::filesystem::path library_of(const kind& type);

/// The kind of that name, of `known` or of a library; nullptr if there is none.
const kind* find_kind(const kind_list& known, std::string_view name);
/// Of `known` and of the libraries.
std::vector<std::string> kind_names(const kind_list& known);

}  // namespace trn
