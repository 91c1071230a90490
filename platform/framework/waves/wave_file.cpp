// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/waves/wave_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <systemc>
#include <utility>

#include "platform/framework/kernel/time_value.h"
#include "platform/framework/log.h"
#include "platform/framework/waves/make_wave_writer.h"
#include "platform/framework/waves/transactions.h"

namespace trn {

namespace {

/// Whether a condition has become true since the last call.
class rising_condition {
public:
    explicit rising_condition(std::function<bool()> condition) : condition_(std::move(condition)) {}
    bool exists() const { return condition_ != nullptr; }
    bool rises() {
        if (!condition_) return false;
        const bool now = condition_();
        return !std::exchange(before_, now) && now;
    }

private:
    std::function<bool()> condition_;
    bool before_ = false;
};

}  // namespace

class wave_file::sampler {
public:
    sampler(const std::string& path, wave_content content)
        : begins_(std::move(content.begins)),
          ends_(std::move(content.ends)),
          writer_(make_wave_writer(path)) {
        for (auto& signal : content.signals) rows_.push_back({.signal = std::move(signal)});
        if (!content.transactions.empty()) {
            transactions_.emplace(content.transactions, lanes);
            for (const auto& module : content.transactions) add_texts(module);
        }
        declare();
        recording_ = !begins_.exists();
        written_ = now();
        writer_->time(written_);
        writer_->begin(wave_writer::section::initial);
        for (auto& row : rows_) recording_ ? write_now(row) : write_unknown(row);
        writer_->end_section();
    }
    ~sampler() { finish(); }
    sampler(const sampler&) = delete;
    sampler& operator=(const sampler&) = delete;

    void finish() {
        if (std::exchange(finished_, true)) return;
        sample();
        write_time(now());
        writer_->finish();
        if (!writer_->failure().empty()) log::error("vcd", "{}", writer_->failure());
        if (transactions_ && transactions_->lost() > 0)
            log::info("vcd", "{} transactions are not shown: more than {} at a time",
                      transactions_->lost(), lanes);
        transactions_.reset();
    }
    const std::string& failure() const { return writer_->failure(); }
    /// Samples after delta cycles only: time also ends with a slice, whose length depends on wall
    /// time, and values may be computed from the current time.
    void time_step_ended() {
        const auto deltas = sc_core::sc_delta_count();
        if (!finished_ && std::exchange(last_sample_, deltas) != deltas) sample();
    }

private:
    struct row {
        watched_signal signal;
        bool is_text = false;
        std::size_t variable = 0;
        std::uint64_t last = 0;                           // of a number; the bits of a real
        std::vector<std::uint32_t> wide = {}, read = {};  // of words: the last value; a buffer
        std::string text = {};
    };

    static std::uint64_t now() { return in_picoseconds(sc_core::sc_time_stamp()); }

    void add_texts(const std::string& module) {
        const auto add = [&](const std::string& name) {
            auto& added =
                rows_.emplace_back(row{.signal = {module + "." + name, 0, {}}, .is_text = true});
            added.variable = texts_.size();
            texts_.push_back(0);
        };
        add("event");
        for (unsigned lane = 0; lane < lanes; ++lane) add(fmt::format("transaction_{}", lane));
    }
    void declare() {
        std::ranges::sort(rows_, {},
                          [](const row& r) -> const std::string& { return r.signal.path; });
        std::vector<wave_variable> variables;
        for (std::size_t n = 0; n < rows_.size(); ++n) {
            auto& row = rows_[n];
            if (row.is_text) texts_[row.variable] = n;
            row.variable = n;
            if (const auto* wide = std::get_if<watched_signal::words>(&row.signal.value); wide) {
                row.wide.resize((row.signal.width + 31) / 32);
                row.read = row.wide;
            }
            variables.push_back(
                {row.signal.path, kind_of(row), row.signal.width, row.signal.states});
        }
        writer_->declare(variables);
    }
    static wave_variable::kind kind_of(const row& row) {
        using enum wave_variable::kind;
        if (row.is_text) return text;
        if (std::holds_alternative<watched_signal::real>(row.signal.value)) return real;
        return row.signal.states.empty() ? bits : state;
    }

    void sample() {
        if (ends_after_ && now() > *ends_after_) {
            write_transactions(now() - 1);
            ends_after_.reset();
            stop();
        }
        const bool begins = begins_.rises(), ends = ends_.rises();
        write_transactions(now());
        if (recording_)
            for (auto& row : rows_) write_change(row);
        else if (begins)
            start();
        if (recording_ && ends) ends_after_ = now();
    }
    void start() {
        recording_ = true;
        write_time(now());
        writer_->begin(wave_writer::section::on);
        for (auto& row : rows_) write_now(row);
        writer_->end_section();
    }
    /// The values of the last time step stay until now.
    void stop() {
        recording_ = false;
        write_time(now());
        writer_->begin(wave_writer::section::off);
        for (auto& row : rows_) write_unknown(row);
        writer_->end_section();
    }
    void write_transactions(std::uint64_t until) {
        if (!transactions_) return;
        transactions_->take_until(until, [this](const auto& change) {
            auto& row = rows_[texts_[change.variable]];
            const bool is_same = std::exchange(row.text, change.text) == change.text;
            if (!recording_ || (is_same && !change.is_event)) return;
            write_time(change.time);
            writer_->text(row.variable, change.text);
        });
    }
    void write_change(row& row) {
        if (row.is_text || !read(row)) return;
        write_time(now());
        write(row);
    }
    void write_now(row& row) {
        if (!row.is_text) read(row);
        write(row);
    }
    /// Returns whether the value has changed.
    static bool read(row& row) {
        if (const auto* number = std::get_if<watched_signal::number>(&row.signal.value)) {
            const auto value = (*number)() & (~std::uint64_t{0} >> (64 - row.signal.width));
            return std::exchange(row.last, value) != value;
        }
        if (const auto* real = std::get_if<watched_signal::real>(&row.signal.value)) {
            const auto bits = std::bit_cast<std::uint64_t>((*real)());
            return std::exchange(row.last, bits) != bits;
        }
        std::ranges::fill(row.read, 0);
        std::get<watched_signal::words>(row.signal.value)(row.read);
        row.read.back() &= ~0u >> (31 - (row.signal.width - 1) % 32);
        if (row.read == row.wide) return false;
        row.wide.swap(row.read);
        return true;
    }
    void write(const row& row) {
        switch (kind_of(row)) {
        case wave_variable::kind::text:
            return writer_->text(row.variable, row.text);
        case wave_variable::kind::real:
            return writer_->real(row.variable, std::bit_cast<double>(row.last));
        case wave_variable::kind::bits:
        case wave_variable::kind::state:
            break;
        }
        if (row.wide.empty())
            writer_->number(row.variable, row.last);
        else
            writer_->words(row.variable, row.wide);
    }
    void write_unknown(const row& row) {
        switch (kind_of(row)) {
        case wave_variable::kind::text:
            return writer_->text(row.variable, {});
        case wave_variable::kind::real:
            return writer_->real(row.variable, 0);
        case wave_variable::kind::bits:
        case wave_variable::kind::state:
            return writer_->unknown(row.variable);
        }
    }
    void write_time(std::uint64_t time) {
        if (time <= written_) return;  // an event that is reported after its time
        written_ = time;
        writer_->time(time);
    }

    rising_condition begins_, ends_;
    std::unique_ptr<wave_writer> writer_;
    std::vector<row> rows_;
    std::vector<std::size_t> texts_;  // of each variable of `transactions_`: its row
    std::optional<transactions> transactions_;
    std::uint64_t written_ = 0;                // last time written to the file
    std::uint64_t last_sample_ = 0;            // delta cycle of the last sample
    std::optional<std::uint64_t> ends_after_;  // the time at which `ends_` rose
    bool recording_ = false, finished_ = false;
};

wave_file::wave_file(const std::string& path, wave_content content)
    : sampler_(std::make_unique<sampler>(path, std::move(content))) {}

wave_file::~wave_file() = default;

void wave_file::time_step_ended() {
    sampler_->time_step_ended();
}

void wave_file::finish() {
    sampler_->finish();
}

const std::string& wave_file::failure() const {
    return sampler_->failure();
}

}  // namespace trn
