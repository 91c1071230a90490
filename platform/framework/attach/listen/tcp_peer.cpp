// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/listen/tcp_peer.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace trn {

namespace {

/// An end of a connection as the tables show it: the words of the address and the port.
std::string shown(const in6_addr& address, std::uint16_t port) {
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), &address, sizeof words);
    return fmt::format("{:08X}{:08X}{:08X}{:08X}:{:04X}", words[0], words[1], words[2], words[3],
                       ntohs(port));
}
std::string shown(const in_addr& address, std::uint16_t port) {
    return fmt::format("{:08X}:{:04X}", address.s_addr, ntohs(port));
}

in6_addr mapped(const in_addr& address) {
    in6_addr six{};
    six.s6_addr[10] = six.s6_addr[11] = 0xff;
    std::memcpy(six.s6_addr + 12, &address, sizeof address);
    return six;
}

std::optional<uid_t> find(const char* table, const std::string& own, const std::string& peer) {
    std::ifstream rows(table);
    for (std::string row; std::getline(rows, row);) {
        std::istringstream words(row);
        std::string number, local, remote, state, queues, timer, retransmits;
        uid_t user = 0;
        std::uint64_t timeout = 0, inode = 0;
        if (words >> number >> local >> remote && local == peer && remote == own &&
            words >> state >> queues >> timer >> retransmits >> user >> timeout >> inode &&
            inode != 0)
            return user;
    }
    return std::nullopt;
}

template <class Address>
bool get(int connected, decltype(getsockname) function, Address& found) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    if (function(connected, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return false;
    std::memcpy(&found, &storage, sizeof found);
    return true;
}

}  // namespace

std::optional<uid_t> user_of_tcp_peer(int connected) {
    constexpr auto table4 = "/proc/net/tcp", table6 = "/proc/net/tcp6";
    sockaddr_in6 own{}, peer{};
    if (!get(connected, getsockname, own) || !get(connected, getpeername, peer)) return {};
    if (own.sin6_family == AF_INET6)
        return find(table6, shown(own.sin6_addr, own.sin6_port),
                    shown(peer.sin6_addr, peer.sin6_port));
    sockaddr_in own4{}, peer4{};
    std::memcpy(&own4, &own, sizeof own4);
    std::memcpy(&peer4, &peer, sizeof peer4);
    if (const auto user = find(table4, shown(own4.sin_addr, own4.sin_port),
                               shown(peer4.sin_addr, peer4.sin_port)))
        return user;
    // The peer's socket may be one for both families.
    return find(table6, shown(mapped(own4.sin_addr), own4.sin_port),
                shown(mapped(peer4.sin_addr), peer4.sin_port));
}

}  // namespace trn
