// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace trn {

/// The clients of all endpoints for the process that takes them over (doc/decisions/0014): sockets,
/// and session states.
struct handover {
    nlohmann::json clients = nlohmann::json::array();
    std::vector<int> sockets = {};

    void add(std::string_view endpoint, nlohmann::json state, int socket) {
        clients.push_back({{"endpoint", endpoint}, {"state", std::move(state)}});
        sockets.push_back(socket);
    }
};

}  // namespace trn
