// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/results/failed_cases.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "platform/framework/config/json.h"
#include "platform/framework/unique_fd.h"

namespace trn::scenario {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t max_cases = 100'000, max_line = 1 << 20;

std::optional<scenario_case> read_case(const std::string& line) {
    if (line.size() > max_line) return std::nullopt;
    const auto value = config::parse_json(line);
    if (!value.is_object()) return std::nullopt;
    const auto file = value.value("file", json()), name = value.value("name", json()),
               seed = value.value("seed", json());
    if (!file.is_string() || !name.is_string()) return std::nullopt;
    scenario_case read{file, name};
    if (seed.is_number_unsigned()) read.seed = seed;
    return read;
}

std::string line_of(const scenario_case& failed) {
    json line{{"file", failed.file}, {"name", failed.name}};
    if (failed.seed) line["seed"] = *failed.seed;
    return line.dump(-1, ' ', true, json::error_handler_t::replace);
}

/// Waits at most a second for other processes that change the list: a process may keep the lock,
/// and the list is replaced in one step, so that it stays valid without the lock.
void wait_for_lock(const unique_fd& lock) {
    for (int tries = 0; tries < 100; ++tries) {
        if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

}  // namespace

scenario_case case_of(const description& run) {
    std::error_code unknown;
    const auto file = fs::absolute(run.file, unknown).lexically_normal();
    scenario_case identity{unknown ? run.file : file.string(), name_of_all_runs(run)};
    if (run.campaign) identity.seed = run.seed;
    return identity;
}

fs::path failed_list() {
    if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state != '\0')
        return fs::path(state) / "trnvp" / "failed-scenarios";
    const char* home = std::getenv("HOME");
    return fs::path(home != nullptr ? home : "/") / ".local/state/trnvp/failed-scenarios";
}

void remember_failed(const fs::path& list, std::span<const ended_case> ended) {
    std::error_code ignored;
    fs::create_directories(list.parent_path(), ignored);
    const unique_fd lock(
        open((list.string() + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
    if (!lock) return;
    wait_for_lock(lock);
    auto failed = read_failed(list);
    for (const auto& run : ended) {
        failed.erase(run.tried);
        failed.erase({run.tried.file, ""});  // the file could be read
    }
    for (const auto& run : ended)
        if (!run.passed) failed.insert(run.tried);
    const auto written = list.string() + "." + std::to_string(getpid());
    std::ofstream out(written);
    std::size_t count = 0;
    for (const auto& entry : failed)
        if (fs::exists(entry.file, ignored) && ++count <= max_cases) out << line_of(entry) << '\n';
    out.close();
    if (out)
        fs::rename(written, list, ignored);  // atomic, for readers
    else
        fs::remove(written, ignored);
}

case_set read_failed(const fs::path& list) {
    case_set failed;
    std::error_code unknown;
    if (!fs::is_regular_file(list, unknown)) return failed;
    std::ifstream input(list);
    for (std::string line; failed.size() < max_cases && std::getline(input, line);)
        if (auto entry = read_case(line)) failed.insert(std::move(*entry));
    return failed;
}

}  // namespace trn::scenario
