// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/trace.h"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <map>
#include <memory>
#include <utility>

#include "platform/framework/kernel/trace_writer.h"
#include "platform/framework/log.h"

namespace trn::trace {
namespace {

// A string in double quotes that JSON accepts; the text trace quotes the same way.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string number(const field& f) {
    if (const auto* s = std::get_if<std::int64_t>(&f.value)) return fmt::format("{}", *s);
    const auto u = std::get<std::uint64_t>(f.value);
    return f.hex ? fmt::format("{:#x}", u) : fmt::format("{}", u);
}

class text_writer final : public writer {
public:
    using writer::writer;
    std::uint32_t write(const record& r) override {
        line_.clear();
        const auto out = std::back_inserter(line_);
        fmt::format_to(out, "{} {} {}", r.start.value(), r.module, r.what);
        if (r.what_it_is == record::kind::span) fmt::format_to(out, " for={}", r.duration.value());
        for (const auto& f : r.with) {
            const auto* text = std::get_if<std::string_view>(&f.value);
            fmt::format_to(out, " {}={}", f.name, text ? quoted(*text) : number(f));
        }
        if (r.of != 0) fmt::format_to(out, " op={}", r.of);
        line_ += '\n';
        sum_.process_bytes(line_.data(), line_.size());
        if (file().is_open()) put(line_);
        return 0;
    }
    std::uint64_t digest() const override { return sum_.checksum(); }
    bool for_viewer() const override { return false; }

private:
    std::string line_;
    boost::crc_optimal<64, 0x42f0e1eba9ea3693> sum_;
};

// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU: an array of
// events, times in microseconds; a module is a thread so that a viewer gives it a row.
class json_writer final : public writer {
public:
    explicit json_writer(const std::string& path) : writer(path) { put("[\n"); }
    void finish() override { put("\n]\n"); }
    std::uint32_t write(const record& r) override {
        const auto row = row_of(r.module);
        auto text = fmt::format(R"({{"name":{},"pid":1,"tid":{},"ts":{})", quoted(r.what), row,
                                microseconds(r.start));
        text += r.what_it_is == record::kind::span
                    ? fmt::format(R"(,"ph":"X","dur":{})", microseconds(r.duration))
                    : std::string(R"(,"ph":"i","s":"t")");
        std::string args;
        for (const auto& f : r.with) {
            // Integers above 2^53 are not exact in JSON readers, and hexadecimal does not exist
            // there.
            const auto* s = std::get_if<std::string_view>(&f.value);
            const bool plain = !s && !f.hex && number(f).size() < 16;
            args += fmt::format("{}{}:{}", args.empty() ? "" : ",", quoted(f.name),
                                plain ? number(f) : quoted(s ? *s : std::string_view(number(f))));
        }
        if (r.of != 0) args += fmt::format(R"({}"op":{})", args.empty() ? "" : ",", r.of);
        put_event(text + fmt::format(R"(,"args":{{{}}}}})", args));
        return 0;
    }

private:
    static std::string microseconds(const sc_core::sc_time& t) {
        return fmt::format("{}.{:06}", t.value() / 1'000'000, t.value() % 1'000'000);
    }
    std::size_t row_of(std::string_view module) {
        if (const auto known = rows_.find(module); known != rows_.end()) return known->second;
        const auto row = rows_.emplace(module, rows_.size() + 1).first->second;
        put_event(fmt::format(
            R"({{"name":"thread_name","ph":"M","pid":1,"tid":{},"args":{{"name":{}}}}})", row,
            quoted(module)));
        return row;
    }
    void put_event(const std::string& event) {
        if (!std::exchange(first_, false)) put(",\n");
        put(event);
    }
    std::map<std::string, std::size_t, std::less<>> rows_;
    bool first_ = true;
};

std::unique_ptr<writer> sink;
std::string failed;
position now;  // of which the digest is the sink's

std::uint32_t write(const record& r) {
    if (!sink) return 0;
    const auto track = sink->write(r);
    if (!sink->file().failure().empty()) close();
    return track;
}

}  // namespace

void open(const std::string& path) {
    close();
    failed.clear();
    now = {};
    if (path.ends_with(".perfetto-trace")) {
        sink = make_perfetto_writer(path);
    } else if (path.ends_with(".json")) {
        sink = std::make_unique<json_writer>(path);
    } else {
        sink = std::make_unique<text_writer>(path);
    }
    detail::on = true;
}

bool for_viewer() {
    return sink && sink->for_viewer();
}

const std::string& failure() {
    return failed;
}

void set_processes(std::vector<std::string> modules) {
    if (sink) sink->set_processes(std::move(modules));
}

std::uint64_t digest() {
    return sink ? sink->digest() : 0;
}

position where() {
    return {digest(), now.operations, now.returns};
}

void go_on_behind(const position& from) {
    now = from;
    ++now.returns;
    if (sink) sink->go_on_behind(now);
}

operation new_operation() {
    return on() ? ++now.operations : 0;
}

operation current_or_new_operation() {
    return detail::current != 0 ? detail::current : new_operation();
}

void flush() {
    if (sink) sink->file().flush();
}

void continue_in(const std::string& path) {
    if (sink) sink->file().continue_in(path);
}

void close() {
    detail::on = false;
    if (!sink) return;
    sink->finish();
    sink->file().flush();
    failed = sink->file().failure();
    sink.reset();
    if (!failed.empty()) log::error("trace", "{}", failed);
}

void event(std::string_view module, std::string_view what, fields with,
           const sc_core::sc_time& delay) {
    write({record::kind::event, sc_core::sc_time_stamp() + delay, sc_core::SC_ZERO_TIME, module,
           what, detail::current, with});
}

void span(std::string_view module, std::string_view what, const sc_core::sc_time& start,
          const sc_core::sc_time& duration, fields with) {
    write({record::kind::span, start, duration, module, what, detail::current, with});
}

slice begin(std::string_view module, std::string_view what, fields with,
            const sc_core::sc_time& delay) {
    const record r{record::kind::begin,
                   sc_core::sc_time_stamp() + delay,
                   sc_core::SC_ZERO_TIME,
                   module,
                   what,
                   detail::current,
                   with};
    return {write(r) + 1, detail::current};
}

void end(slice& which, std::string_view module, std::string_view what, fields with,
         const sc_core::sc_time& delay) {
    const auto ended = std::exchange(which, {});
    if (ended.track == 0) return;
    write({record::kind::end, sc_core::sc_time_stamp() + delay, sc_core::SC_ZERO_TIME, module, what,
           ended.of, with, ended.track - 1});
}

}  // namespace trn::trace
