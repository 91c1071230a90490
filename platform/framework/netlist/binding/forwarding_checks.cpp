// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/binding/forwarding_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace trn {

namespace {

constexpr std::size_t max_hops = 64;            // of one access
constexpr std::uint64_t max_paths = 1'000'000;  // from one binding
constexpr std::uint64_t max_steps = 4'000'000;  // of this check

struct interval {
    std::uint64_t first, last;
};

/// A binding from a router or window to another router or window, or to itself.
struct hop {
    const plan::binding* binding;
    std::uint64_t input;       ///< of the forwarding module
    std::uint64_t next_input;  ///< of the module that `binding` leads to
    interval addresses;        ///< at `input`
    std::uint64_t shift;       ///< added to an address, modulo 2^64
};

/// Identifies an input of a module.
std::uint64_t input_of(std::uint32_t module, std::size_t port) {
    return std::uint64_t{module} << 32 | port;
}

class forwarding {
public:
    explicit forwarding(planning& all) : all_(all), board_(all.result) {
        for (const auto& b : board_.bindings) add(b);
        std::ranges::stable_sort(hops_, [](const hop& a, const hop& b) {
            return a.input != b.input ? a.input < b.input : a.addresses.first < b.addresses.first;
        });
        for (std::size_t h = 0; h < hops_.size(); ++h) {
            auto& [begin, count] = hops_by_input_.try_emplace(hops_[h].input, h, 0).first->second;
            ++count;
        }
    }

    void check() {
        if (hops_.empty() || !link()) return;
        order();
        for (std::size_t h = 0; h < hops_.size() && !stopped_; ++h) {
            if (state_[h].open == 0)
                check_lengths(h);
            else if (!state_[h].reported)
                follow(h, image(h, hops_[h].addresses));
        }
    }

private:
    struct known {
        std::uint32_t open = 0;   ///< following hops without known length
        std::size_t length = 1;   ///< hops of the longest path that begins here
        std::uint64_t paths = 1;  ///< that begin here
        bool reported = false;
    };

    void add(const plan::binding& b) {
        const kind& forwarder = *board_.module_of(b.source).built_as;
        const auto entry = forwarder.ports[b.source.port].forwards_from;
        if (!entry || !board_.port_of(b.target).forwards()) return;
        hop made{
            &b, input_of(b.source.module, *entry), input_of(b.target.module, b.target.port), {}, 0};
        if (b.window) {
            made.addresses = {b.window->base, b.window->base + (b.window->size - 1)};
            made.shift = b.window->target_base - b.window->base;
        } else {
            const auto& config = board_.module_of(b.source).config;
            const port& way = forwarder.ports[*entry];
            made.addresses = {0, way.size ? way.size(config) - 1 : ~std::uint64_t{0}};
            made.shift = way.shift ? way.shift(config) : 0;
        }
        hops_.push_back(made);
    }

    /// Addresses after a hop. A shift may wrap at most the end of the address space away.
    interval image(std::size_t h, interval addresses) const {
        return {addresses.first + hops_[h].shift, addresses.last + hops_[h].shift};
    }

    /// Calls visit(next, addresses) for each hop that can follow one which ends at `input`, with
    /// the part of `addresses` that it forwards. False: too many.
    template <class Visit>
    bool for_each_next(std::uint64_t input, interval addresses, Visit visit) {
        const auto found = hops_by_input_.find(input);
        if (found == hops_by_input_.end()) return true;
        const auto list = std::span(hops_).subspan(found->second.first, found->second.second);
        auto next = std::ranges::lower_bound(list, addresses.first, {},
                                             [](const hop& h) { return h.addresses.last; });
        for (; next != list.end() && next->addresses.first <= addresses.last; ++next) {
            if (++steps_ > max_steps) return false;
            visit(static_cast<std::size_t>(&*next - hops_.data()),
                  interval{std::max(addresses.first, next->addresses.first),
                           std::min(addresses.last, next->addresses.last)});
        }
        return true;
    }

    /// Finds the hops before each hop.
    bool link() {
        state_.resize(hops_.size());
        before_.resize(hops_.size());
        for (std::uint32_t h = 0; h < hops_.size(); ++h) {
            const bool done = for_each_next(hops_[h].next_input, image(h, hops_[h].addresses),
                                            [&](auto next, auto) {
                                                before_[next].push_back(h);
                                                ++state_[h].open;
                                            });
            if (!done) return too_many(h);
        }
        return true;
    }

    /// From the last hops backwards: lengths and numbers of paths. Hops that can lead to a loop
    /// stay open.
    void order() {
        std::vector<std::uint32_t> ready;
        for (std::uint32_t h = 0; h < hops_.size(); ++h)
            if (state_[h].open == 0) ready.push_back(h);
        while (!ready.empty()) {
            const auto after = ready.back();
            ready.pop_back();
            for (const auto h : before_[after]) {
                known& k = state_[h];
                k.length = std::max(k.length, state_[after].length + 1);
                k.paths = std::min(k.paths + state_[after].paths, max_paths + 1);
                if (--k.open == 0) ready.push_back(h);
            }
        }
    }

    void check_lengths(std::size_t h) {
        if (state_[h].length > max_hops) {
            stopped_ = true;
            report_length(h);
        } else if (state_[h].paths > max_paths) {
            too_many(h);
        }
    }

    bool too_many(std::size_t h) {
        stopped_ = true;
        report(h, fmt::format("more than {} paths lead through routers from here on", max_paths),
               "");
        return false;
    }

    /// Follows `addresses` after hop `h`, which can lead to a loop.
    void follow(std::size_t h, interval addresses) {
        path_.push_back(h);
        if (path_.size() > max_hops)
            report_loop();
        else if (!for_each_next(
                     hops_[h].next_input, addresses, [&](std::size_t next, interval part) {
                         if (state_[next].open != 0 && !state_[path_.front()].reported && !stopped_)
                             follow(next, image(next, part));
                     }))
            too_many(path_.front());
        path_.pop_back();
    }

    /// The path has more hops than permitted: reports the first that it contains twice.
    void report_loop() {
        for (const auto h : path_) state_[h].reported = true;
        for (auto first = path_.begin(); first != path_.end(); ++first) {
            const auto again = std::find(first + 1, path_.end(), *first);
            if (again == path_.end()) continue;
            std::string chain;
            for (auto h = first; h != again; ++h)
                chain += board_.text(hops_[*h].binding->target) + " -> ";
            return report(*first, "accesses come back to this range again and again",
                          chain + board_.text(hops_[*first].binding->target));
        }
        report_length(path_.front());
    }

    void report_length(std::size_t h) {
        report(h, fmt::format("accesses pass more than {} routers from here on", max_hops), "");
    }

    void report(std::size_t h, std::string message, std::string suggestion) {
        all_.report(hops_[h].binding->node, mistake::endless_access, std::move(message),
                    std::move(suggestion));
    }

    planning& all_;
    const plan& board_;
    std::vector<hop> hops_;  // by input and address
    std::unordered_map<std::uint64_t, std::pair<std::size_t, std::size_t>>
        hops_by_input_;                               // begin, count
    std::vector<known> state_;                        // by hop
    std::vector<std::vector<std::uint32_t>> before_;  // by hop
    std::vector<std::size_t> path_;
    std::uint64_t steps_ = 0;
    bool stopped_ = false;
};

}  // namespace

void check_forwarding(planning& all) {
    forwarding(all).check();
}

void check_plugs(planning& all) {
    const plan& board = all.result;
    std::unordered_map<std::uint32_t, std::uint32_t> joined_to;  // a module of the same tree
    const auto root_of = [&](std::uint32_t module) {
        auto root = module;
        for (auto next = joined_to.find(root); next != joined_to.end(); next = joined_to.find(root))
            root = next->second;
        if (root != module) joined_to[module] = root;
        return root;
    };
    for (const auto& b : board.bindings) {
        if (!board.port_of(b.source).passes_on || !board.port_of(b.target).passes_on) continue;
        const auto root = root_of(b.source.module), other_root = root_of(b.target.module);
        if (root == other_root)
            all.report(b.node, mistake::endless_access,
                       fmt::format("'{}' and '{}' close a ring of switches and cables",
                                   board.local_text(b.source), board.local_text(b.target)));
        else
            joined_to[root] = other_root;
    }
}

void check_sides(planning& all) {
    const plan& board = all.result;
    std::unordered_map<std::uint64_t, plan::endpoint> peers;  // by the end of a cable
    const auto is_cable = [&](const plan::endpoint& end) {
        return board.port_of(end).passes_on && board.port_of(end).side == port_side::any;
    };
    for (const auto& b : board.bindings) {
        if (board.port_of(b.source).role != port_role::plug) continue;
        if (is_cable(b.source)) peers.emplace(b.source.key(), b.target);
        if (is_cable(b.target)) peers.emplace(b.target.key(), b.source);
    }
    // The port at the far end of the cables that begin at `end`; no ring, so they end. A cable has
    // two plugs.
    const auto far_end = [&](plan::endpoint end) -> std::optional<plan::endpoint> {
        while (is_cable(end)) {
            const auto& plugs = board.module_of(end).built_as->ports;
            const auto other = std::ranges::find_if(
                plugs, [&](const port& p) { return p.passes_on && &p != &board.port_of(end); });
            if (other == plugs.end()) return std::nullopt;
            end.port = static_cast<std::uint32_t>(other - plugs.begin());
            const auto next = peers.find(end.key());
            if (next == peers.end()) return std::nullopt;
            end = next->second;
        }
        return end;
    };
    std::unordered_set<std::uint64_t> reported;  // ends
    for (const auto& b : board.bindings) {
        if (board.port_of(b.source).role != port_role::plug) continue;
        const auto first = far_end(b.source), second = far_end(b.target);
        if (!first || !second) continue;
        const auto side = board.port_of(*first).side;
        if (side == port_side::any || side != board.port_of(*second).side) continue;
        if (!reported.insert(first->key()).second || !reported.insert(second->key()).second)
            continue;
        const bool down = side == port_side::downstream;
        all.report(b.node, mistake::wrong_direction,
                   fmt::format("'{}' and '{}' are both {} ports", board.local_text(*first),
                               board.local_text(*second), down ? "downstream" : "upstream"),
                   down
                       ? "a downstream port leads to an upstream port: of a device, or of a switch "
                         "('up')"
                       : "an upstream port leads to a downstream port: of a root complex ('port') "
                         "or of a switch ('down')");
    }
}

void check_reach(planning& all) {
    const plan& board = all.result;
    struct limited {
        const plan::binding* binding;
        std::uint64_t reach;
    };
    std::unordered_map<std::uint64_t, limited> inputs;  // by the end that a BAR is bound to
    for (const auto& b : board.bindings)
        if (const auto& reach = board.port_of(b.source).reach)
            inputs.emplace(b.target.key(), limited{&b, reach(board.module_of(b.source).config)});
    if (inputs.empty()) return;
    std::unordered_map<std::uint32_t, limited> routers;  // by module
    std::unordered_map<std::uint64_t, unsigned> users;   // of these inputs
    for (const auto& b : board.bindings)
        if (inputs.contains(b.target.key())) ++users[b.target.key()];
    for (const auto& [key, limit] : inputs) {
        if (users[key] > 1) continue;
        const auto& end = limit.binding->target;
        const port& target = board.port_of(end);
        if (target.forwards() && target.leads_to.empty()) routers.emplace(end.module, limit);
        const auto size = target.size ? target.size(board.module_of(end).config) : 0;
        if (size > limit.reach)
            all.report(limit.binding->node, mistake::range_too_large,
                       fmt::format("'{}' has {}, '{}' reaches {}", board.local_text(end),
                                   to_string(bytes{size}), board.local_text(limit.binding->source),
                                   to_string(bytes{limit.reach})));
    }
    for (const auto& b : board.bindings) {
        const auto limit = b.window ? routers.find(b.source.module) : routers.end();
        if (limit == routers.end()) continue;
        const auto last = b.window->base + (b.window->size - 1);
        if (last >= limit->second.reach)
            all.report(b.node, mistake::range_too_large,
                       fmt::format("0x{:x} + {} of '{}' is past the {} of '{}'", b.window->base,
                                   to_string(bytes{b.window->size}), board.local_text(b.source),
                                   to_string(bytes{limit->second.reach}),
                                   board.text(limit->second.binding->source)));
    }
}

}  // namespace trn
