// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <systemc>
#include <tlm>

/// What bridges report through sc_report, as foreign models do.
namespace trn::bridge_report {

/// Message types, for sc_report_handler::set_actions().
inline constexpr char cannot_wait_type[] = "/trn/bridges/initiator_cannot_wait";
inline constexpr char protocol_type[] = "/trn/bridges/protocol";
inline constexpr char target_error_type[] = "/trn/bridges/target_error";
inline constexpr char target_exception_type[] = "/trn/bridges/target_exception";
inline constexpr char binding_type[] = "/trn/bridges/binding";

/// A warning: the access has failed, the simulation continues.
void initiator_cannot_wait(const std::string& text);
/// A warning: a foreign model broke the base protocol.
void protocol(const std::string& text);
/// A warning: a foreign target grants a null pointer, or one for other addresses than asked.
void wrong_pointer(const sc_core::sc_module& owner, const tlm::tlm_generic_payload& request,
                   const tlm::tlm_dmi& granted);
/// A warning: a foreign target reported an error during the access, which has failed.
void target_error(const std::string& text);
/// An error: a foreign target has thrown an exception that is no sc_report.
void target_exception(const sc_core::sc_module& owner, const std::string& text,
                      const tlm::tlm_generic_payload& payload);
/// An error: the sockets cannot be bound.
void binding(const std::string& text);

/// "read of 4 bytes at 0x1000", "command without data at 0x1000"
std::string describe(const tlm::tlm_generic_payload& payload);
/// "<owner>: <type>: <message> (read of 4 bytes at 0x1000)", for target_error().
std::string describe(const sc_core::sc_module& owner, const sc_core::sc_report& error,
                     const tlm::tlm_generic_payload& payload);

}  // namespace trn::bridge_report
