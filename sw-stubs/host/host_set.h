// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sw-stubs/driver/include/trn_rdma.h"
#include "sw-stubs/host/device.h"

namespace trn {

/// The hosts of a machine's chips and cards, which run driver-stub calls on several of them.
class host_set {
public:
    using work = std::function<void(std::size_t chip, device&)>;

    virtual ~host_set() = default;
    /// The chips with a PCIe function, as the board orders them.
    virtual std::vector<std::string> chips() = 0;
    /// Runs `does` on these chips, and returns when all are done: at the same simulated time where
    /// the platform is in this process, one after the other elsewhere. The first exception comes
    /// back.
    virtual void run_each(const std::vector<std::size_t>& which, const work& does) = 0;

    /// An EFA card, and the chips of its server that send by it: a server's cards are spread evenly
    /// over its chips, in the order of its buses.
    struct card {
        std::string name;
        std::vector<std::size_t> chips;
    };
    using card_work = std::function<void(std::size_t card, const trn_transport& transport)>;
    /// None without a transport to them.
    virtual std::vector<card> cards() { return {}; }
    /// As run_each. A transport stays at its address as long as the host set lives.
    virtual void run_each_card(const std::vector<std::size_t>& /*which*/,
                               const card_work& /*does*/) {}
    /// A card that works, which all who use this host set share, because it has one admin queue:
    /// opened at the first call, and reset when it has lost its state. For use within
    /// run_each_card. \throws device_error, also when the card does not answer
    trn_rdma_card* open_card(std::size_t number, const trn_transport& transport,
                             const std::string& name);

private:
    struct forget {
        void operator()(trn_rdma_card* card) const { trn_rdma_forget(card); }
    };
    std::unordered_map<std::size_t, std::unique_ptr<trn_rdma_card, forget>> opened_;
};

/// A chip or card, and the part of the board that its host is in.
struct placed_function {
    std::string name, server;
};
/// The chips of each card, as host_set::card says.
std::vector<host_set::card> share_cards(const std::vector<placed_function>& chips,
                                        const std::vector<placed_function>& cards);

}  // namespace trn
