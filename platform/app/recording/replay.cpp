// SPDX-License-Identifier: Apache-2.0
#include "platform/app/recording/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "platform/app/disk_images.h"
#include "platform/app/recording/control_call.h"
#include "platform/framework/attach/control/rpc.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/json.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/misuse/allowance_text.h"
#include "platform/framework/process/temporary_folder.h"
#include "platform/framework/unique_fd.h"

namespace trn::recording {

namespace fs = std::filesystem;
using rpc::json;
using sc_core::sc_time;

namespace {

void check_file(const fs::path& folder, const std::string& file) {
    std::error_code error;
    if (!fs::is_regular_file(folder / file, error))
        throw recording_error(fmt::format("the recording has lost {}", file));
}

/// Private copies of the disks' images, which a replay may write. They have no names and end with
/// the object.
class disk_copies {
public:
    disk_copies(std::map<std::string, std::string> disks, fs::path folder)
        : disks_(std::move(disks)), folder_(std::move(folder)) {}

    /// A path of the copy for this process. Throws recording_error.
    std::string file_for(const std::string& name) {
        const auto found = disks_.find(name);
        if (found == disks_.end()) not_in_recording(name);
        auto& copy = copies_[name];
        if (!copy) copy = copy_of(found->second);
        return fmt::format("/proc/self/fd/{}", copy.get());
    }
    [[noreturn]] static void not_in_recording(const std::string& name) {
        throw recording_error(
            fmt::format("the recording's board names '{}', which is not in the recording", name));
    }

private:
    unique_fd copy_of(const std::string& file) const {
        check_file(folder_, file);
        try {
            auto copy = unnamed_file("trnvp-disk");
            copy_disk_image(folder_ / file, copy.get());
            return copy;
        } catch (const std::system_error& why) {
            cannot_write("a copy of " + file, why.code().value());
        }
    }

    const std::map<std::string, std::string> disks_;
    const fs::path folder_;
    std::map<std::string, unique_fd> copies_;
};

/// Some rules change what the platform does, and control clients read the counts.
misuse::choices misuse_of(const manifest& about) try {
    misuse::choices chosen;
    for (const auto& text : about.misuse)
        chosen.policies.push_back(misuse::policy_choice::parse(text));
    for (const auto& text : about.misuse_allow)
        chosen.allowances.push_back(misuse::parse_allowance(text, manifest_file));
    return chosen;
} catch (const std::invalid_argument& wrong) {
    throw recording_error(fmt::format("{}: {}", manifest_file, wrong.what()));
}

}  // namespace

platform_options options_of(const manifest& about, const fs::path& folder,
                            const std::string& firmware) {
    for (const auto& [name, file] : about.images) {
        check_file(folder, file);
        if (firmware.empty() || name != firmware) stand_in_for_firmware(name, folder / file);
    }
    const auto disks = std::make_shared<disk_copies>(about.disks, folder);
    // The recording may come from another machine: nothing outside it is read or written.
    const auto stay_inside = [disks, images = about.images, firmware](plan& board) {
        for (const auto& image : images_of(board))
            if (image != firmware && !images.contains(image)) disk_copies::not_in_recording(image);
        replace_disk_images(board, [&](const auto& name) { return disks->file_for(name); });
    };
    return {.board = (folder / about.file).string(),
            .set = about.set,
            .firmware = firmware.empty() ? about.firmware : firmware,
            .timing = about.contended ? timing_mode::contended : timing_mode::functional,
            .time = {},
            .seed = about.seed,
            .trace = {},
            .boards = folder / boards_copy,
            .misuse = misuse_of(about),
            .prepare = stay_inside};
}

replay::replay(platform& board, const manifest& about, const survey& content, log_reader log,
               bool debugged)
    : board_(board),
      about_(about),
      survey_(content),
      events_(about, std::move(log), board.about().digest == about.digest),
      debugged_(debugged) {
    for (const auto& f : board.functions()) {
        const auto number = static_cast<std::uint32_t>(functions_.size());
        functions_.push_back(std::make_unique<replayed_function>(events_, number, f.name, *f.port));
    }
    if (functions_.size() != about.functions.size())
        throw recording_error(fmt::format("{} functions were recorded, the board has {}",
                                          about.functions.size(), functions_.size()));
}

replay::outcome replay::run() {
    if (debugged_) board_.loop().pause("--gdb");
    if (debugged_ && !wait_until_resumed()) return {events_.found(), repeated_, interrupted_};
    bool ended = false;
    while (const auto e = events_.next()) {
        if (!reach(e->time, e->deltas)) break;
        ended = e->type == kind::end;
        if (ended) break;
        ++repeated_;
        repeat(*e);
    }
    if (!interrupted_ && survey_.complete && !ended)
        throw recording_error("the recording has lost its end since the replay began");
    if (!interrupted_) finish();
    return {events_.found(), repeated_, interrupted_};
}

// --- Time

/// Simulates up to the place of an event: its time, and there as many delta cycles as had run.
/// False when the platform was ended.
bool replay::reach(std::uint64_t time, std::uint64_t deltas) {
    const auto target = sc_time::from_value(time);
    while (target > sc_core::sc_time_stamp()) {
        const auto reason = board_.loop().run(
            {.waiter = "the recording", .condition_text = "its next event", .until = target});
        interrupted_ = reason.cause == stop_reason::kind::quit;
        if (interrupted_ || !resume()) return false;
    }
    // Another platform has other delta cycle counts: only the distance between two events of the
    // same time is comparable.
    if (!events_.same() && time != last_time_) delta_shift_ = sc_core::sc_delta_count() - deltas;
    last_time_ = time;
    while (sc_core::sc_delta_count() - delta_shift_ < deltas && board_.loop().delta())
        if (!resume()) return false;
    if (const auto shift = sc_core::sc_delta_count() - deltas; shift != delta_shift_) {
        if (events_.same() && !debugged_)
            events_.differs(fmt::format("the platform has run {} delta cycles, recorded were {}",
                                        sc_core::sc_delta_count(), deltas));
        delta_shift_ = shift;
    }
    return true;
}

/// Waits while a debugger has stopped the platform. A pause without one is that of a recorded
/// breakpoint, after which a recorded client resumed the platform. False when the platform was
/// ended.
bool replay::resume() {
    if (board_.loop().attached() != 0) return wait_until_resumed();
    board_.loop().resume();
    return true;
}

bool replay::wait_until_resumed() {
    auto& loop = board_.loop();
    if (!loop.paused()) return true;
    run_loop::goal resumed{"the recording", "a debugger to continue the platform"};
    resumed.condition = [&loop] { return !loop.paused(); };
    resumed.background = true;
    interrupted_ = loop.run(std::move(resumed)).cause == stop_reason::kind::quit;
    return !interrupted_;
}

/// A recording that was cut off ends at the platform's last recorded event; later events are not
/// expected.
void replay::finish() {
    if (!survey_.complete && !reach(survey_.last_time, survey_.last_deltas)) return;
    events_.report_missing();
}

// --- Events from outside

void replay::repeat(const event& e) {
    if (e.type == kind::control) {
        call_control(e);
    } else if (e.type == kind::typed) {
        type(e);
    } else {
        functions_[e.function]->repeat(e);
    }
}

void replay::call_control(const event& e) {
    const auto call = config::parse_json(e.text());
    const auto method = call["method"].get<std::string>();
    json answer;
    try {
        answer = board_.methods().call(method, call["params"]);
    } catch (const rpc::error& refused) {
        answer = {{"error", refused.what()}};
    }
    // Compared as text, since the recorder has replaced bytes that are not UTF-8.
    const auto was = rpc::to_line(call["answer"]), now = kept_answer(answer);
    if (was != now)
        events_.differs(fmt::format("control call {}: recorded {}, now {}", printable(method),
                                    printable(was.substr(0, 80)), printable(now.substr(0, 80))));
}

void replay::type(const event& e) {
    const auto& name = about_.consoles[e.function];
    auto& consoles = board_.methods().consoles();
    if (!consoles.find(name)) return events_.differs(fmt::format("there is no console {}", name));
    if (consoles.type(name, e.text()) != e.size)
        events_.differs(fmt::format("{} took another number of typed characters", name));
}

}  // namespace trn::recording
