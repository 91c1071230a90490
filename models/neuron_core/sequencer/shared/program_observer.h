// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

#include "models/neuron_isa/instructions/data_path.h"

namespace trn::isa {

/// Receives events of a core's engines, to check their programs. An observer must not change
/// results. Each call is made at the simulated time of its event.
class program_observer {
public:
    virtual ~program_observer() = default;

    /// START or CONTINUE.
    virtual void started(engine e) = 0;
    /// After HALT, STOP, a failure or a reset.
    virtual void ended(engine e) = 0;
    /// Called before the data path executes `i`, which has passed its checks. Its results are
    /// visible at `complete` (absolute time). \returns whether to notify a PSUM collision
    virtual bool issues(engine e, std::uint32_t pc, const instruction& i,
                        const sc_core::sc_time& complete) = 0;
    virtual void computed(engine e, std::uint32_t pc, const instruction& i, const mistakes& m) = 0;
    /// REG_LOAD and REG_STORE of SBUF and PSUM, before the bytes move.
    virtual void accesses(engine e, std::uint32_t pc, const location& first, std::uint32_t bytes,
                          bool writes) = 0;
    /// After a REG_LOAD from memory, or after the engine polled DMA that has ended: the engine may
    /// know all that other agents have completed.
    virtual void polled(engine e) = 0;
    /// An update of semaphore or event `index`.
    virtual void posts(engine e, unsigned index, bool at_issue) = 0;
    /// Before DMA_START or a similar instruction gives work to a queue of the core's DMA engines.
    virtual void rings(engine e, unsigned dma_engine, unsigned queue) = 0;
    /// A wait for semaphore or event `index` is over.
    virtual void waited(engine e, unsigned index) = 0;
};

}  // namespace trn::isa
