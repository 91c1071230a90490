// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/vcd.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <systemc>
#include <utility>

#include "platform/framework/kernel/streamed_file.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/log.h"

namespace trn {

namespace {

/// Short identifiers of printable characters, as the format requires.
std::string identifier(std::size_t number) {
    constexpr std::size_t characters = '~' - '!' + 1;
    std::string text;
    for (++number; number > 0; number = (number - 1) / characters)
        text += static_cast<char>('!' + (number - 1) % characters);
    return text;
}

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    std::istringstream text(path);
    for (std::string part; std::getline(text, part, '.');) parts.push_back(part);
    return parts;
}

}  // namespace

class vcd_file::sampler {
public:
    sampler(const std::string& path, std::vector<vcd_signal> signals) : file_(path) {
        std::ranges::sort(signals, {}, &vcd_signal::path);
        for (std::size_t n = 0; n < signals.size(); ++n)
            rows_.push_back({std::move(signals[n]), identifier(n), 0});
        write_header();
    }
    ~sampler() { finish(); }
    sampler(const sampler&) = delete;
    sampler& operator=(const sampler&) = delete;

    void finish() {
        if (std::exchange(finished_, true)) return;
        sample();
        if (const auto now = in_picoseconds(sc_core::sc_time_stamp()); now > written_)
            file_.put(fmt::format("#{}\n", now));
        file_.flush();
        if (!file_.failure().empty()) log::error("vcd", "{}", file_.failure());
    }
    const std::string& failure() const { return file_.failure(); }
    /// Samples after delta cycles only: time also ends with a slice, whose length depends on wall
    /// time, and values may be computed from the current time.
    void time_step_ended() {
        const auto now = sc_core::sc_delta_count();
        if (!finished_ && std::exchange(last_sample_, now) != now) sample();
    }

private:
    struct row {
        vcd_signal signal;
        std::string id;
        std::uint64_t last;
    };

    void sample() {
        bool first = true;
        for (auto& row : rows_) {
            const auto value = row.signal.value();
            if (value == row.last) continue;
            row.last = value;
            if (std::exchange(first, false)) write_time();
            write_value(row);
        }
    }
    void write_time() {
        const auto now = in_picoseconds(sc_core::sc_time_stamp());
        if (now != written_) file_.put(fmt::format("#{}\n", now));
        written_ = now;
    }
    void write_value(const row& row) {
        if (row.signal.width == 1)
            file_.put(fmt::format("{}{}\n", row.last & 1, row.id));
        else
            file_.put(fmt::format("b{:b} {}\n", row.last, row.id));
    }
    void write_header() {
        file_.put("$version trnvp $end\n$timescale 1 ps $end\n");
        std::vector<std::string> scope;
        for (const auto& row : rows_) {
            const auto path = parts_of(row.signal.path);
            std::size_t common = 0;
            while (common < scope.size() && common + 1 < path.size() &&
                   scope[common] == path[common])
                ++common;
            for (; scope.size() > common; scope.pop_back()) file_.put("$upscope $end\n");
            for (; scope.size() + 1 < path.size(); scope.push_back(path[scope.size()]))
                file_.put(fmt::format("$scope module {} $end\n", path[scope.size()]));
            file_.put(
                fmt::format("$var wire {} {} {} $end\n", row.signal.width, row.id, path.back()));
        }
        for (; !scope.empty(); scope.pop_back()) file_.put("$upscope $end\n");
        written_ = in_picoseconds(sc_core::sc_time_stamp());
        file_.put(fmt::format("$enddefinitions $end\n#{}\n$dumpvars\n", written_));
        for (auto& row : rows_) {
            row.last = row.signal.value();
            write_value(row);
        }
        file_.put("$end\n");
    }

    streamed_file file_;
    std::vector<row> rows_;
    std::uint64_t written_ = 0;      // last time written to the file
    std::uint64_t last_sample_ = 0;  // delta cycle of the last sample
    bool finished_ = false;
};

vcd_file::vcd_file(const std::string& path, std::vector<vcd_signal> signals)
    : sampler_(std::make_unique<sampler>(path, std::move(signals))) {}

vcd_file::~vcd_file() = default;

void vcd_file::time_step_ended() {
    sampler_->time_step_ended();
}

void vcd_file::finish() {
    sampler_->finish();
}

const std::string& vcd_file::failure() const {
    return sampler_->failure();
}

}  // namespace trn
