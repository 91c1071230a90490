// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/kinds.h"
#include "platform/app/commands/guarded.h"
#include "platform/app/commands/kind_text.h"
#include "platform/app/device_tree/board_tree.h"
#include "platform/app/drawing/board_vocabulary.h"
#include "platform/app/kinds_option.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/kinds/foreign_end.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"
#include "platform/framework/netlist/plan/address_map.h"
#include "platform/framework/output.h"

namespace trn {

namespace {

using nlohmann::ordered_json;

struct arguments {
    std::string name;  ///< name of a board or a kind
    std::string map;
    std::string graph;
    std::vector<std::string> set, kind_libraries;
    bool as_json = false;
    bool as_markdown = false;
    bool list_kinds = false;
    bool device_tree = false;
};

std::string dump(const ordered_json& value) {
    return value.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

std::string hex(std::uint64_t address) {
    return fmt::format("0x{:x}", address);
}

// --- Kinds

ordered_json kind_json(const kind& k) {
    ordered_json out{{"name", k.name}, {"doc", k.doc}};
    out["parameters"] = ordered_json::array();
    for (const auto& p : k.parameters) {
        ordered_json parameter{
            {"name", p.name}, {"type", p.type}, {"doc", p.doc}, {"required", p.required}};
        if (const auto limits = to_string(p.bounds, p.dimension); !limits.empty())
            parameter["limits"] = limits;
        if (!p.required) parameter["default"] = p.show(k.defaults());
        out["parameters"].push_back(parameter);
    }
    out["ports"] = ordered_json::array();
    for (const auto& p : k.ports) {
        ordered_json port{{"name", p.name},
                          {"role", to_string(p.role)},
                          {"doc", p.doc},
                          {"optional", p.may_be_unbound}};
        if (p.foreign) port["foreign"] = p.foreign->describe();
        out["ports"].push_back(port);
    }
    out["statistics"] = ordered_json::array();
    for (const auto& s : k.statistics)
        out["statistics"].push_back({{"name", s.name}, {"unit", s.unit}, {"doc", s.doc}});
    out["events"] = ordered_json::array();
    for (const auto& e : k.events)
        out["events"].push_back({{"name", e.name}, {"fields", e.fields}, {"doc", e.doc}});
    return out;
}

std::string all_kinds(bool as_json) {
    ordered_json list = ordered_json::array();
    std::string text;
    const auto add = [&](const kind& k) {
        list.push_back(kind_json(k));
        text += fmt::format("{:20} {}\n", k.name, k.doc);
    };
    std::ranges::for_each(kinds(), add);
    for (const auto* loaded : loaded_kinds()) add(*loaded);
    return as_json ? dump(list) : text;
}

// --- Boards

std::string tree_text(const plan& board) {
    std::string out;
    std::vector<std::uint32_t> ends;
    for (std::uint32_t i = 0; i < board.modules.size(); ++i) {
        const auto& m = board.modules[i];
        while (!ends.empty() && ends.back() <= i) ends.pop_back();
        const auto name = std::string(2 * ends.size(), ' ') + m.name;
        ends.push_back(m.end);
        std::vector<std::string> values;
        for (const auto& [key, value] : board.parameters_of(m))
            values.push_back(fmt::format("{} {}", key, printable(value)));
        out += fmt::format("{:26} {:20} {}\n", name, m.type, fmt::join(values, ", "));
    }
    return out;
}

ordered_json tree_json(const plan& board) {
    ordered_json list = ordered_json::array();
    for (const auto& m : board.modules) {
        ordered_json parameters = ordered_json::object();
        for (const auto& [key, value] : board.parameters_of(m)) parameters[key] = value;
        list.push_back({{"name", m.path},
                        {"type", m.type},
                        {"parameters", parameters},
                        {"place", place_text(m.node)}});
    }
    return list;
}

std::string row_target(const plan& board, const map_row& row) {
    return fmt::format("{} + {}", board.text(row.target), hex(row.window.target_base));
}

std::string map_text(const plan& board, const std::vector<map_row>& rows) {
    std::string out;
    for (const auto& row : rows) {
        const auto& w = row.window;
        std::vector<std::string> places;
        for (const auto& hop : row.through) places.push_back(place_text(hop));
        out += fmt::format("  0x{:016x} - 0x{:016x}  {:>12}  {:40}  {}\n", w.base,
                           w.base + (w.size - 1), to_string(bytes{w.size}), row_target(board, row),
                           places.back());
    }
    if (rows.size() == address_maps::max_rows)
        out += fmt::format("  ... only the first {} ranges\n", rows.size());
    return out;
}

ordered_json map_json(const plan& board, const std::vector<map_row>& rows) {
    ordered_json list = ordered_json::array();
    for (const auto& row : rows) {
        ordered_json places = ordered_json::array();
        for (const auto& hop : row.through) places.push_back(place_text(hop));
        list.push_back({{"base", row.window.base},
                        {"size", row.window.size},
                        {"target", board.text(row.target)},
                        {"target_base", row.window.target_base},
                        {"places", places}});
    }
    return list;
}

/// The routers to show: the wanted one, or all.
std::vector<std::uint32_t> chosen_routers(const plan& board, const address_maps& maps,
                                          const std::string& wanted) {
    auto all = maps.routers();
    if (wanted.empty()) return all;
    std::vector<std::string> names;
    for (const auto r : all) {
        if (board.modules[r].path == wanted) return {r};
        names.push_back(board.modules[r].path);
    }
    throw config_error(
        diagnostic{.code = mistake::unknown_module,
                   .file = "",
                   .message = fmt::format("no router '{}' in {}", wanted, board.name),
                   .suggestion = suggest(wanted, names)});
}

std::string board_text(const plan& board, const std::string& map) {
    const address_maps maps(board);
    const auto shown = chosen_routers(board, maps, map);
    std::string out;
    if (map.empty()) {
        out += fmt::format("{}: {}\n{}, {} modules, digest {:016x}\n\n", printable(board.name),
                           printable(board.description), board.file.string(), board.modules.size(),
                           board.digest);
        out += tree_text(board);
    }
    for (const auto router : shown)
        out += fmt::format("{}{}\n{}", out.empty() ? "" : "\n", board.modules[router].path,
                           map_text(board, maps.flattened(router)));
    return out;
}

ordered_json board_json(const plan& board, const std::string& map) {
    const address_maps all(board);
    ordered_json maps = ordered_json::object();
    for (const auto router : chosen_routers(board, all, map))
        maps[board.modules[router].path] = map_json(board, all.flattened(router));
    return {{"name", board.name},          {"description", board.description},
            {"file", board.file.string()}, {"digest", fmt::format("{:016x}", board.digest)},
            {"modules", tree_json(board)}, {"maps", maps}};
}

// --- Command

[[noreturn]] void refuse_name(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& b : list_boards()) names.push_back(b.name);
    const auto known = kind_names(kinds());
    names.insert(names.end(), known.begin(), known.end());
    throw config_error(diagnostic{.code = mistake::unknown_board,
                                  .file = "",
                                  .message = fmt::format("no board and no kind '{}'", name),
                                  .suggestion = suggest(name, names)});
}

/// Device tree of the first processor that runs stock software.
std::string device_tree(const plan& board) {
    const auto stores = image_stores(board);
    if (stores.empty())
        throw user_error(fmt::format(
            "--device-tree: no processor of {} runs stock software; try --set software=stock",
            board.name));
    const auto blob = make_device_tree(describe_processor(board, stores.front()));
    return {blob.begin(), blob.end()};
}

std::string inspect(const arguments& given) {
    if (given.as_markdown && find_kind(kinds(), given.name) == nullptr)
        throw user_error("--markdown needs a kind");
    if (given.list_kinds) return all_kinds(given.as_json);
    if (const auto* k = find_kind(kinds(), given.name))
        return given.as_json       ? dump(kind_json(*k))
               : given.as_markdown ? kind_markdown(*k)
                                   : kind_text(*k);
    if (given.name.empty())
        throw user_error(
            "a board or a kind is required: `trnvp boards` lists boards, `trnvp "
            "inspect --list-kinds` kinds");
    if (!is_board(given.name)) refuse_name(given.name);
    const auto board = load_board(given.name, kinds(), given.set);
    if (given.device_tree) return device_tree(board);
    if (!given.graph.empty()) {
        const auto topology = drawing::read_topology(board, board_vocabulary());
        return given.graph == "dot" ? to_dot(board, topology) : to_svg(board, topology);
    }
    return given.as_json ? dump(board_json(board, given.map)) : board_text(board, given.map);
}

}  // namespace

void add_inspect(cli::command* command, int& status) {
    auto given = std::make_shared<arguments>();
    command->add_option("BOARD|KIND", given->name, "a name from `trnvp boards`, a path, or a kind");
    command->add_option("--map", given->map, "only this router's map, down to the blocks");
    command
        ->add_option("--graph", given->graph, "only a drawing of chips, switches, hosts and cables")
        ->transform(cli::one_of({"svg", "dot"}));
    add_kinds_option(*command, given->kind_libraries, kinds());
    command->add_option("--set", given->set, "a parameter of the board: name=value");
    command->add_flag("--device-tree", given->device_tree,
                      "the flattened device tree of a management processor with stock software");
    command->add_flag("--list-kinds", given->list_kinds, "everything a board may name");
    command->add_flag("--json", given->as_json, "as JSON");
    command->add_flag("--markdown", given->as_markdown, "a kind as a chapter of a page");
    command->examples({{"trnvp inspect trn3-chip", "its modules, parameters and address maps"},
                       {"trnvp inspect trn3-chip --graph svg > trn3-chip.svg", "a drawing"},
                       {"trnvp inspect udma", "parameters and ports of a kind of module"}});
    command->callback([given, &status] {
        const auto found = inspect(*given);
        if (given->device_tree)
            print_raw(stdout, found);  // a binary file
        else
            print_to(stdout, "{}", found);
        status = 0;
    });
}

}  // namespace trn
