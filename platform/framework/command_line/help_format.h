// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace trn::cli {

/// Writes what --help says of an option's value in the same form with all releases of CLI11.
class help_format : public CLI::Formatter {
public:
    std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace trn::cli
