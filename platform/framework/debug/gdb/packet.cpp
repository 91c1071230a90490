// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/packet.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "platform/framework/attach/control/hex.h"

namespace trn::gdb {

std::string frame(std::string_view body) {
    std::string out = "$";
    unsigned char sum = 0;
    const auto put = [&](char c) {
        out += c;
        sum = static_cast<unsigned char>(sum + static_cast<unsigned char>(c));
    };
    for (const char c : body) {
        if (c == '$' || c == '#' || c == '}' || c == '*') {
            put('}');
            put(static_cast<char>(c ^ 0x20));
        } else {
            put(c);
        }
    }
    return out + fmt::format("#{:02x}", sum);
}

// Acknowledgements and, with `set remote interrupt-on-connect`, a Ctrl-C may precede the packet.
opening judge_opening(std::string_view first_bytes) {
    constexpr std::size_t max_before = 16;
    const auto start = first_bytes.find_first_not_of("+\x03");
    if (start == first_bytes.npos)
        return first_bytes.size() < max_before ? opening::incomplete : opening::stranger;
    if (first_bytes[start] != '$') return opening::stranger;
    const auto end = first_bytes.find('#', start);
    if (end == first_bytes.npos || first_bytes.size() - end < 3)
        return first_bytes.size() - start < largest_packet ? opening::incomplete
                                                           : opening::stranger;
    const auto body = first_bytes.substr(start + 1, end - start - 1);
    const auto sum = std::accumulate(body.begin(), body.end(), 0u, [](unsigned s, char c) {
        return s + static_cast<unsigned char>(c);
    });
    return first_bytes.substr(end + 1, 2) == fmt::format("{:02x}", sum & 0xff) ? opening::debugger
                                                                               : opening::stranger;
}

std::string hex_text(std::string_view text) {
    return to_hex(std::as_bytes(std::span(text)));
}

std::string_view packet_reader::feed(std::string_view bytes) {
    for (std::size_t position = 0; position < bytes.size(); ++position)
        if (take(bytes[position])) return bytes.substr(position + 1);
    return {};
}

nlohmann::json packet_reader::hand_over() const {
    return {
        {"state", state_},     {"body", body_},         {"checksum", checksum_},      {"sum", sum_},
        {"escaped", escaped_}, {"too_long", too_long_}, {"acknowledge", acknowledge_}};
}

void packet_reader::take_over(const nlohmann::json& saved) {
    state_ = saved["state"];
    body_ = saved["body"];
    checksum_ = saved["checksum"];
    sum_ = saved["sum"];
    escaped_ = saved["escaped"];
    too_long_ = saved["too_long"];
    acknowledge_ = saved["acknowledge"];
}

/// Returns true at the end of a packet or interrupt.
bool packet_reader::take(char c) {
    switch (state_) {
    case state::between:
        if (c == '\x03') events_.interrupt();
        if (c != '$') return c == '\x03';  // skip acknowledgements and garbage
        state_ = state::body;
        body_.clear();
        sum_ = 0;
        escaped_ = too_long_ = false;
        return false;
    case state::body:
        if (c == '#') {
            state_ = state::checksum;
            checksum_.clear();
            return false;
        }
        sum_ = static_cast<unsigned char>(sum_ + static_cast<unsigned char>(c));
        if (c == '}' && !escaped_) {
            escaped_ = true;
            return false;
        }
        if (body_.size() >= largest_packet) {
            too_long_ = true;
        } else {
            body_ += escaped_ ? static_cast<char>(c ^ 0x20) : c;
        }
        escaped_ = false;
        return false;
    case state::checksum:
        checksum_ += c;
        if (checksum_.size() < 2) return false;
        end();
        return true;
    }
    return false;
}

void packet_reader::end() {
    state_ = state::between;
    const int high = hex_digit(checksum_[0]), low = hex_digit(checksum_[1]);
    const bool good = high >= 0 && low >= 0 && (high << 4 | low) == sum_ && !too_long_;
    if (acknowledge_) events_.answer(good ? "+" : "-");
    if (good) events_.packet(body_);
}

}  // namespace trn::gdb
