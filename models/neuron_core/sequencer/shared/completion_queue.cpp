// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/shared/completion_queue.h"

#include <algorithm>

namespace trn {

void completion_queue::push(cycles cycle, const entry& e) {
    last_ = std::max(last_, cycle);
    flights_.push_back({last_, e});
    ++issued_;
}

void completion_queue::settle(cycles now, engine_signals& signals) {
    while (!flights_.empty() && flights_.front().cycle <= now) {
        const entry done = flights_.front().completion;
        flights_.pop_front();
        const trace::on_behalf_of operation(done.operation);
        if (done.update.mode != 0) signals.update(done.update, done.pc);
        if (done.notify) signals.send(notification::kind::notify, done.pc);
        if (done.traced) signals.send(notification::kind::trace, (done.pc & 0xff'ffff) | 1u << 30);
    }
}

void completion_queue::reset() {
    flights_.clear();
    last_ = 0;
    issued_ = 0;
}

std::optional<completion_queue::cycles> completion_queue::next() const {
    return flights_.empty() ? std::nullopt : std::optional(flights_.front().cycle);
}

std::optional<completion_queue::cycles> completion_queue::next_effect() const {
    const auto found =
        std::ranges::find_if(flights_, [](auto& f) { return f.completion.has_effect(); });
    return found == flights_.end() ? std::nullopt : std::optional(found->cycle);
}

std::uint64_t completion_queue::retired(cycles now) const {
    const auto flying = std::ranges::count_if(flights_, [now](auto& f) { return f.cycle > now; });
    return issued_ - static_cast<std::uint64_t>(flying);
}

}  // namespace trn
