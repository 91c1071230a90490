// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trn {

/// Builds a Linux initramfs: a cpio archive in the "newc" format
/// (Documentation/driver-api/early-userspace/buffer-format.rst). Paths must not begin with '/'; add
/// a folder before its content.
class initramfs {
public:
    void folder(std::string_view path);
    void file(std::string_view path, std::string_view bytes, bool executable = false);
    void link(std::string_view path, std::string_view target);
    void character_device(std::string_view path, unsigned major, unsigned minor);

    /// The archive with its trailer.
    std::string bytes() const;

private:
    void add(std::string_view path, unsigned mode, std::string_view content, unsigned major = 0,
             unsigned minor = 0);

    std::string archive_;
    unsigned entries_ = 0;
};

}  // namespace trn
