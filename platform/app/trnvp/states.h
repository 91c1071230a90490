// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/endpoints/endpoints.h"
#include "platform/app/trnvp/event_recording.h"
#include "platform/framework/attach/console/standard_streams.h"
#include "platform/framework/attach/control/control.h"
#include "platform/framework/snapshots/snapshots.h"

namespace trn {

/// The control methods `snapshot`, `restore` and `snapshots`: named states of a running platform
/// (doc/decisions/0014). Clients stay connected: the restored process takes over their sockets,
/// unread output, and the recording of events.
class states {
public:
    struct config {
        std::string never = {};            ///< reason to refuse all snapshots; empty: allowed
        std::function<void()> flush = {};  ///< flushes the buffers of open files
    };
    /// Adds the methods to `methods`. All four must outlive this object.
    states(control& methods, endpoints& clients, standard_streams& output, event_recording& events,
           config cfg);
    /// Call at the end of the run. Further requests to end are ignored, since each waiting process
    /// may send one.
    void ends();
    states(const states&) = delete;
    states& operator=(const states&) = delete;

private:
    void check_possible() const;
    rpc::json keep(const rpc::parameters& p);
    rpc::json restore(const rpc::parameters& p, const rpc::caller& caller);
    rpc::json list() const;
    std::vector<int> descriptors() const;
    void leave(const std::string& name, const std::string& client);
    void resume(const std::string& name, snapshots::handover_state carried);

    control& methods_;
    endpoints& clients_;
    standard_streams& output_;
    event_recording& events_;
    const config cfg_;
    snapshots kept_;
    std::optional<snapshots::successor> successor_;  // from restore() to leave()
    std::vector<int> passed_;                        // descriptors that it has received
};

}  // namespace trn
