// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What tools know of a machine at one moment (doc/telemetry.md). Sources fill it, views print it.
/// An empty optional, text or list is "not known", never 0.
namespace trn::telemetry {

template <class T>
using known = std::optional<T>;

/// Counters and sizes by the name that the public driver's sysfs has: "success", "tensors". Newer
/// drivers have more of them.
using named_values = std::map<std::string, std::uint64_t>;

/// Work of an engine of a NeuronCore since its reset.
struct engine_work {
    std::uint64_t busy_ns = 0;  ///< initiation intervals of instructions
    std::uint64_t instructions = 0;
    known<std::uint64_t> flops;
};

struct core {
    unsigned number = 0;                         ///< in its device
    known<std::uint64_t> busy_ns;                ///< by the clock of machine_state::clock_ns
    std::map<std::string, engine_work> engines;  ///< "tensor", "vector", "scalar", "gpsimd", "sync"
    named_values status;                         ///< results of executions: totals
    named_values device_memory, host_memory;     ///< bytes in use by kind
    named_values info;                           ///< further totals: "model_load_count"
    known<std::uint64_t> device_memory_bytes, host_memory_bytes;  ///< their sums
    known<std::uint64_t> sram_corrected, sram_uncorrected;        ///< errors of SBUF and PSUM
};

/// A port of a device, as its firmware publishes it.
struct link {
    unsigned port = 0;
    bool up = false;
    unsigned generation = 0;  ///< PCI Express generation of its speed; 0: down
    unsigned lanes = 0, all_lanes = 0;
    unsigned downs = 0;        ///< failures; 255: or more
    std::string fault = {};    ///< "": none
    std::string partner = {};  ///< "chip", "sled_switch", "rack_switch"; "": not identified
    known<unsigned> rack = {}, server = {}, chip = {}, partner_port = {};
};

/// What software can do with a device now.
enum class device_status {
    ready,
    booting,    ///< firmware has not published its words
    resetting,  ///< a reset is in progress
    gone,       ///< does not answer: all bits of its words are one
};

struct device {
    unsigned index = 0;        ///< n of /dev/neuron<n>
    std::string name;          ///< on the board: "chip0"; "": known in the platform only
    std::string bdf;           ///< "00:03.0"
    std::string product;       ///< "Trainium3"
    std::string architecture;  ///< of the device as the driver says it: "NDv4"
    device_status status = device_status::ready;
    std::string serial;  ///< 16 hexadecimal digits
    known<unsigned> routing_id;
    known<unsigned> firmware_api, firmware_build;
    unsigned core_count = 0;
    known<std::uint64_t> memory_bytes;
    std::optional<std::vector<unsigned>> connected;  ///< indices of neighbours in the instance
    std::vector<link> links;
    known<std::string> numa_node, cpu_affinity;

    std::optional<std::vector<std::string>>
        faulty;  ///< components with a fault, by the health word
    known<std::uint64_t> sram_corrected, sram_uncorrected;  ///< ECC errors
    known<std::uint64_t> hbm_corrected, hbm_uncorrected, hbm_repairable;
    std::string repair;           ///< "none", "pending", "failed"
    std::string power_status;     ///< of the driver: "POWER_STATUS_VALID"
    known<double> power_percent;  ///< of the rated power, mean of the dies
    known<double> power_watts;
    std::vector<double> celsius;  ///< dies, then HBM stacks
    known<bool> throttled;
    known<std::uint64_t> reset_requests, reset_failures;
    known<std::uint64_t> restarts;  // since power-on, by a watchdog, heat or software

    known<std::uint64_t> dma_bytes, dma_descriptors, dma_aborts, hbm_bytes;  ///< since the start
    named_values host_memory;  ///< bytes in use by kind, of all processes
    std::vector<core> cores;
};

inline constexpr std::array latency_percentiles{0u, 1u, 25u, 50u, 75u, 99u, 100u};

/// A process that uses devices of an instance.
struct process {
    std::uint64_t pid = 0;
    std::string name, command;
    std::vector<unsigned> devices;  ///< indices
    /// Cores on which it has loaded programs: numbers in the instance, number in the device +
    /// first_core().
    std::optional<std::vector<unsigned>> cores;
    named_values device_memory, host_memory;  ///< bytes by kind
    named_values status;                      ///< results of its executions
    named_values latency_ns;  ///< of its last executions: "p0", "p1", by latency_percentiles
};

/// A server with its devices; a rack has several.
struct instance {
    std::string name;  ///< of the server on the board; "": the only one
    std::string type;  ///< "trn3.48xlarge"
    std::string id;    ///< "i-..."
    std::string driver_version;
    std::string ultraserver;  ///< id of the UltraServer
    known<unsigned> server_id, rack_id;
    std::vector<device> devices;  ///< in the order of their indices
    std::vector<process> processes;
    std::optional<std::string> process_error;  ///< why processes are not known
};

/// Number of the device's first core in the instance, whose devices have equal numbers of cores:
/// those that are not known count as the largest one.
inline unsigned first_core(const instance& machine, const device& d) {
    unsigned largest = 0;
    for (const auto& each : machine.devices) largest = std::max(largest, each.core_count);
    return d.index * largest;
}

struct machine_state {
    std::uint64_t wall_ms = 0;      ///< when it was read: Unix time
    known<std::uint64_t> time_ps;   ///< simulated time
    known<std::uint64_t> clock_ns;  ///< by which busy times grow: simulated, or of the host
    std::string source;             ///< "platform BOARD", "sysfs /": what was read
    std::string version;            ///< of the platform
    std::vector<instance> instances;
};

}  // namespace trn::telemetry
