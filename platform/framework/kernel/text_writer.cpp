// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/text_writer.h"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <iterator>

#include "platform/framework/kernel/time_value.h"

namespace trn::trace {
namespace {

// `text` in double quotes, escaped as in JSON.
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
        fmt::format_to(out, "{} {} {}", in_picoseconds(r.start), r.module, r.name);
        if (r.type == record::kind::span)
            fmt::format_to(out, " for={}", in_picoseconds(r.duration));
        for (const auto& f : r.values) {
            const auto* text = std::get_if<std::string_view>(&f.value);
            fmt::format_to(out, " {}={}", f.name, text ? quoted(*text) : number(f));
        }
        if (r.operation != 0) fmt::format_to(out, " op={}", r.operation);
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

}  // namespace

std::unique_ptr<writer> make_text_writer(const std::string& path, streamed_file::mode opening) {
    return std::make_unique<text_writer>(path, opening);
}

}  // namespace trn::trace
