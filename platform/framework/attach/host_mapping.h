// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trn {

/// A piece of a client's file mapped into this process. The client may shorten the file afterwards:
/// an access beyond its end then finds a zero page (and `torn()` is true) instead of ending the
/// simulator by SIGBUS. That needs one process-wide signal handler, installed by the first mapping.
class host_mapping {
public:
    /// Throws std::system_error: EINVAL when the file is shorter than offset + size or not a file,
    /// else the error of mmap. The descriptor may be closed afterwards.
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
