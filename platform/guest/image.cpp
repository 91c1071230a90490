// SPDX-License-Identifier: Apache-2.0
#include "platform/guest/image.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "platform/guest/initramfs.h"
#include "platform/guest/machine.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in || fs::is_directory(file))
        throw std::system_error(errno ? errno : EISDIR, std::generic_category(), file.string());
    return bytes;
}

std::string quoted(const std::string& word) {
    return shell_text({word});
}

std::string call(const std::string& path, const std::vector<std::string>& words) {
    std::string text = quoted(path);
    for (const auto& word : words) text += " " + quoted(word);
    return text;
}

// trn-guest ends QEMU with a status: this kernel has no /dev/port for a script to write to.
constexpr const char* head = R"sh(#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /root
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev 2>/dev/null
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
end() {
    trn-guest end $(($1 > 126 ? 126 : $1)) $exit_port
    poweroff -f
}
cd /root
)sh";

}  // namespace

std::string guest_image::initramfs() const {
    trn::initramfs out;
    for (const char* folder : {"bin", "dev", "modules", "program"}) out.folder(folder);
    out.character_device("dev/console", 5, 1);
    out.file("bin/busybox", read_file(busybox), true);
    out.file("bin/trn-guest", read_file(own_program), true);
    std::string init = fmt::format("{}exit_port={}\n", head, guest_machine::exit_port);
    for (const auto& [file, parameters] : modules) {
        const auto path = "modules/" + file.filename().string();
        out.file(path, read_file(file));
        init += fmt::format("insmod {} || {{ status=$?; dmesg | tail -5; end $status; }}\n",
                            call("/" + path, parameters));
    }
    init += "status=0\n";
    for (const auto& [file, arguments] : program) {
        const auto path = "program/" + file.filename().string();
        out.file(path, read_file(file), true);
        init += call("/" + path, arguments) + "\nstatus=$?\n";
    }
    if (shell) init += "setsid cttyhack sh\nstatus=$?\n";
    out.file("init", init + "end $status\n", true);
    return out.bytes();
}

}  // namespace trn
