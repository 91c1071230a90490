// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/collectives/buffers.h"

#include <fmt/format.h>

#include <algorithm>

#include "sw-stubs/host/text/size_text.h"

namespace trn {

namespace {

using kind = location::kind;

constexpr std::uint64_t buffers_at =
    collective_memories::workspace_at + TRN_CC_SLOTS * collective_memories::workspace_bytes;
constexpr std::uint64_t buffers_bytes = std::uint64_t{1} << 30;  // of a slot, in HBM
constexpr std::array names{"send", "receive", "scratch"};

bool same_memory(const location& a, const location& b) {
    return a.space == b.space && a.number == b.number;
}

std::uint64_t rounded_up(std::uint64_t offset) {
    constexpr auto unit = collective_memories::guard_bytes;
    return (offset + unit - 1) / unit * unit;
}

}  // namespace

std::string collective_place_fault(const location& place) {
    if (place.space != kind::hbm && place.space != kind::sbuf)
        return fmt::format("{}: buffers of a collective are in hbmN or sbufN", place.text());
    if (place.offset != 0)
        return fmt::format("{}: {} without an offset, which the collective chooses", place.text(),
                           place.name());
    return "";
}

collective_memories::collective_memories(const device& chip) : info_(chip.info()) {
    for (std::uint32_t n = 0; n < info_.stacks; ++n) stacks_.push_back(trn_hbm_address(chip, n, 0));
    for (std::uint32_t n = 0; n < info_.cores; ++n)
        state_buffers_.push_back(trn_sbuf_address(chip, n, 0));
}

std::uint64_t collective_memories::size_of(const location& memory) const {
    return memory.space == kind::sbuf ? info_.state_buffer_size : info_.stack_size;
}

collective_memories::share collective_memories::share_of(const location& memory,
                                                         std::uint32_t slot) const {
    if (memory.space != kind::sbuf) return {buffers_at + slot * buffers_bytes, buffers_bytes};
    const auto each = size_of(memory) / TRN_CC_SLOTS;
    return {slot * each, each};
}

collective_memories::buffers collective_memories::place(const trn_coll_config& config,
                                                        const collective_places& places) const {
    trn_coll_sizes sizes{};
    trn_coll_get_sizes(&config, &sizes);
    const std::array memories{places.send, places.receive, places.scratch};
    const std::array needed{sizes.send, sizes.receive, sizes.scratch};
    std::array<std::uint64_t, 3> offsets{};
    trn_coll_in_place_offsets(&config, &offsets[0], &offsets[1]);
    if (!config.in_place) offsets = {};
    if (config.in_place && !same_memory(places.send, places.receive))
        refuse_argument("in place, but the input is in {} and the output in {}", places.send.name(),
                        places.receive.name());
    buffers all{};
    for (std::size_t n = 0; n < all.size(); ++n) {
        const auto& memory = memories[n];
        const auto fault = collective_place_fault(memory);
        if (!fault.empty()) refuse_argument("{}", fault);
        const auto& begins = memory.space == kind::sbuf ? state_buffers_ : stacks_;
        if (memory.number >= begins.size())
            refuse_argument("there is no {}: {} has {}", memory.name(), info_.name, begins.size());
        auto offset = share_of(memory, config.slot).begin;
        for (std::size_t before = 0; before < n; ++before)
            if (same_memory(memories[before], memory) && !(config.in_place && n == 1))
                offset = std::max(
                    offset, rounded_up(all[before].place.offset + all[before].bytes + guard_bytes));
        offset += guard_bytes + offsets[n];
        all[n].place = memory;
        all[n].place.offset = offset;
        all[n].address = begins[memory.number] + offset;
        all[n].bytes = needed[n];
        const auto room = size_of(memory) - std::min(size_of(memory), offset + guard_bytes);
        if (needed[n] > room)
            refuse_argument(
                "the {} buffer of rank {} does not fit into {} of {}: {} bytes from "
                "{:#x} on, and {} to guard it",
                names[n], config.rank, memory.name(), size_text(size_of(memory)), needed[n], offset,
                guard_bytes);
    }
    return all;
}

bool collective_memories::in_share(const buffers& all, std::uint32_t slot) const {
    return std::ranges::all_of(all, [&](const collective_buffer& each) {
        const auto own = share_of(each.place, slot);
        return each.place.offset + each.bytes + guard_bytes <= own.begin + own.bytes;
    });
}

std::vector<collective_buffer> apart(const std::array<collective_buffer, 3>& all, bool in_place) {
    if (!in_place) return {all.begin(), all.end()};
    return {all[0].bytes > all[1].bytes ? all[0] : all[1], all[2]};
}

}  // namespace trn
