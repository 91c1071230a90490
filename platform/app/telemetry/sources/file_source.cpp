// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "platform/app/telemetry/sources/state_source.h"
#include "platform/app/telemetry/state_json.h"
#include "platform/framework/config/json.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"

namespace trn::telemetry {

namespace {

constexpr std::size_t largest_line = 16 << 20;  // as a message of the control protocol

/// A time in a recording: simulated, or since its first state.
struct moment {
    std::optional<std::uint64_t> picoseconds, milliseconds;
    bool end = false;
};

moment moment_of(const std::string& text) {
    moment found;
    double seconds = 0;
    const auto [rest, wrong] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (text == "end") {
        found.end = true;
    } else if (wrong == std::errc{} && rest == text.data() + text.size()) {
        if (seconds < 0 || seconds > 1e9)
            throw source_usage(fmt::format("--at: {} is not 0 to 1e9 seconds", text));
        found.milliseconds = static_cast<std::uint64_t>(seconds * 1000);
    } else {
        const auto parsed = config::parse_time(text);
        if (const auto* why = std::get_if<config::refusal>(&parsed))
            throw source_usage(fmt::format("--at: {}", config::refusal_text(*why)));
        found.picoseconds = std::get<picoseconds>(parsed).value;
    }
    return found;
}

/// A recording: a state per line, in the order of time.
class recording final : public state_source {
public:
    recording(std::string file, const std::string& time) : file_(std::move(file)), in_(file_) {
        std::error_code unknown;
        if (std::filesystem::is_directory(file_, unknown))
            throw source_usage(fmt::format("{} is a folder, not a recording", file_));
        if (!in_)
            throw source_usage(fmt::format("cannot read {}: {}", file_, std::strerror(errno)));
        if (!time.empty()) seek(moment_of(time));
    }

    machine_state read(detail) override {
        if (at_) return std::move(*std::exchange(at_, std::nullopt));
        auto state = later_ ? std::exchange(later_, std::nullopt) : next();
        if (!state) throw source_error(fmt::format("{}: the recording is over", file_));
        return std::move(*state);
    }
    bool is_recorded() const override { return true; }
    std::string proc() const override { return {}; }

private:
    /// The last state that is not later than `wanted` becomes the first to be read.
    void seek(const moment& wanted) {
        std::optional<std::uint64_t> start;
        while (true) {
            auto state = next();
            if (!state) break;
            if (!start) start = state->wall_ms;
            if (wanted.picoseconds && !state->time_ps)
                throw source_usage(
                    fmt::format("{} has no simulated times: give --at in seconds", file_));
            const bool later =
                !wanted.end &&
                (wanted.picoseconds ? *state->time_ps > *wanted.picoseconds
                                    : state->wall_ms > *start + *wanted.milliseconds);
            if (later) {
                later_ = std::move(state);
                break;
            }
            at_ = std::move(state);
        }
        if (!start) throw source_error(fmt::format("{}: the recording is empty", file_));
        if (!at_)
            throw source_error(
                fmt::format("{}: the recording begins at {:.6f} s of simulated time, after --at",
                            file_, static_cast<double>(later_->time_ps.value_or(0)) / 1e12));
    }

    /// Returns false at the end. A line without an end is one that is being written.
    bool read_line(std::string& text) {
        auto& bytes = *in_.rdbuf();
        for (auto c = bytes.sbumpc(); c != std::ifstream::traits_type::eof(); c = bytes.sbumpc()) {
            if (c == '\n') return true;
            if (text.size() == largest_line)
                throw source_error(fmt::format("{}:{}: the line is longer than {} MiB", file_,
                                               line_, largest_line >> 20));
            text += static_cast<char>(c);
        }
        return false;
    }

    std::optional<machine_state> next() {
        std::string text;
        ++line_;
        if (!read_line(text)) return std::nullopt;
        const auto value = config::parse_json(text);
        try {
            if (!value.is_object() || !value.contains("instances"))
                throw state_error("not a state of a machine, as trn-monitor --record writes");
            return state_of(value);
        } catch (const state_error& why) {
            throw source_error(fmt::format("{}:{}: {}", file_, line_, why.what()));
        }
    }

    const std::string file_;
    std::ifstream in_;
    std::uint64_t line_ = 0;
    std::optional<machine_state> at_, later_;  // the next states, in this order
};

}  // namespace

std::unique_ptr<state_source> file_source(const std::string& file, const std::string& time) {
    return std::make_unique<recording>(file, time);
}

}  // namespace trn::telemetry
