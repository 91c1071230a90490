// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_software/host_software.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <string_view>

#include "models/soc/image_store/boot_images.h"
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
    rm -f /tmp/.output  # a job of an earlier command may have it open
    case $name in
    -*) name=./$name ;;  # no option
    esac
    case $verb in
    run)
        head -c "$length" <&3 >/tmp/.command
        sh /tmp/.command >/tmp/.output 2>&1 3>&-
        status=$?
        ;;
    put)
        blockdev --flushbufs /dev/pmem0
        # busybox' head copies byte by byte
        dd if=/dev/pmem0 bs=64k iflag=count_bytes count="$length" status=none \
            2>/tmp/.output >"$name" && chmod 755 "$name"
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

constexpr std::string_view images_parameter = "host_images=", initrd_parameter = "host_initrd=";

/// A kernel of another architecture would end without a word. \throws unfit_software
void check_images(const std::vector<std::string>& set) {
    const auto given = std::ranges::find_if(
        set, [](const auto& each) { return each.starts_with(images_parameter); });
    const auto list = given->substr(images_parameter.size());
    if (list.find_first_not_of(", ") == list.npos)
        throw unfit_software(
            "host_images names no image: the host inside has nothing to start (leave it out for "
            "OpenSBI and Linux of the cache)");
    for (const auto& name : split_boot_images(list)) {
        const auto why =
            other_architecture(name.substr(0, name.rfind('@')), architecture("riscv64"), "host");
        if (!why.empty()) throw unfit_software("host_images: " + why);
    }
}

bool sets(const std::vector<std::string>& set, std::string_view parameter) {
    return std::ranges::any_of(set, [&](const auto& each) { return each.starts_with(parameter); });
}

constexpr const char* initramfs_name = "initramfs-";

/// Makes the time of access that of the last use.
void note_use(const fs::path& file) {
    constexpr std::array<timespec, 2> now{timespec{0, UTIME_NOW}, timespec{0, UTIME_OMIT}};
    utimensat(AT_FDCWD, file.c_str(), now.data(), 0);
}

/// Removes initramfs files that no process used for a day: those of other versions.
void remove_unused() {
    constexpr std::time_t day = 24 * 3600;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(host_software::folder(), ignored)) {
        struct stat found {};
        if (entry.path().filename().string().starts_with(initramfs_name) &&
            stat(entry.path().c_str(), &found) == 0 && found.st_atime < std::time(nullptr) - day)
            fs::remove(entry.path(), ignored);
    }
}

}  // namespace

fs::path host_software::folder() {
    return guest_tools::folder() / architecture("riscv64").tools;
}

fs::path host_software::make_initramfs() {
    const auto& machine = architecture("riscv64");
    const guest_image image{.architecture = &machine,
                            .busybox = guest_tools::find("busybox", machine),
                            .kernel_modules = guest_tools::find("modules", machine),
                            .roots = {guest_tools::find("root", machine)},
                            .agent = agent};
    const auto version = std::hash<std::string>()(image.version());
    const auto file = folder() / fmt::format("{}{:016x}", initramfs_name, version);
    if (fs::exists(file)) {
        note_use(file);
        return file;
    }
    // Written beside the name and moved: another process may read it.
    const fs::path part = fmt::format("{}.{}", file.string(), getpid());
    std::ofstream out(part, std::ios::binary);
    out << image.initramfs();
    if (!out.flush()) throw file_error(part.string() + " cannot be written");
    fs::rename(part, file);
    remove_unused();
    return file;
}

void add_host_software(std::vector<std::string>& set) {
    if (!sets(set, "host=linux")) return;
    if (sets(set, images_parameter)) return check_images(set);
    const auto& machine = architecture("riscv64");
    const auto own = host_software::folder() / machine.firmware;
    const auto firmware = fs::exists(own) ? own : fs::path(installed_firmware);
    if (!fs::exists(firmware))
        throw tools_missing("no OpenSBI for hosts inside: './dev setup' installs it");
    const auto kernel = guest_tools::find("vmlinuz", machine);
    set.push_back(fmt::format("host_images={}@{:#x},{}@{:#x}", firmware.string(), firmware_place,
                              kernel.string(), kernel_place));
    if (!sets(set, initrd_parameter))
        set.push_back(fmt::format("host_initrd={}@{:#x}", host_software::make_initramfs().string(),
                                  initramfs_place));
}

}  // namespace trn
