// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/regression/records/record.h"

namespace trn::regression {

struct merged {
    run_record run;
    /// Sentences about shards that are missing, duplicated, of another run, cut off or unreadable.
    std::vector<std::string> problems;
    /// Sentences about results that newer ones replace.
    std::vector<std::string> replaced = {};
};

/// Merges the records of several shards or machines. Records of another build, with other options
/// or of another list of scenarios are omitted and reported, and so are results on a board with
/// another digest. Of several results of the same run, that of the record that began last is kept;
/// of records that began in the same second, that of the last in the list. \throws file_error when
/// no record can be read
merged merge(const std::vector<std::filesystem::path>& folders);

/// The same for shards that may have run several times: the records of each, oldest first. Of two
/// results in records of one shard, the newer one is kept.
merged merge(const std::vector<std::vector<std::filesystem::path>>& shards);

}  // namespace trn::regression
