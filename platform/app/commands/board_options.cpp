// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/board_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "models/kinds.h"
#include "models/soc/image_store/image_store.h"
#include "platform/app/commands/misuse_option.h"
#include "platform/app/commands/wave_options.h"
#include "platform/app/host_software/host_software.h"
#include "platform/app/kinds_option.h"
#include "platform/app/trace_name.h"

namespace trn {

void board_options::add_to(cli::command& command) {
    command.add_option("board", build.board, "a name from 'trnvp boards', or a path")->required();
    add_kinds_option(command, kind_libraries, kinds());
    command.add_option("--firmware", build.firmware,
                       "flash image or ELF to boot (default: the board's)");
    command.add_option("--set", build.set, "NAME=VALUE for a parameter of the board")
        ->allow_extra_args(false);
    command.add_option("--timing", timing, "model contention for resources (default) or not")
        ->transform(cli::one_of({"contended", "functional"}));
    command.add_option("--time-policy", policy, "time policy: lockstep, free, realtime:FACTOR");
    command.add_option("--seed", build.seed, "of every random stream");
    command
        .add_option("--trace", build.trace,
                    "write the event trace here; .perfetto-trace for Perfetto")
        ->check(trace_name());
    add_wave_options(command, build.waves);
    add_misuse_options(command, build.misuse);
    add_protocol_option(command, protocol);
    command.add_option("--record", record,
                       "record all input from outside in this folder, for 'trnvp replay'");
    command.add_option("--fidelity-report", fidelity_report,
                       "report the accessed registers and their sources; .json or .md");
}

void board_options::add_software_to(cli::command& command) {
    command.add_option("--host", host,
                       "linux: the processors of each server, and their Linux, are in the "
                       "simulation");
    command
        .add_option("--load", load,
                    "FILE@ADDRESS, or an ELF file: an image of stock software for the management "
                    "processor; the first is started")
        ->allow_extra_args(false);
    command.add_option("--initrd", initrd, "FILE@ADDRESS: one more, named in the device tree");
    command.add_option("--device-tree", device_tree,
                       "with --load: a file in place of the tree made from the board");
    command.add_option("--bootargs", bootargs, "with --load: of the kernel, in the device tree");
}

namespace {

/// Prefixes "./" to a name without '/' that exists in the current folder; other names without '/'
/// are files of the firmware folder.
std::string here_or_firmware(const std::string& name) {
    const bool is_here =
        name.find('/') == name.npos && std::filesystem::exists(name.substr(0, name.rfind('@')));
    return is_here ? "./" + name : name;
}

}  // namespace

/// Passes the images as parameters of the board, which checks them again against its own RAM.
void board_options::add_stock_software(std::vector<std::string>& set) const {
    const std::pair<const char*, const std::string&> beside[]{
        {"initrd", initrd}, {"device-tree", device_tree}, {"bootargs", bootargs}};
    if (load.empty()) {
        for (const auto& [name, value] : beside)
            if (!value.empty())
                throw user_error(fmt::format(
                    "--{} has no effect without --load FILE@ADDRESS, the software to start", name));
        return;
    }
    std::vector<std::string> names;
    for (const auto& image : load) names.push_back(here_or_firmware(image));
    image_store::config store;
    store.images = fmt::format("{}", fmt::join(names, ","));
    if (!initrd.empty()) store.initrd = here_or_firmware(initrd);
    if (!device_tree.empty()) store.device_tree = here_or_firmware(device_tree);
    try {
        image_store::read_images(store);
    } catch (const boot_image_error& why) {
        throw user_error(fmt::format("--load: {}{}", why.what(),
                                     why.suggestion().empty() ? "" : "; try " + why.suggestion()));
    }
    if (std::ranges::none_of(set, [](const auto& s) { return s.starts_with("software="); }))
        set.push_back("software=stock");
    set.push_back("images=" + store.images);
    set.push_back("initrd=" + store.initrd);
    set.push_back("device_tree=" + store.device_tree);
    set.push_back("bootargs=" + bootargs);
}

void board_options::add_host(std::vector<std::string>& set) const {
    if (!host.empty()) set.push_back("host=" + host);
    try {
        add_host_software(set);
    } catch (const std::runtime_error& why) {
        throw user_error(std::string("host=linux: ") + why.what());
    }
}

void board_options::add_outputs(output_files& files) const {
    files.add("--trace", build.trace);
    files.add("--vcd", build.waves.file);
    files.add("--fidelity-report", fidelity_report);
}

std::vector<std::string> board_options::misuse_texts() const {
    std::vector<std::string> all;
    for (const auto& policy : build.misuse.policies) all.push_back(policy.text());
    return all;
}

platform_options board_options::checked() const {
    check_waves(build.waves);
    auto all = build;
    add_stock_software(all.set);
    add_host(all.set);
    all.timing = timing == "functional" ? timing_mode::functional : timing_mode::contended;
    const auto parsed = time_policy::parse(policy);
    if (!parsed)
        throw user_error(fmt::format(
            "--time-policy: '{}' is not lockstep, free or realtime:FACTOR (0.000001 to 1000000)",
            policy));
    all.time.policy = *parsed;
    return all;
}

}  // namespace trn
