// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/cards/efa/objects/gid.h"
#include "models/cards/host_ring/host_ring.h"

namespace trn {

/// Receives changes by admin commands that affect work in progress; implemented by the card.
class efa_admin_listener {
public:
    /// The queue pair stops: its work requests are flushed with completions, or discarded.
    virtual void queue_pair_stopped(std::uint32_t handle, bool flushes) = 0;
    /// A queue is destroyed: its ring is not written any more.
    virtual void ring_removed(const host_ring& ring) = 0;
    /// The queue pair is in RTS: it sends the work requests posted before.
    virtual void queue_pair_started(std::uint32_t handle) = 0;
    /// Ends requests that use this address handle with an error.
    virtual void address_handle_removed(std::uint16_t number) = 0;
    /// `groups`: bit mask of the groups of events that the driver enables.
    virtual void events_enabled(std::uint32_t groups) = 0;
    virtual efa_objects::gid own_gid() const = 0;

protected:
    ~efa_admin_listener() = default;
};

}  // namespace trn
