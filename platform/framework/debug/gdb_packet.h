// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// The framing of the GDB remote serial protocol (GDB manual, appendix "Overview").
namespace trn::gdb {

/// Longest packet either way, as qSupported announces it.
constexpr std::size_t largest_packet = 0x4000;

/// `$body#checksum` with the special characters escaped.
std::string frame(std::string_view body);
/// The kind of peer by the first bytes of a connection. A web page can post any text to a port of
/// this machine; only a debugger begins with a packet.
enum class opening { incomplete, debugger, stranger };
opening judge_opening(std::string_view first_bytes);
/// As hexadecimal digits.
std::string hex_text(std::string_view text);

/// Accepts bytes as they arrive and calls back for each complete piece. Any input is allowed:
/// garbage between packets is skipped, a packet with a wrong checksum is refused with '-', one that
/// is too long is dropped.
class packet_reader {
public:
    struct events {
        std::function<void(std::string_view body)> packet;  ///< unescaped
        std::function<void()> interrupt;                    ///< Ctrl-C
        std::function<void(std::string_view)> answer;  ///< raw bytes for the other side: '+', '-'
    };
    explicit packet_reader(events to) : to_(std::move(to)) {}

    /// Accepts bytes up to the end of a piece; returns those after it.
    std::string_view feed(std::string_view bytes);
    /// After QStartNoAckMode: neither sends nor expects '+' and '-'.
    void without_acknowledgement() { acknowledge_ = false; }

    /// Its state, for the reader in another process that continues.
    nlohmann::json hand_over() const;
    void take_over(const nlohmann::json& state);

private:
    enum class state { between, body, checksum };
    bool take(char c);
    void end();

    events to_;
    state state_ = state::between;
    std::string body_, checksum_;
    unsigned char sum_ = 0;
    bool escaped_ = false, too_long_ = false;
    bool acknowledge_ = true;
};

}  // namespace trn::gdb
