// SPDX-License-Identifier: Apache-2.0
#include "platform/app/device_tree/server_identity.h"

#include "models/cards/instance_metadata/document.h"
#include "models/cards/instance_metadata/instance_metadata.h"

namespace trn {

namespace {

bool is_in(std::string_view server, std::string_view path) {
    return server.empty() ||
           (path.starts_with(server) && path.substr(server.size()).starts_with('.'));
}

}  // namespace

std::string_view parent_path(std::string_view path) {
    const auto dot = path.rfind('.');
    return path.substr(0, dot == path.npos ? 0 : dot);
}

std::string product_of(const plan& board) {
    for (const auto& [name, value] : board.parameters)
        if (name == "product") return value;
    return {};
}

std::string instance_id_of(const system& built, std::string_view server, unsigned number) {
    std::string found;
    built.for_each<instance_metadata>([&](const instance_metadata& service) {
        if (found.empty() && is_in(server, service.name())) found = service.instance_id();
    });
    return found.empty() ? metadata::instance_id_of(number) : found;
}

}  // namespace trn
