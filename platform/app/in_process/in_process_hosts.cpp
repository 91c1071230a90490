// SPDX-License-Identifier: Apache-2.0
#include "platform/app/in_process/in_process_hosts.h"

#include <utility>

namespace trn {

std::vector<std::string> in_process_hosts::chips() const {
    std::vector<std::string> names;
    for (const auto& one : chips_) names.push_back(one.name);
    return names;
}

std::vector<host_set::card> in_process_hosts::cards() const {
    std::vector<placed_function> chips, cards;
    for (const auto& one : chips_) chips.push_back({one.name, one.server});
    for (const auto& one : cards_) cards.push_back({one.name, one.server});
    return share_cards(chips, cards);
}

in_process_hosts::host::host(const function& of)
    : cpu(*of.port, {.name = of.name + ".host"}),
      transport(cpu.transport()),
      options(options_on(of.product)) {}

in_process_hosts::host& in_process_hosts::host_of(function& of) {
    if (!of.by) of.by = std::make_unique<host>(of);
    return *of.by;
}

void in_process_hosts::start(host& on, std::function<void()> does) {
    ++running_;
    on.cpu.run([this, does = std::move(does)] {
        try {
            does();
        } catch (const sc_core::sc_unwind_exception&) {
            throw;  // the kernel ends the process
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
        }
        --running_;
    });
}

void in_process_hosts::start(const std::vector<std::size_t>& which, const host_set::work& does) {
    for (const auto chip : which) {
        host& at = host_of(chips_.at(chip));
        start(at, [&at, does, chip] {
            if (!at.chip) at.chip.emplace(at.transport, at.options);
            does(chip, *at.chip);
        });
    }
}

void in_process_hosts::start_cards(const std::vector<std::size_t>& which,
                                   const host_set::card_work& does) {
    for (const auto card : which) {
        host& at = host_of(cards_.at(card));
        start(at, [&at, does, card] { does(card, at.transport); });
    }
}

void in_process_hosts::rethrow() {
    if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

}  // namespace trn
