// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/machine/host_set.h"

#include <map>

namespace trn {

trn_rdma_card* host_set::open_card(std::size_t number, const trn_transport& transport,
                                   const std::string& name) {
    auto& opened = opened_[number];
    if (!opened) {
        trn_rdma_card* card = nullptr;
        expect_ok(trn_rdma_open(&transport, &card), name);
        opened.reset(card);
        return card;
    }
    trn_rdma_card* const card = opened.get();
    std::uint32_t state = TRN_RDMA_ABSENT;
    expect_ok(trn_rdma_state(card, &state), name);
    if (state == TRN_RDMA_ABSENT) throw device_error(TRN_DEVICE_GONE, name + " does not answer");
    if (state == TRN_RDMA_LOST) expect_ok(trn_rdma_reset(card), name);
    return card;
}

std::vector<host_set::card> share_cards(const std::vector<placed_function>& chips,
                                        const std::vector<placed_function>& cards) {
    std::map<std::string, std::vector<std::size_t>> chips_of, cards_of;  // by server
    for (std::size_t n = 0; n < chips.size(); ++n) chips_of[chips[n].server].push_back(n);
    for (std::size_t n = 0; n < cards.size(); ++n) cards_of[cards[n].server].push_back(n);
    std::vector<host_set::card> all;
    for (const auto& card : cards) all.push_back({card.name, {}});
    for (const auto& [server, own] : cards_of) {
        const auto& beside = chips_of[server];
        for (std::size_t n = 0; n < beside.size(); ++n)
            all[own[n * own.size() / beside.size()]].chips.push_back(beside[n]);
        for (std::size_t n = 0; n < own.size() && !beside.empty(); ++n)
            if (all[own[n]].chips.empty())
                all[own[n]].chips.push_back(beside[n * beside.size() / own.size()]);
    }
    return all;
}

}  // namespace trn
