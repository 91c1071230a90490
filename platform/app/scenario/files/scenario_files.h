// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/app/scenario/language/step.h"
#include "platform/framework/config/document.h"

namespace trn::scenario {

/// The file of a scenario with the files that it includes. Shared with its steps: a step that uses
/// a captured value is read during the run, when the value is known.
class scenario_files : public std::enable_shared_from_this<scenario_files> {
public:
    static constexpr std::size_t max_steps = 10'000;  ///< per scenario, with sequences expanded
    static constexpr std::size_t max_branches = 64;   ///< per `together`
    static constexpr std::size_t max_mistakes = 100;  ///< limit after which no more steps are read
    static constexpr std::size_t max_depth = 64;      ///< nesting of calls and includes

    /// \throws config_error when the file is not YAML
    explicit scenario_files(const std::filesystem::path& file);

    config::node root() const { return documents_.front().root(); }
    /// Reads `include` and `sequences` of the file and of the included files.
    void read_sequences();
    /// Reads a list of steps for one point of the matrix, with sequences expanded. `nested`:
    /// snapshots are refused.
    std::vector<step> read(const config::node& list, const parameters& point, bool nested = false);
    /// Reads the steps of `setup`, each with a text by which scenarios share it.
    std::vector<step> read_setup(const config::node& list, const parameters& point);
    /// Reports parameters of sequences, and axes of the matrix, that no value uses.
    void check_parameters() const;
    /// Reports work in the background that no step read since begin_point() waits for.
    void check_background() const;
    /// Starts a new point of the matrix: forgets captures and the number of steps.
    void begin_point(const setting& point);

    /// Digest of the scenario's own file and the included ones.
    std::uint64_t text_digest() const;
    std::size_t steps() const { return steps_; }  ///< number of steps at this point
    /// Preparations of the steps read since the last call, to call before a run. Valid as long as
    /// this object.
    std::vector<std::function<void(const setting&)>> take_preparations() {
        return std::exchange(preparations_, {});
    }
    /// The checks of the steps read since the last call, as steps.
    std::vector<step> take_checks() { return std::exchange(checks_, {}); }
    /// Errors of all files since the last take_problems().
    const diagnostics& problems() const { return problems_; }
    diagnostics take_problems() { return std::exchange(problems_, {}); }

private:
    struct sequence {
        std::string name;
        config::node node, parameters, steps;
    };
    /// The names that the steps of one list can use.
    struct scope {
        parameters values;
        std::vector<const sequence*> inside = {};  ///< calling sequences, outermost first
        std::vector<enclosing> path = {};          ///< all enclosing sequences, branches and steps
        bool nested = false;                       ///< not the scenario's own list of steps
        int branches = 0;     ///< line of the outermost `together` around it; 0: none
        bool shared = false;  ///< the steps of `setup`
    };

    void include(const config::document& including, std::vector<std::filesystem::path>& chain);
    void define(const config::node& all);
    void read_item(const config::node& item, const scope& outer, std::vector<step>& out);
    std::vector<step> read_list(const config::node& list, const scope& outer);
    step read_one(const config::node& item, const scope& outer);
    void write_out(const config::node& item, const scope& outer, std::vector<step>& out);
    parameters arguments(const reader& call, const sequence& callee, const scope& outer) const;
    step read_branches(const config::node& item, const scope& outer);
    step read_figure(const config::node& item, const scope& outer);
    void share(const config::node& item, const scope& outer, step& made) const;
    bool is_of_one_scenario(const config::node& item) const;
    step read_later(const config::node& item, const scope& outer);
    void read_in_advance(const config::node& item, const scope& outer, step& later);
    bool uses_captured(const config::node& value) const;
    void note_captures(const config::node& item, const scope& outer);
    static scope nested(scope outer, enclosing container);
    void note_snapshots(const config::node& item, const scope& outer, const step& made);
    void note_background(const config::node& item, const scope& outer, const step& made);
    bool is_used(std::string_view name, const config::node& searched,
                 std::set<const sequence*>& seen) const;

    diagnostics problems_;  // the documents report to this object
    std::list<config::document> documents_;
    std::set<std::filesystem::path> included_;
    std::map<std::string, sequence, std::less<>> sequences_;
    setting setting_;               // of the current point
    std::uint64_t file_bytes_ = 0;  // of files that its steps hold
    std::vector<std::function<void(const setting&)>> preparations_;
    std::vector<step> checks_;
    std::set<std::string, std::less<>> captured_;  // names captured by the steps read so far
    /// A step that starts work in the background, or waits for it.
    struct background {
        config::node item;
        std::string work;
        std::size_t order = 0;  // steps read before it
        int branches = 0;       // line of the outermost `together` around it; 0: none
    };
    std::vector<background> started_, finished_;
    bool finishes_captured_ = false;  // a step waits for work whose name is captured
    bool in_advance_ = false;         // a step is read before the values that it uses are known
    std::vector<std::string> kept_;   // snapshots taken by the steps read so far
    std::size_t steps_ = 0;
};

}  // namespace trn::scenario
