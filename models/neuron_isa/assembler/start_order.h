// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "models/neuron_isa/assembler/cursor.h"
#include "models/neuron_isa/assembler/program_set.h"
#include "models/neuron_isa/instructions/instruction.h"

namespace trn::isa {

/// Checks that every ring's transfers start once, in the order of their declarations, in which the
/// ring contains their descriptors. A ring is a queue of one DMA engine.
class start_order {
public:
    void check(const transfer& t, std::span<const transfer> declared, engine issuer,
               const cursor& input, std::size_t start) {
        const auto number = static_cast<std::size_t>(&t - declared.data());
        auto& rings = rings_[{t.core, t.queue}];
        for (unsigned e = 0; e < dma_engines_of_core; ++e) {
            if (!t.uses(e)) continue;
            ring& r = rings[e];
            if (r.next != 0 && r.issuer != issuer)
                input.fail(
                    mistake::refused_by_model, start,
                    fmt::format("queue {} is used by {} already: the order of its descriptors "
                                "would be open; give each engine a queue of its own",
                                t.queue, name_of(r.issuer)));
            if (number < r.next)
                input.fail(
                    mistake::refused_by_model, start,
                    fmt::format("'{}' is started again: its descriptors are in the ring once; "
                                "declare another transfer",
                                t.name));
            std::size_t first = r.next;
            while (!declared[first].shares_ring(t, e)) ++first;
            if (first != number)
                input.fail(
                    mistake::refused_by_model, start,
                    fmt::format("'{}' is started before '{}', which is declared before it on "
                                "queue {}: declare them in the order of their starts",
                                t.name, declared[first].name, t.queue));
        }
        for (unsigned e = 0; e < dma_engines_of_core; ++e)
            if (t.uses(e)) rings[e] = {issuer, number + 1};
    }

private:
    struct ring {
        engine issuer{};
        std::size_t next = 0;  ///< all its transfers declared before this number are started
    };
    /// By core and queue.
    std::map<std::pair<unsigned, unsigned>, std::array<ring, dma_engines_of_core>> rings_;
};

}  // namespace trn::isa
