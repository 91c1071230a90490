// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// The framing of the GDB remote serial protocol (GDB manual, appendix "Overview").
namespace trn::gdb {

/// Limit of a packet in both directions, announced by qSupported.
constexpr std::size_t largest_packet = 0x4000;

/// Makes `$body#checksum` with special characters escaped.
std::string frame(std::string_view body);
/// Classifies a peer by its first bytes. A web page can post any text to a local port; only a
/// debugger begins with a packet.
enum class opening { incomplete, debugger, stranger };
opening judge_opening(std::string_view first_bytes);
/// `text` in hexadecimal digits.
std::string hex_text(std::string_view text);

/// Accepts bytes as they arrive and calls back for each packet or interrupt. Tolerates any input:
/// skips garbage between packets, answers a wrong checksum with '-', drops packets that are too
/// long.
class packet_reader {
public:
    struct events {
        std::function<void(std::string_view body)> packet;  ///< called with the unescaped body
        std::function<void()> interrupt;                    ///< called for Ctrl-C
        std::function<void(std::string_view)> answer;       ///< sends '+' or '-' to the peer
    };
    explicit packet_reader(events observer) : events_(std::move(observer)) {}

    /// Accepts bytes up to the end of a packet or interrupt; returns the remaining bytes.
    std::string_view feed(std::string_view bytes);
    /// Call after QStartNoAckMode: '+' and '-' are neither sent nor expected.
    void without_acknowledgement() { acknowledge_ = false; }

    /// State for the reader of another process that continues.
    nlohmann::json hand_over() const;
    void take_over(const nlohmann::json& state);

private:
    enum class state { between, body, checksum };
    bool take(char c);
    void end();

    events events_;
    state state_ = state::between;
    std::string body_, checksum_;
    unsigned char sum_ = 0;
    bool escaped_ = false, too_long_ = false;
    bool acknowledge_ = true;
};

}  // namespace trn::gdb
