// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/framework/netlist/planning.h"

namespace trn {

/// Finds and reads the assemblies that a board names; each file once. Mistakes are reported to the
/// planning.
class assembly_files {
public:
    /// `boards`: searched after the folders of the naming file and of the board.
    assembly_files(planning& all, const std::filesystem::path& boards)
        : all_(all), boards_(boards) {}

    /// The assembly that a file names; null after a mistake. Valid as long as this.
    const assembly* load(const assembly& named_in, const config::node& where,
                         const std::string& name);
    /// A variant becomes the file that it names with its own name and defaults; any other file is
    /// returned unchanged. Nothing after a mistake.
    std::optional<assembly> whole(assembly file, file_role role);

private:
    std::optional<std::filesystem::path> find_file(const assembly& named_in,
                                                   const config::node& where,
                                                   const std::string& name);
    std::optional<assembly> read_whole(const std::filesystem::path& file, file_role role);
    void set_defaults(assembly& base, const assembly& variant);

    planning& all_;
    const std::filesystem::path& boards_;
    std::map<std::filesystem::path, assembly> files_;
    std::vector<std::filesystem::path> variants_;  ///< the files a variant leads to, in order
};

}  // namespace trn
