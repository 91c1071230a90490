// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/network/ethernet_fabric/ethernet_fabric.h"
#include "tests/unit/cards/efa/card/verbs_driver.h"

namespace trn::test {

constexpr std::uint32_t efa_qkey = 0x1122'3344;
constexpr std::uint64_t efa_va = 0x7f00'0000'0800;  // of the regions; not page aligned

/// Objects of a process with one queue pair.
struct efa_endpoint {
    static constexpr std::uint64_t default_size = 2 << 20;
    struct options {
        std::uint8_t type = verbs_driver::srd;
        std::uint8_t retries = 7;  // of a receiver that is not ready
        std::uint8_t flags = 0;
        bool knows_peer = true;
        unsigned depth = 16;
        std::uint64_t size = default_size;
    };

    efa_endpoint() = default;
    efa_endpoint(verbs_driver& on, verbs_driver& peer, const options& how)
        : pd(on.alloc_pd()), uar(on.alloc_uar()) {
        cq = on.create_cq(uar, static_cast<std::uint16_t>(std::max(64u, 4 * how.depth)), {}, true);
        qp = on.create_qp(pd, uar, how.type, cq.number, cq.number, how.depth, how.flags);
        on.to_rts(qp, efa_qkey, how.retries);
        if (how.knows_peer) ah = on.create_ah(pd, peer.gid());
        buffer = on.allocate(how.size + 4096) + efa_va % 4096;
        key = on.reg_mr(pd, buffer, how.size, efa_va);
    }

    verbs_driver::work to(const efa_endpoint& peer, std::uint16_t id) const {
        return {.id = id, .to_qp = peer.qp.number, .ah = ah, .qkey = efa_qkey};
    }
    verbs_driver::work rdma(std::uint8_t operation, const efa_endpoint& peer, std::uint16_t id,
                            std::uint32_t length, std::uint64_t local = 0,
                            std::uint64_t remote = 0) const {
        auto made = to(peer, id);
        made.operation = operation;
        made.local = {{key, efa_va + local, length}};
        made.remote = {peer.key, efa_va + remote, length};
        return made;
    }

    std::uint16_t pd = 0, uar = 0, ah = 0;
    verbs_driver::completion_ring cq;
    verbs_driver::queue qp;
    std::uint64_t buffer = 0;
    std::uint32_t key = 0;  // of the buffer, at virtual address efa_va
};

}  // namespace trn::test
