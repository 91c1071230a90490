// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/gdb_packet.h"

#include <fmt/format.h>

#include <span>

#include "platform/attach/control/hex.h"

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

std::string hex_text(std::string_view text) {
    return to_hex(std::as_bytes(std::span(text)));
}

void packet_reader::feed(std::string_view bytes) {
    for (const char c : bytes) take(c);
}

void packet_reader::take(char c) {
    switch (state_) {
    case state::between:
        if (c == '\x03') return to_.interrupt();
        if (c != '$') return;  // acknowledgements, noise
        state_ = state::body;
        body_.clear();
        sum_ = 0;
        escaped_ = too_long_ = false;
        return;
    case state::body:
        if (c == '#') {
            state_ = state::checksum;
            checksum_.clear();
            return;
        }
        sum_ = static_cast<unsigned char>(sum_ + static_cast<unsigned char>(c));
        if (c == '}' && !escaped_) {
            escaped_ = true;
            return;
        }
        if (body_.size() >= largest_packet) {
            too_long_ = true;
        } else {
            body_ += escaped_ ? static_cast<char>(c ^ 0x20) : c;
        }
        escaped_ = false;
        return;
    case state::checksum:
        checksum_ += c;
        if (checksum_.size() == 2) end();
        return;
    }
}

void packet_reader::end() {
    state_ = state::between;
    const int high = hex_digit(checksum_[0]), low = hex_digit(checksum_[1]);
    const bool good = high >= 0 && low >= 0 && (high << 4 | low) == sum_ && !too_long_;
    if (acknowledge_) to_.answer(good ? "+" : "-");
    if (good) to_.packet(body_);
}

}  // namespace trn::gdb
