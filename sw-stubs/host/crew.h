// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sw-stubs/host/device.h"

namespace trn {

/// The hosts of a machine's chips: who can run driver-stub calls on several of them.
class crew {
public:
    using work = std::function<void(std::size_t chip, device&)>;

    virtual ~crew() = default;
    /// The chips with a PCIe function, as the board orders them.
    virtual std::vector<std::string> chips() = 0;
    /// Runs `does` on these chips, and returns when all are done: at the same simulated time where
    /// the platform is in this process, one after the other elsewhere. The first exception comes
    /// back.
    virtual void run_each(const std::vector<std::size_t>& which, const work& does) = 0;
};

}  // namespace trn
