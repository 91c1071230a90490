// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "models/neuron_isa/assembler/directives.h"
#include "models/neuron_isa/assembler/program_set.h"
#include "platform/framework/config/diagnostics.h"

namespace trn::isa {

/// Checks queues that a program shares with a collective that it starts. Both are known only at the
/// end of the text.
class collective_queues {
public:
    void start(unsigned core, int line) { lines_.try_emplace(core, line); }
    /// Adds a use of a queue at a place in the text.
    void use(const program_names::collective_queue& used, diagnostic place) {
        if (uses_.size() < max_uses) uses_.emplace_back(used, std::move(place));
    }
    void report(diagnostics& mistakes) {
        for (auto& [used, place] : uses_) {
            const auto found = lines_.find(used.core);
            if (found == lines_.end()) continue;
            place.message = fmt::format(
                "queue {} is of collectives, which line {} starts on core {}: take 0 "
                "to {} or {} to {}",
                used.queue, found->second, used.core, first_collective_queue - 1,
                last_collective_queue + 1, transfer_queues - 1);
            mistakes.add(std::move(place));
        }
    }

private:
    static constexpr std::size_t max_uses = 64;
    std::map<unsigned, int> lines_;  ///< line that starts a collective, by core
    std::vector<std::pair<program_names::collective_queue, diagnostic>> uses_;
};

}  // namespace trn::isa
