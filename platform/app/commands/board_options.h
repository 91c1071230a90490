// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/commands/guarded.h"
#include "platform/app/commands/output_files.h"
#include "platform/app/platform.h"
#include "platform/app/protocol_option.h"
#include "platform/framework/command_line/options.h"

namespace trn {

/// Options of both `run` and `guest` to build, run and observe a board.
struct board_options {
    platform_options build;
    std::vector<std::string> kind_libraries;
    protocol_choice protocol;
    std::string timing = "contended";
    std::string policy = "free";
    std::filesystem::path record, fidelity_report;
    std::vector<std::string> load;  ///< FILE@ADDRESS: images of stock software
    std::string initrd, device_tree, bootargs;
    std::string host;  ///< "linux": the Linux of each server is in the simulation

    void add_to(cli::command& command);
    /// Adds the options for software of processors: stock software on the management processor, and
    /// the host inside. Only `run` has them.
    void add_software_to(cli::command& command);
    /// Adds the files that the options ask for. \throws user_error
    void add_outputs(output_files& files) const;
    /// Checks the options. \throws user_error
    platform_options checked() const;
    /// The values of --misuse.
    std::vector<std::string> misuse_texts() const;

private:
    void add_stock_software(std::vector<std::string>& set) const;
    void add_host(std::vector<std::string>& set) const;
};

}  // namespace trn
