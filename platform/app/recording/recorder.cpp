// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <set>
#include <system_error>

#include "platform/app/disk_images.h"
#include "platform/app/recording/control_call.h"
#include "platform/framework/attach/control/rpc.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/process/private_file.h"
#include "platform/framework/unique_fd.h"

namespace trn::recording {

namespace fs = std::filesystem;
using rpc::json;

namespace {

/// Control methods that are not recorded: they only inspect the platform, or advance time, which
/// each event carries. All others are recorded, including new ones.
constexpr std::array<std::string_view, 14> not_recorded{
    "hello", "methods", "subscribe", "quit",       "status",  "run",     "wait",
    "pause", "step",    "peek",      "statistics", "inspect", "console", "list"};

void make_empty_folder(const fs::path& folder) {
    try {
        make_private_folder(folder);  // a recording has the memory that hosts share
    } catch (const std::system_error& why) {
        cannot_write(folder.string(), why.code().value());
    }
    std::error_code error;
    if (!fs::is_empty(folder, error))
        throw recording_error(
            fmt::format("{} is not empty: a recording has a folder of its own", folder.string()));
}

void store(const fs::path& source, const fs::path& destination) {
    std::error_code error;
    fs::create_directories(destination.parent_path(), error);
    if (!fs::copy_file(source, destination, fs::copy_options::overwrite_existing, error))
        cannot_write(fmt::format("{}, a copy of {}", destination.string(), source.string()),
                     error.value());
}

/// A copy of a disk's image, as it is before the platform runs.
void store_disk(const fs::path& source, const fs::path& destination) {
    std::error_code error;
    fs::create_directories(destination.parent_path(), error);
    const unique_fd copy(
        open(destination.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!copy) cannot_write(destination.string(), errno);
    try {
        copy_disk_image(source, copy.get());
    } catch (const std::system_error& why) {
        cannot_write(fmt::format("{}, a copy of {}", destination.string(), source.string()),
                     why.code().value());
    }
}

bool is_below(const fs::path& file, const fs::path& folder) {
    return *file.lexically_relative(folder).begin() != "..";
}

/// The folder that all files have in common.
fs::path common_folder(const std::vector<fs::path>& files) {
    fs::path folder = files.front().parent_path();
    for (const auto& file : files)
        while (!is_below(file, folder)) folder = folder.parent_path();
    return folder;
}

}  // namespace

recorder::recorder(platform& board, const platform_options& built_with,
                   const run_choices& runs_with, fs::path folder)
    : board_(board), folder_(std::move(folder)), events_(board.loop()) {
    make_empty_folder(folder_);
    about_ = describe(built_with, runs_with);
    copy_board();
    copy_images();
    events_.open(folder_);
    for (const auto& f : board_.functions()) {
        const auto number = static_cast<std::uint32_t>(functions_.size());
        about_.functions.push_back(f.name);
        functions_.push_back(f.port);
        recorded_.push_back(std::make_unique<recorded_function>(events_, number, *f.port));
    }
    record_control();
    record_consoles();
    write_manifest(about_, folder_);
}

std::unique_ptr<recorder> recorder_for(platform& board, const platform_options& built_with,
                                       const run_choices& runs_with, const fs::path& folder) {
    return folder.empty() ? nullptr
                          : std::make_unique<recorder>(board, built_with, runs_with, folder);
}

function_port& recorder::recorded(function_port& function) {
    const auto found = std::ranges::find(functions_, &function);
    assert(found != functions_.end());
    return *recorded_[static_cast<std::size_t>(found - functions_.begin())];
}

// --- Files to build the same platform for a replay

manifest recorder::describe(const platform_options& built_with,
                            const run_choices& runs_with) const {
    const auto& about = board_.about();
    std::vector<std::string> allowances;
    for (const auto& allowance : built_with.misuse.allowances)
        allowances.push_back(allowance.text());
    return {.version = about.version,
            .board = about.board,
            .digest = about.digest,
            .file = {},
            .set = built_with.set,
            .firmware = built_with.firmware,
            .contended = built_with.timing == timing_mode::contended,
            .time_policy = board_.loop().settings().policy.text(),
            .seed = built_with.seed,
            .misuse = runs_with.misuse,
            .misuse_allow = allowances,
            .hart = runs_with.hart};
}

/// Files of the boards folder keep their paths relative to it, others their relative paths.
void recorder::copy_board() {
    const auto& board = board_.modules().board();
    const auto standard = fs::weakly_canonical(boards_folder());
    const auto board_file = fs::weakly_canonical(board.file);
    std::vector<fs::path> own{board_file};
    for (const auto& document : board.documents) {
        const auto file = fs::weakly_canonical(document->name());
        if (is_below(file, standard))
            store(file, folder_ / boards_copy / file.lexically_relative(standard));
        else
            own.push_back(file);
    }
    if (is_below(board_file, standard)) {
        about_.file = (boards_copy / board_file.lexically_relative(standard)).string();
        own.erase(own.begin());
    }
    if (own.empty()) return;
    const auto folder = common_folder(own);
    for (const auto& file : own) store(file, folder_ / "board" / file.lexically_relative(folder));
    if (about_.file.empty())
        about_.file = ("board" / board_file.lexically_relative(folder)).string();
}

void recorder::copy_images() {
    for (const auto& name : images_of(board_.modules().board())) {
        const auto number = about_.images.size();
        const auto copy = fmt::format("firmware/{}-{}", number, fs::path(name).filename().string());
        store(find_firmware(name), folder_ / copy);
        about_.images[name] = copy;
    }
    for (const auto& name : disk_images_of(board_.modules().board())) {
        const auto number = about_.disks.size();
        const auto copy = fmt::format("disks/{}-{}", number, fs::path(name).filename().string());
        store_disk(name, folder_ / copy);
        about_.disks[name] = copy;
    }
}

// --- Input that does not pass through functions

void recorder::record_control() {
    auto& methods = board_.methods().methods();
    std::vector<rpc::method> changing;
    for (const auto& [name, method] : methods.all())
        if (name != "type" && std::ranges::find(not_recorded, name) == not_recorded.end())
            changing.push_back(method);
    for (auto& method : changing) {
        method.call = [this, name = method.name, call = method.call](
                          const auto& params, auto& caller, const auto& done) {
            check_parameters(params.all());
            const auto answer = std::make_shared<json>();
            const auto keep = [&, answer] {
                const auto text = text_of_call(name, params.all(), *answer);
                events_.note({.type = kind::control, .bytes = {text.begin(), text.end()}});
            };
            try {
                call(params, caller, [answer, done](const json& result) {
                    *answer = result;
                    done(result);
                });
            } catch (const rpc::error& refused) {
                *answer = {{"error", refused.what()}};
                keep();
                throw;
            }
            keep();
        };
        methods.add_waiting(std::move(method));
    }
}

void recorder::record_consoles() {
    auto& consoles = board_.methods().consoles();
    for (const auto& [name, output] : consoles.all()) about_.consoles.push_back(name);
    consoles.on_typing([this](std::string_view module, std::string_view text, std::size_t taken) {
        const auto found = std::ranges::find(about_.consoles, module);
        events_.note({.type = kind::typed,
                      .function = static_cast<std::uint32_t>(found - about_.consoles.begin()),
                      .size = taken,
                      .bytes = {text.begin(), text.end()}});
    });
}

}  // namespace trn::recording
