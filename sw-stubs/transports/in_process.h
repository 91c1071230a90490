// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>

#include "platform/attach/function_port.h"
#include "platform/tlm/backing_store.h"
#include "sw-stubs/include/trn_transport.h"

namespace trn {

/// A host in the same process as the platform: CPU processes that run stub calls, memory that the
/// function reaches by DMA. Accesses and waits take simulated time and nothing else, so that a run
/// is the same every time; a fork() copies the host with its memory.
class host_cpu {
public:
    struct config {
        /// What an access costs the CPU beside what the device annotates; invented, in the range of
        /// a PCIe root complex.
        sc_core::sc_time read_cost{200, sc_core::SC_NS};
        sc_core::sc_time write_cost{20, sc_core::SC_NS};
        std::uint64_t memory_base = std::uint64_t{4} << 30;   ///< iova, bytes
        std::uint64_t memory_size = std::uint64_t{64} << 30;  ///< bytes; reserved, not backed
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
    int allocate(std::uint64_t size, trn_dma_memory& memory);
    void free(const trn_dma_memory& memory);

    function_port& function_;
    const config cfg_;
    backing_store memory_;
    std::map<std::uint64_t, std::uint64_t> holes_;  // offset -> size, bytes, freed and not in use
    std::uint64_t top_ = 0;                         // nothing above was ever given away
    std::size_t running_ = 0;
    std::exception_ptr failure_;
    std::function<void(trn_log_level, const std::string&)> log_;
};

}  // namespace trn
