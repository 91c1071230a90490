// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "platform/framework/netlist/plan.h"

namespace trn {

/// What a run leaned on: every register that a bus access reached, by kind of module, with how it
/// is known, how close the model is, and who used it (doc/fidelity.md).
class fidelity_report {
public:
    /// JSON when `file` ends in .json, else Markdown. \throws config_error when it cannot be
    /// written
    explicit fidelity_report(const std::filesystem::path& file);
    /// At the end of a run of `board`. \throws output_error
    void write(const plan& board);

private:
    std::filesystem::path file_;
};

}  // namespace trn
