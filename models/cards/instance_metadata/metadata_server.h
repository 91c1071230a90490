// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/cards/instance_metadata/document.h"
#include "models/cards/instance_metadata/http_request.h"
#include "models/cards/instance_metadata/sessions.h"
#include "models/cards/instance_metadata/tcp_service.h"

namespace trn::metadata {

/// The instance metadata service: IMDSv2 with session tokens, and IMDSv1 without tokens. Spec:
/// doc/models/cards/instance_metadata.md.
class metadata_server {
public:
    enum class tokens : std::uint8_t { optional, required };
    struct config {
        instance about;  ///< without the client's addresses
        metadata_server::tokens need = tokens::optional;
        std::uint8_t hop_limit = 1;  ///< of packets with a token
        std::uint64_t seed = 0;      ///< seed of the tokens
    };
    struct counts {
        std::uint64_t requests = 0, refused = 0, tokens = 0;
    };

    explicit metadata_server(const config& cfg) : cfg_(cfg), sessions_(cfg.seed) {}

    /// Answers a request; nothing if the request is not complete.
    std::optional<tcp_service::reply> answer(const tcp_service::client& client,
                                             std::string_view request);
    const counts& counters() const { return counters_; }
    /// If false, the service answers 503 to each request.
    void set_available(bool available) { available_ = available; }

private:
    struct response {
        unsigned status = 200;
        std::string body = {};
        std::string fields = {};  // fields in addition to those of every response
        std::uint8_t hop_limit = tcp_service::hop_limit;
    };

    response respond(const tcp_service::client& client, const http_request& request);
    response open_session(const http_request& request);
    bool may_read(const http_request& request) const;

    const config cfg_;
    sessions sessions_;
    bool available_ = true;
    counts counters_;
};

}  // namespace trn::metadata
