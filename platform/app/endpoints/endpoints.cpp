// SPDX-License-Identifier: Apache-2.0
#include "platform/app/endpoints/endpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "platform/framework/attach/vfio_user/hooks.h"
#include "platform/framework/process/private_file.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

void make_folder(const fs::path& folder) {
    try {
        make_private_folder(folder);
    } catch (const std::system_error& refused) {
        throw listen_error(fmt::format("cannot make the folder {} for the sockets: {}",
                                       folder.string(), refused.code().message()));
    }
}

}  // namespace

endpoints::endpoints(platform& board, recording::recorder* recorder)
    : board_(board), recorder_(recorder), control_(board.methods()) {}

void endpoints::open_folder(const fs::path& folder, bool behind_bridges) {
    make_folder(folder);
    all_.push_back({"control", (folder / "control.sock").string()});
    open_functions(folder, behind_bridges);
    // The control socket is opened last: a script that waits for it finds the other sockets.
    control_.listen_unix(folder / "control.sock");
}

void endpoints::open_functions(const fs::path& folder, bool behind_bridges) {
    for (const auto& f : board_.functions()) {
        auto* function = recorder_ ? &recorder_->recorded(*f.port) : f.port;
        const auto path = socket_of(folder, f);
        try {
            functions_.push_back(std::make_unique<vfio_user_server>(
                board_.loop().io(), *function,
                vfio_user_server::config{.path = path.string(),
                                         .name = f.name,
                                         .offer_mapping = true,
                                         .behind_bridge = behind_bridges,
                                         .board = board_.about().board,
                                         .digest = board_.about().digest},
                hooks_into(board_.loop(), "host of " + f.name, "host " + f.server)));
        } catch (const std::system_error& e) {
            throw listen_error(e.what());
        }
        all_.push_back({"pcie " + f.name, path.string()});
    }
}

fs::path endpoints::socket_of(const fs::path& folder, const platform::function& f) {
    return folder / (f.name + ".sock");
}

std::vector<std::string> endpoints::attached() const {
    std::vector<std::string> names;
    for (const auto& f : functions_)
        if (f->attached()) names.push_back(f->settings().name);
    return names;
}

std::vector<endpoints::client> endpoints::clients() const {
    std::vector<client> all;
    for (const auto& f : functions_)
        if (const auto pid = f->client_process())
            all.push_back({f->settings().name, *pid, f->client_account()});
    return all;
}

handover endpoints::hand_over() {
    handover clients;
    control_.hand_over(clients);
    if (gdb_) gdb_->hand_over(clients);
    for (const auto& c : consoles_) c->hand_over(clients);
    return clients;
}

void endpoints::take_over(const handover& clients) {
    for (std::size_t i = 0; i < clients.sockets.size(); ++i) {
        const auto& client = clients.clients[i];
        const std::string endpoint = client["endpoint"];
        const auto& state = client["state"];
        if (endpoint == "control") {
            control_.take_over(state, clients.sockets[i]);
        } else if (endpoint == "gdb") {
            gdb_->take_over(state, clients.sockets[i]);
        } else {
            (*std::ranges::find(consoles_, endpoint, [](const auto& c) {
                return c->module();
            }))->take_over(state, clients.sockets[i]);
        }
    }
}

void endpoints::drop_clients() {
    control_.drop_clients();
    if (gdb_) gdb_->drop_client();
    for (const auto& c : consoles_) c->drop_clients();
    for (const auto& f : functions_) f->drop_waiting();
}

void endpoints::open_control(const control_server::tcp_options& options) {
    all_.push_back({"control", control_.listen_tcp(options)});
}

void endpoints::open_gdb(const std::string& address) {
    gdb_.emplace(board_.methods(), waiting_room::limits{}, board_.linux_hosts().libraries());
    all_.push_back({"gdb", gdb_->listen(gdb_server::address_of(address))});
}

void endpoints::open_consoles(const fs::path& folder) {
    make_folder(folder);
    auto& consoles = board_.methods().consoles();
    for (const auto& [name, output] : consoles.all()) {
        consoles_.push_back(std::make_unique<console_server>(board_.loop().io(), consoles, name,
                                                             folder / (name + ".uart")));
        all_.push_back({"uart " + name, consoles_.back()->address()});
    }
}

}  // namespace trn
