// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/route.h"

namespace trn {

/// Grants a pointer to memory whose accesses `watcher` must see: read and write for initiators that
/// report their copies (route), read-only for others. Returns whether it is granted.
inline bool grant_watched(tlm::tlm_generic_payload& request, tlm::tlm_dmi& dmi,
                          traffic_watcher& watcher) {
    if (auto* way = request.get_extension<route>()) {
        way->watcher = &watcher;
        way->watched_address = request.get_address();
        dmi.allow_read_write();
        return true;
    }
    return grant_reads(request, dmi);
}

}  // namespace trn
