// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/machine.h"

#include <fmt/format.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace trn {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// Frequency in kHz of this machine's time stamp counter, which guests under TCG read too; 0:
/// unknown.
unsigned time_stamp_khz() {
#ifdef __x86_64__
    struct sample {
        std::uint64_t ticks, width;
        std::chrono::steady_clock::time_point time;
    };
    const auto take = [] {
        sample best{0, ~std::uint64_t{0}, {}};
        for (int i = 0; i < 50; ++i) {  // the shortest sample was probably not interrupted
            const std::uint64_t before = __rdtsc();
            const auto now = std::chrono::steady_clock::now();
            const std::uint64_t width = __rdtsc() - before;
            if (width < best.width) best = {before + width / 2, width, now};
        }
        return best;
    };
    const auto first = take();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto last = take();
    const std::chrono::duration<double, std::milli> passed = last.time - first.time;
    return static_cast<unsigned>(static_cast<double>(last.ticks - first.ticks) / passed.count());
#else
    return 0;
#endif
}

/// A value in an option of QEMU, which a comma would end.
std::string option_text(std::string_view value) {
    std::string text;
    for (const char c : value) text += c == ',' ? std::string(",,") : std::string(1, c);
    return text;
}

/// Address space for BARs of 64 bits: half of 46 address bits, more than 64 chips with 384 GiB each
/// need.
constexpr std::string_view window_for_bars = "32T";

/// Nanoseconds per instruction as a power of two; close to TCG's real speed.
constexpr unsigned instruction_shift = 2;
// Frequency of the guest's time stamp counter then.
constexpr unsigned instruction_clock_khz = 1'000'000;

/// The number of the last line "status N"; nothing for more than 126. Reads the end of the file,
/// since the guest can write much.
std::optional<int> status_in(const fs::path& file) {
    std::optional<int> found;
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    constexpr std::streamoff max_bytes = 4096;
    in.seekg(std::max<std::streamoff>(0, in.tellg() - max_bytes));
    constexpr std::string_view word = "status ";
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(word)) continue;
        const auto digits = line.find_last_not_of("\r");
        int status = 0;
        const auto* end = line.data() + digits + 1;
        const auto read = std::from_chars(line.data() + word.size(), end, status);
        if (read.ec == std::errc() && read.ptr == end && status >= 0 && status <= 126)
            found = status;
    }
    return found;
}

}  // namespace

fs::path guest_tools::folder() {
    if (const auto set = variable("TRNVP_GUEST_TOOLS"); !set.empty()) return set;
    const auto cache = variable("XDG_CACHE_HOME");
    return (cache.empty() ? fs::path(variable("HOME")) / ".cache" : fs::path(cache)) /
           "trnvp/guest";
}

fs::path guest_tools::find(const std::string& name, const guest_architecture& architecture) {
    const auto tools = folder() / architecture.tools;
    auto file = tools / name;
    if (fs::exists(file)) return file;
    std::string why;
    std::ifstream reason(architecture.tools.empty()
                             ? tools / "missing"
                             : folder() / fmt::format("{}-missing", architecture.tools));
    std::getline(reason, why);
    throw tools_missing(fmt::format("no {} for guests in {}: run './dev setup'{}{}", name,
                                    tools.string(), why.empty() ? "" : "; last time: ", why));
}

std::vector<std::string> guest_machine::command() const {
    // share=on, since the platform maps the guest's RAM.
    std::vector<std::string> line{
        qemu.string(),
        "-M",
        fmt::format("{}{}", architecture->machine, nodes == 1 ? ",memory-backend=ram" : ""),
        "-cpu",
        std::string(architecture->cpu),
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
    };
    if (architecture->has_status_file())
        line.insert(line.end(), {"-serial", "file:" + status_file.string()});
    line.insert(line.end(), {
                                "-serial",
                                interactive ? "mon:stdio" : "stdio",
                                "-kernel",
                                kernel.string(),
                                "-initrd",
                                initrd.string(),
                                "-append",
                                append,
                            });
    line.insert(line.end(), architecture->arguments.begin(), architecture->arguments.end());
    if (minimal_firmware)
        line.insert(line.end(), {"-bios", std::string(architecture->minimal_firmware), "-global",
                                 "q35-pcihost.pci-hole64-size=" + std::string(window_for_bars)});
    else if (!firmware.empty())
        line.insert(line.end(), {"-bios", firmware.string()});
    if (runs_by == clock::instructions)
        line.insert(line.end(), {"-icount", fmt::format("shift={},sleep=on", instruction_shift)});
    if (!product.empty()) {
        // SMBIOS strings of an EC2 instance; software finds its instance id in the board asset tag.
        line.insert(line.end(), {"-smbios", "type=0,vendor=Amazon EC2,version=1.0"});
        line.insert(line.end(), {"-smbios", fmt::format("type=1,manufacturer=Amazon EC2,product={}",
                                                        option_text(product))});
        if (!instance_id.empty())
            line.insert(line.end(), {"-smbios", "type=2,manufacturer=Amazon EC2,asset=" +
                                                    option_text(instance_id)});
        line.insert(line.end(), {"-smbios", "type=3,manufacturer=Amazon EC2,asset=Amazon EC2"});
    }
    for (unsigned n = 0; nodes > 1 && n < nodes; ++n)
        line.insert(line.end(), {"-numa", fmt::format("node,nodeid={},cpus={}-{}{}", n,
                                                      n * cpus / nodes, (n + 1) * cpus / nodes - 1,
                                                      n == 0 ? ",memdev=ram" : "")});
    if (!monitor.empty())
        line.insert(line.end(), {"-qmp", fmt::format("unix:{},server=on,wait=off",
                                                     option_text(monitor.string()))});
    for (auto& argument : pci_tree_arguments(functions, architecture->nodes_have_buses ? nodes : 1))
        line.push_back(std::move(argument));
    line.insert(line.end(), extra.begin(), extra.end());
    return line;
}

/// A kernel calibrates its counters against a timer within milliseconds. If QEMU does not get
/// processor time meanwhile, the kernel panics over a broken timer, or its clock runs several times
/// too fast.
std::string guest_machine::clock_arguments() const {
    if (!architecture->measures_clock) return {};
    const unsigned khz = runs_by == clock::instructions ? instruction_clock_khz : time_stamp_khz();
    return khz == 0 ? " no_timer_check" : fmt::format(" no_timer_check tsc_early_khz={}", khz);
}

/// QEMU exits with twice the byte written to the device, plus one. The byte is the status plus one,
/// since QEMU exits with 1 for errors of its own.
std::optional<int> guest_machine::guest_status(int qemu_status) const {
    if (architecture->has_status_file())
        return qemu_status == 0 ? status_in(status_file) : std::nullopt;
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
