// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace trn::metadata {

/// The head of an HTTP/1 request (RFC 9112), as views of its text.
struct http_request {
    std::string_view method;
    std::string_view path;    ///< of the target; empty if the target has none ("*")
    std::string_view fields;  ///< header fields, one per line

    /// Value of a header field; names are case-insensitive.
    std::optional<std::string_view> field(std::string_view name) const;
};

/// Removes the empty lines before a request (RFC 9112 2.2).
std::string_view without_empty_lines(std::string_view text);
/// Position after the request's head; npos if the head is not complete.
std::size_t end_of_head(std::string_view text);
/// Precondition: the head is complete. Nothing if it is not an HTTP/1 request.
std::optional<http_request> parse_request(std::string_view head);

}  // namespace trn::metadata
