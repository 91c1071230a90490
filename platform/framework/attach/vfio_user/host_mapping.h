// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace trn {

/// A file does not have the range that a client asks for (EINVAL).
class mapping_refused : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A range of a client's file, mapped into this process. An access to a page that the file does not
/// have (it was truncated, or there are no huge pages for it) does not end the simulator by SIGBUS:
/// the whole range becomes private zeroes, and `lost()` becomes true. The first mapping installs
/// the signal handler for this.
class host_mapping {
public:
    /// Limits of all mappings of the process, so that clients leave room for the simulator's own:
    /// this number of bytes, and three quarters of the kernel's limit of areas.
    static constexpr std::uint64_t max_bytes = std::uint64_t{1} << 45;
    static std::size_t max_mappings();

    /// The caller may close the descriptor afterwards. `lost_event`: an eventfd to signal when the
    /// range is lost, or -1. \throws mapping_refused when the file is shorter than offset + size,
    /// not a file, or when the offset is not a multiple of its page size; std::system_error: ENOSPC
    /// beyond the limits, else the error of mmap
    host_mapping(int descriptor, std::uint64_t offset, std::uint64_t size, bool writable,
                 int lost_event = -1);
    ~host_mapping();
    host_mapping(const host_mapping&) = delete;
    host_mapping& operator=(const host_mapping&) = delete;

    std::uint8_t* bytes() const { return bytes_; }
    std::uint64_t size() const { return size_; }
    /// Changes during an access of the range.
    const volatile bool& lost() const { return lost_; }

private:
    static void install_guard();
    static bool replace(const std::uint8_t* address);
    friend struct host_mapping_guard;

    std::uint8_t* bytes_ = nullptr;
    std::uint64_t size_;
    std::uint64_t mapped_ = 0;  // size in whole pages of the file
    int lost_event_;
    volatile bool lost_ = false;
};

}  // namespace trn
