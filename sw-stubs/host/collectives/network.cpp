// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/collectives/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "sw-stubs/driver/include/trn_rdma.h"
#include "sw-stubs/host/machine/device.h"

namespace trn {

namespace {

constexpr std::uint32_t chips_of_card = 3;
constexpr std::uint32_t qkey = 0x636f'6c6c;  // "coll"

/// Graph of chips and switches joined by links, by serial number.
class links {
public:
    using end = std::pair<trn_partner_kind, std::uint64_t>;

    void join(const end& a, const end& b) {
        const end first = root(a), second = root(b);
        if (first != second) parent_[first] = second;
    }
    end root(end node) {
        for (auto parent = parent_.find(node); parent != parent_.end(); parent = parent_.find(node))
            node = parent->second;
        return node;
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
    const auto add_links = [&](std::size_t index, device& chip) {
        std::uint64_t serial = 0;
        trn_topology found{};
        chip.check(trn_get_serial(chip, &serial));
        chip.check(trn_get_topology(chip, &found));
        own[index] = {TRN_PARTNER_CHIP, serial};
        for (const auto& link : found.ports)
            if (link.identified) all.join(own[index], {link.partner.kind, link.serial});
    };
    const auto numbered = [&] {
        std::vector<links::end> roots;
        std::vector<std::uint32_t> domains;
        for (const auto index : chips_) {
            const auto root = all.root(own[index]);
            const auto found = std::ranges::find(roots, root);
            domains.push_back(static_cast<std::uint32_t>(found - roots.begin()));
            if (found == roots.end()) roots.push_back(root);
        }
        domains_ = static_cast<std::uint32_t>(roots.size());
        return domains;
    };
    hosts_.run_each(chips_, add_links);
    numbered();
    if (domains_ == 1) return;
    // Chips without a rank may join them.
    std::vector<std::size_t> others;
    for (std::size_t n = 0; n < own.size(); ++n)
        if (std::ranges::find(chips_, n) == chips_.end()) others.push_back(n);
    hosts_.run_each(others, [&](std::size_t index, device& chip) {
        std::uint64_t serial = 0;  // no second probe: another program may use it
        if (trn_get_serial(chip, &serial) == TRN_NOT_READY) chip.check(trn_probe(chip));
        add_links(index, chip);
    });
    const auto domain = numbered();
    const auto each = chips_.size() / domains_;
    for (std::size_t rank = 0; rank < chips_.size(); ++rank)
        if (chips_.size() % domains_ != 0 || domain[rank] != rank / each)
            throw device_error(
                TRN_NOT_SUPPORTED,
                fmt::format("links join the ranks in {} groups: each needs as many ranks as the "
                            "others, one after the other; rank {} is the first that breaks the "
                            "order",
                            domains_, rank));
}

void collective_network::find_cards() {
    const auto cards = hosts_.cards();
    rank_cards_.resize(chips_.size());
    for (std::size_t rank = 0; rank < chips_.size(); ++rank) {
        bool found = false;
        for (std::size_t n = 0; n < cards.size() && !found; ++n) {
            const auto& chips = cards[n].chips;
            const auto chip = std::ranges::find(chips, chips_[rank]);
            found = chip != chips.end();
            if (!found) continue;
            rank_cards_[rank].card = n;
            rank_cards_[rank].place = static_cast<std::uint32_t>(chip - chips.begin());
            ranks_[n].push_back(rank);
        }
        if (!found || rank_cards_[rank].place >= chips_of_card)
            throw std::invalid_argument(fmt::format(
                "{} has no EFA card to reach other ranks by: a card serves {} chips of its server",
                hosts_.chips()[chips_[rank]], chips_of_card));
    }
    hosts_.run_each(chips_, [&](std::size_t index, device& chip) {
        auto& bars = rank_cards_[rank_of_[index]].bars;
        chip.check(trn_bar_address(chip, 4, &bars.memory, &bars.memory_bytes));
        chip.check(
            trn_bar_address(chip, chip.info().register_bar, &bars.registers, &bars.register_bytes));
    });
}

/// Calls `work` for each card of the ranks, where calls are allowed.
template <typename Work>
void collective_network::on_cards(Work&& work) {
    std::vector<std::size_t> cards;
    for (const auto& [card, ranks] : ranks_) cards.push_back(card);
    const auto names = hosts_.cards();
    hosts_.run_each_card(cards, [&](std::size_t number, const trn_transport& transport) {
        const auto& name = names[number].name;
        work(hosts_.open_card(number, transport, name), number, name);
    });
}

std::vector<trn_coll_nic> collective_network::nics() const {
    std::vector<trn_coll_nic> all;
    for (const auto& each : rank_cards_)
        all.push_back({.memory = each.bars.memory,
                       .registers = each.bars.registers,
                       .memory_key = each.memory_key,
                       .register_key = each.register_key,
                       .queue_pair = {}});
    return all;
}

/// Registers the ranks' BARs as memory regions, unless the card still has them.
void collective_network::set_up(trn_rdma_card* card, std::size_t number, const std::string& name) {
    auto& mine = objects_[number];
    if (mine.resets == trn_rdma_resets(card)) return;
    mine = {};
    trn_rdma_attributes attributes{};
    expect_ok(trn_rdma_get_attributes(card, &attributes), name);
    mine.gid = attributes.gid;
    expect_ok(trn_rdma_alloc_domain(card, &mine.domain), name);
    expect_ok(trn_rdma_alloc_uar(card, &mine.uar), name);
    for (const auto rank : ranks_.at(number)) {
        auto& rank_card = rank_cards_[rank];
        expect_ok(
            trn_rdma_register(card, mine.domain, rank_card.bars.memory, rank_card.bars.memory_bytes,
                              TRN_RDMA_REMOTE_WRITE, &rank_card.memory_key),
            name);
        expect_ok(trn_rdma_register(card, mine.domain, rank_card.bars.registers,
                                    rank_card.bars.register_bytes, TRN_RDMA_REMOTE_WRITE,
                                    &rank_card.register_key),
                  name);
    }
    mine.resets = trn_rdma_resets(card);
}

void collective_network::create_handles(trn_rdma_card* card, std::size_t number,
                                        const std::string& name) {
    auto& mine = objects_.at(number);
    for (const auto& [other, objects] : objects_) {
        if (mine.handles.contains(other)) continue;
        std::uint16_t handle = 0;
        expect_ok(trn_rdma_create_address_handle(card, mine.domain, &objects.gid, &handle), name);
        mine.handles[other] = handle;
    }
}

/// Each channel has its own event queue and MSI-X vector, which wakes the channel's core.
void collective_network::create_queues(trn_rdma_card* card, std::size_t rank, std::uint32_t number,
                                       const std::array<trn_coll_rings_of_card, channels>& rings) {
    const auto& rank_card = rank_cards_[rank];
    const auto& mine = objects_.at(rank_card.card);
    const auto name = hosts_.chips()[chips_[rank]];
    auto& slot = slots_[number];
    for (unsigned n = 0; n < channels; ++n) {
        if (rings[n].completions == 0) continue;
        auto& made = slot.queues[rank][n];
        auto& port = slot.ports[rank][n];
        made.vector = 1 + (rank_card.place * TRN_CC_SLOTS + number) * channels + n;
        made.resets = mine.resets;
        expect_ok(trn_rdma_create_eq(card, made.vector, rings[n].events, TRN_COLL_EVENTS, &made.eq),
                  name);
        made.exists = true;
        expect_ok(trn_rdma_create_cq(card, mine.uar, rings[n].completions, TRN_COLL_COMPLETIONS,
                                     &made.eq, &made.cq),
                  name);
        expect_ok(trn_rdma_create_qp(card, mine.domain, mine.uar, made.cq.number,
                                     TRN_COLL_QUEUE_ENTRIES, qkey, &made.qp),
                  name);
        expect_ok(trn_rdma_point_vector(card, made.vector, rings[n].message, 1), name);
        const auto bus = [&](std::uint32_t bar, std::uint64_t offset) {
            std::uint64_t address = 0;
            expect_ok(trn_rdma_bus_address(card, bar, offset, &address), name);
            return address;
        };
        port = {.send_ring = bus(2, made.qp.send_ring),
                .send_doorbell = bus(0, made.qp.send_doorbell),
                .completion_doorbell = bus(0, made.cq.doorbell),
                .event_doorbell = bus(0, TRN_RDMA_EVENT_DOORBELL),
                .event_queue = made.eq};
        slot.nics[rank].queue_pair[n] = made.qp.number;
    }
}

void collective_network::open(const trn_coll_config& config) {
    if (domains_ < 2) return;
    auto& slot = slots_[config.slot] = {};
    slot.queues.resize(chips_.size());
    slot.ports.resize(chips_.size());
    slot.handles.resize(chips_.size());
    std::vector<std::array<trn_coll_rings_of_card, channels>> rings(chips_.size());
    on_cards([this](trn_rdma_card* card, std::size_t number, const std::string& name) {
        set_up(card, number, name);
    });
    slot.nics = nics();
    hosts_.run_each(chips_, [&](std::size_t index, device& chip) {
        auto mine = config;
        mine.rank = static_cast<std::uint32_t>(rank_of_[index]);
        mine.nics = slot.nics.data();
        for (unsigned n = 0; n < channels; ++n)
            chip.check(trn_coll_rings_for(chip, &mine, n, &rings[mine.rank][n]));
    });
    on_cards([&](trn_rdma_card* card, std::size_t number, const std::string& name) {
        create_handles(card, number, name);
        for (const auto rank : ranks_.at(number))
            create_queues(card, rank, config.slot, rings[rank]);
    });
    for (std::size_t rank = 0; rank < chips_.size(); ++rank)
        for (const auto& rank_card : rank_cards_)
            slot.handles[rank].push_back(
                objects_.at(rank_cards_[rank].card).handles.at(rank_card.card));
}

void collective_network::describe(trn_coll_config& config) const {
    if (domains_ < 2) return;
    const auto& slot = slots_.at(config.slot);
    config.nics = slot.nics.data();
    config.handles = slot.handles[config.rank].data();
    config.port = slot.ports[config.rank].data();
    config.qkey = qkey;
}

void collective_network::close(std::uint32_t number) try {
    const auto found = slots_.find(number);
    if (found == slots_.end()) return;
    const auto slot = std::move(found->second);
    slots_.erase(found);
    on_cards([&](trn_rdma_card* card, std::size_t card_number, const std::string&) {
        for (const auto rank : ranks_.at(card_number))
            for (const auto& each : slot.queues[rank]) {
                if (!each.exists || each.resets != trn_rdma_resets(card)) continue;
                trn_rdma_point_vector(card, each.vector, 0, 0);
                trn_rdma_destroy_qp(card, &each.qp);  // ignore errors: destroy all
                trn_rdma_destroy_cq(card, each.cq.number);
                trn_rdma_destroy_eq(card, each.eq);
            }
    });
} catch (const device_error&) {
    // A lost card has no queues.
}

}  // namespace trn
