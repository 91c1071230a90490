// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/sources/state_source.h"

#include <chrono>
#include <filesystem>

namespace trn::telemetry {

std::unique_ptr<state_source> open_source(const source_choice& choice) {
    const int chosen = !choice.connect.empty() + !choice.sysfs.empty() + !choice.file.empty();
    if (chosen > 1)
        throw source_usage(
            "--connect, --sysfs and --file exclude each other: one source of states");
    if (!choice.time.empty() && choice.file.empty())
        throw source_usage("--at needs --file: only a recording has earlier states");
    if (!choice.connect.empty()) return control_source(choice.connect, choice.token_file);
    if (!choice.file.empty()) return file_source(choice.file, choice.time);
    if (!choice.sysfs.empty()) return sysfs_source(choice.sysfs);
    std::error_code unreadable;
    if (!std::filesystem::exists("/sys/class/neuron_device", unreadable))
        throw source_error(
            "no Neuron driver is loaded here (/sys/class/neuron_device is missing)\n"
            "  give --connect DIR of a running platform (`trnvp run BOARD --listen DIR`), or "
            "--file "
            "FILE of a recording");
    return sysfs_source("/");
}

std::uint64_t wall_ms_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace trn::telemetry
