// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/metadata_server.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "models/network/ethernet_switch/packet.h"

namespace trn::metadata {

namespace {

constexpr std::string_view token_path = "/latest/api/token";
constexpr std::string_view token_field = "X-aws-ec2-metadata-token";
constexpr std::string_view seconds_field = "X-aws-ec2-metadata-token-ttl-seconds";

std::string_view reason_of(unsigned status) {
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    default:
        return "Service Unavailable";
    }
}

std::string mac_text(const ethernet::mac_address& address) {
    return fmt::format("{:02x}", fmt::join(address, ":"));
}

/// Parses a session's duration in seconds; 0 if the text is not a permitted number.
std::uint32_t seconds_in(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool valid = error == std::errc() && end == text.data() + text.size();
    return valid && value <= sessions::max_seconds ? value : 0;
}

}  // namespace

std::optional<tcp_service::reply> metadata_server::answer(const tcp_service::client& client,
                                                          std::string_view request) {
    request = without_empty_lines(request);
    const auto end = end_of_head(request);
    if (end == std::string_view::npos) return std::nullopt;
    const auto parsed = parse_request(request.substr(0, end));
    const auto made = parsed ? respond(client, *parsed) : response{.status = 400};
    ++counters_.requests;
    counters_.refused += made.status != 200;
    const bool has_body = !parsed || parsed->method != "HEAD";
    return tcp_service::reply{
        fmt::format("HTTP/1.1 {} {}\r\nServer: EC2ws\r\nContent-Type: text/plain\r\n"
                    "Content-Length: {}\r\nConnection: close\r\n{}\r\n{}",
                    made.status, reason_of(made.status), made.body.size(), made.fields,
                    has_body ? made.body : ""),
        made.hop_limit};
}

metadata_server::response metadata_server::respond(const tcp_service::client& client,
                                                   const http_request& request) {
    if (!available_) return {.status = 503};
    const bool is_put = request.method == "PUT";
    if (!is_put && request.method != "GET" && request.method != "HEAD") return {.status = 405};
    if (request.path.empty()) return {.status = 400};
    if (is_put) return open_session(request);
    if (!may_read(request)) return {.status = 401};
    instance about = cfg_.about;
    about.mac = mac_text(client.mac);
    about.address = address_text(client.address);
    auto found = find(document_of(about), request.path);
    if (!found) return {.status = 404};
    return {.body = std::move(*found)};
}

/// Requests forwarded by a proxy get no token.
metadata_server::response metadata_server::open_session(const http_request& request) {
    if (request.path != token_path) return {.status = 404};
    if (request.field("X-Forwarded-For")) return {.status = 403};
    const auto seconds = seconds_in(request.field(seconds_field).value_or(""));
    if (seconds == 0) return {.status = 400};
    ++counters_.tokens;
    return {.body = sessions_.open(seconds),
            .fields = fmt::format("{}: {}\r\n", seconds_field, seconds),
            .hop_limit = cfg_.hop_limit};
}

bool metadata_server::may_read(const http_request& request) const {
    const auto token = request.field(token_field);
    return token ? sessions_.accepts(*token) : cfg_.need == tokens::optional;
}

}  // namespace trn::metadata
