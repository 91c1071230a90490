// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/framework/netlist/document/bind_line.h"
#include "platform/framework/netlist/document/planning.h"

namespace trn {

/// One entry of `bind:`, or a port of `ports:`, with the keys that repeat it.
class bind_entry {
public:
    struct repetition {
        const variables* known;  ///< owned by the entry; valid until it reads another repetition
        bind_line line;
    };

    bind_entry(planning& all, const scope& here) : all_(all), here_(here) {}

    /// Returns false after an error, which is reported; so do the following functions.
    bool read(const config::node& node);
    bool read_port(const config::node& text, const config::node& count);

    const config::node& node() const { return text_; }
    std::uint64_t count() const { return count_; }
    /// The text of repetition `k`, with each ${...} replaced by its value.
    std::optional<std::string> text(std::uint64_t k);
    std::optional<repetition> line(std::uint64_t k);
    /// Adds the values of the keys next to `bind`: address window, interrupt line.
    bool place(std::uint64_t k, repetition& repetition) const;

private:
    bool read_definitions(const config::node& definitions);
    const variables* known_in(std::uint64_t k);
    std::optional<std::uint64_t> read_counters(const config::node& given);
    std::optional<std::uint64_t> read_count(const config::node& node);
    bool check_keys(const config::node& node) const;
    std::uint64_t index_in(const series& s, std::uint64_t k) const;
    std::optional<std::uint64_t> nth(const series& s, std::uint64_t k,
                                     const variables& known) const;

    planning& all_;
    const scope& here_;
    config::node text_, size_;
    series at_, to_, line_;
    std::vector<std::pair<std::string, series>> definitions_;  ///< further variables
    std::uint64_t first_ = 0, count_ = 1;
    std::uint64_t inner_ = 0;  ///< range of ${j} in `count: [outer, inner]`; else 0
    bool repeated_ = false;
    variables known_;  ///< variables of a repetition; otherwise the scope's are used without a copy
};

}  // namespace trn
