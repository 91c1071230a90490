// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// The runs in `where`, oldest first, at most the last `limit`. It is a record (`run.jsonl`) or a
/// file of the history (`.json`), or a folder that holds one record or the files of a history.
/// Files of a history that cannot be read are in `problems` of the next run. \throws file_error
std::vector<run_record> read_runs(const std::filesystem::path& path, std::size_t limit);

/// The newest of them.
run_record read_run(const std::filesystem::path& path);

}  // namespace trn::regression
