// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/regression/record.h"

namespace trn::regression {

struct merged {
    run_record run;
    /// Sentences about shards that are missing, duplicated, of another run, cut off or unreadable.
    std::vector<std::string> problems;
};

/// Merges the records of several shards or machines. Records of another build, of another list of
/// scenarios or with another digest of a board are omitted and reported. Of two results of the same
/// run, a failed one is kept. \throws file_error when no record can be read
merged merge(const std::vector<std::filesystem::path>& from);

}  // namespace trn::regression
