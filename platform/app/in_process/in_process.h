// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/tlm/server_memory.h"
#include "sw-stubs/driver/include/trn_transport.h"

namespace trn {

/// A host in the same process as the platform: CPU processes that run stub calls, memory that the
/// function reaches by DMA; hosts of one server share its memory. Accesses and waits take simulated
/// time and nothing else, so that a run is the same every time; a fork() copies the host with its
/// memory.
class host_cpu {
public:
    struct config {
        /// In the trace: "chip0.host".
        std::string name = "host";
        /// What an access costs the CPU beside what the device annotates; invented, in the range of
        /// a PCIe root complex.
        sc_core::sc_time read_cost{200, sc_core::SC_NS};
        sc_core::sc_time write_cost{20, sc_core::SC_NS};
        /// Bytes, where the function belongs to no server that has memory of its own; reserved, not
        /// backed.
        std::uint64_t memory_size = std::uint64_t{64} << 30;
    };

    /// Maps the memory into the function's view of the host. \throws std::runtime_error when
    /// something is mapped there already.
    host_cpu(function_port& function, const config& cfg);
    ~host_cpu();
    host_cpu(const host_cpu&) = delete;
    host_cpu& operator=(const host_cpu&) = delete;

    /// For trn_create; valid as long as the host. Calls are allowed in a process of run() only.
    trn_transport transport();

    /// Starts a process that runs `work` from now on in simulated time. Elaboration must be over.
    /// An exception of `work` ends the process and is kept for rethrow().
    void run(std::function<void()> work);
    /// Whether all work that was started is over.
    bool idle() const { return running_ == 0; }
    /// Throws what a work ended with, if one did.
    void rethrow();

    /// Receives the lines that the stub logs; nothing is logged without it.
    void on_log(std::function<void(trn_log_level, const std::string&)> sink);

private:
    static host_cpu& self(void* context) { return *static_cast<host_cpu*>(context); }
    template <typename Access>
    int access(sc_core::sc_time cost, Access&& perform);
    void note_access(std::string_view what, std::uint32_t bar, std::uint64_t offset,
                     std::uint64_t value, std::uint64_t size) const;
    int allocate(std::uint64_t size, trn_dma_memory& memory);
    void free(const trn_dma_memory& memory);

    function_port& function_;
    const config cfg_;
    std::unique_ptr<server_memory> own_memory_;
    server_memory* memory_ = nullptr;  // the server's: its other functions' hosts use it too
    std::size_t running_ = 0;
    trace::operation posting_ = 0;                         // whose the accesses are
    std::map<trace::operation, trace::slice> operations_;  // not complete
    std::exception_ptr failure_;
    std::function<void(trn_log_level, const std::string&)> log_;
};

}  // namespace trn
