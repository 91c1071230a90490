// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <systemc>
#include <tlm>

#include "platform/framework/bridges/reports.h"

namespace trn {

/// Makes `call`, that of a foreign target with `payload`. An error that the target reports fails
/// the access. Any other exception of the target is an error of the simulation: reported with the
/// name of `owner`, the bridge. \returns whether the target has returned
template <class Call>
bool call_target(const sc_core::sc_module& owner, tlm::tlm_generic_payload& payload, Call call) {
    try {
        call();
        return true;
    } catch (const sc_core::sc_unwind_exception&) {
        throw;  // the end of the process
    } catch (const sc_core::sc_report& error) {
        bridge_report::target_error(bridge_report::describe(owner, error, payload));
    } catch (const std::exception& error) {
        bridge_report::target_exception(owner, error.what(), payload);
    } catch (...) {
        bridge_report::target_exception(owner, "unknown type", payload);
    }
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return false;
}

}  // namespace trn
