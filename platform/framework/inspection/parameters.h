// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// The parameters of a board, of its assemblies and of their modules, as tools see them: made from
/// the tables of kinds when they are asked for. Names are those of CCI (cci_broker_if,
/// cci_param_untyped_handle) where the meaning is the same. All parameters are fixed at
/// elaboration.
class parameter_handle {
public:
    /// "chip0.hbm0.size", with the names of the SystemC hierarchy; "devices" of the board.
    const std::string& name() const { return name_; }
    /// "size", "time", "list of numbers", "red | green": as the table of the kind shows it.
    /// Of a file's parameter, which has no table, the type of its value.
    std::string type() const;
    std::string description() const;
    /// The module's kind or assembly; "" of the board.
    std::string_view owner_type() const;
    /// Unit of the numbers in value(): "B", "ps", "B/s", "T/s" or "Hz"; "" without a unit.
    std::string_view unit() const;

    /// The value with its unit, as boards write it.
    std::string text() const;
    /// A number in unit(), true or false, text, or a list of these.
    nlohmann::json value() const;
    /// Of a module's parameter; nothing if boards must give it. Of a file's parameter see
    /// value_origin().
    std::optional<std::string> default_text() const;
    nlohmann::json default_value() const;
    /// Whether a module has the default of its kind.
    bool is_default_value() const;
    static constexpr bool is_mutable() { return false; }

private:
    friend class parameter_broker;
    const plan::module* module_ = nullptr;     ///< nullptr: a parameter of the board
    const parameter* declared_ = nullptr;      ///< nullptr: of a file
    const std::string* file_value_ = nullptr;  ///< nullptr: of a kind
    std::string name_;
};

class parameter_broker {
public:
    /// `above`: name of the module around the board's modules, if a program of others has one.
    /// `board` must outlive the broker and its handles.
    explicit parameter_broker(const plan& board, std::string above = {});

    std::optional<parameter_handle> get_param_handle(std::string_view name) const;
    /// Those of the board (""), or of a module; `inside`: also of all modules inside.
    std::vector<parameter_handle> get_param_handles(std::string_view module = {},
                                                    bool inside = true) const;
    /// Whether the board has a module of this name.
    bool has_module(std::string_view module) const;
    /// Names of all modules, and of the board's parameters, to suggest one.
    std::vector<std::string> names() const;

    /// Whether a file or the command line gives the value: there is a place to change it.
    bool has_preset_value(std::string_view name) const;
    /// The value that a file or the command line gives.
    std::optional<nlohmann::json> get_preset_value(std::string_view name) const;
    parameter_origin get_value_origin(std::string_view name) const;
    /// Origins of all parameters within a module (""; the board), by their names in the plan. Reads
    /// the board's files. \throws std::exception if they cannot be read, or have changed
    parameter_origins get_value_origins(std::string_view scope) const;
    /// Full names of the parameters of the file around, which the origin's text names.
    std::vector<std::string> referenced(const parameter_handle& parameter,
                                        const parameter_origin& origin) const;
    /// The name in the plan of a full name.
    std::optional<std::string_view> local(std::string_view name) const;

private:
    std::string full(std::string_view local) const;
    void add(std::uint32_t module, std::vector<parameter_handle>& all) const;
    parameter_handle of_file(const plan::module* module,
                             const std::pair<std::string, std::string>& given) const;
    parameter_handle of_kind(const plan::module& module, const parameter& declared) const;

    const plan& board_;
    const std::string above_;
};

/// A value in board syntax as JSON. `type`: the parameter's type for users.
nlohmann::json parameter_value(std::string_view type, std::string_view text);

/// A parameter for programs: name, type, value, text, unit, default, description, mutable, origin.
nlohmann::json to_json(const parameter_broker& broker, const parameter_handle& parameter,
                       const parameter_origins& origins);

}  // namespace trn
