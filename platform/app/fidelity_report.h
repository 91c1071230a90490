// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// Lists every register that a bus access reached in a run, by kind of module: its source
/// (known_by), its fidelity and its users (doc/fidelity.md).
class fidelity_report {
public:
    /// Writes JSON when `file` ends in .json, else Markdown. \throws config_error when `file`
    /// cannot be written
    explicit fidelity_report(const std::filesystem::path& file);
    /// Writes the report at the end of a run of `board`. \throws output_error
    void write(const plan& board);

private:
    std::filesystem::path file_;
};

}  // namespace trn
