// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/inside_hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <span>
#include <utility>

#include "platform/app/scenario/language/step.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/process/output_log.h"

namespace trn::scenario {

namespace {

constexpr std::string_view greeting = "ready\n", answered = "done ";
constexpr std::size_t max_line = 256;  // of a response's first line, and of a kernel's

/// How a line of a kernel, or of the boot ROM, begins that does not go on.
constexpr std::array ends = {"Kernel panic - not syncing",
                             "Oops [",
                             "kernel BUG at",
                             "INFO: task ",
                             "reboot: Power down",
                             "reboot: System halted",
                             "error: loader: "};

struct header {
    int status = 0;
    std::uint64_t length = 0;
    std::size_t size = 0;  // of the line
};

/// Whether all of `text` is a number.
template <typename Number>
bool is_read(std::string_view text, Number& number) {
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    return wrong == std::errc{} && end == text.data() + text.size();
}

/// Nothing: the line is not complete.
std::optional<header> header_of(std::string_view received) {
    const auto line = received.substr(0, std::min(received.find('\n'), max_line));
    if (line.size() == received.size() && line.size() < max_line) return std::nullopt;
    header found{.size = line.size() + 1};
    const auto numbers = line.substr(std::min(answered.size(), line.size()));
    const auto space = std::min(numbers.find(' '), numbers.size());
    if (!line.starts_with(answered) || !is_read(numbers.substr(0, space), found.status) ||
        !is_read(numbers.substr(std::min(space + 1, numbers.size())), found.length))
        throw step_failure(fmt::format("its agent answers '{}'", line));
    return found;
}

}  // namespace

class inside_host::response final : public watch {
public:
    response(const inside_host& host, bool (inside_host::*met)() const) : host_(host), met_(met) {}
    bool is_met() override { return !host_.ended_.empty() || (host_.*met_)(); }
    std::string found_text() const override {
        return fmt::format(
            "{}{}",
            host_.ready_ ? fmt::format("{} bytes have come", host_.received_.size())
                         : "its agent does not run yet",
            host_.last_line_.empty()
                ? ""
                : fmt::format("; its console's last line is '{}'", host_.last_line_));
    }
    const sc_core::sc_event* changed() const override { return &host_.changed_; }

private:
    const inside_host& host_;
    bool (inside_host::*const met_)() const;
};

inside_host::inside_host(std::string name, byte_channel& agent, const memories& its)
    : name_(std::move(name)), agent_(agent), memories_(its) {
    agent_.on_output([this](std::string_view bytes) { receive(bytes); });
}

void inside_host::receive(std::string_view bytes) {
    received_ += bytes;
    if (!busy_ && received_.ends_with(greeting)) {  // also after a reboot
        ready_ = true;
        received_.clear();
        ended_.clear();
        changed_.notify(sc_core::SC_ZERO_TIME);
    } else if (busy_ && complete()) {
        changed_.notify(sc_core::SC_ZERO_TIME);
    } else if (!busy_ && received_.size() > max_line) {
        received_.erase(0, received_.size() - greeting.size());
    }
}

void inside_host::printed(std::string_view module, std::string_view text) {
    if (module != name_ + ".uart" || !ended_.empty()) return;
    for (const char c : text) {
        if (c != '\n') {
            if (line_.size() < max_line && c != '\r') line_ += c;
            continue;
        }
        const auto message = line_.find("] ");  // after the time
        const auto start = message == line_.npos ? 0 : message + 2;
        const auto begins = [&](std::string_view words) {
            return line_.compare(start, words.size(), words) == 0;
        };
        if (std::ranges::any_of(ends, begins)) ended_ = line_;
        if (begins("reboot: Restarting system")) ready_ = false;
        if (!line_.empty()) last_line_ = std::exchange(line_, {});
        if (!ended_.empty()) return changed_.notify(sc_core::SC_ZERO_TIME);
    }
}

/// A header that cannot be one is complete, so that who waits reads it.
bool inside_host::complete() const {
    try {
        const auto head = header_of(received_);
        return head && (head->length > max_answer || received_.size() >= head->size + head->length);
    } catch (const step_failure&) {
        return true;
    }
}

void inside_host::fail(const std::string& why) const {
    throw step_failure(fmt::format("{}: {}", name_, why));
}

void inside_host::await(bool (inside_host::*met)() const, const std::string& text, waits& passing,
                        std::uint64_t within) {
    response awaited(*this, met);
    const bool came = passing.wait_for({.within = within}, awaited, "the " + text + " of " + name_);
    if (!ended_.empty()) fail("its kernel says '" + ended_ + "'");
    if (!came)
        fail(fmt::format("no {} within {}: {}", text, to_string(nanoseconds{within}),
                         awaited.found_text()));
}

void inside_host::await_ready(waits& passing, std::uint64_t within) {
    await(&inside_host::is_ready, "agent", passing, within);
}

inside_host::answer inside_host::ask(const std::string& request, waits& passing,
                                     std::uint64_t within) {
    if (!ready_) fail("Linux has not booted (write a step 'boot: {host: linux}' before)");
    if (busy_) fail("another step uses its agent");
    busy_ = true;
    const std::shared_ptr<void> end(nullptr, [this](void*) { busy_ = false; });
    received_.clear();
    if (agent_.type(request) < request.size())
        fail(fmt::format("a request of {} bytes is too long", request.size()));
    await(&inside_host::complete, "answer", passing, within);
    release_when_grown();
    if (received_ == greeting) fail("its Linux has booted again");
    const auto head = *header_of(received_);
    if (head.length > max_answer)
        fail(fmt::format("its agent answers with {} bytes, at most {}", head.length, max_answer));
    return {head.status, std::exchange(received_, {}).substr(head.size, head.length)};
}

void inside_host::release_zeroes() {
    if (memories_.ram != nullptr) memories_.ram->bytes().release_zeroes();
}

/// A driver clears buffers of many MiB that it then does not use.
void inside_host::release_when_grown() {
    constexpr std::uint64_t growth = 32 << 20;
    static std::uint64_t after_last = 0;  // bytes of this process
    const auto now = resident_memory(getpid());
    if (now < after_last + growth) return;
    release_zeroes();
    after_last = resident_memory(getpid());
}

inside_host::answer inside_host::run(const std::string& command, waits& passing,
                                     std::uint64_t within) {
    return ask(fmt::format("run {} -\n{}", command.size(), command), passing, within);
}

inside_host::answer inside_host::put(const std::string& path, std::string_view bytes,
                                     waits& passing, std::uint64_t within) {
    const std::span content(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (busy_) fail("another step uses its agent");
    if (memories_.exchange == nullptr || !memories_.exchange->load(0, content))
        fail(fmt::format("it has no room for a file of {} bytes", bytes.size()));
    return ask(fmt::format("put {} {}\n", bytes.size(), path), passing, within);
}

inside_host::answer inside_host::get(const std::string& path, waits& passing,
                                     std::uint64_t within) {
    auto found = ask(fmt::format("get 0 {}\n", path), passing, within);
    if (found.status != 0) return found;
    std::uint64_t length = 0;
    const auto line = std::string_view(found.bytes).substr(0, found.bytes.find('\n'));
    if (!is_read(line, length))
        fail(fmt::format("its agent says that {} has '{}' bytes", path, line));
    if (memories_.exchange == nullptr || length > memories_.exchange->settings().size)
        fail(fmt::format("{} has {} bytes, which have no room", path, length));
    found.bytes.assign(reinterpret_cast<const char*>(memories_.exchange->bytes().data()), length);
    return found;
}

inside_hosts::inside_hosts(console_log& consoles) {
    for_each_module<byte_channel>([this](const auto& object, byte_channel& agent) {
        const std::string module = object.name();
        const auto name = module.substr(0, module.rfind('.'));
        const auto memory_of = [&name](const char* part) {
            return dynamic_cast<memory*>(sc_core::sc_find_object((name + part).c_str()));
        };
        hosts_.emplace_back(name, agent,
                            inside_host::memories{memory_of(".exchange"), memory_of(".ram")});
    });
    consoles.listen([this](std::string_view module, std::string_view text) {
        for (auto& host : hosts_) host.printed(module, text);
    });
}

void inside_hosts::await_ready(waits& passing, std::uint64_t within) {
    const auto start = sc_core::sc_time_stamp();
    for (auto& host : hosts_) {
        const auto spent = static_cast<std::uint64_t>((sc_core::sc_time_stamp() - start) /
                                                      sc_core::sc_time(1, sc_core::SC_NS));
        try {
            host.await_ready(passing, within - std::min(within, spent));
        } catch (const step_failure& why) {
            throw step_failure(why.what() + others_not_ready(host));
        }
    }
    for (auto& host : hosts_) host.release_zeroes();
}

/// "; not ready either: linux1, linux2": of hosts after this one.
std::string inside_hosts::others_not_ready(const inside_host& first) const {
    std::vector<std::string> names;
    bool after = false;
    for (const auto& host : hosts_) {
        if (after && !host.is_ready()) names.push_back(host.name());
        after = after || &host == &first;
    }
    return names.empty() ? "" : fmt::format("; not ready either: {}", fmt::join(names, ", "));
}

inside_host& inside_hosts::find(const std::string& name) {
    if (hosts_.empty()) throw step_failure("no host is inside this board (set: {host: linux})");
    if (name.empty()) return hosts_.front();
    std::vector<std::string_view> known;
    for (auto& host : hosts_) {
        if (host.name() == name) return host;
        known.push_back(host.name());
    }
    const auto near = suggest(name, known);
    throw step_failure(
        fmt::format("there is no server '{}'{}", name, near.empty() ? "" : "; " + near));
}

}  // namespace trn::scenario
