// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "platform/framework/misuse/initiator.h"

namespace trn {

/// A queue of a DMA engine as an initiator of accesses.
class dma_queue_initiator : public initiator {
public:
    struct identity {
        std::string_view module;  ///< module that contains the engine
        unsigned engine, queue;   ///< the engine's number in its chip
    };
    virtual identity identify() const = 0;

protected:
    dma_queue_initiator() : initiator(kind::dma) {}
};

}  // namespace trn
