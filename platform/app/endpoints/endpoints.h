// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/platform.h"
#include "platform/app/recording/recorder.h"
#include "platform/framework/attach/console/console_server.h"
#include "platform/framework/attach/control/server.h"
#include "platform/framework/attach/vfio_user/server.h"
#include "platform/framework/debug/gdb/server.h"

namespace trn {

/// All sockets of a platform. The destructor removes them.
class endpoints {
public:
    struct entry {
        std::string purpose;  ///< "control", "pcie chip0", "gdb", "uart chip0.uart"
        std::string address;
    };

    /// `recorder`: records all input, if not null.
    explicit endpoints(platform& board, recording::recorder* recorder = nullptr);

    /// Opens in `folder`, which is created when missing: control.sock, and one <name>.sock per PCIe
    /// function. The name of a chip in a rack begins with its server's: rack0.server3.chip1.sock.
    /// `behind_bridges`: see vfio_user_server::config. \throws listen_error
    void open_folder(const std::filesystem::path& folder, bool behind_bridges = false);
    void open_control(const control_server::tcp_options& options);
    /// `address`: a port of loopback (0 chooses one), HOST:PORT on loopback, or a path with '/'.
    void open_gdb(const std::string& address);
    /// Opens one socket per console in `folder`: <module>.uart.
    void open_consoles(const std::filesystem::path& folder);

    const std::vector<entry>& all() const { return all_; }

    /// Names of the functions that a host is attached to.
    std::vector<std::string> attached() const;
    /// A process that is attached to a function.
    struct client {
        std::string function;
        std::uint64_t pid;
        std::vector<std::uint8_t> account;  ///< as vfio_user_server::client_account()
    };
    std::vector<client> clients() const;
    /// The clients of all endpoints except PCIe functions, for another process with the same
    /// endpoints.
    handover hand_over();
    void take_over(const handover& clients);
    /// Disconnects all clients.
    void drop_clients();

    /// Path of a function's socket after open_folder(folder).
    static std::filesystem::path socket_of(const std::filesystem::path& folder,
                                           const platform::function& f);

private:
    void open_functions(const std::filesystem::path& folder, bool behind_bridges);

    platform& board_;
    recording::recorder* const recorder_;
    std::vector<entry> all_;
    control_server control_;
    std::optional<gdb_server> gdb_;
    std::vector<std::unique_ptr<vfio_user_server>> functions_;
    std::vector<std::unique_ptr<console_server>> consoles_;
};

}  // namespace trn
