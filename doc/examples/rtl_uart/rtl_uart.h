// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/rtl/apb_target.h"
#include "platform/framework/rtl/block.h"
#include "platform/framework/rtl/lines.h"
#include "terminal.h"

namespace example {

/// The RTL of uart.v in the place of the model `uart`.
class rtl_uart : public trn::rtl::block, public trn::console {
public:
    struct config {
        trn::rtl::clocking clock{.clock_hz = 48'000'000};
        std::uint64_t baud = 3'000'000;  ///< of the terminal
        std::uint64_t type_ahead = 4096;
    };

    rtl_uart(sc_core::sc_module_name name, const config& cfg);

    trn::rtl::apb_target bus;
    trn::rtl::line_out irq;

    void on_output(sink added) override { line_.add_sink(std::move(added)); }
    std::size_t type(std::string_view characters) override { return line_.type(characters); }

private:
    terminal line_;
};

}  // namespace example
