// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/process_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/app/telemetry/small_file.h"

namespace trn::telemetry {

std::string name_of_process(const std::string& proc, std::uint64_t pid) {
    auto text = small_file(fmt::format("{}/{}/comm", proc, pid)).value_or("");
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

std::string command_of_process(const std::string& proc, std::uint64_t pid) {
    auto text = small_file(fmt::format("{}/{}/cmdline", proc, pid)).value_or("");
    while (text.ends_with('\0')) text.pop_back();
    std::ranges::replace(text, '\0', ' ');
    return text.empty() ? name_of_process(proc, pid) : text;
}

}  // namespace trn::telemetry
