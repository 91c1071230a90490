// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/event_recording.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "platform/framework/config/file.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/kernel/trace_append.h"
#include "platform/framework/log.h"

namespace trn {

using rpc::code;
using rpc::json;

event_recording::event_recording(control& methods) {
    methods.methods().add(
        {"trace",
         "Writes the events of the platform to a file without a name, and reads it; only of "
         "`trnvp run`.",
         {{"command", "start, stop, read or status", "", "status"},
          {"offset", "number of bytes", "where `read` begins", "0"}},
         {{"recording", "true or false", "events are being written"},
          {"bytes", "number", "of the file"},
          {"failure", "text", "why it ends early; \"\": it does not"},
          {"text, next", "text, number", "of read: up to 1 MiB of whole lines; the next offset"}},
         {{code::failed, "already started, not started, --trace is given, or no file"}}},
        [this](const auto& p, auto&) { return call(p); });
}

event_recording::~event_recording() {
    if (is_open()) trace::close();
}

bool event_recording::is_open() const {
    return started_ && trace::on();
}

json event_recording::call(const rpc::parameters& p) {
    const auto command = p.text("command", "status");
    if (command == "read") return read(p.number("offset", 0));
    if (command == "start")
        start();
    else if (command == "stop") {
        if (is_open()) trace::close();
    } else if (command != "status") {
        p.wrong("command", "start, stop, read or status");
    }
    return describe();
}

void event_recording::start() {
    if (is_open())
        throw rpc::error(code::failed, "events are being recorded already; stop that first");
    if (trace::on())
        throw rpc::error(code::failed,
                         "the platform writes a trace already (--trace), and has only one");
    std::string path;
    try {
        path = (std::filesystem::temp_directory_path() / "trnvp-events-XXXXXX").string();
        file_ = unique_fd(::mkstemp(path.data()));
        if (!file_) throw std::system_error(errno, std::generic_category(), path);
        trace::open(path);
    } catch (const std::exception& why) {
        if (file_) ::unlink(path.c_str());
        throw rpc::error(code::failed, fmt::format("cannot record events: {}", why.what()));
    }
    ::unlink(path.c_str());
    started_ = true;
}

json event_recording::hand_over(std::vector<int>& descriptors) const {
    if (is_open()) trace::flush();
    if (started_) descriptors.push_back(file_.get());
    return {{"recording", is_open()}, {"started", started_}};
}

void event_recording::take_over(const json& state, int file) {
    unique_fd theirs(file);
    const bool continues =
        is_open() && state["recording"] && is_same_file(theirs.get(), file_.get());
    if (continues) return;
    if (is_open()) trace::close();
    file_ = std::move(theirs);
    started_ = state["started"];
    if (!state["recording"]) return;
    try {
        trace::append_to(fmt::format("/proc/self/fd/{}", file_.get()));
    } catch (const std::system_error& why) {
        log::error("trace", "the recording of events ends: {}", why.what());
    }
}

json event_recording::describe() const {
    if (is_open()) trace::flush();
    struct stat about {};
    const bool has_file = started_ && ::fstat(file_.get(), &about) == 0;
    return {{"recording", is_open()},
            {"bytes", has_file ? static_cast<std::uint64_t>(about.st_size) : 0},
            {"failure", started_ ? trace::failure() : ""}};
}

json event_recording::read(std::uint64_t offset) const {
    if (!started_) throw rpc::error(code::failed, "no events were recorded; start first");
    if (is_open()) trace::flush();
    std::string text(max_read, '\0');
    const auto place = static_cast<off_t>(std::min<std::uint64_t>(offset, std::uint64_t{1} << 62));
    const auto found = ::pread(file_.get(), text.data(), text.size(), place);
    if (found < 0) throw rpc::error(code::failed, "cannot read the recorded events");
    text.resize(static_cast<std::size_t>(found));
    text.resize(text.rfind('\n') + 1);  // keeps whole lines only; npos + 1 is 0
    return {{"text", text}, {"next", offset + text.size()}};
}

}  // namespace trn
