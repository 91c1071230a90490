// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "platform/framework/netlist/foreign_ends.h"
#include "platform/framework/netlist/kinds/model_refusal.h"
#include "platform/framework/netlist/plan/address_map.h"
#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// A built board: owns all modules, in construction order; modules are connected only through their
/// sockets. Made during elaboration, of which a process has one.
class system {
public:
    /// Constructs and binds all modules of `board`, in the hierarchy of `inside`, the module that
    /// is being constructed; nullptr: at the top. \throws config_error (E54) if a model cannot be
    /// built: no address space, an image file that is not readable
    explicit system(plan board, const sc_core::sc_module* inside = nullptr);
    ~system();
    system(const system&) = delete;
    system& operator=(const system&) = delete;

    const plan& board() const { return board_; }

    /// \throws config_error (E54) at the place of the module that cannot work
    [[noreturn]] void refuse(const model_refusal& why);
    /// The error of SystemC's elaboration or of the first delta cycle, which is being handled.
    /// \throws config_error (E54) at the module that it names or a user's board; else the error
    [[noreturn]] void refuse(const sc_core::sc_report& why);

    /// The module with this path in the board; nullptr if there is none, or if it is not a T.
    template <class T = sc_core::sc_module>
    T* find(std::string_view path) const {
        const auto index = board_.index_of(path);
        return index == plan::none ? nullptr : dynamic_cast<T*>(modules_[index].get());
    }
    /// Calls visit(T&) for each module that is a T (a model's class or an interface), in
    /// construction order.
    template <class T, class Visit>
    void for_each(Visit visit) const {
        for (const auto& module : modules_)
            if (auto* found = dynamic_cast<T*>(module.get())) visit(*found);
    }
    template <class T>
    std::vector<T*> all() const {
        std::vector<T*> list;
        for_each<T>([&](T& module) { list.push_back(&module); });
        return list;
    }
    /// The module built from board().modules[index], including containers of assemblies.
    sc_core::sc_module& module(std::uint32_t index) const { return *modules_[index]; }
    /// The socket, line or plug of an end of the board, also of one that the board does not bind.
    sc_core::sc_object& object(const plan::endpoint& end);

private:
    class container;

    void build(std::uint32_t first, std::uint32_t last);
    void build_one(std::uint32_t index);
    [[noreturn]] void refuse(const plan::module& m, std::string_view why);
    [[noreturn]] void refuse(const plan::binding& bound, const sc_core::sc_report& why);
    /// A mistake of a library's author; in the tree an internal error.
    [[noreturn]] void wrong_table(const plan::module& m, const std::string& why);
    void bind_all();
    bool bind(const plan::binding& bound);
    std::string_view local_name(std::string_view full) const;

    plan board_;
    const std::string place_;  // full name of the module around the board, with a dot; "": none
    std::vector<std::unique_ptr<sc_core::sc_module>> modules_;  // indexed like board_.modules
    foreign_ends foreign_;
    std::unordered_map<const port*, std::size_t> places_;  // of ports among a module's children
};

}  // namespace trn
