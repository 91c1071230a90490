// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trn {

/// A range of a client's file, mapped into this process. If the client truncates the file, an
/// access beyond its end reads a zero page, and `torn()` becomes true; SIGBUS does not end the
/// simulator. The first mapping installs the signal handler for this.
class host_mapping {
public:
    /// Throws std::system_error: EINVAL when the file is shorter than offset + size or not a file,
    /// else the error of mmap. The caller may close the descriptor afterwards.
    host_mapping(int descriptor, std::uint64_t offset, std::uint64_t size, bool writable);
    ~host_mapping();
    host_mapping(const host_mapping&) = delete;
    host_mapping& operator=(const host_mapping&) = delete;

    std::uint8_t* bytes() const { return bytes_; }
    std::uint64_t size() const { return size_; }
    bool torn() const { return torn_; }

private:
    static void install_guard();
    static bool repair(const std::uint8_t* address);
    friend struct host_mapping_guard;

    std::uint8_t* bytes_ = nullptr;
    std::uint64_t size_;
    volatile bool torn_ = false;
};

}  // namespace trn
