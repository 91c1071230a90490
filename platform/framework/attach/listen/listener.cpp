// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/listen/listener.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <chrono>
#include <cstring>
#include <system_error>

#include "platform/framework/attach/listen/tcp_peer.h"
#include "platform/framework/config/units.h"
#include "platform/framework/log.h"

namespace trn {

namespace asio = boost::asio;
using asio::generic::stream_protocol;
using asio::ip::tcp;
using unix_stream = asio::local::stream_protocol;
using boost::system::error_code;

namespace {

constexpr int backlog = 16;
constexpr std::size_t longest_path = 107;  // limit of sockaddr_un

[[noreturn]] void fail(std::string_view address, std::string_view why) {
    throw listen_error(fmt::format("cannot listen on {}: {}", address, why));
}

/// Identity of the file: device and inode; zeroes without a file.
std::pair<dev_t, ino_t> file_id(const std::filesystem::path& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return {};
    return {status.st_dev, status.st_ino};
}

/// Removes a socket file that no process listens on.
void replace_stale(asio::io_context& io, const std::filesystem::path& path,
                   const unix_stream::endpoint& endpoint) {
    std::error_code of_file;
    if (!std::filesystem::is_socket(path, of_file)) return;
    error_code e;
    unix_stream::socket old(io);
    old.open(endpoint.protocol(), e);
    if (!e) old.non_blocking(true, e);  // non-blocking: a stopped process would not accept
    if (!e) old.connect(endpoint, e);
    // A full queue also means that a live process listens.
    if (!e || e == asio::error::no_buffer_space || e == asio::error::try_again)
        fail(path.string(), "another process listens on this address");
    if (e != asio::error::connection_refused) fail(path.string(), e.message());
    std::filesystem::remove(path, of_file);
}

}  // namespace

std::unique_ptr<listener> listener::on_unix(asio::io_context& io, const std::filesystem::path& path,
                                            welcome on_client) {
    const auto name = path.string();
    if (name.size() > longest_path)
        fail(name, fmt::format("a socket's path has at most {} characters", longest_path));
    error_code e;
    const unix_stream::endpoint endpoint(name);
    replace_stale(io, path, endpoint);
    acceptor a(io, stream_protocol(endpoint.protocol()));
    a.bind(endpoint, e);
    if (e) fail(name, e.message());
    // Before listen(): clients must not connect while the mode is that of the umask.
    if (chmod(name.c_str(), S_IRUSR | S_IWUSR) != 0) fail(name, "cannot restrict it to its owner");
    a.listen(backlog, e);
    if (e) fail(name, e.message());
    std::unique_ptr<listener> opened(new listener(std::move(a), std::move(on_client)));
    opened->address_ = name;
    opened->file_ = path;
    opened->file_id_ = file_id(path);
    opened->accept();
    return opened;
}

std::unique_ptr<listener> listener::on_tcp(asio::io_context& io, const std::string& address,
                                           const tcp_clients& clients, welcome on_client) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos || colon == 0) fail(address, "expected HOST:PORT");
    auto host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const auto port = config::parse_port(std::string_view(address).substr(colon + 1));
    if (const auto* wrong = std::get_if<config::refusal>(&port)) fail(address, wrong->message);
    error_code e;
    const auto found = tcp::resolver(io).resolve(host, std::to_string(std::get<0>(port)),
                                                 tcp::resolver::passive, e);
    if (e || found.empty()) fail(address, e ? e.message() : "no such host");
    const tcp::endpoint endpoint = *found.begin();
    if (!endpoint.address().is_loopback() && !clients.allow_remote)
        fail(address, "not a loopback address; --allow-remote permits it");
    acceptor a(io, stream_protocol(endpoint.protocol()));
    a.set_option(asio::socket_base::reuse_address(true));
    a.bind(endpoint, e);
    if (!e) a.listen(backlog, e);
    if (e) fail(address, e.message());
    tcp::endpoint local = endpoint;
    const auto bound = a.local_endpoint();
    std::memcpy(local.data(), bound.data(), std::min(bound.size(), local.capacity()));
    std::unique_ptr<listener> opened(new listener(std::move(a), std::move(on_client)));
    opened->port_ = local.port();
    opened->loopback_ = local.address().is_loopback();
    opened->allows_other_users_ = clients.allow_other_users;
    opened->address_ = fmt::format("{}:{}",
                                   local.address().is_v6() ? "[" + local.address().to_string() + "]"
                                                           : local.address().to_string(),
                                   local.port());
    opened->accept();
    return opened;
}

listener::~listener() {
    error_code ignored;
    acceptor_.close(ignored);
    std::error_code of_file;
    if (!file_.empty() && file_id(file_) == file_id_) std::filesystem::remove(file_, of_file);
}

listener::stream listener::adopt(asio::io_context& io, int connected) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getsockname(connected, reinterpret_cast<sockaddr*>(&address), &size);
    return {io, stream_protocol(address.ss_family, 0), connected};
}

// A client is either in the socket's queue or owned by a server, never in the io_context, since
// this process may be copied in between.
void listener::accept() {
    acceptor_.async_wait(acceptor_.wait_read, [this, alive = std::weak_ptr(alive_)](error_code e) {
        if (alive.expired()) return;
        stream client = acceptor_.accept(e);
        if (e && e != asio::error::would_block && e != asio::error::connection_aborted)
            return accept_later(e);
        if (!e) {
            error_code ignored;  // Unix sockets do not have this option
            client.set_option(tcp::no_delay(true), ignored);
            if (admits(client)) welcome_(std::move(client));
        }
        accept();
    });
}

bool listener::admits(stream& client) {
    if (allows_other_users_) return true;
    const auto user = user_of_tcp_peer(client.native_handle());
    if (user && (*user == geteuid() || *user == 0)) return true;
    log::error(address_, "refused a client of {}: this port is for its own user",
               user ? fmt::format("user {}", *user) : "an unknown user");
    return false;
}

// The client stays in the socket's queue, so the socket stays readable. The pause keeps this
// process from spinning until a descriptor or memory is available.
void listener::accept_later(const error_code& why) {
    if (!std::exchange(failure_logged_, true))
        log::error(address_, "cannot accept a client: {}", why.message());
    retry_.expires_after(std::chrono::milliseconds(200));
    retry_.async_wait([this, alive = std::weak_ptr(alive_)](const error_code&) {
        if (!alive.expired()) accept();
    });
}

}  // namespace trn
