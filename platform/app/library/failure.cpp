// SPDX-License-Identifier: Apache-2.0
#include "platform/app/library/failure.h"

#include <exception>
#include <new>
#include <systemc>

#include "platform/app/commands/guarded.h"
#include "platform/framework/attach/control/rpc.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/log_reports.h"
#include "platform/framework/output.h"

namespace trn::library {

namespace {

/// Of the calling thread: those of other threads are refused, and get a sentence too.
std::string& text() {
    static thread_local std::string last;
    return last;
}

trnvp_status keep(trnvp_status status, const std::string& sentence) noexcept {
    try {
        text() = sentence.substr(0, sentence.find_last_not_of('\n') + 1);
    } catch (...) {
        text().clear();
    }
    return status;
}

trnvp_status status_of(rpc::code number) {
    switch (number) {
    case rpc::code::not_found:
    case rpc::code::method_not_found:
        return TRNVP_NOT_FOUND;
    case rpc::code::invalid_params:
        return TRNVP_INVALID_ARGUMENT;
    default:
        return TRNVP_REFUSED;
    }
}

}  // namespace

const char* last_error() noexcept {
    return text().c_str();
}

trnvp_status failed() noexcept {
    try {
        throw;
    } catch (const failure& why) {
        return keep(why.status, why.what());
    } catch (const rpc::error& why) {
        return keep(status_of(why.number), why.what());
    } catch (const config_error& mistakes) {
        return keep(TRNVP_REFUSED, mistakes.what());
    } catch (const user_error& mistake) {
        return keep(TRNVP_REFUSED, mistake.what());
    } catch (const sc_core::sc_report& ended) {
        return keep(TRNVP_ENDED, log::sentence(ended));
    } catch (const std::bad_alloc&) {
        return keep(TRNVP_OUT_OF_MEMORY, out_of_memory);
    } catch (const std::exception& other) {
        return keep(TRNVP_FAILED, other.what());
    } catch (...) {
        return keep(TRNVP_FAILED, "an exception of unknown type");
    }
}

}  // namespace trn::library
