// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trn::telemetry {

/// An HTTP client that reads /metrics: one request for each connection.
class metrics_request {
public:
    static constexpr std::size_t largest_head = 8192;  ///< bytes of request line and fields

    /// Adds bytes of the client. Returns the whole response as soon as it is known; the connection
    /// is then closed. `page` makes the text of /metrics; what it throws becomes status 503.
    std::optional<std::string> receive(std::string_view bytes,
                                       const std::function<std::string()>& page);

private:
    std::string head_;
};

}  // namespace trn::telemetry
