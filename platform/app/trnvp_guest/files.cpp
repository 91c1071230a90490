// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp_guest/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "platform/framework/output.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

/// Checks that no two files have the same name, since the image drops their folders.
void check_names(const std::string& option, const std::vector<guest_image::file_and_words>& all) {
    std::map<fs::path, fs::path> files;
    for (const auto& [file, words] : all) {
        const auto& [first, added] = files.emplace(file.filename(), file);
        if (!added && !fs::equivalent(first->second, file))
            throw user_error(fmt::format("{}: {} and {} would have the same name in the guest",
                                         option, first->second.string(), file.string()));
    }
}

guest_image::file_and_words split(const std::string& option, const std::string& text) {
    std::istringstream input(text);
    std::string file, word;
    input >> file;
    guest_image::file_and_words out{file, {}};
    while (input >> word) out.words.push_back(word);
    if (!fs::is_regular_file(out.file))
        throw user_error(fmt::format("{}: there is no file '{}'", option, file));
    return out;
}

/// The program trn-guest, in the folder of this executable.
fs::path own_program() {
    return fs::read_symlink("/proc/self/exe").parent_path() / "trn-guest";
}

}  // namespace

std::optional<guest_image> guest_image_of(const guest_options& chosen) {
    if (!chosen.initrd.empty()) {
        if (!chosen.modules.empty() || !chosen.programs.empty())
            throw user_error("--module and --run belong to our own initramfs, not to --initrd");
        return std::nullopt;
    }
    guest_image image{.busybox = guest_tools::find("busybox"), .own_program = own_program()};
    for (const auto& module : chosen.modules) image.modules.push_back(split("--module", module));
    for (const auto& program : chosen.programs) {
        if (fs::is_directory(program))
            image.folders.emplace_back(program);
        else
            image.programs.push_back(split("--run", program));
    }
    check_names("--module", image.modules);
    check_names("--run", image.programs);
    if (image.programs.empty() && chosen.modules.empty())
        image.programs.push_back({own_program(), {}});
    else if (image.programs.empty())
        image.shell = isatty(STDIN_FILENO) != 0;
    return image;
}

guest_machine guest_machine_of(const guest_options& chosen) {
    guest_machine m;
    m.qemu = chosen.qemu.empty() ? guest_tools::find("qemu-system-x86_64") : chosen.qemu;
    m.kernel = chosen.kernel.empty() ? guest_tools::find("vmlinuz") : chosen.kernel;
    m.initrd = chosen.initrd;
    for (const auto& file : {chosen.kernel, chosen.initrd})
        if (!file.empty() && !fs::is_regular_file(file))
            throw user_error(fmt::format("there is no file '{}'", file.string()));
    m.cpus = chosen.cpus;
    m.nodes = chosen.nodes;
    m.runs_by = chosen.clock;
    m.memory_mib = chosen.memory_mib;
    m.product = chosen.product;
    m.extra = chosen.extra;
    return m;
}

}  // namespace trn
