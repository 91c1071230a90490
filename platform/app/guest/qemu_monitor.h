// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace trn {

/// A client of QEMU's QMP monitor. Connects at the first command; never waits for a reply.
class qemu_monitor {
public:
    /// Called with whether QEMU accepted the command; not called if the connection is lost before.
    using reply = std::function<void(bool accepted)>;

    qemu_monitor(boost::asio::io_context& io, std::filesystem::path socket);

    /// Records an uncorrectable error (PCI_ERR_UNC_*) at a device, which then sends an error
    /// message.
    void inject_error(const std::string& device, std::uint32_t error);
    /// Presses the attention button of the device's slot, as `device_del` does.
    void press_attention_button(const std::string& device, reply answered);

private:
    void send(std::string command, reply answered);
    bool connect();
    void disconnect();
    void write();
    void read();
    void take(std::string_view line);

    const std::filesystem::path path_;
    boost::asio::local::stream_protocol::socket socket_;
    unsigned connection_ = 0;  // its number: a write may end after the disconnection
    std::deque<std::string> unsent_;
    std::deque<reply> waiting_;  // replies to the commands that were sent
    std::array<char, 4096> bytes_{};
    std::string line_;
};

}  // namespace trn
