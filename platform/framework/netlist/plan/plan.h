// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/framework/config/document.h"
#include "platform/framework/misuse/allowance.h"
#include "platform/framework/netlist/kinds/kind.h"
#include "platform/framework/netlist/plan/parameter_origin.h"

namespace trn {

/// A checked board, before modules exist: input for `system` and `trnvp inspect`. doc/boards.md
/// describes the YAML.
struct plan {
    struct module {
        std::string path;                ///< "chip0.hbm1", the module's full SystemC name
        std::string name;                ///< "hbm1"
        std::string type;                ///< name of a kind or assembly, as in the board
        const kind* built_as = nullptr;  ///< nullptr: an assembly, which only contains modules
        std::any config;                 ///< of the kind
        std::vector<std::pair<std::string, std::string>> parameters;  ///< of an assembly
        std::uint32_t parent = none;
        std::uint32_t end = 0;  ///< modules (this + 1) .. end - 1 are inside this one
        config::node node;
    };
    struct endpoint {
        std::uint32_t module = none;
        std::uint32_t port = 0;   ///< index in the kind's table
        std::uint32_t index = 0;  ///< interrupt line, or element of a vector of sockets

        /// A unique number of the endpoint. Kinds have fewer than 256 ports.
        std::uint64_t key() const {
            return std::uint64_t{module} << 32 | std::uint64_t{port} << 24 | index;
        }
    };
    struct range {
        std::uint64_t base = 0;         ///< for initiators
        std::uint64_t size = 0;         ///< bytes
        std::uint64_t target_base = 0;  ///< address at the target that corresponds to `base`
    };
    struct binding {
        endpoint source;
        endpoint target;
        std::optional<range> window;    ///< when `source` is a router's initiator
        std::uint32_t router_port = 0;  ///< binding of that socket that has the window
        bool repeated = false;          ///< already bound: only the window is new
        config::node node;
    };
    /// A port of the file itself, which is bound outside of the plan (plan_options::open).
    struct exported {
        std::string name;
        endpoint inner;
        config::node node;
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    std::string name;
    std::string description;
    std::filesystem::path file;
    std::vector<std::pair<std::string, std::string>> parameters;  ///< of the board
    std::vector<module> modules;                ///< containers precede their content
    std::vector<binding> bindings;              ///< in file order
    std::vector<exported> ports;                ///< in file order; of an open plan
    std::uint64_t digest = 0;                   ///< of all that is built; the same on every host
    std::vector<misuse::allowance> allowances;  ///< of its key `misuse`
    /// Reads the files again, for the origins of all parameters within `scope`: a plan does not
    /// keep them. \throws std::exception if the files cannot be read or have changed
    std::function<parameter_origins(std::string_view scope)> read_origins;

    const module* find(std::string_view path) const;
    std::uint32_t index_of(std::string_view path) const;  ///< or none
    const module& module_of(const endpoint& end) const { return modules[end.module]; }
    const port& port_of(const endpoint& end) const {
        return module_of(end).built_as->ports[end.port];
    }
    /// "chip0.hbm1.in", "chip0.plic.lines[3]".
    std::string text(const endpoint& end) const;
    /// "hbm1.in": the text in the file that binds it.
    std::string local_text(const endpoint& end) const;
    /// The parameters of a module with their units, in board syntax.
    std::vector<std::pair<std::string, std::string>> parameters_of(const module& m) const;
    /// One of these parameters; "" if the module has no parameter of this name.
    std::string parameter_of(const module& m, std::string_view name) const;

    // Owners of the nodes of modules and bindings.
    std::unique_ptr<diagnostics> problems;
    std::vector<std::shared_ptr<config::document>> documents;
    std::unordered_map<std::string_view, std::uint32_t> by_path;
};

/// Why a pattern of misuse::is_at() is wrong for the board: it names no module. Nothing if it does.
std::optional<config::refusal> unknown_modules(const plan& board, std::string_view pattern);

/// "file:line" of a node.
std::string place_text(const config::node& node);

}  // namespace trn
