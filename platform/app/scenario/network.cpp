// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <systemc>

#include "sw-stubs/host/pattern.h"

namespace trn::scenario {

namespace {

constexpr std::uint64_t source = 64 << 20, destination = 512 << 20;  // offsets in a stack
constexpr std::uint64_t shared = std::uint64_t{1} << 30;  // bytes of a stack that others may use
constexpr std::uint32_t entries = 64;                     // of a queue pair
constexpr std::uint64_t patience_ns = 100'000'000;

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
    for (auto& one : cards_)
        hosts.run_each({one.chip}, [&](std::size_t, device& on) {
            std::uint64_t size = 0;
            on.check(trn_bar_address(on, 4, &one.memory, &size));
        });
    hosts.run_each_card(
        all, [this](std::size_t n, const trn_transport& door) { open(cards_[n], door); });
}

void network::open(card& one, const trn_transport& door) {
    expect_ok(trn_efa_open(&door, &one.open), one.name);
    expect_ok(trn_efa_address(one.open, &one.address), one.name);
    use(one);
}

/// All of its chip's memory that others may use, and a queue pair.
void network::use(card& one) {
    expect_ok(
        trn_efa_share(one.open, 0, one.memory, shared, TRN_EFA_REMOTE_READ | TRN_EFA_REMOTE_WRITE),
        one.name);
    expect_ok(trn_efa_queue_open(one.open, 0, entries, &one.queue), one.name);
}

void network::open_again_if_lost(card& one) {
    std::uint32_t state = TRN_EFA_QUEUE_RUNS;
    expect_ok(trn_efa_queue_state(one.queue, &state), one.name);
    if (state != TRN_EFA_QUEUE_LOST) return;
    expect_ok(trn_efa_reset(one.open), one.name);
    trn_efa_queue_close(one.queue);
    use(one);
}

std::size_t network::find(const std::string& name) const {
    const auto found = std::ranges::find(cards_, name, &card::name);
    if (found == cards_.end())
        throw device_error(TRN_UNKNOWN_DEVICE, fmt::format("the board has no card '{}'", name));
    return static_cast<std::size_t>(found - cards_.begin());
}

network::pairs network::all(network_pattern pattern) const {
    pairs who;
    const auto step = pattern == network_pattern::next ? 1 : cards_.size() / 2;
    for (std::size_t n = 0; n < cards_.size(); ++n) who.emplace_back(n, (n + step) % cards_.size());
    return who;
}

std::vector<std::size_t> network::requesters(const pairs& who) {
    std::vector<std::size_t> all;
    for (const auto& [from, to] : who) all.push_back(from);
    return all;
}

/// All who take part, each once.
std::vector<std::size_t> network::members(const pairs& who) {
    std::set<std::size_t> all;
    for (const auto& [from, to] : who) all.insert({from, to});
    return {all.begin(), all.end()};
}

/// Where the data of a pair's operation comes from: the card whose chip has it.
void network::fill(const pairs& who, const load& how) {
    for (const auto& [from, to] : who) {
        const auto owner = how.what == network_operation::write ? from : to;
        hosts_.run_each({cards_[owner].chip}, [&](std::size_t, device& on) {
            std::vector<std::uint8_t> bytes(how.block);
            pattern(seed_ + owner).fill(bytes);
            on.check(trn_window_write(on, 0, source, bytes.data(), bytes.size()));
        });
    }
}

/// Posts as many requests as the queue holds and takes their completions. Returns the first status
/// that is not good, or TRN_EFA_OK.
std::uint32_t network::drive(card& from, const card& to, const load& how) {
    const bool write = how.what == network_operation::write;
    const auto count = static_cast<std::uint32_t>((how.bytes + how.block - 1) / how.block);
    std::uint32_t worst = TRN_EFA_OK, posted = 0;
    for (std::uint32_t taken = 0; taken < count; ++taken) {
        for (; posted < count && posted - taken < entries; ++posted) {
            const auto done = posted * how.block;
            const trn_efa_request request{
                .what = static_cast<std::uint32_t>(write ? TRN_EFA_WRITE : TRN_EFA_READ),
                .id = posted,
                .card = to.address,
                .region = 0,
                .length = static_cast<std::uint32_t>(std::min(how.block, how.bytes - done)),
                .local = from.memory + (write ? source : destination),
                .remote = to.memory + (write ? destination : source),
                .notice = 0,
                .value = 0,
                .notice_region = 0};
            expect_ok(trn_efa_post(from.queue, &request), from.name);
        }
        trn_efa_completion completion{};
        expect_ok(trn_efa_wait(from.queue, patience_ns, &completion), from.name);
        if (worst == TRN_EFA_OK) worst = completion.status;
    }
    return worst;
}

std::pair<std::uint64_t, std::uint32_t> network::run(const pairs& who, const load& how) {
    fill(who, how);
    hosts_.run_each_card(members(who), [this](std::size_t n, const trn_transport&) {
        open_again_if_lost(cards_[n]);
    });
    std::map<std::size_t, std::size_t> partner(who.begin(), who.end());
    std::uint32_t worst = TRN_EFA_OK;
    const auto start = sc_core::sc_time_stamp();
    hosts_.run_each_card(requesters(who), [&](std::size_t n, const trn_transport&) {
        const auto status = drive(cards_[n], cards_[partner.at(n)], how);
        if (worst == TRN_EFA_OK) worst = status;
    });
    const auto taken = sc_core::sc_time_stamp() - start;
    return {taken.value() / sc_core::sc_time(1, sc_core::SC_NS).value(), worst};
}

double network::sustained(const pairs& who, load how) {
    const auto shorter = run(who, how).first;
    const auto bytes = how.bytes * who.size();
    how.bytes *= 2;
    const auto longer = run(who, how).first;
    return longer <= shorter ? 0
                             : static_cast<double>(bytes) / static_cast<double>(longer - shorter);
}

void network::check(const pairs& who, const load& how) {
    for (const auto& [from, to] : who) {
        const bool write = how.what == network_operation::write;
        const auto owner = write ? from : to, holder = write ? to : from;
        hosts_.run_each({cards_[holder].chip}, [&, owner = owner](std::size_t, device& on) {
            std::vector<std::uint8_t> bytes(std::min(how.block, how.bytes));
            on.check(trn_window_read(on, 0, destination, bytes.data(), bytes.size()));
            if (const auto wrong = pattern(seed_ + owner).check(bytes))
                throw device_error(
                    TRN_PROTOCOL_ERROR,
                    fmt::format("data from {} to {} is wrong: {}", cards_[owner].name,
                                cards_[holder].name, to_string(*wrong)));
        });
    }
}

}  // namespace trn::scenario
