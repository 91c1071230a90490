// SPDX-License-Identifier: Apache-2.0
#include "platform/guest/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace trn {

namespace fs = std::filesystem;

namespace {

/// A debugger may stop the platform while the guest waits for a register.
constexpr unsigned message_timeout_ms = 600'000;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// A string inside QEMU's JSON.
std::string json_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

fs::path guest_tools::folder() {
    if (const auto set = variable("TRNVP_GUEST_TOOLS"); !set.empty()) return set;
    const auto cache = variable("XDG_CACHE_HOME");
    return (cache.empty() ? fs::path(variable("HOME")) / ".cache" : fs::path(cache)) /
           "trnvp/guest";
}

fs::path guest_tools::find(const std::string& name) {
    auto file = folder() / name;
    if (fs::exists(file)) return file;
    std::string why;
    std::ifstream reason(folder() / "missing");
    std::getline(reason, why);
    throw tools_missing(fmt::format("no {} for guests in {}: run './dev setup'{}{}", name,
                                    folder().string(), why.empty() ? "" : "; last time: ", why));
}

std::vector<std::string> guest_machine::command() const {
    // Shared memory: the platform maps the guest's RAM. 46 bits: sixteen BAR4 of 256 GiB.
    std::vector<std::string> line{
        qemu.string(),
        "-M",
        "q35,accel=tcg,memory-backend=ram",
        "-cpu",
        "max,phys-bits=46",
        "-smp",
        std::to_string(cpus),
        "-m",
        fmt::format("{}M", memory_mib),
        "-object",
        fmt::format("memory-backend-memfd,id=ram,size={}M,share=on", memory_mib),
        "-nodefaults",
        "-no-user-config",
        "-no-reboot",
        "-display",
        "none",
        "-serial",
        interactive ? "mon:stdio" : "stdio",
        "-device",
        fmt::format("isa-debug-exit,iobase={:#x},iosize=0x1", exit_port),
        "-kernel",
        kernel.string(),
        "-initrd",
        initrd.string(),
        "-append",
        append,
    };
    if (!product.empty())
        line.insert(line.end(), {"-smbios", fmt::format("type=1,product={}", product)});
    for (const auto& socket : sockets)
        line.insert(line.end(),
                    {"-device", fmt::format(R"({{"driver":"vfio-user-pci","x-msg-timeout":{},)"
                                            R"("socket":{{"path":"{}","type":"unix"}}}})",
                                            message_timeout_ms, json_text(socket.string()))});
    line.insert(line.end(), extra.begin(), extra.end());
    return line;
}

/// The device ends QEMU with twice the byte written, plus one. The byte is the status plus one: 1
/// is how QEMU itself fails.
std::optional<int> guest_machine::guest_status(int qemu_status) {
    if (qemu_status < 3 || qemu_status % 2 == 0) return std::nullopt;
    return qemu_status / 2 - 1;
}

std::string shell_text(const std::vector<std::string>& command) {
    std::string text;
    for (const auto& word : command) {
        const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
            return std::isalnum(c) || std::string_view("-_./=,:+@%").find(static_cast<char>(c)) !=
                                          std::string_view::npos;
        });
        text += text.empty() ? "" : " ";
        if (plain) {
            text += word;
            continue;
        }
        text += '\'';
        for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        text += '\'';
    }
    return text;
}

}  // namespace trn
