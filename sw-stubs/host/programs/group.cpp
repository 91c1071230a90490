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
    for (std::size_t position; (position = text.find(word)) != text.npos;)
        text.replace(position, word.size(), fmt::format("{}", number));
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
        for (instance& member : chip)
            if (member.program) member.program->forget();
}

std::string program_group::text_for(const instance& member, const std::string& text) {
    return with_number(with_number(text, "{chip}", member.chip), "{core}", member.core);
}

void program_group::each_instance(const instance_work& work) {
    run_([&](std::size_t index, device& chip) {
        for (instance& member : chips_[index]) work(member, chip);
    });
}

void program_group::load(instance& member, device& chip) const {
    auto options = request_.loading;
    options.core = member.core;
    member.program = std::make_unique<loaded_program>(chip, set_of(member), options);
    member.tensors =
        std::make_unique<program_tensors>(*member.program, seed_, [this](const std::string& name) {
            return std::filesystem::path(name).is_absolute() ? name
                                                             : (request_.folder / name).string();
        });
    write_inputs(member);
}

void program_group::write_inputs(const instance& member) const {
    tensor_texts inputs = request_.inputs;
    for (auto& [name, text] : inputs) text = text_for(member, text);
    member.tensors->write(inputs);
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
    run_([&](std::size_t index, device& chip) {
        if (!trn_program_possible(chip)) bring_up(chip);
        for (instance& member : chips_[index]) {
            load(member, chip);
            chip.check(trn_program_prepare(member.program->get()));
        }
    });
    if (has_collectives()) load_collectives(*group);
    each_instance([](instance& member, device& chip) {
        chip.check(trn_program_start(member.program->get()));
    });
}

/// Adds the collective's failure to that of a program that waits for it.
void program_group::explain(const device_error& failure) {
    const auto why = collectives_ ? collectives_->failure() : "";
    throw device_error(failure.status,
                       failure.what() + (why.empty() ? "" : fmt::format("; {}", why)));
}

void program_group::wait(const program_outcome& outcome) try {
    each_instance([&](instance& member, device& chip) {
        const trn_status status =
            trn_program_wait(member.program->get(), outcome.limit_ns, &member.result);
        started_ns_ = std::min(started_ns_, member.result.started_ns);
        ended_ns_ = std::max(ended_ns_, member.result.ended_ns);
        if (outcome.error && status == TRN_ABORTED && member.result.error == *outcome.error) return;
        chip.check(status);
        if (outcome.error)
            throw std::runtime_error(fmt::format("all engines halted, expected the error {}",
                                                 trn_core_error_name(*outcome.error)));
        if (outcome.clock_permille && member.result.clock_permille != *outcome.clock_permille)
            throw std::runtime_error(fmt::format(
                "the slowest clock that a notification reported is {} of 1000, expected {}",
                member.result.clock_permille, *outcome.clock_permille));
    });
} catch (const device_error& failure) {
    if (!collectives_) throw;
    explain(failure);
}

std::optional<engine_failure> program_group::failure() const {
    for (const auto& instances : chips_)
        for (const instance& each : instances) {
            const trn_program_result& r = each.result;
            if (r.failed)
                return engine_failure{.chip = each.chip,
                                      .core = trn_program_device_core(each.program->get(), r.core),
                                      .engine = r.engine,
                                      .error = r.error,
                                      .pc = r.error_pc,
                                      .detail = r.error_detail,
                                      .file = r.file != nullptr ? r.file : "",
                                      .line = r.line};
        }
    return std::nullopt;
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

std::optional<std::string> program_group::difference(const instance& member,
                                                     const std::string& tensor,
                                                     const std::string& text,
                                                     tensors::tolerance allowed) {
    constexpr std::string_view sum = "sum_over_chips(";
    if (!text.starts_with(sum) || !text.ends_with(')'))
        return member.tensors->difference(tensor, text_for(member, text), allowed);
    const auto number = static_cast<std::size_t>(&member - chips_[member.chip].data());
    const auto& total =
        sum_over_chips(number, text.substr(sum.size(), text.size() - sum.size() - 1));
    return member.tensors->difference(tensor, text, total, allowed);
}

std::optional<std::string> program_group::difference(const program_outcome& outcome) {
    std::optional<std::string> first;
    each_instance([&](const instance& member, device&) {
        for (const auto& [name, text] : outcome.check) {
            if (first) return;
            const auto wrong = difference(member, name, text, outcome.allowed);
            if (!wrong) continue;
            const bool alone = chips_.size() == 1 && chips_.front().size() == 1;
            first = alone ? *wrong
                          : fmt::format("chip {}, core {}: {}", member.chip, member.core, *wrong);
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
    each_instance([](instance& member, device&) {
        member.tensors.reset();
        member.program.reset();
    });
}

}  // namespace trn
