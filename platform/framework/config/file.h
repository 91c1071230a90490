// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

namespace trn {

/// The reason why a user's file cannot be read; what() does not contain the file's name.
struct file_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads a user's file: a regular file of at most `limit` bytes. Refuses devices and pipes, which
/// have no size and may never end. \throws file_error
std::vector<std::uint8_t> read_file(const std::filesystem::path& file, std::uint64_t limit);

/// Notes that this command reads `file` later or in a child process, for check_not_read() and
/// input_record. Does nothing if there is no such file.
void note_input(const std::filesystem::path& file);

/// Records the contents of the files that are noted while it exists. Records may be nested; a file
/// is then in each of them.
class input_record {
public:
    input_record();
    ~input_record();
    input_record(const input_record&) = delete;
    input_record& operator=(const input_record&) = delete;

    /// Continues the hash with the contents, in an order that does not depend on their names.
    std::uint64_t mixed_into(std::uint64_t hash) const;
    void add(const std::filesystem::path& file);

private:
    input_record* const outer_;
    std::set<std::filesystem::path> known_ = {};
    std::multiset<std::uint64_t> contents_ = {};
};

/// Call before opening `file` for writing: checks that this command does not read it, since an
/// output option with the name of an input would empty the user's program or board. \throws
/// file_error with the file's name
void check_not_read(const std::filesystem::path& file);

/// Whether two open descriptors are of one file.
bool is_same_file(int first, int second);

}  // namespace trn
