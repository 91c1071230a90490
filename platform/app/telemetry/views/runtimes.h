// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "platform/app/telemetry/machine_state.h"
#include "platform/app/telemetry/views/summary.h"

/// What reports and metrics say of processes that use devices. What is not known is absent.
namespace trn::telemetry {

/// A process in reports: those that hold devices, or one for the work of cores whose process is not
/// known (pid 0).
struct runtime_share {
    const process* owner = nullptr;  ///< null: not known
    std::string tag;
    std::vector<const device*> devices;  ///< whose cores it uses
};
/// A device that several processes hold is of a process only if its cores are known: the work of
/// others would count twice.
std::vector<runtime_share> runtimes_of(const interval& work, const instance& machine);

/// A logical core: one, or two physical ones.
struct logical_core {
    unsigned number = 0;                ///< in the instance
    std::vector<known<double>> parts;   ///< utilisations of its physical cores, in percent
    known<double> utilisation;          ///< their mean
    known<double> flops;                ///< operations per second, of the cores that count them
    named_values memory;                ///< of the device, bytes by kind
    known<std::uint64_t> memory_bytes;  ///< with kinds that no tool names
};
std::vector<logical_core> logical_cores_of(const interval& work, const instance& machine,
                                           const device& d);
/// Cores that the process uses, as far as it is known.
std::vector<logical_core> cores_of(const interval& work, const instance& machine,
                                   const runtime_share& share);

/// Kinds of memory that the public tools name.
inline constexpr std::array core_memory_kinds{"constants", "model_code", "model_shared_scratchpad",
                                              "runtime_memory", "tensors"};
inline constexpr std::array host_memory_kinds{"application_memory", "constants", "dma_buffers",
                                              "tensors"};
struct runtime_memory {
    known<std::uint64_t> device, host;  ///< bytes
    named_values host_kinds;
};
runtime_memory memory_of(const runtime_share& share, const std::vector<logical_core>& cores);

/// Results of executions: status_type or error_type of neuron-monitor to a number.
struct execution_counts {
    named_values status, errors;
};
/// Of a period; null: since the counters began.
execution_counts executions_of(const interval* period, const instance& machine,
                               const runtime_share& share);

/// Percentile, as neuron-monitor names it, and seconds.
std::vector<std::pair<std::string, double>> latencies_of(const process& p);

/// ECC events of a device: event_type to the total.
inline constexpr std::array ecc_event_types{"mem_ecc_corrected", "mem_ecc_uncorrected",
                                            "sram_ecc_corrected", "sram_ecc_uncorrected"};
named_values ecc_events(const device& d);

}  // namespace trn::telemetry
