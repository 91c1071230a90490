// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "platform/framework/kernel/introspection.h"

namespace trn {

/// Bytes between a program of a guest and the simulator's steps. A device that is one is not a
/// console of the platform, although it may have that interface.
class byte_channel {
public:
    virtual void on_output(console::sink added) = 0;
    virtual std::size_t type(std::string_view bytes) = 0;

protected:
    ~byte_channel() = default;
};

}  // namespace trn
