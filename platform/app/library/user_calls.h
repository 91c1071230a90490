// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "platform/app/library/failure.h"
#include "platform/framework/kernel/run_loop.h"

namespace trn::library {

/// Calls of the caller's functions, which happen inside simulation.
class user_calls {
public:
    explicit user_calls(run_loop& loop) : loop_(loop) {}

    /// Whether one of them runs now.
    bool inside() const { return depth_ != 0; }
    /// Calls `function`. An exception pauses the simulation, and is kept for rethrow().
    template <class Function>
    void operator()(std::string_view name, const Function& function) {
        ++depth_;
        try {
            function();
        } catch (const std::exception& why) {
            fail(name, why.what());
        } catch (...) {
            fail(name, "of unknown type");
        }
        --depth_;
    }
    /// \throws failure for the first exception since the last call
    void rethrow() {
        if (failure_.empty()) return;
        const auto text = std::exchange(failure_, {});
        throw failure(TRNVP_FAILED, text);
    }

private:
    void fail(std::string_view name, std::string_view why) {
        if (failure_.empty())
            failure_ = std::string("an exception left the callback for ")
                           .append(name)
                           .append(": ")
                           .append(why);
        loop_.pause("a callback failed");
    }

    run_loop& loop_;
    unsigned depth_ = 0;
    std::string failure_;
};

}  // namespace trn::library
