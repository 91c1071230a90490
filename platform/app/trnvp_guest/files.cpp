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

/// \throws user_error for a file of another architecture
void check_architecture(const std::string& option, const fs::path& file,
                        const guest_architecture& wanted) {
    if (const auto why = other_architecture(file, wanted); !why.empty())
        throw user_error(fmt::format("{}: {} (--arch)", option, why));
}

guest_image::file_and_words split(const std::string& option, const std::string& text,
                                  const guest_architecture& wanted) {
    std::istringstream input(text);
    std::string file, word;
    input >> file;
    guest_image::file_and_words out{file, {}};
    while (input >> word) out.words.push_back(word);
    if (!fs::is_regular_file(out.file))
        throw user_error(fmt::format("{}: there is no file '{}'", option, file));
    check_architecture(option, file, wanted);
    return out;
}

/// The program trn-guest, in the folder of this executable.
fs::path own_program(const guest_architecture& wanted) {
    auto program = fs::read_symlink("/proc/self/exe").parent_path() / wanted.program;
    if (!fs::exists(program))
        throw tools_missing(
            fmt::format("no {}: it is built where {}-linux-gnu-gcc is installed: "
                        "run './dev setup', then './dev build'",
                        program.string(), wanted.name));
    return program;
}

}  // namespace

std::optional<guest_image> guest_image_of(const guest_options& chosen) {
    if (!chosen.initrd.empty()) {
        if (!chosen.modules.empty() || !chosen.programs.empty())
            throw user_error("--module and --run belong to our own initramfs, not to --initrd");
        return std::nullopt;
    }
    const auto& architecture = *chosen.architecture;
    guest_image image{.architecture = &architecture,
                      .busybox = guest_tools::find("busybox", architecture),
                      .own_program = own_program(architecture)};
    for (const auto& module : chosen.modules)
        image.modules.push_back(split("--module", module, architecture));
    for (const auto& program : chosen.programs) {
        if (fs::is_directory(program))
            image.folders.emplace_back(program);
        else
            image.programs.push_back(split("--run", program, architecture));
    }
    check_names("--module", image.modules);
    check_names("--run", image.programs);
    if (image.programs.empty() && chosen.modules.empty())
        image.programs.push_back({image.own_program, {}});
    else if (image.programs.empty())
        image.shell = isatty(STDIN_FILENO) != 0;
    return image;
}

guest_machine guest_machine_of(const guest_options& chosen) {
    guest_machine m;
    const auto& architecture = *chosen.architecture;
    m.architecture = &architecture;
    m.qemu =
        chosen.qemu.empty() ? guest_tools::find(architecture.qemu(), architecture) : chosen.qemu;
    m.kernel = chosen.kernel.empty() ? guest_tools::find("vmlinuz", architecture) : chosen.kernel;
    if (!architecture.firmware.empty())
        m.firmware = guest_tools::find(std::string(architecture.firmware), architecture);
    m.initrd = chosen.initrd;
    for (const auto& file : {chosen.kernel, chosen.initrd})
        if (!file.empty() && !fs::is_regular_file(file))
            throw user_error(fmt::format("there is no file '{}'", file.string()));
    if (!chosen.kernel.empty()) check_architecture("--kernel", chosen.kernel, architecture);
    m.cpus = chosen.cpus;
    m.nodes = chosen.nodes;
    m.runs_by = chosen.clock;
    m.memory_mib = chosen.memory_mib;
    m.product = chosen.product;
    m.extra = chosen.extra;
    return m;
}

}  // namespace trn
