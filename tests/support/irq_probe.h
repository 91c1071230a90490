// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/tlm/irq.h"

namespace trn::test {

/// Records one interrupt output: its level and the number of rising edges.
class irq_probe {
public:
    explicit irq_probe(irq_out& source, const char* name = "probe")
        : line_(name, 1, [this](unsigned, bool level) { rises_ += level ? 1 : 0; }) {
        source.bind(line_);
    }
    bool level() const { return line_.level(); }
    unsigned rises() const { return rises_; }

private:
    irq_in line_;
    unsigned rises_ = 0;
};

}  // namespace trn::test
