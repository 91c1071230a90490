// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tlm>
#include <vector>

/// Rules of the base protocol of TLM-2.0 and of this project's restricted protocol (doc/tlm.md),
/// and what was found to break them. There is one record per run, as of misuse; fork() copies it.
namespace trn::base_protocol {

struct rule {
    std::string_view name;    ///< in the type of reports: "/trn/protocol/<name>"
    std::string_view clause;  ///< of IEEE 1666-2011; "": of the restricted protocol
    std::string_view text;    ///< what is wrong
};

constexpr bool operator==(const rule& a, const rule& b) {
    return a.name == b.name;
}

namespace rules {
// What the initiator sets before a transaction.
inline constexpr rule command{"command", "14.9", "the command is none of read, write and ignore"};
inline constexpr rule data_pointer{"data_pointer", "14.11 e", "the data pointer is null"};
inline constexpr rule data_length{"data_length", "14.12 d", "the data length is 0"};
inline constexpr rule byte_enables{"byte_enables", "14.14 f",
                                   "there are byte enables, but their length is 0"};
inline constexpr rule streaming_width{"streaming_width", "14.15 f", "the streaming width is 0"};
inline constexpr rule dmi_hint{"dmi_hint", "14.16", "the DMI hint is set before the call"};
inline constexpr rule request_status{"request_status", "14.17 e",
                                     "the response status is not TLM_INCOMPLETE_RESPONSE before "
                                     "the call"};
inline constexpr rule option{"option", "14.8 g",
                             "the option is not TLM_MIN_PAYLOAD in a transport call"};
inline constexpr rule reference_count{"reference_count", "14.5 t",
                                      "the payload has a memory manager, but no reference"};
inline constexpr rule memory_manager{"memory_manager", "14.5 i",
                                     "the payload of a non-blocking call has no memory manager"};
inline constexpr rule payload_in_use{"payload_in_use", "14.5 x",
                                     "the payload belongs to another transaction"};
inline constexpr rule delay_range{"delay_range", "11.1.3",
                                  "the annotated delay leads beyond the end of time"};
inline constexpr rule before_simulation{"before_simulation", "",
                                        "a transaction before start_of_simulation has ended"};
inline constexpr rule method_process{"method_process", "11.1.1.4 b",
                                     "b_transport is called from a method process"};
// What the target and interconnects leave.
inline constexpr rule response_status{"response_status", "14.17",
                                      "the response is TLM_INCOMPLETE_RESPONSE"};
inline constexpr rule attributes{"attributes", "14.7",
                                 "an attribute was changed that only the initiator may set"};
inline constexpr rule address{"address", "", "the address is not restored"};
inline constexpr rule data{"data", "14.7", "the data of an access that reads nothing was changed"};
inline constexpr rule extensions{"extensions", "14.5 aa",
                                 "an extension was set, replaced or cleared, and not restored"};
inline constexpr rule delay{"delay", "11.1.3", "the annotated time went backwards"};
inline constexpr rule wait{"wait", "", "the target has called wait()"};
// Direct memory interface.
inline constexpr rule dmi_request{"dmi_request", "11.2.5",
                                  "the tlm_dmi is not initialised before the call"};
inline constexpr rule dmi_command{"dmi_command", "11.2.3",
                                  "the command of a DMI request is neither read nor write"};
inline constexpr rule dmi_range{"dmi_range", "11.2.5",
                                "the range is empty or does not have the address of the request"};
inline constexpr rule dmi_access{"dmi_access", "11.2.5",
                                 "the access of the tlm_dmi is not the requested one"};
inline constexpr rule dmi_pointer{"dmi_pointer", "11.2.5", "a null pointer was granted"};
inline constexpr rule dmi_in_invalidation{"dmi_in_invalidation", "11.2.6",
                                          "a pointer is requested inside "
                                          "invalidate_direct_mem_ptr"};
inline constexpr rule invalidation_range{"invalidation_range", "11.2.6",
                                         "the invalidated range is empty"};
// Debug transport.
inline constexpr rule debug_data{"debug_data", "11.3.4 l", "the data pointer is null"};
inline constexpr rule debug_count{"debug_count", "11.3.4 s",
                                  "more bytes were transferred than requested"};
inline constexpr rule debug_response{"debug_response", "", "the response status was changed"};
inline constexpr rule debug_time{"debug_time", "11.3.4", "simulated time has passed"};
// Non-blocking transport.
inline constexpr rule nonblocking_wait{"nonblocking_wait", "11.1.2.4",
                                       "wait() was called inside a non-blocking call"};
inline constexpr rule phase_direction{"phase_direction", "15.2.3 c",
                                      "the phase belongs to the other direction"};
inline constexpr rule phase_order{"phase_order", "15.2.4",
                                  "the phase does not follow the last one"};
inline constexpr rule request_exclusion{"request_exclusion", "15.2.6 e",
                                        "BEGIN_REQ before the last request has ended"};
inline constexpr rule response_exclusion{"response_exclusion", "15.2.6 f",
                                         "BEGIN_RESP before the last response has ended"};
inline constexpr rule phase_time{"phase_time", "15.2.7 c",
                                 "the annotated time of the transaction went backwards"};
inline constexpr rule mixed_transport{"mixed_transport", "15.2.10 c",
                                      "blocking and non-blocking calls for one transaction"};
}  // namespace rules

inline constexpr std::array all_rules{rules::command,
                                      rules::data_pointer,
                                      rules::data_length,
                                      rules::byte_enables,
                                      rules::streaming_width,
                                      rules::dmi_hint,
                                      rules::request_status,
                                      rules::option,
                                      rules::reference_count,
                                      rules::memory_manager,
                                      rules::payload_in_use,
                                      rules::delay_range,
                                      rules::before_simulation,
                                      rules::method_process,
                                      rules::response_status,
                                      rules::attributes,
                                      rules::address,
                                      rules::data,
                                      rules::extensions,
                                      rules::delay,
                                      rules::wait,
                                      rules::dmi_request,
                                      rules::dmi_command,
                                      rules::dmi_range,
                                      rules::dmi_access,
                                      rules::dmi_pointer,
                                      rules::dmi_in_invalidation,
                                      rules::invalidation_range,
                                      rules::debug_data,
                                      rules::debug_count,
                                      rules::debug_response,
                                      rules::debug_time,
                                      rules::nonblocking_wait,
                                      rules::phase_direction,
                                      rules::phase_order,
                                      rules::request_exclusion,
                                      rules::response_exclusion,
                                      rules::phase_time,
                                      rules::mixed_transport};

enum class policy {
    off,   ///< nothing is checked
    log,   ///< a warning for the first violation of each rule at each socket
    fail,  ///< also fails the run
};

/// Set before elaboration: sockets decide at their construction whether they are checked. By
/// default `off`, and `log` in builds for debugging.
void set_policy(policy chosen);
policy current_policy();

struct violation {
    rule broken;
    std::string socket;  ///< full name
    std::uint64_t count = 0;
    std::string first;  ///< text of the report
};

/// Counts a violation; the first one of a rule at a socket is an SC_WARNING of the type
/// "/trn/protocol/<name>". `call`: what was called, and the payload if it has one.
void report(const rule& broken, const std::string& socket, std::string_view call,
            const tlm::tlm_generic_payload* payload, std::string_view detail = {});
/// All violations so far, in the order of the first ones.
const std::vector<violation>& violations();
/// Whether a rule was broken under the policy `fail`.
bool failed();
/// A line for each rule and socket.
std::vector<std::string> summary();

/// "read of 4 bytes at 0x1000"
std::string describe(const tlm::tlm_generic_payload& payload);

}  // namespace trn::base_protocol
