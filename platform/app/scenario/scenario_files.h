// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "platform/app/scenario/scenario.h"
#include "platform/framework/config/document.h"

namespace trn::scenario {

/// The files that a scenario is read from: its own and what it includes. Its steps keep it: one
/// that uses what another has captured is read when that is known.
class book : public std::enable_shared_from_this<book> {
public:
    static constexpr std::size_t max_steps = 10'000;  ///< of one scenario, sequences written out
    static constexpr std::size_t most_branches = 64;  ///< of one `together`
    static constexpr std::size_t max_mistakes = 100;  ///< after which the steps are not read on
    static constexpr std::size_t deepest = 64;        ///< calls and includes in each other

    /// \throws config_error when the file is no YAML at all
    explicit book(const std::filesystem::path& file);

    config::node root() const { return documents_.front().root(); }
    /// Reads `include` and `sequences` of the file and of what it includes.
    void read_sequences();
    /// The steps of a list at one point of the matrix; what `sequence` names is written out.
    /// `nested`: no snapshot is taken between them.
    std::vector<step> read(const config::node& list, const parameters& point, bool nested = false);
    /// A new point begins: nothing is captured, no step is counted.
    void begin_point();

    std::size_t steps() const { return steps_; }  ///< of this point
    /// Mistakes of all files.
    const diagnostics& problems() const { return problems_; }

private:
    struct sequence {
        std::string name;
        config::node where, parameters, steps;
    };
    /// What the steps at one place can use.
    struct scope {
        parameters values;
        std::vector<const sequence*> inside = {};  ///< outermost first
        std::vector<enclosing> path = {};          ///< the same, and branches and steps of steps
        bool nested = false;                       ///< not in the scenario's own list
    };

    void include(const config::document& from, std::vector<std::filesystem::path>& chain);
    void define(const config::node& all);
    void read_item(const config::node& item, const scope& in, std::vector<step>& out);
    std::vector<step> read_list(const config::node& list, const scope& in);
    step read_one(const config::node& item, const scope& in);
    void write_out(const config::node& item, const scope& in, std::vector<step>& out);
    parameters arguments(const reader& call, const sequence& callee, const scope& in) const;
    step read_branches(const config::node& item, const scope& in);
    step read_figure(const config::node& item, const scope& in);
    step read_later(const config::node& item, const scope& in);
    bool uses_captured(const config::node& value) const;
    void note_captures(const config::node& item, const scope& in);
    static scope nested(scope in, enclosing by);
    void note_snapshots(const config::node& item, const scope& in, const step& one);

    diagnostics problems_;  // the documents report to it
    std::list<config::document> documents_;
    std::set<std::filesystem::path> included_;
    std::map<std::string, sequence, std::less<>> sequences_;
    std::set<std::string, std::less<>> captured_;  // names, by the steps read so far
    std::vector<std::string> kept_;                // likewise
    std::size_t steps_ = 0;
};

}  // namespace trn::scenario
