// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/guest/pci_tree.h"
#include "platform/app/guest/qemu_monitor.h"

namespace trn {

/// Repeats events of the server's ports at QEMU's ports, through QEMU's monitor. Errors are
/// injected. When a card is removed or inserted, the slot's attention button is pressed; the guest
/// then removes the function, or looks for it.
class guest_ports {
public:
    /// `monitor`: QEMU's QMP socket.
    guest_ports(boost::asio::io_context& io, const std::filesystem::path& monitor,
                const std::vector<guest_function>& functions);

    /// An uncorrectable error (PCI_ERR_UNC_*) of a function or a port.
    void error(std::uint16_t source, std::uint32_t error);
    /// The card of a port has become reachable or unreachable.
    void slot(std::uint16_t port, bool reachable);

private:
    struct card {
        guest_function function;
        bool reachable = true;  // state on the board
        bool in_guest = true;   // state in the guest after the last press of the button
        unsigned tries = 0;
        boost::asio::steady_timer retry;
    };
    void follow(card& followed);

    qemu_monitor monitor_;
    std::deque<card> cards_;
};

}  // namespace trn
