// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace trn::metadata {

/// The head of an HTTP/1 request (RFC 9112), in place.
struct http_request {
    std::string_view method, path;
    std::string_view fields;  ///< lines

    /// The value of a field; names are compared without case.
    std::optional<std::string_view> field(std::string_view name) const;
};

/// The end of the request's head; npos: it is not complete.
std::size_t end_of_head(std::string_view text);
/// Precondition: the head is complete. Nothing: not a request of HTTP/1.
std::optional<http_request> parse_request(std::string_view head);

}  // namespace trn::metadata
