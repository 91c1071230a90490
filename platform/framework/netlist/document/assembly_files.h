// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/framework/netlist/document/planning.h"

namespace trn {

/// Finds and reads the assemblies named by a board, each file once. Errors are reported to the
/// planning object.
class assembly_files {
public:
    /// `boards`: folder searched after those of the naming file and of the board.
    assembly_files(planning& all, const std::filesystem::path& boards)
        : all_(all), boards_(boards) {}

    /// The assembly named in a file; nullptr after an error. Valid during this object's lifetime.
    const assembly* load(const assembly& named_in, const config::node& node,
                         const std::string& name);
    /// Turns a variant into the file that it names with its own name and defaults; other files are
    /// returned unchanged. nullopt after an error.
    std::optional<assembly> whole(assembly file, file_role role);

private:
    std::optional<std::filesystem::path> find_file(const assembly& named_in,
                                                   const config::node& node,
                                                   const std::string& name);
    std::optional<assembly> read_whole(const std::filesystem::path& file, file_role role);
    void set_defaults(assembly& base, const assembly& variant);

    planning& all_;
    const std::filesystem::path& boards_;
    std::map<std::filesystem::path, assembly> files_;
    std::vector<std::filesystem::path> variants_;  ///< the chain of files that a variant refers to
};

}  // namespace trn
