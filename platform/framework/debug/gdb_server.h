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
#include "platform/framework/debug/harts.h"

namespace trn {

/// Serves one GDB at a time (doc/debugging.md): chips are inferiors, harts are threads, `monitor`
/// calls the control methods. A connection becomes the client with its first packet; one that
/// begins with anything else is closed. Construct it after elaboration.
class gdb_server {
public:
    explicit gdb_server(control& methods, const waiting_room::limits& waiting = {});
    ~gdb_server();
    gdb_server(const gdb_server&) = delete;
    gdb_server& operator=(const gdb_server&) = delete;

    /// The address for listen() from a user's text: a port alone is on loopback.
    static std::string address_of(const std::string& text);
    /// "HOST:PORT", loopback only, or a path with a '/' for a Unix socket. Returns the address in
    /// use. Throws listen_error, also when the platform has no hart.
    std::string listen(const std::string& address);
    /// Reports the end of the program to GDB, and waits briefly for GDB to read it.
    void exited(int status);

    /// The attached GDB, for another process, which passes it to take_over().
    void hand_over(handover& to);
    void take_over(const rpc::json& state, int socket);
    void drop_client();

private:
    class session;
    bool attached() const;
    void welcome(listener::stream client);
    /// False when another GDB is attached.
    bool admit(session& client);

    control& methods_;
    const std::vector<debug_hart> harts_;
    waiting_room waiting_;
    std::unique_ptr<listener> door_;
    std::shared_ptr<session> session_;
};

/// A monitor command as text: "METHOD [name=value...]", where a word without a name is the method's
/// first parameter; the control method's answer as indented JSON, or one line that begins with
/// "error: ".
std::string monitor_command(control& methods, std::string_view command);

}  // namespace trn
