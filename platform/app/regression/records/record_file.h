// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "platform/app/regression/records/record.h"
#include "platform/framework/unique_fd.h"

namespace trn::regression {

inline constexpr auto record_name = "run.jsonl";

/// Writes the record of a run into a folder during the run: a line for the run, one per result as
/// soon as it is known, one for the end. The file is `run.jsonl.part` until it is complete, so that
/// a killed run leaves its results so far.
class record_writer {
public:
    /// Writes the properties of `run`, without results. \throws file_error when the folder cannot
    /// be made or another process writes a record there
    record_writer(const std::filesystem::path& folder, const run_record& run);
    ~record_writer();
    record_writer(const record_writer&) = delete;
    record_writer& operator=(const record_writer&) = delete;

    void add(const result& run);
    /// Completes the record. \throws output_error when any write failed; the file then keeps the
    /// ending .part
    void finish(const run_record& run);

private:
    void write(const std::string& line);

    std::filesystem::path file_, part_;
    unique_fd out_;
    int lost_ = 0;  // errno of the first failed write
};

/// A complete record as text.
std::string to_text(const run_record& run);
/// Replaces the record in a folder; the old one stays when this fails. \throws output_error
void write_record(const std::filesystem::path& folder, const run_record& run);

/// Reads the record in a folder, or a record file. A truncated record is read up to its last
/// complete line; `complete` is then false. Damaged lines are left out, and listed in `problems`.
/// \throws file_error with the file's name when it or its first line cannot be read
run_record read_record(const std::filesystem::path& path);

/// Reads the results of a record that another process is writing; keeps its position.
class record_follower {
public:
    explicit record_follower(const std::filesystem::path& folder) : folder_(folder) {}
    /// Results written since the last call, without damaged lines.
    std::vector<result> poll();

private:
    std::filesystem::path folder_;
    std::uint64_t offset_ = 0;
    std::size_t line_ = 0;
};

}  // namespace trn::regression
