// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"
#include "sw-stubs/host/machine/host_set.h"

namespace trn {

/// The network between the ranks of a collective: domains (chips joined by links), and the EFA
/// cards by which a rank reaches other domains. The cards belong to the host set, which other users
/// share.
class collective_network {
public:
    /// Finds the domains of `chips` (ranks in this order) by their links, and by those of other
    /// chips if these could join them. Precondition: `chips` are probed. \throws
    /// std::invalid_argument if domains do not have equally many consecutive ranks, or a rank has
    /// no card
    collective_network(host_set& hosts, const std::vector<std::size_t>& chips);

    std::uint32_t domains() const { return domains_; }

    /// Registers the ranks' memory and creates the queues of a slot. \throws device_error
    void open(const trn_coll_config& config);
    /// Fills the network fields of a rank's configuration; they are valid until the slot is closed.
    /// Precondition: the slot is open.
    void describe(trn_coll_config& config) const;
    /// Destroys the queues of a slot.
    void close(std::uint32_t number);

private:
    static constexpr unsigned channels = TRN_COLL_RING_CHANNELS;
    /// The chips' BARs on the buses of their servers.
    struct chip_bars {
        std::uint64_t memory = 0, memory_bytes = 0, registers = 0, register_bytes = 0;
    };
    struct rank_card {
        std::size_t card = 0;     // of the host_set
        std::uint32_t place = 0;  // among the chips of that card
        chip_bars bars;
        std::uint32_t memory_key = 0, register_key = 0;
    };
    /// Objects on a card, created once for all slots.
    struct card_objects {
        std::uint32_t resets = 0;  // trn_rdma_resets at creation; 0: not created
        trn_rdma_gid gid{};
        std::uint16_t domain = 0, uar = 0;
        std::map<std::size_t, std::uint16_t> handles;  // by card
    };
    struct channel_queues {
        bool exists = false;
        std::uint32_t resets = 0;
        std::uint32_t vector = 0;
        std::uint16_t eq = 0;
        trn_rdma_cq cq{};
        trn_rdma_qp qp{};
    };
    struct open_slot {
        std::vector<std::array<channel_queues, channels>> queues;  // by rank
        std::vector<std::array<trn_coll_port, channels>> ports;
        std::vector<trn_coll_nic> nics;
        std::vector<std::vector<std::uint16_t>> handles;
    };

    void find_domains();
    void find_cards();
    template <typename Work>
    void on_cards(Work&& work);
    std::vector<trn_coll_nic> nics() const;
    void set_up(trn_rdma_card* card, std::size_t number, const std::string& name);
    void create_handles(trn_rdma_card* card, std::size_t number, const std::string& name);
    void create_queues(trn_rdma_card* card, std::size_t rank, std::uint32_t number,
                       const std::array<trn_coll_rings_of_card, channels>& rings);

    host_set& hosts_;
    const std::vector<std::size_t> chips_;
    std::map<std::size_t, std::size_t> rank_of_;  // by chip
    std::uint32_t domains_ = 1;
    std::vector<rank_card> rank_cards_;                      // by rank
    std::map<std::size_t, std::vector<std::size_t>> ranks_;  // by card
    std::map<std::size_t, card_objects> objects_;            // by card
    std::map<std::uint32_t, open_slot> slots_;
};

}  // namespace trn
