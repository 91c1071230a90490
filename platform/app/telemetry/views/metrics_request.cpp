// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/metrics_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "platform/app/telemetry/views/prometheus_text.h"
#include "platform/framework/terminal_text.h"

namespace trn::telemetry {

namespace {

constexpr const char* plain = "text/plain; charset=utf-8";

std::string response(std::string_view status, std::string_view type, std::string_view body,
                     bool with_body = true) {
    return fmt::format(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n{}",
        status, type, body.size(), status.starts_with("405") ? "Allow: GET, HEAD\r\n" : "",
        with_body ? body : "");
}

/// Position after the empty line that ends the head; npos: it is not complete.
std::size_t end_of_head(std::string_view text) {
    const auto strict = text.find("\r\n\r\n"), bare = text.find("\n\n");
    if (strict == std::string_view::npos && bare == std::string_view::npos) return strict;
    return strict < bare ? strict + 4 : bare + 2;
}

}  // namespace

std::optional<std::string> metrics_request::receive(std::string_view bytes,
                                                    const std::function<std::string()>& page) {
    head_ += bytes.substr(0, largest_head + 1 - std::min(largest_head, head_.size()));
    const auto end = end_of_head(head_);
    if (end == std::string::npos || end > largest_head) {
        if (head_.size() <= largest_head) return std::nullopt;
        return response("431 Request Header Fields Too Large", plain,
                        "The request is longer than 8192 bytes.\n");
    }
    std::string_view line = std::string_view(head_).substr(0, head_.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto first = line.find(' '), last = line.rfind(' ');
    const bool valid = first != std::string_view::npos && first != 0 && first != last &&
                       line.substr(last + 1).starts_with("HTTP/1.");
    if (!valid) return response("400 Bad Request", plain, "This is not an HTTP/1 request.\n");
    const auto method = line.substr(0, first);
    auto target = line.substr(first + 1, last - first - 1);
    constexpr std::string_view scheme = "http://";  // the form for proxies, valid for servers too
    if (target.starts_with(scheme))
        target.remove_prefix(std::min(target.find('/', scheme.size()), target.size()));
    target = target.substr(0, target.find('?'));
    const bool is_head = method == "HEAD";
    if (method != "GET" && !is_head) return response("405 Method Not Allowed", plain, "Use GET.\n");
    if (target == "/")
        return response("200 OK", plain, "Metrics for Prometheus: /metrics\n", !is_head);
    if (target != "/metrics")
        return response("404 Not Found", plain, "Only /metrics is here.\n", !is_head);
    try {
        return response("200 OK", prometheus_type, page(), !is_head);
    } catch (const std::exception& why) {
        return response("503 Service Unavailable", plain, terminal_text(why.what()) + "\n",
                        !is_head);
    }
}

}  // namespace trn::telemetry
