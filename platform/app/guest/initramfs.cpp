// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/initramfs.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace trn {

namespace {

void append_entry(std::string& archive, unsigned inode, unsigned mode, unsigned major,
                  unsigned minor, std::string_view path, std::string_view content) {
    const auto pad = [&archive] { archive.resize((archive.size() + 3) / 4 * 4); };
    // magic, inode, mode, uid, gid, links, mtime, size, device of the file, device, name, checksum
    archive += fmt::format(
        "070701{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}"
        "{:08x}{:08x}{:08x}",
        inode, mode, 0, 0, 1, 0, content.size(), 0, 0, major, minor, path.size() + 1, 0);
    archive += path;
    archive += '\0';
    pad();
    archive += content;
    pad();
}

}  // namespace

void initramfs::add(std::string_view path, unsigned mode, std::string_view content, unsigned major,
                    unsigned minor) {
    append_entry(archive_, ++entries_, mode, major, minor, path, content);
}

void initramfs::folder(std::string_view path) {
    add(path, S_IFDIR | 0755, {});
}

void initramfs::file(std::string_view path, std::string_view bytes, bool executable) {
    add(path, S_IFREG | (executable ? 0755 : 0644), bytes);
}

void initramfs::link(std::string_view path, std::string_view target) {
    add(path, S_IFLNK | 0777, target);
}

void initramfs::character_device(std::string_view path, unsigned major, unsigned minor) {
    add(path, S_IFCHR | 0600, {}, major, minor);
}

std::string initramfs::bytes() const {
    std::string whole = archive_;
    append_entry(whole, 0, 0, 0, 0, "TRAILER!!!", {});
    return whole;
}

}  // namespace trn
