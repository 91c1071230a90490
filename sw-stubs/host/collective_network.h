// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"
#include "sw-stubs/host/host_set.h"

namespace trn {

/// What is between the ranks of a collective: domains, which are chips that links join, and the EFA
/// cards by which a rank reaches other domains. Its cards stay open to others: it resets none.
class collective_network {
public:
    /// Looks at the links of `chips`, ranks in this order, and of the other chips where that leaves
    /// a doubt. They have been probed. \throws std::invalid_argument when domains do not have as
    /// many ranks each, one after the other, or a rank has no card
    collective_network(host_set& hosts, const std::vector<std::size_t>& chips);

    std::uint32_t domains() const { return domains_; }
    /// By rank; none when there is one domain.
    const std::vector<trn_coll_nic>& nics() const { return nics_; }

    /// Shares the ranks' memory and lends the queue pairs of a slot. \throws device_error
    void open(const trn_coll_config& config);
    /// Takes the queue pairs away.
    void close(std::uint32_t slot);
    /// Number of a rank's first queue pair for a slot, on its card.
    std::uint32_t queue(std::uint32_t rank, std::uint32_t slot) const;

private:
    void find_domains();
    void find_cards();
    template <typename Work>
    void on_cards(Work&& work);

    struct seat {
        std::size_t card = 0;     // of the host_set
        std::uint32_t place = 0;  // among the chips of that card
        std::uint64_t memory_bytes = 0, register_bytes = 0;
    };
    host_set& hosts_;
    const std::vector<std::size_t> chips_;
    std::map<std::size_t, std::size_t> rank_of_;  // by chip
    std::uint32_t domains_ = 1;
    std::vector<trn_coll_nic> nics_;
    std::vector<seat> seats_;  // by rank
};

}  // namespace trn
