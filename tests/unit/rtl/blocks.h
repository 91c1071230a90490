// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "axi_dma_rtl.h"
#include "axi_memory_rtl.h"
#include "axi_memory_wide_rtl.h"
#include "faulty_rtl.h"
#include "lite_registers_rtl.h"
#include "platform/framework/rtl/apb_target.h"
#include "platform/framework/rtl/axi_initiator.h"
#include "platform/framework/rtl/axi_lite_target.h"
#include "platform/framework/rtl/axi_target.h"
#include "platform/framework/rtl/block.h"
#include "platform/framework/rtl/lines.h"
#include "platform/framework/rtl/stream_initiator.h"
#include "platform/framework/rtl/stream_target.h"
#include "stream_loopback_rtl.h"

namespace trn::test {

inline const sc_core::sc_time ns{1, sc_core::SC_NS}, us{1, sc_core::SC_US};

/// Clock: 100 MHz.
struct faulty_block : rtl::block {
    explicit faulty_block(sc_core::sc_module_name name, const rtl::clocking& settings = {})
        : block(name, rtl::designs::faulty, settings) {}
    rtl::apb_target in{*this, "in", ""};
    rtl::line_in levels{*this, "levels", "levels"};
    rtl::line_out low_bit{*this, "low_bit", "low_bit"};
};

struct lite_block : rtl::block {
    explicit lite_block(sc_core::sc_module_name name)
        : block(name, rtl::designs::lite_registers, rtl::clocking{}) {}
    rtl::axi_lite_target in{*this, "in", "s_axi_"};
};

struct memory_block : rtl::block {
    memory_block(sc_core::sc_module_name name, rtl::make_design* make,
                 const rtl::axi_target::settings& options)
        : block(name, make, rtl::clocking{}), in(*this, "in", "s_axi_", options) {}
    rtl::axi_target in;
    const rtl::pin max_open_reads{output("max_open_reads")};
};

struct dma_block : rtl::block {
    explicit dma_block(sc_core::sc_module_name name,
                       const rtl::axi_initiator::settings& options = {})
        : block(name, rtl::designs::axi_dma, rtl::clocking{}, {.busy = "busy"}),
          out(*this, "out", "m_", options) {}
    rtl::axi_lite_target in{*this, "in", "s_"};
    rtl::axi_initiator out;
    rtl::line_out irq{*this, "irq", "irq"};
};

struct stream_block : rtl::block {
    explicit stream_block(sc_core::sc_module_name name)
        : block(name, rtl::designs::stream_loopback, rtl::clocking{}) {}
    rtl::stream_target in{*this, "in", "s_axis_"};
    rtl::stream_initiator out{*this, "out", "m_axis_", {.address = 0x40, .stall_percent = 30}};
};

}  // namespace trn::test
