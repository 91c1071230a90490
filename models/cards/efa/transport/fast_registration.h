// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/transport/send_request.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::efa_transport {

/// Executes the work requests that register memory (FAST_REG) or withdraw it (LOCAL_INV).
class fast_registration {
public:
    /// `wake`: notified when a deferred read of a page list may be repeated.
    fast_registration(efa_objects::objects& objects, memory_port& memory, sc_core::sc_event& wake,
                      const send_limits& permitted)
        : objects_(objects), memory_(memory), wake_(wake), permitted_(permitted) {}

    /// Reads the page list of a fast registration for enroll(), if the work request has one.
    /// Returns false while the read is deferred.
    bool read_pages(const work_request_words& words, const efa_objects::queue_pair& qp);
    status enroll(const work_request_words& words, const efa_objects::queue_pair& qp);
    status withdraw(const work_request_words& words, const efa_objects::queue_pair& qp);

    /// Drops the list that was read.
    void forget() { list_.reset(); }
    void forget(std::uint32_t handle);

private:
    /// The page list of the next work request.
    struct page_list {
        std::uint16_t queue_pair;  // number
        std::vector<std::uint64_t> pages;
        pending_access pending;
        std::size_t filled = 0;  // bytes

        page_list(std::uint16_t qp_number, std::size_t count, sc_core::sc_event& wake)
            : queue_pair(qp_number), pages(count), pending(wake) {}
    };

    efa_objects::memory_region* region_of(const work_request_words& words,
                                          const efa_objects::queue_pair& qp);

    efa_objects::objects& objects_;
    memory_port& memory_;
    sc_core::sc_event& wake_;
    const send_limits permitted_;
    std::optional<page_list> list_;
};

}  // namespace trn::efa_transport
