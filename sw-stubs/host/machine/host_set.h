// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sw-stubs/driver/include/trn_rdma.h"
#include "sw-stubs/host/machine/device.h"

namespace trn {

/// The hosts of a machine's chips and cards: run driver-stub calls on several of them.
class host_set {
public:
    using work = std::function<void(std::size_t index, device& chip)>;

    virtual ~host_set() = default;
    /// The chips with a PCIe function, in the board's order.
    virtual std::vector<std::string> chips() = 0;
    /// Runs `does` on these chips and returns when all are done: concurrently in simulated time if
    /// the platform is in this process, else one after the other. Rethrows the first exception.
    virtual void run_each(const std::vector<std::size_t>& chips, const work& does) = 0;

    /// An EFA card and the chips of its server that use it: the cards are distributed evenly over
    /// the server's chips, in bus order.
    struct card {
        std::string name;
        std::vector<std::size_t> chips;
    };
    using card_work = std::function<void(std::size_t card, const trn_transport& transport)>;
    /// Empty if there is no transport to cards.
    virtual std::vector<card> cards() { return {}; }
    /// As run_each, for cards. A transport's address is stable during the host set's lifetime.
    virtual void run_each_card(const std::vector<std::size_t>& /*cards*/,
                               const card_work& /*does*/) {}
    /// An operational card, shared by all users of this host set, because it has one admin queue:
    /// opened by the first call, and reset if it has lost its state. Precondition: within
    /// run_each_card. \throws device_error, also without a response of the card
    trn_rdma_card* open_card(std::size_t number, const trn_transport& transport,
                             const std::string& name);

private:
    struct forget {
        void operator()(trn_rdma_card* card) const { trn_rdma_forget(card); }
    };
    std::unordered_map<std::size_t, std::unique_ptr<trn_rdma_card, forget>> opened_;
};

/// A chip or card, and the server of its host (a part of the board).
struct placed_function {
    std::string name, server;
};
/// The chips of each card, by the rule of host_set::card.
std::vector<host_set::card> share_cards(const std::vector<placed_function>& chips,
                                        const std::vector<placed_function>& cards);

}  // namespace trn
