// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/programs/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace trn {

namespace {

std::string with_number(std::string text, std::string_view word, std::uint64_t number) {
    for (std::size_t at; (at = text.find(word)) != text.npos;)
        text.replace(at, word.size(), fmt::format("{}", number));
    return text;
}

}  // namespace

program_group::program_group(std::size_t chips, each_device run, std::uint64_t seed,
                             program_request request)
    : run_(std::move(run)), seed_(seed), request_(std::move(request)), chips_(chips) {
    for (std::size_t chip = 0; chip < chips; ++chip)
        for (std::uint32_t n = 0; n < request_.instances; ++n)
            chips_[chip].push_back({chip, request_.loading.core + n * request_.cores});
}

program_group::~program_group() {
    for (auto& chip : chips_)
        for (instance& one : chip)
            if (one.program) one.program->forget();
}

std::string program_group::text_for(const instance& one, const std::string& text) {
    return with_number(with_number(text, "{chip}", one.chip), "{core}", one.core);
}

void program_group::each_instance(const instance_work& work) {
    run_([&](std::size_t chip, device& on) {
        for (instance& one : chips_[chip]) work(one, on);
    });
}

void program_group::load(instance& one, device& on) const {
    auto options = request_.loading;
    options.core = one.core;
    one.program = std::make_unique<loaded_program>(on, set_of(one), options);
    one.tensors =
        std::make_unique<program_tensors>(*one.program, seed_, [this](const std::string& name) {
            return std::filesystem::path(name).is_absolute() ? name
                                                             : (request_.folder / name).string();
        });
    write_inputs(one);
}

void program_group::write_inputs(const instance& one) const {
    tensor_texts in = request_.in;
    for (auto& [name, text] : in) text = text_for(one, text);
    one.tensors->write(in);
}

const std::vector<std::uint8_t>& program_group::set_of(const instance& /*one*/) const {
    return request_.set;
}

void program_group::load_collectives(collective_group& group) {
    collectives_ = std::make_unique<program_collectives>(group, request_.collectives);
    std::vector<const loaded_program*> programs;
    for (const auto& chip : chips_) programs.push_back(chip.front().program.get());
    collectives_->load(programs);
}

void program_group::start(collective_group* group) {
    run_([&](std::size_t chip, device& on) {
        if (!trn_program_possible(on)) {
            on.check(trn_probe(on));
            on.check(trn_reset_device(on));
        }
        for (instance& one : chips_[chip]) {
            load(one, on);
            on.check(trn_program_prepare(one.program->get()));
        }
    });
    if (has_collectives()) load_collectives(*group);
    each_instance(
        [](instance& one, device& on) { on.check(trn_program_start(one.program->get())); });
}

/// Adds the collective's failure to that of a program that waits for it.
void program_group::explain(const device_error& failure) {
    const auto why = collectives_ ? collectives_->failure() : "";
    throw device_error(failure.status,
                       failure.what() + (why.empty() ? "" : fmt::format("; {}", why)));
}

void program_group::wait(const program_outcome& outcome) try {
    each_instance([&](instance& one, device& on) {
        const trn_status status =
            trn_program_wait(one.program->get(), outcome.limit_ns, &one.result);
        started_ns_ = std::min(started_ns_, one.result.started_ns);
        ended_ns_ = std::max(ended_ns_, one.result.ended_ns);
        if (outcome.error && status == TRN_ABORTED && one.result.error == *outcome.error) return;
        on.check(status);
        if (outcome.error)
            throw std::runtime_error(fmt::format("all engines halted, expected the error {}",
                                                 trn_core_error_name(*outcome.error)));
        if (outcome.clock_permille && one.result.clock_permille != *outcome.clock_permille)
            throw std::runtime_error(fmt::format(
                "the slowest clock that a notification reported is {} of 1000, expected {}",
                one.result.clock_permille, *outcome.clock_permille));
    });
} catch (const device_error& failure) {
    if (!collectives_) throw;
    explain(failure);
}

std::uint64_t program_group::ns() const {
    return ended_ns_ - std::min(started_ns_, ended_ns_);
}

/// The sum of a reference over the n-th instances of all chips.
const tensors::numbers& program_group::sum_over_chips(std::size_t number, const std::string& text) {
    tensors::numbers& total = sums_[{number, text}];
    if (!total.values.empty()) return total;
    for (const auto& chip : chips_) {
        const auto part = chip[number].tensors->reference(text);
        total.shape = part.shape;
        total.values.resize(part.values.size());
        std::ranges::transform(total.values, part.values, total.values.begin(), std::plus<>{});
    }
    return total;
}

std::optional<std::string> program_group::difference(const instance& one, const std::string& tensor,
                                                     const std::string& text,
                                                     tensors::tolerance allowed) {
    constexpr std::string_view sum = "sum_over_chips(";
    if (!text.starts_with(sum) || !text.ends_with(')'))
        return one.tensors->difference(tensor, text_for(one, text), allowed);
    const auto number = static_cast<std::size_t>(&one - chips_[one.chip].data());
    const auto& total =
        sum_over_chips(number, text.substr(sum.size(), text.size() - sum.size() - 1));
    return one.tensors->difference(tensor, text, total, allowed);
}

std::optional<std::string> program_group::difference(const program_outcome& outcome) {
    std::optional<std::string> first;
    each_instance([&](const instance& one, device&) {
        for (const auto& [name, text] : outcome.check) {
            if (first) return;
            const auto wrong = difference(one, name, text, outcome.allowed);
            if (!wrong) continue;
            const bool alone = chips_.size() == 1 && chips_.front().size() == 1;
            first =
                alone ? *wrong : fmt::format("chip {}, core {}: {}", one.chip, one.core, *wrong);
        }
    });
    return first;
}

std::optional<std::string> program_group::difference(const std::string& tensor,
                                                     const std::string& text,
                                                     tensors::tolerance allowed) {
    return difference(chips_.front().front(), tensor, text, allowed);
}

void program_group::unload() {
    if (collectives_) collectives_->unload();
    collectives_.reset();
    each_instance([](instance& one, device&) {
        one.tensors.reset();
        one.program.reset();
    });
}

}  // namespace trn
