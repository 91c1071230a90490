// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <utility>

#include "models/assembler/cursor.h"
#include "models/assembler/program_set.h"
#include "models/instructions/instruction.h"

namespace trn::isa {

/// Checks that transfers of a queue start once, in the order of their declarations, in which the
/// queue's ring contains their descriptors.
class start_order {
public:
    void check(const transfer& t, const transfer* first, engine by, const cursor& in,
               std::size_t at) {
        const auto number = &t - first;
        auto [entry, is_new] = last_.try_emplace({t.core, t.queue}, last{by, number});
        if (is_new) return;
        if (entry->second.by != by)
            in.fail(mistake::refused_by_model, at,
                    fmt::format("queue {} is used by {} already: the order of its descriptors "
                                "would be open; give each engine a queue of its own",
                                t.queue, name_of(entry->second.by)));
        if (number == entry->second.number)
            in.fail(mistake::refused_by_model, at,
                    fmt::format("'{}' is started again: its descriptors are in the ring once; "
                                "declare another transfer",
                                t.name));
        if (number < entry->second.number)
            in.fail(mistake::refused_by_model, at,
                    fmt::format("'{}' is declared before a transfer of queue {} that is started "
                                "earlier: declare them in the order of their starts",
                                t.name, t.queue));
        entry->second.number = number;
    }

private:
    struct last {
        engine by;
        std::ptrdiff_t number;
    };
    std::map<std::pair<unsigned, unsigned>, last> last_;
};

}  // namespace trn::isa
