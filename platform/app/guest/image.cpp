// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/image.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "platform/app/guest/initramfs.h"
#include "platform/app/guest/machine.h"
#include "platform/app/guest/shared_libraries.h"
#include "platform/framework/config/file.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;

std::string content_of(const fs::path& file) try {
    const auto bytes = read_file(file, largest_file);
    return {bytes.begin(), bytes.end()};
} catch (const file_error& why) {
    throw file_error(file.string() + ": " + why.what());
}

std::string quoted(const std::string& word) {
    return shell_text({word});
}

std::string call(const std::string& path, const std::vector<std::string>& words) {
    std::string text = quoted(path);
    for (const auto& word : words) text += " " + quoted(word);
    return text;
}

/// Copies the content of a folder to `place`, which is a path in the image, or "".
void add_folder(initramfs& out, const fs::path& folder, const fs::path& place) {
    if (!place.empty()) out.folder(place.string());
    std::vector<fs::path> found(fs::recursive_directory_iterator(folder), {});
    std::ranges::sort(found);  // a folder precedes its content; the archive does not depend on the
                               // file system's order
    for (const auto& each : found) {
        const auto path = (place / fs::relative(each, folder)).string();
        if (fs::is_directory(each)) {
            if (fs::is_symlink(each))
                throw file_error(each.string() + ": links to folders are not copied into a guest");
            out.folder(path);
        } else {
            const auto mode = fs::status(each).permissions();
            out.file(path, content_of(each), (mode & fs::perms::owner_exec) != fs::perms::none);
        }
    }
}

/// Adds the loaders and libraries of programs, each once.
void add_libraries(initramfs& out, const std::vector<shared_libraries>& programs) {
    std::map<std::string, fs::path> files;
    for (const auto& needed : programs) {
        if (needed.loader.empty()) continue;
        files.emplace(needed.loader.substr(1), needed.loader);
        for (const auto& [name, file] : needed.files) {
            const auto& added =
                *files.emplace(fmt::format("{}/{}", library_folder, name), file).first;
            if (!fs::equivalent(added.second, file))
                throw file_error(
                    fmt::format("two programs need different files of the name {}: "
                                "{} and {}",
                                name, added.second.string(), file.string()));
        }
    }
    if (files.empty()) return;
    for (const char* folder : {"lib", library_folder, "lib64"}) out.folder(folder);
    for (const auto& [path, file] : files) out.file(path, content_of(file), true);
}

// trn-guest ends QEMU with a status; a script cannot, since these kernels have no /dev/port.
constexpr const char* head = R"sh(#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /root
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev 2>/dev/null
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
[ ! -e /bin/trn-guest ] || trn-guest errors
end() {
    trn-guest end $(($1 > 126 ? 126 : $1)) $status_place
    poweroff -f
}
cd /root
)sh";

/// For modprobe. The file `release` beside the folder has the kernel's release.
void add_kernel_modules(initramfs& out, const fs::path& folder) {
    auto release = content_of(folder.parent_path() / "release");
    while (release.ends_with('\n')) release.pop_back();
    for (const char* parent : {"lib", "lib/modules"}) out.folder(parent);
    add_folder(out, folder, "lib/modules/" + release);
}

}  // namespace

std::string guest_image::init() const {
    std::string init = fmt::format("{}status_place={}\n", head, architecture->status_place);
    for (const auto& [file, parameters] : modules)
        init += fmt::format("insmod {} || {{ status=$?; dmesg | tail -5; end $status; }}\n",
                            call("/modules/" + file.filename().string(), parameters));
    init += "status=0\n";
    for (const auto& [file, arguments] : programs)
        init += fmt::format("[ $status != 0 ] || {{ {}; status=$?; }}\n",
                            call("/program/" + file.filename().string(), arguments));
    if (shell) init += "setsid cttyhack sh\nstatus=$?\n";
    if (!agent.empty())
        init += "while setsid /agent; do sleep 1; done &\nwhile :; do setsid cttyhack sh; done\n";
    return init + "end $status\n";
}

std::string guest_image::initramfs() const {
    trn::initramfs out;
    for (const char* folder : {"bin", "dev", "modules", "program"}) out.folder(folder);
    out.character_device("dev/console", 5, 1);
    out.file("bin/busybox", content_of(busybox), true);
    if (!own_program.empty()) out.file("bin/trn-guest", content_of(own_program), true);
    if (!kernel_modules.empty()) add_kernel_modules(out, kernel_modules);
    for (const auto& [file, parameters] : modules)
        out.file("modules/" + file.filename().string(), content_of(file));
    for (const auto& folder : folders)
        add_folder(out, folder, "program" / fs::canonical(folder).filename());
    for (const auto& folder : roots) add_folder(out, folder, {});
    std::vector<shared_libraries> needed;
    for (const auto& [file, arguments] : programs) {
        const auto content = content_of(file);
        out.file("program/" + file.filename().string(), content, true);
        needed.push_back(shared_libraries_of(file, content));
    }
    add_libraries(out, needed);
    if (!agent.empty()) out.file("agent", agent, true);
    out.file("init", init(), true);
    return out.bytes();
}

std::string guest_image::version() const {
    std::vector<fs::path> files{busybox, own_program, kernel_modules.parent_path() / "release"};
    for (const auto& module : modules) files.push_back(module.file);
    for (const auto* list : {&folders, &roots})
        files.insert(files.end(), list->begin(), list->end());
    if (!kernel_modules.empty()) files.push_back(kernel_modules);
    std::string text = init() + agent;
    const auto add = [&text](const fs::path& file) {
        struct stat now {};
        if (stat(file.c_str(), &now) != 0) return;
        text += fmt::format("{} {} {} {} {}.{}\n", file.string(), now.st_mode, now.st_ino,
                            now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec);
    };
    for (const auto& file : files) {
        add(file);
        if (!fs::is_directory(file)) continue;
        std::vector<fs::path> found(fs::recursive_directory_iterator(file), {});
        std::ranges::sort(found);
        for (const auto& each : found) add(each);
    }
    return text;
}

}  // namespace trn
