// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "sw-stubs/host/values/pattern.h"

namespace trn {

namespace {

constexpr std::uint64_t small = 64;  // bytes
constexpr std::uint32_t engines_of_core = 16;

/// Division of a copy into parts: engine and addresses of each part. Parts are distributed over the
/// stacks in turn, so that few engines also use all stacks.
class division {
public:
    division(const machine::chip& source, const machine::load& how)
        : stacks_(source.stacks),
          per_stack_(source.engines / source.stacks),
          count_(static_cast<std::uint32_t>(
              std::clamp<std::uint64_t>(how.bytes / small, 1, how.engines))),
          bytes_(how.bytes / count_),
          rest_(how.bytes % count_),
          span_(how.wrap ? how.wrap : bytes_ + rest_),
          wrap_(how.wrap) {}

    std::uint32_t count() const { return count_; }
    std::uint32_t stack(std::uint32_t part) const { return part % stacks_; }
    std::uint32_t engine(std::uint32_t part) const {
        return stack(part) * per_stack_ + part / stacks_;
    }
    std::uint64_t bytes(std::uint32_t part) const { return bytes_ + (part == 0 ? rest_ : 0); }
    std::uint64_t footprint(std::uint32_t part) const {
        return wrap_ ? std::min(wrap_, bytes(part)) : bytes(part);
    }
    std::uint64_t wrap() const { return wrap_; }
    /// Offsets in the stack.
    std::uint64_t source(std::uint32_t part) const {
        return TRN_HBM_RESERVED_BYTES + part / stacks_ * span_;
    }
    std::uint64_t destination(std::uint32_t part) const { return source(part) + count_ * span_; }
    /// Whether all parts are inside a stack of `stack_bytes`.
    bool fits(std::uint64_t stack_bytes) const {
        if (span_ > stack_bytes) return false;  // avoids overflow below
        return destination(count_ - 1) + span_ <= stack_bytes;
    }

private:
    std::uint32_t stacks_, per_stack_, count_;
    std::uint64_t bytes_, rest_, span_, wrap_;
};

pattern sent_by(std::size_t from, std::uint32_t part) {
    return pattern(from * 1000 + part);
}

}  // namespace

std::string to_string(traffic_pattern pattern) {
    std::string name(name_of(pattern));
    std::ranges::replace(name, '_', '-');
    return name;
}

machine::machine(host_set& hosts) : hosts_(hosts) {
    for (const auto& name : hosts.chips()) chips_.push_back({.name = name});
    std::vector<std::size_t> all(chips_.size());
    std::iota(all.begin(), all.end(), 0u);
    hosts.run_each(all, [this](std::size_t number, device& on) {
        on.check(trn_probe(on));
        on.check(trn_reset_device(on));
        trn_topology found{};
        on.check(trn_get_topology(on, &found));
        for (const auto& link : found.ports)
            if (link.identified && link.partner.kind == TRN_PARTNER_CHIP)
                chips_[number].linked.push_back(link.partner.place);
        const auto about = on.info();
        auto& at = chips_[number];
        at.place = found.own;
        at.topology = found.kind;
        at.stacks = about.stacks;
        at.cores = about.cores;
        at.engines = about.cores * engines_of_core;
        at.state_buffer = about.state_buffer_size;
    });
}

void machine::reopen() {
    std::vector<std::size_t> all(chips_.size());
    std::iota(all.begin(), all.end(), 0u);
    hosts_.run_each(all, [](std::size_t, device& on) { trn::reopen(on); });
}

// --- Sources and destinations --------------------------------------------------------------

std::vector<machine::sender> machine::senders(traffic_pattern pattern) const {
    std::vector<sender> all;
    for (std::size_t from = 0; from < chips_.size(); ++from)
        if (auto to = targets(from, pattern); !to.empty())
            all.push_back({from, std::move(to), pattern == traffic_pattern::local});
    return all;
}

std::vector<std::size_t> machine::targets(std::size_t from, traffic_pattern pattern) const {
    const auto count = chips_.size();
    std::vector<std::size_t> to;
    switch (pattern) {
    case traffic_pattern::local:
    case traffic_pattern::own_hbm:
        return {from};
    case traffic_pattern::all_to_all:
        // Each chip begins with the next one, so that no chip is the first target of all.
        for (std::size_t n = 1; n < count; ++n) to.push_back((from + n) % count);
        return to;
    case traffic_pattern::bisection:
        if (count > 1) to.push_back((from + count / 2) % count);
        return to;
    case traffic_pattern::incast:
        if (from != 0) to.push_back(0);
        return to;
    case traffic_pattern::neighbours:
        for (std::size_t n = 0; n < count; ++n)
            if (std::ranges::any_of(chips_[from].linked, [&](const trn_place& at) {
                    const auto& place = chips_[n].place;
                    return at.rack == place.rack && at.server == place.server &&
                           at.chip == place.chip;
                }))
                to.push_back(n);
        return to;
    case traffic_pattern::same_server:
    case traffic_pattern::same_rack:
    case traffic_pattern::other_rack:
        return others(from, pattern);
    }
    return to;
}

/// The next chip, in the board's order, that differs from `from` only in the pattern's coordinate.
std::vector<std::size_t> machine::others(std::size_t from, traffic_pattern pattern) const {
    const auto& own = chips_[from].place;
    for (std::size_t n = 1; n < chips_.size(); ++n) {
        const auto candidate = (from + n) % chips_.size();
        const auto& at = chips_[candidate].place;
        const bool rack = at.rack == own.rack, server = at.server == own.server,
                   chip = at.chip == own.chip;
        if (pattern == traffic_pattern::same_server ? rack && server
            : pattern == traffic_pattern::same_rack ? rack && !server && chip
                                                    : !rack && server && chip)
            return {candidate};
    }
    return {};
}

// --- Copies ----------------------------------------------------------------------------------

std::vector<traffic::stream> machine::streams(device& on, const sender& s, const load& how) const {
    const auto& source = chips_[s.from];
    const division parts(source, how);
    std::vector<traffic::stream> all;
    for (std::uint32_t n = 0; n < parts.count(); ++n) {
        const auto engine = parts.engine(n), stack = parts.stack(n);
        auto& mine = all.emplace_back(traffic::stream{engine, {}});
        for (std::size_t k = 0; k < s.to.size(); ++k) {
            // Engines begin with different targets, so that all targets are always in use.
            const auto to = s.to[(k + n) % s.to.size()];
            std::uint64_t there = trn_hbm_address(on, stack, parts.destination(n));
            if (s.into_state_buffers) {
                const auto share = source.state_buffer / engines_of_core;
                there = trn_sbuf_address(on, engine / engines_of_core,
                                         engine % engines_of_core * share);
            }
            if (to != s.from)  // window `stack`: a SENG has one stack and one window
                there = trn_remote_address(&chips_[to].place, stack, there);
            mine.segments.push_back({.source = trn_hbm_address(on, stack, parts.source(n)),
                                     .destination = there,
                                     .bytes = parts.bytes(n),
                                     .wrap = parts.wrap()});
        }
    }
    return all;
}

machine::result machine::run(const std::vector<sender>& senders, const load& how) {
    for (const auto& s : senders)
        if (how.engines == 0 || how.engines > chips_[s.from].engines)
            throw device_error(TRN_INVALID_ARGUMENT,
                               fmt::format("{} engines: the cores of {} have {}", how.engines,
                                           chips_[s.from].name, chips_[s.from].engines));
    std::vector<std::size_t> which;
    std::vector<const sender*> of(chips_.size());
    for (const auto& s : senders) {
        which.push_back(s.from);
        of[s.from] = &s;
    }
    std::vector<std::unique_ptr<traffic>> loads(chips_.size());
    hosts_.run_each(which, [&](std::size_t from, device& on) {
        fill(on, from, how);
        loads[from] = std::make_unique<traffic>(on, streams(on, *of[from], how), how.descriptor);
    });
    result sum;
    hosts_.run_each(which, [&](std::size_t from, device&) {
        loads[from]->start();
        sum.ns = std::max(sum.ns, loads[from]->wait());
    });
    hosts_.run_each(which, [&](std::size_t from, device&) {
        sum.bytes += loads[from]->bytes();
        sum.copies += of[from]->to.size();
        loads[from].reset();  // here calls of the driver stub are allowed
    });
    return sum;
}

machine::result machine::small_copy(std::size_t from, std::size_t to) {
    return run({sender{from, {to}}}, {.bytes = small, .engines = 1});
}

double machine::sustained(traffic_pattern pattern, const load& how) {
    auto once = how, twice = how;
    if (how.wrap == 0) once.wrap = twice.wrap = how.bytes / how.engines;
    twice.bytes *= 2;
    const auto all = senders(pattern);
    const auto shorter = run(all, once), longer = run(all, twice);
    if (longer.ns <= shorter.ns) return 0;
    return static_cast<double>(longer.bytes - shorter.bytes) /
           static_cast<double>(longer.ns - shorter.ns);
}

void machine::fill(device& on, std::size_t from, const load& how) const {
    const division parts(chips_[from], how);
    if (!parts.fits(on.info().stack_size))
        throw device_error(
            TRN_INVALID_ARGUMENT,
            fmt::format(
                "source and destination of {} bytes over {} engines do not fit into the HBM of {}",
                how.bytes, parts.count(), chips_[from].name));
    for (std::uint32_t n = 0; n < parts.count(); ++n) {
        std::vector<std::uint8_t> bytes(parts.footprint(n));
        sent_by(from, n).fill(bytes);
        on.check(trn_window_write(on, parts.stack(n), parts.source(n), bytes.data(), bytes.size()));
    }
}

void machine::check(std::size_t from, std::size_t to, const load& how) {
    hosts_.run_each({to}, [&](std::size_t, device& on) {
        const division parts(chips_[from], how);
        for (std::uint32_t n = 0; n < parts.count(); ++n) {
            std::vector<std::uint8_t> bytes(parts.footprint(n));
            on.check(trn_window_read(on, parts.stack(n), parts.destination(n), bytes.data(),
                                     bytes.size()));
            if (const auto wrong = sent_by(from, n).check(bytes))
                throw device_error(TRN_PROTOCOL_ERROR,
                                   fmt::format("data from {} to {} is wrong: {}", chips_[from].name,
                                               chips_[to].name, to_string(*wrong)));
        }
    });
}

}  // namespace trn
