// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "platform/framework/attach/control/control.h"
#include "platform/framework/attach/listen/handover.h"
#include "platform/framework/attach/listen/listener.h"
#include "platform/framework/attach/listen/waiting_room.h"
#include "platform/framework/debug/gdb/libraries.h"
#include "platform/framework/debug/harts.h"

namespace trn {

/// Serves one GDB at a time (doc/debugging.md): chips are inferiors, harts are threads, and
/// `monitor` calls control methods. A connection becomes the client with its first packet; a
/// connection that begins with other bytes is closed. Construct it after elaboration.
class gdb_server {
public:
    explicit gdb_server(control& methods, const waiting_room::limits& waiting = {},
                        gdb::library_source libraries = {});
    ~gdb_server();
    gdb_server(const gdb_server&) = delete;
    gdb_server& operator=(const gdb_server&) = delete;

    /// Converts a user's text for listen(): a port alone is on loopback.
    static std::string address_of(const std::string& text);
    /// Listens on "HOST:PORT" (loopback only) or on a Unix socket (a path with '/'). Returns the
    /// address in use. Throws listen_error, also when the platform has no hart.
    std::string listen(const std::string& address);
    /// Reports the program's exit status to GDB, and waits briefly until GDB has read it.
    void exited(int status);

    /// Adds the attached GDB to `handed_over`, for another process that calls take_over().
    void hand_over(handover& handed_over);
    void take_over(const rpc::json& state, int socket);
    void drop_client();

private:
    class session;
    bool attached() const;
    void welcome(listener::stream client);
    /// Returns false when another GDB is attached.
    bool admit(session& client);

    control& methods_;
    const std::vector<debug_hart> harts_;
    const gdb::library_source libraries_;
    waiting_room waiting_;
    std::unique_ptr<listener> listener_;
    std::shared_ptr<session> session_;
};

/// Executes a monitor command "METHOD [name=value...]"; a word without a name is the method's first
/// parameter. Returns the result as indented JSON, or a line that begins with "error: ".
std::string monitor_command(control& methods, std::string_view command);

}  // namespace trn
