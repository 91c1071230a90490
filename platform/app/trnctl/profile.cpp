// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnctl/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace trn {

namespace {

namespace fs = std::filesystem;

fs::path tool() {
    std::error_code ignored;
    auto path = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "trn-nki";
    if (!fs::exists(path, ignored))
        throw user_error(fmt::format("{} is missing: it writes profiles", path.string()));
    return path;
}

[[noreturn]] void become(const std::vector<std::string>& command) {
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    std::fflush(nullptr);
    ::execv(words.front(), words.data());
    throw user_error(fmt::format("cannot run {}: {}", command.front(), std::strerror(errno)));
}

}  // namespace

void start_profile(session& platform) {
    platform.call("trace", {{"command", "start"}});
}

void write_profile(session& platform, const session_options& target,
                   const profile_options& options) {
    std::vector<std::string> command{tool().string(), "profile", "--recorded", target.connect};
    platform.call("trace", {{"command", "stop"}});
    if (!target.token_file.empty())
        command.insert(command.end(), {"--token-file", target.token_file});
    if (!target.chip.empty()) command.insert(command.end(), {"--chip", target.chip});
    if (options.execution)
        command.insert(command.end(), {"--execution", std::to_string(*options.execution)});
    for (const auto& out : options.out) command.insert(command.end(), {"--out", out});
    become(command);
}

}  // namespace trn
