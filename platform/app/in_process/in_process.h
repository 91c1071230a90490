// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/tlm/server_memory.h"
#include "sw-stubs/driver/include/trn_transport.h"

namespace trn {

/// A host in the platform's process: CPU processes that run calls of the driver stub, and memory
/// that the function accesses by DMA. Hosts of one server share memory. Only accesses and waits
/// take simulated time, so runs are reproducible; a fork() copies the host with its memory.
class host_cpu final : private access_waiter {
public:
    struct config {
        /// Name in the trace: "chip0.host".
        std::string name = "host";
        /// Cost of an access for the CPU, added to the delay that the device annotates. Invented,
        /// in the range of a PCIe root complex.
        sc_core::sc_time read_cost{200, sc_core::SC_NS};
        sc_core::sc_time write_cost{20, sc_core::SC_NS};
        /// Bytes of memory, if the function's server has no memory of its own. Address space is
        /// reserved; pages are allocated when they are first written.
        std::uint64_t memory_size = std::uint64_t{64} << 30;
    };

    /// Maps the memory into the function's view of the host. \throws std::runtime_error when the
    /// function already has a mapping there.
    host_cpu(function_port& function, const config& cfg);
    ~host_cpu();
    host_cpu(const host_cpu&) = delete;
    host_cpu& operator=(const host_cpu&) = delete;

    /// The transport for trn_create; valid as long as this object. Call it only inside a process of
    /// run().
    trn_transport transport();

    /// Runs `work` from the current simulated time in a process of its own until it returns.
    /// Precondition: elaboration is complete. An exception ends the work and is kept for rethrow().
    void run(std::function<void()> work);
    /// Whether all started work has ended.
    bool idle() const { return running_ == 0; }
    /// Throws the first exception that ended a piece of work, if there is one.
    void rethrow();

    /// Sets the receiver of the stub's log lines; by default they are dropped.
    void on_log(std::function<void(trn_log_level, const std::string&)> sink);

private:
    struct worker;

    static host_cpu& self(void* context) { return *static_cast<host_cpu*>(context); }
    template <typename Access>
    int access(sc_core::sc_time cost, Access&& perform);
    void stay_behind();
    // access_waiter
    void deferred() override { waits_ = true; }
    void ended(const sc_core::sc_time& delay) override;
    void note_access(std::string_view access, std::uint32_t bar, std::uint64_t offset,
                     std::uint64_t value, std::uint64_t size) const;
    void carry_out(const std::function<void()>& work);
    int allocate(std::uint64_t size, trn_dma_memory& memory);
    void free(const trn_dma_memory& memory);

    function_port& function_;
    const config cfg_;
    std::unique_ptr<server_memory> own_memory_;
    // Of the server; shared with the hosts of its other functions.
    server_memory* memory_ = nullptr;
    std::size_t running_ = 0;
    std::vector<std::shared_ptr<worker>> idle_;            // processes that wait for work
    trace::operation posting_ = 0;                         // operation that the accesses belong to
    std::map<trace::operation, trace::slice> operations_;  // operations that are not complete
    bool waits_ = false;                                   // an access is deferred; one at a time
    sc_core::sc_time rest_;                                // of its duration, when it has ended
    sc_core::sc_event access_over_;
    std::exception_ptr failure_;
    std::function<void(trn_log_level, const std::string&)> log_;
};

}  // namespace trn
