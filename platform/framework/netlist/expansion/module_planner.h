// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/framework/netlist/binding/binding_planner.h"
#include "platform/framework/netlist/document/assembly_files.h"
#include "platform/framework/netlist/document/planning.h"
#include "platform/framework/netlist/expansion/plan_options.h"

namespace trn {

/// Instantiates the `modules:` of a board and of all its assemblies, with their parameters.
class module_planner {
public:
    /// `options` must outlive this object.
    module_planner(planning& all, const kind_list& kinds, const plan_options& options)
        : all_(all),
          plan_(all.result),
          kinds_(kinds),
          options_(options),
          files_(all, options.boards),
          bindings_(all) {}

    void plan_all(const assembly& board);

private:
    using entry = config::node::entry;
    /// `parameter: value`.
    struct setting : entry {
        std::optional<std::string> written_out;  ///< value not given by a YAML node
    };

    /// One `modules:` entry, parsed before its repetition.
    struct declaration {
        std::string name, type;
        config::node node;              ///< its key
        std::vector<setting> settings;  ///< those of `each` are the last, for one instance
        std::vector<std::pair<entry, series>> each;
        std::size_t first_each = 0;  ///< index in `settings`
        bool counted = false;
        std::uint64_t count = 1;
        const kind* built_as = nullptr;  // a kind, or else an assembly
        const assembly* assembled = nullptr;
    };

    variables board_values(const assembly& board);
    void read_misuse(const assembly& board, const variables& known);
    bool load_libraries(const assembly& file);
    void expand(scope& here);
    std::optional<declaration> read(const scope& here, const entry& e);
    bool read_each(const config::node& each, declaration& out);
    bool read_inherit(const scope& here, const config::node& inherit, declaration& out);
    bool find_type(const scope& here, const config::node& type, declaration& out);
    bool is_cycle(const assembly* next, const config::node& node);

    bool add(scope& here, declaration& declared, std::uint64_t i);
    void note(std::string_view module, const setting& given) const;
    void note_defaults(std::string_view module, const assembly& file) const;
    bool set_each(declaration& declared, std::uint64_t i, const variables& known);
    void configure(const declaration& declared, const variables& known, plan::module& module);
    void assign(const parameter& p, const setting& value, const variables& known, std::any& config);
    std::optional<std::string> value_of(const setting& s, const variables& known);
    void fill(const std::string& module, const declaration& declared, const variables& known,
              variables& inner);

    planning& all_;
    plan& plan_;
    const kind_list& kinds_;
    const plan_options& options_;
    assembly_files files_;
    binding_planner bindings_;
    std::vector<const assembly*> inside_;  ///< the files being instantiated, outermost first
};

}  // namespace trn
