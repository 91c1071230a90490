// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/base_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <systemc>

#include "platform/framework/kernel/time_text.h"

namespace trn::base_protocol {

namespace {

#ifdef TRN_CHECK_PROTOCOL
constexpr policy by_default = policy::log;
#else
constexpr policy by_default = policy::off;
#endif

struct record {
    policy chosen = by_default;
    std::vector<violation> violations = {};
};

record& all() {
    static record only;
    return only;
}

/// The process that makes the call: it names the initiator.
std::string caller() {
    const sc_core::sc_process_handle process = sc_core::sc_get_current_process_handle();
    return process.valid() ? process.name() : "no process (a host, a tool or a test)";
}

std::string clause_of(const rule& broken) {
    if (broken.clause.empty()) return "restricted protocol, doc/tlm.md";
    return fmt::format("IEEE 1666-2011, {}", broken.clause);
}

}  // namespace

void set_policy(policy chosen) {
    all().chosen = chosen;
}

policy current_policy() {
    return all().chosen;
}

std::string describe(const tlm::tlm_generic_payload& payload) {
    const char* const command = payload.is_read()    ? "read"
                                : payload.is_write() ? "write"
                                                     : "message";
    return fmt::format("{} of {} bytes at {:#x}", command, payload.get_data_length(),
                       payload.get_address());
}

void report(const rule& broken, const std::string& socket, std::string_view call,
            const tlm::tlm_generic_payload* payload, std::string_view detail) {
    auto& found = all().violations;
    const auto known = std::ranges::find_if(found, [&](const violation& each) {
        return each.broken == broken && each.socket == socket;
    });
    if (known != found.end()) {
        ++known->count;
        return;
    }
    const std::string text = fmt::format("{}: {}{}{}: {}{}{} ({}); at {}, called by {}", socket,
                                         call, payload == nullptr ? "" : " of a ",
                                         payload == nullptr ? "" : describe(*payload), broken.text,
                                         detail.empty() ? "" : ": ", detail, clause_of(broken),
                                         to_text(sc_core::sc_time_stamp()), caller());
    found.push_back({broken, socket, 1, text});
    SC_REPORT_WARNING(fmt::format("/trn/protocol/{}", broken.name).c_str(), text.c_str());
}

const std::vector<violation>& violations() {
    return all().violations;
}

bool failed() {
    return all().chosen == policy::fail && !all().violations.empty();
}

std::vector<std::string> summary() {
    std::vector<std::string> lines;
    for (const violation& each : all().violations)
        lines.push_back(fmt::format("base protocol: {} violation{} of '{}': first {}", each.count,
                                    each.count == 1 ? "" : "s", each.broken.name, each.first));
    return lines;
}

}  // namespace trn::base_protocol
