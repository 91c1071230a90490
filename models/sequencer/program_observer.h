// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

#include "models/instructions/data_path.h"

namespace trn::isa {

/// What the engines of a core do, for checks of their programs. An observer changes no result; a
/// core without one pays a test of a pointer. All calls come at the simulated time of the event.
class program_observer {
public:
    virtual ~program_observer() = default;

    /// START or CONTINUE.
    virtual void started(engine e) = 0;
    /// HALT, STOP, a failure or a reset.
    virtual void ended(engine e) = 0;
    /// The data path is about to execute `i`, which has passed its checks. Its results are visible
    /// at `complete` (absolute). True: a PSUM collision is to be notified.
    virtual bool issues(engine e, std::uint32_t pc, const instruction& i,
                        const sc_core::sc_time& complete) = 0;
    virtual void computed(engine e, std::uint32_t pc, const instruction& i, const mistakes& m) = 0;
    /// REG_LOAD and REG_STORE of SBUF and PSUM, before the bytes move.
    virtual void accesses(engine e, std::uint32_t pc, const location& first, std::uint32_t bytes,
                          bool writes) = 0;
    /// REG_LOAD of memory, or the end of DMA that the engine polled: it may have learned what
    /// others have completed.
    virtual void polled(engine e) = 0;
    /// Changes semaphore or event `index`.
    virtual void posts(engine e, unsigned index, bool at_issue) = 0;
    /// DMA_START and the like: is about to give work to a queue of one of the core's DMA engines.
    virtual void rings(engine e, unsigned dma_engine, unsigned queue) = 0;
    /// A wait for semaphore or event `index` is over.
    virtual void waited(engine e, unsigned index) = 0;
};

}  // namespace trn::isa
