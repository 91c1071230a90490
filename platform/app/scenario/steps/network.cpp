// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/steps/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <systemc>
#include <utility>

#include "sw-stubs/host/values/pattern.h"

namespace trn::scenario {

namespace {

constexpr std::uint64_t source = 64 << 20, destination = 512 << 20;  // offsets in an HBM stack
// bytes of an HBM stack that are registered
constexpr std::uint64_t shared = std::uint64_t{1} << 30;
constexpr std::uint32_t entries = 64;      // depth of a queue pair
constexpr std::uint32_t qkey = 0x74'726e;  // "trn"
constexpr std::uint64_t timeout_ns = 100'000'000;

bool is_absent(trn_rdma_card* card) {
    std::uint32_t state = TRN_RDMA_WORKS;
    return trn_rdma_state(card, &state) != 0 || state == TRN_RDMA_ABSENT;
}

}  // namespace

network::network(host_set& hosts, std::uint64_t seed) : hosts_(hosts), seed_(seed) {
    for (const auto& each : hosts.cards()) {
        if (each.chips.empty())
            throw device_error(TRN_UNKNOWN_DEVICE,
                               fmt::format("card {} has no chip in its server", each.name));
        cards_.push_back({.name = each.name, .chip = each.chips.front()});
    }
    if (cards_.empty()) throw device_error(TRN_UNKNOWN_DEVICE, "the board has no EFA cards");
    std::vector<std::size_t> all(cards_.size());
    std::iota(all.begin(), all.end(), 0u);
    find_memories();
    hosts.run_each_card(
        all, [this](std::size_t n, const trn_transport& transport) { use(n, transport); });
}

/// Finds the bus addresses of the chips' memory, which may change when their functions are
/// enumerated again. A removed chip keeps its address.
void network::find_memories() {
    for (auto& found_card : cards_)
        hosts_.run_each({found_card.chip}, [&](std::size_t, device& chip) {
            std::uint64_t address = 0, size = 0;
            const auto status = trn_bar_address(chip, 4, &address, &size);
            if (status == TRN_OK)
                found_card.memory = address;
            else if (found_card.memory == 0)
                chip.check(status);
        });
}

void network::use(std::size_t number, const trn_transport& transport) {
    card& used = cards_[number];
    used.open = hosts_.open_card(number, transport, used.name);
    if (used.resets == trn_rdma_resets(used.open) && used.registered == used.memory) return;
    if (used.queue != nullptr) trn_rdma_queue_close(std::exchange(used.queue, nullptr));
    used.handles.clear();
    trn_rdma_attributes about{};
    expect_ok(trn_rdma_get_attributes(used.open, &about), used.name);
    used.gid = about.gid;
    expect_ok(trn_rdma_alloc_domain(used.open, &used.domain), used.name);
    expect_ok(trn_rdma_register(used.open, used.domain, used.memory, shared,
                                TRN_RDMA_LOCAL_WRITE | TRN_RDMA_REMOTE_WRITE | TRN_RDMA_REMOTE_READ,
                                &used.key),
              used.name);
    expect_ok(trn_rdma_queue_open(used.open, used.domain, entries, qkey, &used.queue), used.name);
    used.resets = trn_rdma_resets(used.open);
    used.registered = used.memory;
}

/// Creates the address handles of a card for its partners. RDMA needs one on both sides.
void network::meet(std::size_t number, const pairs& group) {
    card& used = cards_[number];
    for (const auto& [requester, partner] : group) {
        if (requester != number && partner != number) continue;
        const auto other = requester == number ? partner : requester;
        if (used.handles.contains(other)) continue;
        std::uint16_t handle = 0;
        expect_ok(
            trn_rdma_create_address_handle(used.open, used.domain, &cards_[other].gid, &handle),
            used.name);
        used.handles[other] = handle;
    }
}

std::size_t network::find(const std::string& name) const {
    const auto found = std::ranges::find(cards_, name, &card::name);
    if (found == cards_.end())
        throw device_error(TRN_UNKNOWN_DEVICE, fmt::format("the board has no card '{}'", name));
    return static_cast<std::size_t>(found - cards_.begin());
}

network::pairs network::all(network_pattern pattern) const {
    pairs group;
    if (pattern == network_pattern::first) {
        for (std::size_t n = 1; n < cards_.size(); ++n) group.emplace_back(n, 0);
        return group;
    }
    const auto step = pattern == network_pattern::next ? 1 : cards_.size() / 2;
    for (std::size_t n = 0; n < cards_.size(); ++n)
        group.emplace_back(n, (n + step) % cards_.size());
    return group;
}

std::vector<std::size_t> network::requesters(const pairs& group) {
    std::vector<std::size_t> all;
    for (const auto& [requester, partner] : group) all.push_back(requester);
    return all;
}

/// Where each requester's data is at its destination: cards that write to the same one have a block
/// each.
std::map<std::size_t, std::uint64_t> network::places(const pairs& group, const load& transfer) {
    std::map<std::size_t, std::uint64_t> places, used;
    for (const auto& [requester, partner] : group) {
        const bool write = transfer.operation == network_operation::write;
        std::uint64_t& place = used[write ? partner : requester];
        places[requester] = destination + place;
        place += transfer.block;
        if (destination + place > shared)
            throw device_error(TRN_INVALID_ARGUMENT, "the blocks exceed the registered memory");
    }
    return places;
}

/// All cards that take part, without duplicates.
std::vector<std::size_t> network::members(const pairs& group) {
    std::set<std::size_t> all;
    for (const auto& [requester, partner] : group) all.insert({requester, partner});
    return {all.begin(), all.end()};
}

/// The data of a card in the current run: that of an earlier run does not pass for it.
pattern network::data_of(std::size_t card) const {
    return pattern(seed_ + card, fmt::format("{}", runs_));
}

/// Fills the source buffer of each pair: in the requester's chip for writes, in the partner's for
/// reads.
void network::fill(const pairs& group, const load& transfer) {
    ++runs_;
    for (const auto& [requester, partner] : group) {
        const auto owner = transfer.operation == network_operation::write ? requester : partner;
        hosts_.run_each({cards_[owner].chip}, [&](std::size_t, device& chip) {
            std::vector<std::uint8_t> bytes(transfer.block);
            data_of(owner).fill(bytes);
            chip.check(trn_window_write(chip, 0, source, bytes.data(), bytes.size()));
        });
    }
}

/// Posts requests while the queue has room and takes their completions. Returns the first error
/// status, or TRN_RDMA_OK.
std::uint32_t network::drive(std::size_t requester, std::size_t partner, const load& transfer,
                             std::uint64_t place) {
    const card &own = cards_[requester], &remote = cards_[partner];
    const bool write = transfer.operation == network_operation::write;
    const auto count =
        static_cast<std::uint32_t>((transfer.bytes + transfer.block - 1) / transfer.block);
    std::uint32_t worst = TRN_RDMA_OK, posted = 0;
    for (std::uint32_t taken = 0; taken < count; ++taken) {
        for (; posted < count && posted - taken < entries; ++posted) {
            const auto done = posted * transfer.block;
            const trn_rdma_request request{
                .operation = static_cast<std::uint32_t>(write ? TRN_RDMA_WRITE : TRN_RDMA_READ),
                .id = static_cast<std::uint16_t>(posted),
                .address_handle = own.handles.at(partner),
                .queue_pair = trn_rdma_queue_number(remote.queue),
                .qkey = qkey,
                .length =
                    static_cast<std::uint32_t>(std::min(transfer.block, transfer.bytes - done)),
                .local = own.memory + (write ? source : place),
                .remote = remote.memory + (write ? place : source),
                .local_key = own.key,
                .remote_key = remote.key,
                .has_immediate = 0,
                .immediate = 0};
            expect_ok(trn_rdma_post(own.queue, &request), own.name);
        }
        trn_rdma_completion completion{};
        expect_ok(trn_rdma_wait(own.queue, timeout_ns, &completion), own.name);
        if (worst == TRN_RDMA_OK) worst = completion.status;
    }
    return worst;
}

std::pair<std::uint64_t, std::uint32_t> network::run(const pairs& group, const load& transfer) {
    find_memories();
    fill(group, transfer);
    const auto with_each = [&](auto&& work) {
        hosts_.run_each_card(members(group), [&](std::size_t n, const trn_transport& transport) {
            // A removed card is skipped: the request's status shows the missing partner.
            if (trn_rdma_card* const card = cards_[n].open; is_absent(card)) return;
            work(n, transport);
        });
    };
    with_each([this](std::size_t n, const trn_transport& transport) { use(n, transport); });
    with_each([&](std::size_t n, const trn_transport&) { meet(n, group); });
    std::map<std::size_t, std::size_t> partner(group.begin(), group.end());
    const auto place = places(group, transfer);
    std::uint32_t worst = TRN_RDMA_OK;
    const auto start = sc_core::sc_time_stamp();
    hosts_.run_each_card(requesters(group), [&](std::size_t n, const trn_transport&) {
        const auto status = drive(n, partner.at(n), transfer, place.at(n));
        if (worst == TRN_RDMA_OK) worst = status;
    });
    const auto taken = sc_core::sc_time_stamp() - start;
    return {taken.value() / sc_core::sc_time(1, sc_core::SC_NS).value(), worst};
}

double network::sustained(const pairs& group, load transfer) {
    const auto timed = [&] {
        const auto [ns, status] = run(group, transfer);
        if (status == TRN_RDMA_OK) return ns;
        throw device_error(TRN_ABORTED,
                           fmt::format("a request of the measurement has the status {}", status));
    };
    const auto shorter = timed();
    const auto bytes = transfer.bytes * group.size();
    transfer.bytes *= 2;
    const auto longer = timed();
    return longer <= shorter ? 0
                             : static_cast<double>(bytes) / static_cast<double>(longer - shorter);
}

void network::check(const pairs& group, const load& transfer) {
    const auto place = places(group, transfer);
    for (const auto& [requester, partner] : group) {
        const bool write = transfer.operation == network_operation::write;
        const auto owner = write ? requester : partner, holder = write ? partner : requester;
        hosts_.run_each({cards_[holder].chip}, [&, requester = requester](std::size_t,
                                                                          device& chip) {
            std::vector<std::uint8_t> bytes(std::min(transfer.block, transfer.bytes));
            chip.check(trn_window_read(chip, 0, place.at(requester), bytes.data(), bytes.size()));
            if (const auto wrong = data_of(owner).check(bytes))
                throw device_error(
                    TRN_PROTOCOL_ERROR,
                    fmt::format("data from {} to {} is wrong: {}", cards_[owner].name,
                                cards_[holder].name, to_string(*wrong)));
        });
    }
}

}  // namespace trn::scenario
