// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "platform/app/endpoints/endpoints.h"
#include "platform/framework/attach/control/control.h"
#include "platform/framework/snapshots/snapshots.h"

namespace trn {

/// States of a running platform by name, which its clients take and go back to: the control methods
/// `snapshot`, `restore` and `snapshots` (doc/decisions/0014). Clients stay connected: they go over
/// to the process of the state that goes on.
class states {
public:
    struct config {
        std::string never = {};            ///< why there are none in this session; empty: there are
        std::function<void()> flush = {};  ///< writes out what files of ours still keep back
    };
    /// Adds its methods to those of `clients`' platform; both stay.
    states(control& methods, endpoints& clients, config cfg);
    /// The run is over: requests to end, which may come once by each process that waits, are no
    /// news.
    void ends();
    states(const states&) = delete;
    states& operator=(const states&) = delete;

private:
    void check_possible() const;
    rpc::json keep(const rpc::parameters& p);
    rpc::json restore(const rpc::parameters& p, const rpc::caller& from);
    rpc::json list() const;
    void leave(const std::string& name, const std::string& by);
    void go_on(const std::string& name, snapshots::baggage carried);

    control& methods_;
    endpoints& clients_;
    const config cfg_;
    snapshots kept_;
};

}  // namespace trn
