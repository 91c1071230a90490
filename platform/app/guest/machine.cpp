// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/machine.h"

#include <fmt/format.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
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
    // share=on, since the platform maps the guest's RAM. 46 address bits hold sixteen BAR4 of 256
    // GiB.
    std::vector<std::string> line{
        qemu.string(),
        "-M",
        nodes == 1 ? "q35,accel=tcg,memory-backend=ram" : "q35,accel=tcg",
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
    if (minimal_firmware)
        line.insert(line.end(), {"-bios", "qboot.rom", "-global",
                                 "q35-pcihost.pci-hole64-size=" + std::string(window_for_bars)});
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
    // Uses the ports' own hot plug instead of ACPI's: only then their links count as active, and a
    // guest can recover from fatal errors.
    line.insert(line.end(), {"-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"});
    if (!monitor.empty())
        line.insert(line.end(), {"-qmp", fmt::format("unix:{},server=on,wait=off",
                                                     option_text(monitor.string()))});
    for (auto& argument : pci_tree_arguments(functions, nodes)) line.push_back(std::move(argument));
    line.insert(line.end(), extra.begin(), extra.end());
    return line;
}

/// A kernel calibrates its counters against a timer within milliseconds. If QEMU does not get
/// processor time meanwhile, the kernel panics over a broken timer, or its clock runs several times
/// too fast.
std::string guest_machine::clock_arguments() const {
    const unsigned khz = runs_by == clock::instructions ? instruction_clock_khz : time_stamp_khz();
    return khz == 0 ? "no_timer_check" : fmt::format("no_timer_check tsc_early_khz={}", khz);
}

/// QEMU exits with twice the byte written to the device, plus one. The byte is the status plus one,
/// since QEMU exits with 1 for errors of its own.
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
