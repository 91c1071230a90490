// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_software/host_software.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "platform/app/guest/image.h"
#include "platform/app/guest/machine.h"
#include "platform/framework/config/file.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

/// Load addresses in the server's RAM. The kernel is followed by variables without an image.
constexpr std::uint64_t firmware_place = 0x8000'0000, kernel_place = 0x8020'0000,
                        initramfs_place = 0x8800'0000;
constexpr const char* installed_firmware =
    "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin";

// Serves requests by the protocol of platform/app/scenario/context/inside_hosts.h on the second
// UART of platform/boards/hosts/riscv_host.yaml, whose memory `exchange` the kernel has as pmem0.
// Pages of it that the kernel has read before, as for partitions, are stale.
constexpr const char* agent = R"sh(#!/bin/busybox sh
[ -e /dev/ttyS1 ] || exit 1
exec 3<>/dev/ttyS1 </dev/null >/dev/console 2>&1
modprobe nd_pmem
modprobe of_pmem
waits=0  # its driver probes by itself
until [ -b /dev/pmem0 ] || [ $waits = 100 ]; do sleep 0.01; waits=$((waits + 1)); done
stty -F /dev/ttyS1 4000000 raw -echo
printf 'ready\n' >&3
while read -r verb length name <&3; do
    case $verb in
    run)
        head -c "$length" <&3 >/tmp/.command
        rm -f /tmp/.output  # a job of an earlier command may have it open
        sh /tmp/.command >/tmp/.output 2>&1 3>&-
        status=$?
        ;;
    put)
        blockdev --flushbufs /dev/pmem0
        head -c "$length" /dev/pmem0 2>/tmp/.output >"$name" && chmod 755 "$name"
        status=$?
        ;;
    get)
        {
            cat "$name" 2>/tmp/.output >&4
            status=$?
            [ $status != 0 ] || sed -n 's/^pos:.//p' /proc/self/fdinfo/4 >/tmp/.output
        } 4>/dev/pmem0
        ;;
    *)
        echo "no request '$verb'" >/tmp/.output
        status=2
        ;;
    esac
    size=$(stat -c %s /tmp/.output)
    printf 'done %d %d\n' "$status" "$size" >&3
    head -c "$size" /tmp/.output >&3
done
)sh";

bool sets(const std::vector<std::string>& set, std::string_view parameter) {
    return std::ranges::any_of(set, [&](const auto& each) { return each.starts_with(parameter); });
}

}  // namespace

fs::path host_software::folder() {
    return guest_tools::folder() / architecture("riscv64").tools;
}

/// Written beside the name and moved: another process may read it.
fs::path host_software::make_initramfs() {
    const auto& machine = architecture("riscv64");
    const auto bytes = guest_image{.architecture = &machine,
                                   .busybox = guest_tools::find("busybox", machine),
                                   .kernel_modules = guest_tools::find("modules", machine),
                                   .roots = {guest_tools::find("root", machine)},
                                   .agent = agent}
                           .initramfs();
    const auto digest = std::hash<std::string>()(bytes);
    const auto file = folder() / fmt::format("initramfs-{:016x}", digest);
    if (fs::exists(file)) return file;
    const fs::path part = fmt::format("{}.{}", file.string(), getpid());
    std::ofstream out(part, std::ios::binary);
    out << bytes;
    if (!out.flush()) throw file_error(part.string() + " cannot be written");
    fs::rename(part, file);
    return file;
}

void add_host_software(std::vector<std::string>& set) {
    if (!sets(set, "host=linux") || sets(set, "host_images=")) return;
    const auto& machine = architecture("riscv64");
    const auto own = host_software::folder() / machine.firmware;
    const auto firmware = fs::exists(own) ? own : fs::path(installed_firmware);
    if (!fs::exists(firmware))
        throw tools_missing("no OpenSBI for hosts inside: './dev setup' installs it");
    const auto kernel = guest_tools::find("vmlinuz", machine);
    set.push_back(fmt::format("host_images={}@{:#x},{}@{:#x}", firmware.string(), firmware_place,
                              kernel.string(), kernel_place));
    if (!sets(set, "host_initrd="))
        set.push_back(fmt::format("host_initrd={}@{:#x}", host_software::make_initramfs().string(),
                                  initramfs_place));
}

}  // namespace trn
