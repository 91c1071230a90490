// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <systemc>

#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"

/// State of models in trace files of SystemC (IEEE 1666-2011, 6.8), such as that of
/// sc_create_vcd_trace_file(). To trace changes no result: it adds no process and no event. Lines
/// are traced by sc_trace() of platform/framework/tlm/irq.h.
namespace trn {

/// A register, or a field of it; an element of an array, and of an instance of its block.
struct traced_register {
    register_bank* bank;
    std::size_t row;
    std::optional<register_field> field = {};
    unsigned index = 0, instance = 0;

    std::uint64_t value() const;
    unsigned width() const;  ///< bits
};

/// A stored value is traced at each change. A register that its model computes is traced at each
/// access to its bank, and by refresh_traces(). The bank must outlive the trace file.
void sc_trace(sc_core::sc_trace_file* file, const traced_register& traced, const std::string& name);

/// All registers of a bank, each as name.REGISTER, with _INDEX in arrays and _INSTANCE in front of
/// it in banks of several instances. \throws std::invalid_argument for more than 4096
void sc_trace(sc_core::sc_trace_file* file, register_bank& bank, const std::string& name);

/// Other state of at most 64 bits, such as an engine's: traced by refresh_traces(). \throws
/// std::bad_variant_access for other signals
void sc_trace(sc_core::sc_trace_file* file, const watched_signal& signal, const std::string& name);

/// Traces what models compute, with its value now. A testbench calls it where it needs the values,
/// such as at each edge of its clock.
void refresh_traces();

/// Traces a line, a register or a field by its full name: "chip0.management.uart.LSR.TX_IDLE",
/// "chip0.nc0.SEMAPHORE_READ[3]", "chip0.h2t0.M2S_Q_HEAD[1,0]" (instance, index),
/// "chip0.management.irqs.source[5]". \throws std::invalid_argument with the nearest name
void trace_by_name(sc_core::sc_trace_file* file, const std::string& name);

}  // namespace trn
