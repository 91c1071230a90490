// SPDX-License-Identifier: Apache-2.0
#include "platform/kernel/trace.h"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

namespace trn::trace {
namespace {

struct record {
    sc_core::sc_time start;
    std::optional<sc_core::sc_time> duration;
    std::string_view module, what;
    fields with;
};

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

class writer {
public:
    explicit writer(const std::string& path) : path_(path) { open(std::ios::trunc); }
    virtual ~writer() = default;
    virtual void write(const record& r) = 0;
    virtual std::uint64_t digest() const { return 0; }
    void flush() { out_.flush(); }
    void continue_in(const std::string& path) {
        if (path_.empty()) return;
        out_.close();
        std::filesystem::copy_file(path_, path, std::filesystem::copy_options::overwrite_existing);
        path_ = path;
        open(std::ios::app);
    }

protected:
    std::ofstream out_;

private:
    void open(std::ios::openmode how) {
        if (path_.empty()) return;
        out_.open(path_, std::ios::binary | std::ios::out | how);
        if (!out_) throw std::system_error(errno, std::generic_category(), path_);
    }
    std::string path_;
};

class text_writer final : public writer {
public:
    using writer::writer;
    void write(const record& r) override {
        line_ = fmt::format("{} {} {}", r.start.value(), r.module, r.what);
        if (r.duration) line_ += fmt::format(" for={}", r.duration->value());
        for (const auto& f : r.with) {
            const auto* text = std::get_if<std::string_view>(&f.value);
            line_ += fmt::format(" {}={}", f.name, text ? quoted(*text) : number(f));
        }
        line_ += '\n';
        sum_.process_bytes(line_.data(), line_.size());
        if (out_.is_open()) out_ << line_;
    }
    std::uint64_t digest() const override { return sum_.checksum(); }

private:
    std::string line_;
    boost::crc_optimal<64, 0x42f0e1eba9ea3693> sum_;
};

// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU: an array of
// events, times in microseconds; a module is a thread so that a viewer gives it a row.
class json_writer final : public writer {
public:
    explicit json_writer(const std::string& path) : writer(path) { out_ << "[\n"; }
    ~json_writer() override { out_ << "\n]\n"; }
    void write(const record& r) override {
        const auto row = row_of(r.module);
        auto text = fmt::format(R"({{"name":{},"pid":1,"tid":{},"ts":{})", quoted(r.what), row,
                                microseconds(r.start));
        text += r.duration ? fmt::format(R"(,"ph":"X","dur":{})", microseconds(*r.duration))
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
        put(text + fmt::format(R"(,"args":{{{}}}}})", args));
    }

private:
    static std::string microseconds(const sc_core::sc_time& t) {
        return fmt::format("{}.{:06}", t.value() / 1'000'000, t.value() % 1'000'000);
    }
    std::size_t row_of(std::string_view module) {
        if (const auto known = rows_.find(module); known != rows_.end()) return known->second;
        const auto row = rows_.emplace(module, rows_.size() + 1).first->second;
        put(fmt::format(
            R"({{"name":"thread_name","ph":"M","pid":1,"tid":{},"args":{{"name":{}}}}})", row,
            quoted(module)));
        return row;
    }
    void put(const std::string& event) {
        out_ << (first_ ? "" : ",\n") << event;
        first_ = false;
    }
    std::map<std::string, std::size_t, std::less<>> rows_;
    bool first_ = true;
};

std::unique_ptr<writer> sink;

}  // namespace

void open(const std::string& path) {
    close();
    if (path.ends_with(".json")) {
        sink = std::make_unique<json_writer>(path);
    } else {
        sink = std::make_unique<text_writer>(path);
    }
    detail::on = true;
}

std::uint64_t digest() {
    return sink ? sink->digest() : 0;
}

void flush() {
    if (sink) sink->flush();
}

void continue_in(const std::string& path) {
    if (sink) sink->continue_in(path);
}

void close() {
    detail::on = false;
    sink.reset();
}

void event(std::string_view module, std::string_view what, fields with,
           const sc_core::sc_time& delay) {
    if (sink) sink->write({sc_core::sc_time_stamp() + delay, std::nullopt, module, what, with});
}

void span(std::string_view module, std::string_view what, const sc_core::sc_time& start,
          const sc_core::sc_time& duration, fields with) {
    if (sink) sink->write({start, duration, module, what, with});
}

}  // namespace trn::trace
