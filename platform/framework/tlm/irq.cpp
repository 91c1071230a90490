// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/irq.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "platform/framework/kernel/time_value.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/initiator.h"

namespace trn {

/// The changes to come of all lines.
class irq_out::schedule_of_all {
public:
    static schedule_of_all& instance() {
        // Never destroyed: its event would outlive the kernel at the end of the process.
        static auto* const only = new schedule_of_all;
        return *only;
    }

    void add(irq_out& line, bool level, const sc_core::sc_time& time) {
        changes_.emplace(time.value(),
                         change{&line, level, initiator::current(), trace::current_operation()});
        notify();
    }

    void drop(const irq_out& line) {
        std::erase_if(changes_, [&](const auto& each) { return each.second.line == &line; });
    }

private:
    struct change {
        irq_out* line;
        bool level;
        const initiator* source;     // of the access; nullptr: a model's own process
        trace::operation operation;  // likewise
    };

    schedule_of_all()
        : due_(std::make_unique<sc_core::sc_event>(
              sc_core::sc_gen_unique_name("line_changes_due"))) {
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.set_sensitivity(due_.get());
        options.dont_initialize();
        sc_core::sc_spawn([this] { perform(); }, sc_core::sc_gen_unique_name("line_changes"),
                          &options);
    }

    /// Those of one time in the order of their calls. Sinks may add and drop changes.
    void perform() {
        const std::uint64_t now = sc_core::sc_time_stamp().value();
        while (!changes_.empty() && changes_.begin()->first <= now) {
            const change due = changes_.extract(changes_.begin()).mapped();
            const trace::on_behalf_of operation(due.operation);
            std::optional<acting> source;
            if (due.source != nullptr) source.emplace(*due.source);
            --due.line->pending_;
            due.line->drive(due.level);
        }
        notify();
    }

    /// No effect if the event is pending for the same time or an earlier one.
    void notify() {
        if (changes_.empty()) return;
        due_->notify(time_of_value(changes_.begin()->first - sc_core::sc_time_stamp().value()));
    }

    std::multimap<std::uint64_t, change> changes_;  // by absolute time in ps
    const std::unique_ptr<sc_core::sc_event> due_;
};

void irq_out::schedule(bool level, const sc_core::sc_time& delay) {
    const sc_core::sc_time time = later(sc_core::sc_time_stamp(), delay);
    last_change_ = pending_ == 0 ? time : std::max(last_change_, time);
    ++pending_;
    ++scheduled_;
    schedule_of_all::instance().add(*this, level, last_change_);
}

void irq_out::drop() {
    schedule_of_all::instance().drop(*this);
    pending_ = 0;
    next_level_ = level_;
}

}  // namespace trn
