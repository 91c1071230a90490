// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "sw-stubs/library/include/trnvp.h"

namespace trn::library {

/// A call cannot be carried out: its status and the sentence for trnvp_last_error().
struct failure : std::runtime_error {
    failure(trnvp_status chosen, const std::string& text)
        : std::runtime_error(text), status(chosen) {}
    trnvp_status status;
};

/// A mistake in an argument of a call.
[[noreturn]] inline void wrong_argument(const std::string& why) {
    throw failure(TRNVP_INVALID_ARGUMENT, why);
}

/// The sentence of the last failure of this thread.
const char* last_error() noexcept;
/// Keeps the sentence of the exception that is being handled, and returns its status.
trnvp_status failed() noexcept;

/// Calls `work`; no exception leaves.
template <class Work>
trnvp_status guarded(const Work& work) noexcept {
    try {
        work();
        return TRNVP_OK;
    } catch (...) {
        return failed();
    }
}

}  // namespace trn::library
