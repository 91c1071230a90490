// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>
#include <vector>

#include "models/kinds.h"
#include "platform/embedding/abi.h"
#include "platform/embedding/link_sockets.h"
#include "platform/embedding/signal_lines.h"
#include "platform/framework/config/share_folder.h"
#include "platform/framework/netlist/system.h"

namespace trn {

#ifdef TRNVP_SHARE_DIR  // of find_package(trnvp): boards and firmware by name
inline const bool knows_installation = set_share_folder(TRNVP_SHARE_DIR);
#endif

/// A chip, a cable, a host, a sled, a rack: a board or assembly as one module of another program's
/// hierarchy (doc/embedding.md). Its `ports:` are sockets of the base protocol and ports for
/// signals; any of them may stay unbound.
///
/// Mistakes of the caller are an SC_ERROR of type board_report.
class board_module : public sc_core::sc_module {
public:
    /// Values for parameters of the file: {{"firmware", "./flash.img"}}.
    using parameters = std::vector<std::pair<std::string, std::string>>;

    /// `file`: a path, or a name in the folder of boards: "trn3-sled", "chips/trainium3". To be
    /// constructed during elaboration. `place`: where a wrong parameter is reported.
    board_module(const sc_core::sc_module_name& name, const std::string& file,
                 const parameters& values = {}, const kind_list& kinds = trn::kinds(),
                 std::source_location place = std::source_location::current());
    ~board_module() override;

    // Each port of the file, by its name there, as the type that it has. Its module is a child of
    // this one, with the same name.

    /// A plug: sockets `in` and `out`.
    link_sockets& link(std::string_view port) const { return find<link_sockets>(port, "link"); }
    /// A target: socket `in`.
    initiator_bridge& target(std::string_view port) const {
        return find<initiator_bridge>(port, "target");
    }
    /// An initiator: socket `out`.
    thread_bridge& initiator(std::string_view port) const {
        return find<thread_bridge>(port, "initiator");
    }
    /// A line: port `in` or `out`.
    signal_input& input(std::string_view port) const { return find<signal_input>(port, "input"); }
    signal_output& output(std::string_view port) const {
        return find<signal_output>(port, "output");
    }
    /// Names of the ports, in the order of the file.
    const std::vector<std::string>& ports() const { return names_; }

    /// The modules of the file, for tests that look inside:
    /// modules().find<uart>("management.uart").
    const system& modules() const { return *modules_; }

private:
    void build(const std::string& file, const parameters& values, const kind_list& kinds,
               const std::source_location& place);
    void show(const plan::exported& port);
    sc_core::sc_module* find_port(std::string_view port) const;
    [[noreturn]] void refuse(std::string_view port, std::string_view type) const;

    template <class Module>
    Module& find(std::string_view port, std::string_view type) const {
        if (auto* found = dynamic_cast<Module*>(find_port(port))) return *found;
        refuse(port, type);
    }

    std::unique_ptr<system> modules_;
    std::vector<std::string> names_;
    std::map<std::string, std::unique_ptr<sc_core::sc_module>, std::less<>> shown_;
};

}  // namespace trn
