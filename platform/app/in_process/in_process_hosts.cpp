// SPDX-License-Identifier: Apache-2.0
#include "platform/app/in_process/in_process_hosts.h"

#include <utility>

namespace trn {

std::vector<std::string> in_process_hosts::chips() const {
    std::vector<std::string> names;
    for (const auto& chip : chips_) names.push_back(chip.name);
    return names;
}

std::vector<host_set::card> in_process_hosts::cards() const {
    std::vector<placed_function> chips, cards;
    for (const auto& chip : chips_) chips.push_back({chip.name, chip.server});
    for (const auto& card : cards_) cards.push_back({card.name, card.server});
    return share_cards(chips, cards);
}

in_process_hosts::host::host(const function& device)
    : cpu(*device.port, {.name = device.name + ".host"}),
      transport(cpu.transport()),
      options(options_on(device.product)) {}

in_process_hosts::host& in_process_hosts::host_of(function& served) {
    if (!served.attached) served.attached = std::make_unique<host>(served);
    return *served.attached;
}

void in_process_hosts::start(host& started, std::function<void()> does) {
    ++running_;
    started.cpu.run([this, does = std::move(does)] {
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

void in_process_hosts::start(const std::vector<std::size_t>& chips, const host_set::work& does) {
    for (const auto chip : chips) {
        host& started = host_of(chips_.at(chip));
        start(started, [&started, does, chip] {
            if (!started.chip) started.chip.emplace(started.transport, started.options);
            does(chip, *started.chip);
        });
    }
}

void in_process_hosts::start_cards(const std::vector<std::size_t>& cards,
                                   const host_set::card_work& does) {
    for (const auto card : cards) {
        host& started = host_of(cards_.at(card));
        start(started, [&started, does, card] { does(card, started.transport); });
    }
}

void in_process_hosts::rethrow() {
    if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

}  // namespace trn
