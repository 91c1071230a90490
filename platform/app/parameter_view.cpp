// SPDX-License-Identifier: Apache-2.0
#include "platform/app/parameter_view.h"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/inspection/parameters.h"

namespace trn {

using rpc::json;

namespace {

/// A client with more unread bytes would be disconnected (control_server::largest_backlog).
constexpr std::size_t max_rows = 20'000;

/// Names like a wrong one: of all modules, and of its module's parameters.
std::vector<std::string> names_near(const parameter_broker& broker, const std::string& name) {
    auto all = broker.names();
    if (const auto dot = name.rfind('.'); dot != name.npos)
        for (const auto& each : broker.get_param_handles(name.substr(0, dot), false))
            all.push_back(each.name());
    return all;
}

std::vector<parameter_handle> parameters_asked(const parameter_broker& broker,
                                               const std::string& name, bool inside) {
    if (name.empty() || broker.has_module(name)) return broker.get_param_handles(name, inside);
    if (auto found = broker.get_param_handle(name)) return {std::move(*found)};
    throw rpc::error(rpc::code::not_found,
                     fmt::format("the board has no module or parameter '{}'  {}", name,
                                 suggest(name, names_near(broker, name))));
}

json parameters(const plan& board, const rpc::parameters& p) {
    const parameter_broker broker(board);
    const auto name = p.text("name", "");
    const auto asked = parameters_asked(broker, name, p.flag("inside", false));
    if (asked.size() > max_rows)
        throw rpc::error(rpc::code::failed,
                         fmt::format("{} parameters are more than {}: name a module inside",
                                     asked.size(), max_rows));
    json unknown;
    parameter_origins origins;
    try {
        origins = broker.get_value_origins(name);
    } catch (const std::exception& why) {
        // Of several mistakes in a file the first; it is repeated for each parameter.
        const std::string_view text = why.what();
        unknown = {{"by", "unknown"}, {"written", text.substr(0, text.find('\n'))}};
    }
    json rows = json::array();
    for (const auto& each : asked) {
        rows.push_back(to_json(broker, each, origins));
        if (!unknown.is_null()) rows.back()["origin"] = unknown;
    }
    return rows;
}

}  // namespace

void add_parameter_methods(control& methods, const plan& board) {
    methods.methods().add(
        {"parameters",
         "Parameters of a module, an assembly or the board, with where each value comes from.",
         {{"name", "text", "full name of a module or of one parameter", "the board"},
          {"inside", "true or false", "also those of all modules inside", "false"}},
         {{"", "list", "of parameters, each with:"},
          {"name", "text", "its full name: \"chip0.hbm0.size\""},
          {"type", "text", "as in doc/kinds.md"},
          {"value", "number, true or false, text or list", "in `unit`"},
          {"text", "text", "the value as boards write it"},
          {"unit", "text", "B, ps, B/s, T/s, Hz; empty: none"},
          {"default, default_text", "", "the same of the default; absent if boards must give it"},
          {"description", "text"},
          {"mutable", "false", "parameters are fixed when the board is built"},
          {"origin", "{by, file, line, column, written, parameters}",
           "by: file, preset, command line, default of the file or of the kind, or program; "
           "written: the text there; parameters: full names of those that it refers to"}},
         {{rpc::code::not_found, "no such module or parameter"},
          {rpc::code::failed, "more than 20000 parameters"}}},
        [&board](const auto& p, auto&) { return parameters(board, p); });
}

}  // namespace trn
