// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/regression/record.h"

namespace trn::regression {

struct merged {
    run_record run;
    /// Sentences: shards that are missing, double, foreign, cut or unreadable.
    std::vector<std::string> problems;
};

/// The records of several shards or machines as one. A record of another build, of another list of
/// scenarios or with another digest of a board is left out, and named; of two results of one run
/// the failed one stays.
/// \throws file_error when no record can be read
merged merge(const std::vector<std::filesystem::path>& from);

}  // namespace trn::regression
