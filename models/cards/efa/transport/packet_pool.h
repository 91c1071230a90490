// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "models/cards/efa/transport/srd_packet.h"

namespace trn::efa_transport {

/// Free packets, whose memory new packets reuse. All cards of the process share one pool; a pool
/// per card would hold as much memory for each card that was ever busy.
class packet_pool {
public:
    static constexpr std::size_t max_idle = 128;  ///< trains: 8 MiB if none lends its data

    /// Returns an empty packet.
    static std::unique_ptr<srd_packet> take() {
        if (idle().empty()) return std::make_unique<srd_packet>();
        auto packet = std::move(idle().back());
        idle().pop_back();
        return packet;
    }
    static void give(std::unique_ptr<srd_packet> done) {
        if (idle().size() == max_idle) return;
        done->clear();
        idle().push_back(std::move(done));
    }

private:
    static std::vector<std::unique_ptr<srd_packet>>& idle() {
        static std::vector<std::unique_ptr<srd_packet>> all;
        return all;
    }
};

}  // namespace trn::efa_transport
