// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_software/host_software.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "platform/app/guest/initramfs.h"
#include "platform/app/guest/machine.h"
#include "platform/framework/config/file.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_file = std::uint64_t{256} << 20;
/// Load addresses in the server's RAM. The kernel is followed by variables without an image.
constexpr std::uint64_t firmware_place = 0x8000'0000, kernel_place = 0x8020'0000,
                        initramfs_place = 0x8800'0000;
constexpr const char* installed_firmware =
    "/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin";

// The second UART of platform/boards/hosts/riscv_host.yaml is the agent's.
constexpr const char* init = R"sh(#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /root /sbin
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev 2>/dev/null
/bin/busybox --install -s /bin
export PATH=/bin:/sbin HOME=/root
cd /root
[ -e /dev/ttyS1 ] && setsid /agent &
while :; do setsid cttyhack sh; done
)sh";

// Serves requests "VERB LENGTH NAME" with LENGTH bytes:
// platform/app/scenario/context/inside_hosts.h.
constexpr const char* agent = R"sh(#!/bin/busybox sh
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
        sh /tmp/.command >/tmp/.output 2>&1
        status=$?
        ;;
    put)
        blockdev --flushbufs /dev/pmem0
        head -c "$length" /dev/pmem0 2>/tmp/.output >"$name" && chmod 755 "$name"
        status=$?
        ;;
    get)
        cat "$name" 2>/tmp/.output >/dev/pmem0 && stat -c %s "$name" >/tmp/.output
        status=$?
        ;;
    *)
        echo "no request '$verb'" >/tmp/.output
        status=2
        ;;
    esac
    printf 'done %d %d\n' "$status" "$(stat -c %s /tmp/.output)" >&3
    cat /tmp/.output >&3
done
)sh";

std::string content_of(const fs::path& file) try {
    const auto bytes = read_file(file, largest_file);
    return {bytes.begin(), bytes.end()};
} catch (const file_error& why) {
    throw file_error(file.string() + ": " + why.what());
}

/// The value of a tag of a module's information; "" without it.
std::string tag_of(std::string_view module, std::string_view tag) {
    const auto found = module.find(std::string(1, '\0').append(tag).append("="));
    if (found == module.npos) return {};
    const auto start = found + tag.size() + 2;
    return std::string(module.substr(start, module.find('\0', start) - start));
}

std::vector<fs::path> files_of(const fs::path& folder, std::string_view extension) {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& each : fs::recursive_directory_iterator(folder, none))
        if (each.is_regular_file() && (extension.empty() || each.path().extension() == extension))
            found.push_back(each.path());
    std::ranges::sort(found);  // the archive does not depend on the file system's order
    return found;
}

/// Adds the folders of `path`, each once.
class archive {
public:
    void file(const std::string& path, std::string_view bytes, bool executable) {
        folders_above(path);
        out_.file(path, bytes, executable);
    }
    initramfs& out() { return out_; }
    void folders_above(std::string_view path) {
        for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
            const std::string folder(path.substr(0, slash));
            if (std::ranges::find(known_, folder) != known_.end()) continue;
            known_.push_back(folder);
            out_.folder(folder);
        }
    }

private:
    initramfs out_;
    std::vector<std::string> known_;
};

/// A module's name in the lists of others.
std::string module_name(std::string text) {
    std::ranges::replace(text, '-', '_');
    return text;
}

/// The kernel's modules where modprobe looks for them, with what each needs.
class module_folder {
public:
    void add(archive& out, const fs::path& file) {
        const auto content = content_of(file);
        const auto kernel = tag_of(content, "vermagic");
        if (folder_.empty()) folder_ = "lib/modules/" + kernel.substr(0, kernel.find(' ')) + "/";
        out.file(folder_ + file.filename().string(), content, false);
        auto& needs = needs_[module_name(file.stem().string())];
        needs.file = file.filename().string();
        std::istringstream names(tag_of(content, "depends"));
        for (std::string name; std::getline(names, name, ',');)
            needs.modules.push_back(module_name(name));
    }
    /// A line for each module: all that it needs, in the order in which they are unloaded.
    void finish(archive& out) const {
        std::string lines;
        for (const auto& [name, own] : needs_) {
            std::vector<std::string> files;
            collect(name, files);
            lines += own.file + ":";
            for (auto file = files.rbegin(); file != files.rend(); ++file)
                if (*file != own.file) lines += " " + *file;
            lines += "\n";
        }
        if (!folder_.empty()) out.file(folder_ + "modules.dep", lines, false);
    }

private:
    struct module {
        std::string file = {};
        std::vector<std::string> modules = {};
    };
    void collect(const std::string& name, std::vector<std::string>& files) const {
        const auto found = needs_.find(name);
        if (found == needs_.end()) return;  // built in
        for (const auto& needed : found->second.modules) collect(needed, files);
        if (std::ranges::find(files, found->second.file) == files.end())
            files.push_back(found->second.file);
    }
    std::string folder_;
    std::map<std::string, module> needs_;
};

std::string initramfs_bytes() {
    const auto from = host_software::folder();
    archive out;
    out.folders_above("dev/");
    out.out().character_device("dev/console", 5, 1);
    out.file("bin/busybox", content_of(guest_tools::find("riscv64/busybox")), true);
    module_folder modules;
    for (const auto& file : files_of(from / "modules", ".ko")) modules.add(out, file);
    modules.finish(out);
    for (const auto& file : files_of(from / "root", ""))
        out.file(fs::relative(file, from / "root").string(), content_of(file), true);
    out.file("agent", agent, true);
    out.file("init", init, true);
    return out.out().bytes();
}

bool sets(const std::vector<std::string>& set, std::string_view parameter) {
    return std::ranges::any_of(set, [&](const auto& each) { return each.starts_with(parameter); });
}

}  // namespace

fs::path host_software::folder() {
    return guest_tools::folder() / "riscv64";
}

/// Written beside the name and moved: another process may read it.
fs::path host_software::make_initramfs() {
    const auto bytes = initramfs_bytes();
    const auto digest = std::hash<std::string>()(bytes);
    const auto file = folder() / fmt::format("initramfs-{:016x}", digest);
    if (fs::exists(file)) return file;
    const fs::path part = fmt::format("{}.{}", file.string(), getpid());
    std::ofstream(part, std::ios::binary) << bytes;
    fs::rename(part, file);
    return file;
}

void add_host_software(std::vector<std::string>& set) {
    if (!sets(set, "host=linux") || sets(set, "host_images=")) return;
    const auto own = host_software::folder() / "fw_dynamic.bin";
    const auto firmware = fs::exists(own) ? own : fs::path(installed_firmware);
    if (!fs::exists(firmware))
        throw tools_missing("no OpenSBI for hosts inside: './dev setup' installs it");
    const auto kernel = guest_tools::find("riscv64/vmlinuz");
    set.push_back(fmt::format("host_images={}@{:#x},{}@{:#x}", firmware.string(), firmware_place,
                              kernel.string(), kernel_place));
    if (!sets(set, "host_initrd="))
        set.push_back(fmt::format("host_initrd={}@{:#x}", host_software::make_initramfs().string(),
                                  initramfs_place));
}

}  // namespace trn
