// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/collective_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <stdexcept>

#include "sw-stubs/driver/include/trn_efa.h"
#include "sw-stubs/host/device.h"

namespace trn {

namespace {

// Of a card's regions and queue pairs the first ones are left to other programs.
constexpr std::uint32_t first_region = 8, regions_of_chip = 2;
constexpr std::uint32_t first_queue = 16, queues_of_chip = TRN_CC_SLOTS * TRN_COLL_CHANNELS;
constexpr std::uint32_t chips_of_card = 3;

/// Chips and switches that links join, by serial number.
class links {
public:
    using end = std::pair<trn_partner_kind, std::uint64_t>;

    void join(const end& a, const end& b) {
        const end from = root(a), to = root(b);
        if (from != to) parent_[from] = to;
    }
    end root(end of) {
        for (auto at = parent_.find(of); at != parent_.end(); at = parent_.find(of))
            of = at->second;
        return of;
    }

private:
    std::map<end, end> parent_;
};

}  // namespace

collective_network::collective_network(host_set& hosts, const std::vector<std::size_t>& chips)
    : hosts_(hosts), chips_(chips) {
    for (std::size_t rank = 0; rank < chips.size(); ++rank) rank_of_[chips[rank]] = rank;
    find_domains();
    if (domains_ > 1) find_cards();
}

void collective_network::find_domains() {
    if (hosts_.cards().empty()) return;  // no path between domains
    links all;
    std::vector<links::end> own(hosts_.chips().size());
    const auto look = [&](std::size_t chip, device& on) {
        std::uint64_t serial = 0;
        trn_topology found{};
        on.check(trn_get_serial(on, &serial));
        on.check(trn_get_topology(on, &found));
        own[chip] = {TRN_PARTNER_CHIP, serial};
        for (const auto& link : found.ports)
            if (link.identified) all.join(own[chip], {link.partner.kind, link.serial});
    };
    const auto numbered = [&] {
        std::vector<links::end> roots;
        std::vector<std::uint32_t> domains;
        for (const auto chip : chips_) {
            const auto root = all.root(own[chip]);
            const auto at = std::ranges::find(roots, root);
            domains.push_back(static_cast<std::uint32_t>(at - roots.begin()));
            if (at == roots.end()) roots.push_back(root);
        }
        domains_ = static_cast<std::uint32_t>(roots.size());
        return domains;
    };
    hosts_.run_each(chips_, look);
    numbered();
    if (domains_ == 1) return;
    // What joins them may be chips that do not take part.
    std::vector<std::size_t> others;
    for (std::size_t n = 0; n < own.size(); ++n)
        if (std::ranges::find(chips_, n) == chips_.end()) others.push_back(n);
    hosts_.run_each(others, [&](std::size_t chip, device& on) {
        std::uint64_t serial = 0;  // another program may be at work with it: no second probe
        if (trn_get_serial(on, &serial) == TRN_NOT_READY) on.check(trn_probe(on));
        look(chip, on);
    });
    const auto domain = numbered();
    const auto each = chips_.size() / domains_;
    for (std::size_t rank = 0; rank < chips_.size(); ++rank)
        if (chips_.size() % domains_ != 0 || domain[rank] != rank / each)
            throw std::invalid_argument(fmt::format(
                "links join the ranks in {} groups: each needs as many ranks as the others, one "
                "after the other; rank {} is the first that breaks the order",
                domains_, rank));
}

void collective_network::find_cards() {
    const auto cards = hosts_.cards();
    seats_.resize(chips_.size());
    nics_.resize(chips_.size());
    for (std::size_t rank = 0; rank < chips_.size(); ++rank) {
        bool found = false;
        for (std::size_t n = 0; n < cards.size() && !found; ++n) {
            const auto& chips = cards[n].chips;
            const auto at = std::ranges::find(chips, chips_[rank]);
            found = at != chips.end();
            if (found) seats_[rank] = {n, static_cast<std::uint32_t>(at - chips.begin()), 0, 0};
        }
        if (!found || seats_[rank].place >= chips_of_card)
            throw std::invalid_argument(fmt::format(
                "{} has no EFA card to reach other ranks by: a card serves {} chips of its server",
                hosts_.chips()[chips_[rank]], chips_of_card));
    }
    hosts_.run_each(chips_, [&](std::size_t chip, device& on) {
        auto& nic = nics_[rank_of_[chip]];
        auto& seat = seats_[rank_of_[chip]];
        on.check(trn_bar_address(on, 4, &nic.memory, &seat.memory_bytes));
        on.check(trn_bar_address(on, on.info().register_bar, &nic.registers, &seat.register_bytes));
        nic.memory_region = static_cast<std::uint16_t>(first_region + regions_of_chip * seat.place);
        nic.register_region = static_cast<std::uint16_t>(nic.memory_region + 1);
    });
    on_cards([&](trn_efa* card, std::size_t rank, const std::string& name) {
        expect_ok(trn_efa_address(card, &nics_[rank].card), name);
        expect_ok(trn_efa_registers(card, &nics_[rank].card_registers), name);
    });
}

/// Calls `work` for each rank, where its card can be used.
template <typename Work>
void collective_network::on_cards(Work&& work) {
    std::map<std::size_t, std::vector<std::size_t>> ranks;  // by card
    std::vector<std::size_t> cards;
    for (std::size_t rank = 0; rank < seats_.size(); ++rank)
        ranks[seats_[rank].card].push_back(rank);
    for (const auto& [card, of] : ranks) cards.push_back(card);
    const auto names = hosts_.cards();
    hosts_.run_each_card(cards, [&](std::size_t number, const trn_transport& transport) {
        trn_efa* card = nullptr;
        expect_ok(trn_efa_attach(&transport, &card), names[number].name);
        const std::unique_ptr<trn_efa, void (*)(trn_efa*)> held(card, trn_efa_detach);
        for (const auto rank : ranks.at(number)) work(card, rank, names[number].name);
    });
}

std::uint32_t collective_network::queue(std::uint32_t rank, std::uint32_t slot) const {
    return first_queue + seats_[rank].place * queues_of_chip + slot * TRN_COLL_CHANNELS;
}

void collective_network::open(const trn_coll_config& config) {
    if (domains_ < 2) return;
    std::vector<std::array<trn_efa_rings, TRN_COLL_CHANNELS>> lent(chips_.size());
    hosts_.run_each(chips_, [&](std::size_t chip, device& on) {
        auto mine = config;
        mine.rank = static_cast<std::uint32_t>(rank_of_[chip]);
        for (std::uint32_t n = 0; n < TRN_COLL_CHANNELS; ++n)
            on.check(trn_coll_queue(on, &mine, n, &lent[mine.rank][n]));
    });
    on_cards([&](trn_efa* card, std::size_t rank, const std::string& name) {
        const auto& nic = nics_[rank];
        const auto& seat = seats_[rank];
        expect_ok(trn_efa_share(card, nic.memory_region, nic.memory, seat.memory_bytes,
                                TRN_EFA_REMOTE_WRITE),
                  name);
        expect_ok(trn_efa_share(card, nic.register_region, nic.registers, seat.register_bytes,
                                TRN_EFA_REMOTE_WRITE),
                  name);
        const auto first = queue(static_cast<std::uint32_t>(rank), config.slot);
        for (std::uint32_t n = 0; n < TRN_COLL_CHANNELS; ++n)
            expect_ok(trn_efa_queue_lend(card, first + n, &lent[rank][n]), name);
    });
}

void collective_network::close(std::uint32_t slot) try {
    if (domains_ < 2) return;
    on_cards([&](trn_efa* card, std::size_t rank, const std::string& name) {
        const auto first = queue(static_cast<std::uint32_t>(rank), slot);
        const trn_efa_rings none{};
        for (std::uint32_t n = 0; n < TRN_COLL_CHANNELS; ++n)
            expect_ok(trn_efa_queue_lend(card, first + n, &none), name);
    });
} catch (const device_error&) {
    // A card that is gone has no queue pairs.
}

}  // namespace trn
