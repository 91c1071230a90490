// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cci_configuration>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/inspection/parameters.h"

/// Parameters of boards for Accellera's CCI 1.0 (SystemC Configuration). Compiled only where its
/// header and library are installed (doc/inspection.md).
namespace trn {

/// A cci_param for each parameter of a module and of all modules inside (""; of the board), while
/// the object exists: immutable, with its full name. A value that is not the default is a preset,
/// whose originator is the place of the value. Modules exist already, so an earlier preset of
/// another value is replaced, with a warning of type /trn/parameters/preset.
class cci_parameters {
public:
    cci_parameters(const parameter_broker& board, const cci::cci_broker_handle& broker,
                   std::string_view module = {});
    ~cci_parameters();
    cci_parameters(const cci_parameters&) = delete;
    cci_parameters& operator=(const cci_parameters&) = delete;

    std::size_t size() const { return all_.size(); }

private:
    void add(const parameter_handle& parameter, const parameter_origin& origin);
    void preset(const std::string& name, const cci::cci_value& value, const std::string& place);

    cci::cci_broker_handle broker_;
    std::vector<std::unique_ptr<cci::cci_param_untyped>> all_;
};

/// The presets of these parameters of a board, as NAME=VALUE for load_board(): `names` are those
/// of the board, whose parameters are below `above` in the broker ("": at the top).
std::vector<std::string> board_settings(const cci::cci_broker_handle& broker,
                                        const std::vector<std::string>& names,
                                        const std::string& above = {});

}  // namespace trn
