// SPDX-License-Identifier: Apache-2.0
#include "platform/app/guest/qemu_monitor.h"

#include <fmt/format.h>

#include <boost/asio/write.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/framework/config/json.h"

namespace trn {

namespace asio = boost::asio;
using json = nlohmann::json;

qemu_monitor::qemu_monitor(asio::io_context& io, std::filesystem::path socket)
    : path_(std::move(socket)), socket_(io) {}

void qemu_monitor::inject_error(const std::string& device, std::uint32_t error) {
    const auto line = fmt::format("pcie_aer_inject_error {} {:#x}", device, error);
    send(json{{"execute", "human-monitor-command"}, {"arguments", {{"command-line", line}}}}.dump(),
         {});
}

void qemu_monitor::press_attention_button(const std::string& device, reply answered) {
    send(json{{"execute", "device_del"}, {"arguments", {{"id", device}}}}.dump(),
         std::move(answered));
}

void qemu_monitor::send(std::string command, reply answered) {
    constexpr std::size_t max_waiting = 64;  // further errors are not injected
    if ((!socket_.is_open() && !connect()) || waiting_.size() >= max_waiting) return;
    waiting_.push_back(std::move(answered));
    unsent_.push_back(std::move(command));
    if (unsent_.size() == 1) write();
}

/// Without a socket, QEMU has not started the guest yet, or has ended: nothing to notify.
bool qemu_monitor::connect() {
    boost::system::error_code error;
    socket_.open(asio::local::stream_protocol(), error);
    if (!error) socket_.non_blocking(true, error);  // a stopped QEMU would not accept
    if (!error) socket_.connect(path_.string(), error);
    if (error) {
        socket_.close(error);
        return false;
    }
    read();
    send(json{{"execute", "qmp_capabilities"}}.dump(), {});
    return true;
}

void qemu_monitor::write() {
    asio::async_write(socket_, asio::buffer(unsent_.front()),
                      [this, connection = connection_](auto error, std::size_t) {
                          if (error || connection != connection_) return;
                          unsent_.pop_front();
                          if (!unsent_.empty()) write();
                      });
}

void qemu_monitor::read() {
    socket_.async_read_some(asio::buffer(bytes_), [this](auto error, std::size_t count) {
        if (error == asio::error::operation_aborted) return;
        if (error) return disconnect();
        for (const char each : std::string_view(bytes_.data(), count)) {
            if (each != '\n')
                line_ += each;
            else
                take(std::exchange(line_, {}));
        }
        constexpr std::size_t longest = 1 << 20;
        if (line_.size() > longest) return disconnect();
        read();
    });
}

void qemu_monitor::disconnect() {
    boost::system::error_code ignored;
    socket_.close(ignored);
    ++connection_;
    unsent_.clear();
    waiting_.clear();
    line_.clear();
}

/// The greeting and events have neither key.
void qemu_monitor::take(std::string_view line) {
    const auto message = config::parse_json(line);
    if (!message.is_object() || waiting_.empty()) return;
    const bool accepted = message.contains("return");
    if (!accepted && !message.contains("error")) return;
    const auto answered = std::move(waiting_.front());
    waiting_.pop_front();
    if (answered) answered(accepted);
}

}  // namespace trn
