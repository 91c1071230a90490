// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "platform/app/regression/record.h"
#include "platform/framework/unique_fd.h"

namespace trn::regression {

inline constexpr auto record_name = "run.jsonl";

/// Writes the record of a run into a folder while it goes on: a line for the run, one for each
/// result as soon as it is there, one for the end. The file is `run.jsonl.part` until it is
/// complete, so that a run that is killed leaves the results so far.
class record_writer {
public:
    /// Writes all of `run` but its results and its end. \throws file_error when the folder cannot
    /// be made or another process writes a record there
    record_writer(const std::filesystem::path& folder, const run_record& run);
    ~record_writer();
    record_writer(const record_writer&) = delete;
    record_writer& operator=(const record_writer&) = delete;

    void add(const result& one);
    /// \throws output_error when anything could not be written; the file keeps its first name then
    void finish(const run_record& run);

private:
    void write(const std::string& line);

    std::filesystem::path file_, part_;
    unique_fd out_;
    int lost_ = 0;  // errno of the first write that failed
};

/// The text of a whole record.
std::string to_text(const run_record& run);
/// Replaces the record of a folder, whole or not at all. \throws output_error
void write_record(const std::filesystem::path& folder, const run_record& run);

/// Of a folder, or a file. A record that was cut is read up to its last whole line, and is not
/// `complete`. \throws file_error that names file and line
run_record read_record(const std::filesystem::path& where);

/// The results in what a run has written so far, as an object that keeps its place.
class record_follower {
public:
    explicit record_follower(const std::filesystem::path& folder) : folder_(folder) {}
    /// The results that are new since the last call. \throws file_error
    std::vector<result> poll();
    /// Starts at the beginning: the run was started again.
    void restart() { *this = record_follower(folder_); }

private:
    std::filesystem::path folder_;
    std::uint64_t at_ = 0;
    std::size_t line_ = 0;
};

}  // namespace trn::regression
