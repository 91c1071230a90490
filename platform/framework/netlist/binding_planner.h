// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "platform/framework/netlist/bind_line.h"
#include "platform/framework/netlist/planning.h"

namespace trn {

/// Reads the `bind:` and `ports:` of each instantiated file and checks that every end exists, fits,
/// and is bound as often as it may be.
class binding_planner {
public:
    explicit binding_planner(planning& all) : all_(all), plan_(all.result) {}

    void bind(const scope& here);
    void export_ports(const scope& here);
    /// What only shows when everything is bound: overlaps, and ends that nobody bound.
    void check_whole();

private:
    /// One `bind:` entry, ready to be repeated.
    struct entry {
        config::node text, size;
        series at, to, line;
        std::vector<std::pair<std::string, series>> with;  ///< further variables
        std::uint64_t first = 0, count = 1;
        std::uint64_t inner = 0;  ///< of `count: [outer, inner]`: how often ${j} counts; else 0
        bool repeated = false;
    };
    /// An assembly's port that shows an inner end.
    struct shown {
        std::uint32_t container;
        std::string name;
    };
    using ends = std::pair<std::uint64_t, std::uint64_t>;

    std::optional<entry> read_entry(const scope& here, const config::node& node);
    std::optional<std::uint64_t> read_count(const scope& here, const config::node& node, entry& e);
    bool read_with(const scope& here, const config::node& with, entry& e);
    std::optional<std::uint64_t> read_counters(const scope& here, const config::node& given,
                                               entry& e);
    bool check_entry(const config::node& node, const entry& e);
    std::optional<variables> kth(const scope& here, const entry& e, std::uint64_t k);
    bool bind_once(const scope& here, const entry& e, std::uint64_t k);
    bool place(const entry& e, std::uint64_t k, const variables& known, bind_line& line);
    static std::uint64_t index_in(const series& s, const entry& e, std::uint64_t k);
    std::optional<std::uint64_t> nth(const entry& e, const series& s, std::uint64_t k,
                                     const variables& known);

    std::optional<plan::endpoint> resolve(const scope& here, const bind_line::end& end,
                                          const config::node& where);
    std::optional<plan::endpoint> resolve_port(std::uint32_t module, const bind_line::end& end,
                                               const config::node& where);
    std::optional<plan::endpoint> resolve_shown(const scope& here, std::uint32_t module,
                                                const bind_line::end& end,
                                                const config::node& where);
    std::optional<plan::endpoint> pick(plan::endpoint found, const bind_line::end& end,
                                       const config::node& where);

    bool arrow_fits(const plan::endpoint& from, const std::optional<plan::endpoint>& to,
                    bool both_ways, const config::node& where);
    void add(const plan::endpoint& from, const plan::endpoint& to,
             const std::optional<plan::range>& window, const config::node& where);
    bool directions_fit(const plan::endpoint& from, const plan::endpoint& to,
                        const config::node& where);
    bool window_fits(const plan::endpoint& from, const plan::endpoint& to,
                     const std::optional<plan::range>& window, const config::node& where);
    bool may_bind(const plan::endpoint& end, const config::node& where);
    void leave_unbound(const plan::endpoint& from, const config::node& where);
    void export_one(const scope& here, const std::string& name, std::string_view inner,
                    const config::node& where);
    void check_overlaps();
    void check_lanes();
    void check_blocks();
    void check_unbound(const plan::endpoint& end);

    // What a line with a mistake would have bound is not reported as unbound.
    void excuse(const scope& here, const entry& e, std::uint64_t k);
    void excuse_end(const scope& here, const bind_line::end& end, const config::node& where);
    void excuse_broken(const scope& here);
    bool excused(const plan::endpoint& end) const;

    const plan::module& module_of(const plan::endpoint& end) const {
        return plan_.modules[end.module];
    }
    const port& port_of(const plan::endpoint& end) const {
        return module_of(end).built_as->ports[end.port];
    }
    /// "hbm0.in": as the file that binds it says it.
    std::string local_text(const plan::endpoint& end) const;

    planning& all_;
    plan& plan_;
    std::unordered_map<std::uint64_t, config::node> bound_;  ///< end -> where it was bound first
    std::unordered_map<std::uint64_t, shown> outermost_;     ///< end -> the port that shows it
    std::unordered_map<std::uint32_t, std::map<std::string, plan::endpoint>> ports_;
    std::unordered_map<std::uint64_t, std::uint32_t> router_ports_;  ///< used so far
    std::unordered_set<std::uint64_t> excused_;                      ///< ends
    std::unordered_set<std::uint32_t> excused_modules_;              ///< with all that is inside
    std::set<std::pair<std::uint32_t, std::string>> misnamed_;  ///< container and port of a module
    std::map<ends, std::uint32_t> pairs_;  ///< which router port already joins two ends
};

}  // namespace trn
