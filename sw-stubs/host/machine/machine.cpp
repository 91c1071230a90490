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
    division(const machine::chip& source, const machine::load& options)
        : stacks_(source.stacks),
          per_stack_(source.engines / source.stacks),
          count_(static_cast<std::uint32_t>(
              std::clamp<std::uint64_t>(options.bytes / small, 1, options.engines))),
          bytes_(options.bytes / count_),
          rest_(options.bytes % count_),
          span_(options.wrap ? options.wrap : bytes_ + rest_),
          wrap_(options.wrap) {}

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

pattern sent_by(std::size_t source, std::uint32_t part) {
    return pattern(source * 1000 + part);
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
    hosts.run_each(all, [this](std::size_t number, device& chip) {
        bring_up(chip);
        trn_topology found{};
        chip.check(trn_get_topology(chip, &found));
        for (const auto& link : found.ports)
            if (link.identified && link.partner.kind == TRN_PARTNER_CHIP)
                chips_[number].linked.push_back(link.partner.place);
        const auto about = chip.info();
        auto& entry = chips_[number];
        entry.place = found.own;
        entry.topology = found.kind;
        entry.stacks = about.stacks;
        entry.cores = about.cores;
        entry.engines = about.cores * engines_of_core;
        entry.state_buffer = about.state_buffer_size;
    });
}

void machine::reopen() {
    std::vector<std::size_t> all(chips_.size());
    std::iota(all.begin(), all.end(), 0u);
    hosts_.run_each(all, [](std::size_t, device& chip) { trn::reopen(chip); });
}

// --- Sources and destinations --------------------------------------------------------------

std::vector<machine::sender> machine::senders(traffic_pattern pattern) const {
    std::vector<sender> all;
    for (std::size_t source = 0; source < chips_.size(); ++source)
        if (auto destinations = targets(source, pattern); !destinations.empty())
            all.push_back({source, std::move(destinations), pattern == traffic_pattern::local});
    return all;
}

std::vector<std::size_t> machine::targets(std::size_t source, traffic_pattern pattern) const {
    const auto count = chips_.size();
    std::vector<std::size_t> found;
    switch (pattern) {
    case traffic_pattern::local:
    case traffic_pattern::own_hbm:
        return {source};
    case traffic_pattern::all_to_all:
        // Each chip begins with the next one, so that no chip is the first target of all.
        for (std::size_t n = 1; n < count; ++n) found.push_back((source + n) % count);
        return found;
    case traffic_pattern::bisection:
        if (count > 1) found.push_back((source + count / 2) % count);
        return found;
    case traffic_pattern::incast:
        if (source != 0) found.push_back(0);
        return found;
    case traffic_pattern::neighbours:
        for (std::size_t n = 0; n < count; ++n)
            if (std::ranges::any_of(chips_[source].linked, [&](const trn_place& linked) {
                    const auto& place = chips_[n].place;
                    return linked.rack == place.rack && linked.server == place.server &&
                           linked.chip == place.chip;
                }))
                found.push_back(n);
        return found;
    case traffic_pattern::same_server:
    case traffic_pattern::same_rack:
    case traffic_pattern::other_rack:
        return others(source, pattern);
    }
    return found;
}

/// The next chip, in the board's order, that differs from `source` only in the pattern's
/// coordinate.
std::vector<std::size_t> machine::others(std::size_t source, traffic_pattern pattern) const {
    const auto& own = chips_[source].place;
    for (std::size_t n = 1; n < chips_.size(); ++n) {
        const auto candidate = (source + n) % chips_.size();
        const auto& place = chips_[candidate].place;
        const bool rack = place.rack == own.rack, server = place.server == own.server,
                   chip = place.chip == own.chip;
        if (pattern == traffic_pattern::same_server ? rack && server
            : pattern == traffic_pattern::same_rack ? rack && !server && chip
                                                    : !rack && server && chip)
            return {candidate};
    }
    return {};
}

// --- Copies ----------------------------------------------------------------------------------

std::vector<traffic::stream> machine::streams(device& chip, const sender& s,
                                              const load& options) const {
    const auto& source = chips_[s.source];
    const division parts(source, options);
    std::vector<traffic::stream> all;
    for (std::uint32_t n = 0; n < parts.count(); ++n) {
        const auto engine = parts.engine(n), stack = parts.stack(n);
        auto& mine = all.emplace_back(traffic::stream{engine, {}});
        for (std::size_t k = 0; k < s.destinations.size(); ++k) {
            // Engines begin with different targets, so that all targets are always in use.
            const auto destination = s.destinations[(k + n) % s.destinations.size()];
            std::uint64_t there = trn_hbm_address(chip, stack, parts.destination(n));
            if (s.into_state_buffers) {
                const auto share = source.state_buffer / engines_of_core;
                there = trn_sbuf_address(chip, engine / engines_of_core,
                                         engine % engines_of_core * share);
            }
            if (destination != s.source)  // window `stack`: a SENG has one stack and one window
                there = trn_remote_address(&chips_[destination].place, stack, there);
            mine.segments.push_back({.source = trn_hbm_address(chip, stack, parts.source(n)),
                                     .destination = there,
                                     .bytes = parts.bytes(n),
                                     .wrap = parts.wrap()});
        }
    }
    return all;
}

machine::result machine::run(const std::vector<sender>& senders, const load& options) {
    for (const auto& s : senders)
        if (options.engines == 0 || options.engines > chips_[s.source].engines)
            refuse_argument("{} engines: the cores of {} have {}", options.engines,
                            chips_[s.source].name, chips_[s.source].engines);
    std::vector<std::size_t> sources;
    std::vector<const sender*> sender_of(chips_.size());
    for (const auto& s : senders) {
        sources.push_back(s.source);
        sender_of[s.source] = &s;
    }
    std::vector<std::unique_ptr<traffic>> loads(chips_.size());
    hosts_.run_each(sources, [&](std::size_t source, device& chip) {
        fill(chip, source, options);
        loads[source] = std::make_unique<traffic>(chip, streams(chip, *sender_of[source], options),
                                                  options.descriptor);
    });
    result sum;
    hosts_.run_each(sources, [&](std::size_t source, device&) {
        loads[source]->start();
        sum.ns = std::max(sum.ns, loads[source]->wait());
    });
    hosts_.run_each(sources, [&](std::size_t source, device&) {
        sum.bytes += loads[source]->bytes();
        sum.copies += sender_of[source]->destinations.size();
        loads[source].reset();  // here calls of the driver stub are allowed
    });
    return sum;
}

machine::result machine::small_copy(std::size_t source, std::size_t destination) {
    return run({sender{source, {destination}}}, {.bytes = small, .engines = 1});
}

double machine::sustained(traffic_pattern pattern, const load& options) {
    auto once = options, twice = options;
    if (options.wrap == 0) once.wrap = twice.wrap = options.bytes / options.engines;
    twice.bytes *= 2;
    const auto all = senders(pattern);
    const auto shorter = run(all, once), longer = run(all, twice);
    if (longer.ns <= shorter.ns) return 0;
    return static_cast<double>(longer.bytes - shorter.bytes) /
           static_cast<double>(longer.ns - shorter.ns);
}

void machine::fill(device& chip, std::size_t source, const load& options) const {
    const division parts(chips_[source], options);
    if (!parts.fits(chip.info().stack_size))
        refuse_argument(
            "source and destination of {} bytes over {} engines do not fit into the HBM of {}",
            options.bytes, parts.count(), chips_[source].name);
    for (std::uint32_t n = 0; n < parts.count(); ++n) {
        std::vector<std::uint8_t> bytes(parts.footprint(n));
        sent_by(source, n).fill(bytes);
        chip.check(
            trn_window_write(chip, parts.stack(n), parts.source(n), bytes.data(), bytes.size()));
    }
}

void machine::check(std::size_t source, std::size_t destination, const load& options) {
    hosts_.run_each({destination}, [&](std::size_t, device& chip) {
        const division parts(chips_[source], options);
        for (std::uint32_t n = 0; n < parts.count(); ++n) {
            std::vector<std::uint8_t> bytes(parts.footprint(n));
            chip.check(trn_window_read(chip, parts.stack(n), parts.destination(n), bytes.data(),
                                       bytes.size()));
            if (const auto wrong = sent_by(source, n).check(bytes))
                throw device_error(
                    TRN_PROTOCOL_ERROR,
                    fmt::format("data from {} to {} is wrong: {}", chips_[source].name,
                                chips_[destination].name, to_string(*wrong)));
        }
    });
}

}  // namespace trn
