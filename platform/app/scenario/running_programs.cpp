// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/running_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "platform/app/scenario/scenario.h"
#include "platform/app/scenario/steps.h"

namespace trn::scenario {

namespace {

std::string with_number(std::string text, std::string_view word, std::uint32_t number) {
    for (std::size_t at; (at = text.find(word)) != text.npos;)
        text.replace(at, word.size(), fmt::format("{}", number));
    return text;
}

std::string text_for(const std::string& text, std::uint32_t chip, std::uint32_t core) {
    return with_number(with_number(text, "{chip}", chip), "{core}", core);
}

std::uint64_t digest_of(std::span<const std::uint8_t> bytes) {
    boost::crc_optimal<64, 0x42f0e1eba9ea3693> sum;
    sum.process_bytes(bytes.data(), bytes.size());
    return sum.checksum();
}

std::vector<double> numbers_in(const std::vector<std::uint8_t>& bytes) {
    std::vector<double> numbers(bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
    return numbers;
}

/// A wrong text fails the step.
template <typename Work>
auto as_step_failure(Work&& work) {
    try {
        return work();
    } catch (const device_error&) {
        throw;
    } catch (const step_failure&) {
        throw;
    } catch (const std::runtime_error& wrong) {
        throw step_failure(wrong.what());
    }
}

}  // namespace

running_programs::running_programs(scenario_context& ctx, program_request request)
    : ctx_(ctx), request_(std::move(request)) {
    const auto there = ctx.hosts.chips().size();
    if (!request_.all_chips && request_.chips > there)
        throw step_failure(fmt::format("the board has {} chips, not {}", there, request_.chips));
    chips_.resize(request_.all_chips ? there : request_.chips);
    if (request_.values && request_.values->size() != chips_.size() * request_.instances)
        throw step_failure(
            fmt::format("collectives are over all {} chips of the board: the step "
                        "needs 'chips: {}'",
                        there, there));
    for (std::uint32_t chip = 0; chip < chips_.size(); ++chip)
        for (std::uint32_t n = 0; n < request_.instances; ++n)
            chips_[chip].push_back({chip, request_.loading.core + n * request_.cores, {}, {}});
}

running_programs::~running_programs() {
    for (auto& chip : chips_)
        for (instance& one : chip)
            if (one.program) one.program->forget();
}

void running_programs::each_chip(const chip_work& work) {
    if (!uses_several_chips()) return work(chips_[0], ctx_.device);
    std::vector<std::size_t> all(chips_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    ctx_.hosts.run_each(all, [&](std::size_t chip, trn::device& on) { work(chips_[chip], on); });
}

void running_programs::load(instance& one, trn::device& chip) const {
    auto options = request_.loading;
    options.core = one.core;
    one.program = std::make_unique<loaded_program>(chip, request_.set, options);
    one.tensors =
        std::make_unique<program_tensors>(*one.program, ctx_.seed, [this](const std::string& name) {
            return std::filesystem::path(name).is_absolute() ? name
                                                             : (request_.folder / name).string();
        });
    if (const auto* values = values_of(one)) {
        for (const auto& [tensor, bytes] : values->in)
            one.program->write(one.program->find(tensor), *bytes);
        return;
    }
    tensor_texts in = request_.in;
    for (auto& [name, text] : in) text = text_for(text, one.chip, one.core);
    as_step_failure([&] { one.tensors->write(in); });
}

void running_programs::load_collectives() {
    if (request_.collectives.empty()) return;
    collectives_ = std::make_unique<program_collectives>(*ctx_.group, request_.collectives);
    std::vector<const loaded_program*> programs;
    for (const auto& chip : chips_) programs.push_back(chip.front().program.get());
    collectives_->load(programs);
}

/// Adds what hangs in a collective to the failure of a program that waits for it.
void running_programs::explain(const device_error& failure) {
    const auto why = collectives_ ? collectives_->failure() : "";
    throw device_error(failure.status,
                       failure.what() + (why.empty() ? "" : fmt::format("; {}", why)));
}

void running_programs::start() {
    if (!request_.collectives.empty()) collective_chips(ctx_, request_.image);
    each_chip([&](std::vector<instance>& on, trn::device& chip) {
        if (uses_several_chips() && !trn_program_possible(chip)) {
            chip.check(trn_probe(chip));
            chip.check(trn_reset_device(chip));
        }
        for (instance& one : on) {
            load(one, chip);
            chip.check(trn_program_prepare(one.program->get()));
        }
    });
    load_collectives();
    each_chip([&](std::vector<instance>& on, trn::device& chip) {
        for (const instance& one : on) chip.check(trn_program_start(one.program->get()));
    });
}

void running_programs::wait(const program_outcome& outcome) try {
    each_chip([&](std::vector<instance>& on, trn::device& chip) {
        for (const instance& one : on) {
            trn_program_result result{};
            const trn_status status =
                trn_program_wait(one.program->get(), outcome.limit_ns, &result);
            started_ns_ = std::min(started_ns_, result.started_ns);
            ended_ns_ = std::max(ended_ns_, result.ended_ns);
            if (outcome.error && status == TRN_ABORTED && result.error == *outcome.error) continue;
            chip.check(status);
            if (outcome.error)
                throw step_failure(fmt::format("all engines halted, expected the error {}",
                                               trn_core_error_name(*outcome.error)));
        }
    });
} catch (const device_error& failure) {
    if (!collectives_) throw;
    explain(failure);
}

/// Of the n-th instances of all chips.
const tensors::numbers& running_programs::sum_over_chips(std::size_t number,
                                                         const std::string& text) {
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

std::optional<std::string> running_programs::difference(const instance& one,
                                                        const std::string& tensor,
                                                        const std::string& text,
                                                        tensors::tolerance allowed) {
    constexpr std::string_view sum = "sum_over_chips(";
    return as_step_failure([&] {
        if (!text.starts_with(sum) || !text.ends_with(')'))
            return one.tensors->difference(tensor, text_for(text, one.chip, one.core), allowed);
        const auto number = static_cast<std::size_t>(&one - chips_[one.chip].data());
        const auto& total =
            sum_over_chips(number, text.substr(sum.size(), text.size() - sum.size() - 1));
        return one.tensors->difference(tensor, text, total, allowed);
    });
}

const instance_values* running_programs::values_of(const instance& one) const {
    if (!request_.values) return nullptr;
    const auto place = (one.core - request_.loading.core) / request_.cores;
    return &request_.values->at(one.chip * request_.instances + place);
}

void running_programs::check_values(const instance& one, const instance_values& values) const {
    for (const auto& expected : values.check) {
        trn_tensor tensor = one.program->find(expected.tensor);
        const auto found = one.program->read(tensor);
        tensor.name = expected.result.c_str();  // for messages
        std::optional<std::string> wrong;
        if (expected.digest && *expected.digest != digest_of(found))
            wrong = fmt::format("the digest of {} is {:016x}, expected {:016x}", expected.result,
                                digest_of(found), *expected.digest);
        if (expected.bytes)
            wrong = as_step_failure([&] {
                return expected.has_numbers
                           ? tensors::difference(tensor, numbers_in(*expected.bytes), found,
                                                 request_.allowed)
                           : tensors::difference(tensor, *expected.bytes, found, request_.allowed);
            });
        if (wrong)
            throw step_failure(fmt::format("chip {}, core {}: {}", one.chip, one.core, *wrong));
    }
}

void running_programs::check(const program_outcome& outcome) {
    each_chip([&](std::vector<instance>& on, trn::device&) {
        for (const instance& one : on) {
            if (const auto* values = values_of(one)) check_values(one, *values);
            for (const auto& [name, text] : outcome.check) {
                const auto wrong = difference(one, name, text, outcome.allowed);
                if (wrong)
                    throw step_failure(
                        fmt::format("chip {}, core {}: {}", one.chip, one.core, *wrong));
            }
        }
    });
}

std::optional<std::string> running_programs::difference(const std::string& tensor,
                                                        const std::string& text,
                                                        tensors::tolerance allowed) {
    return difference(chips_.front().front(), tensor, text, allowed);
}

void running_programs::unload() {
    if (collectives_) collectives_->unload();
    collectives_.reset();
    each_chip([&](std::vector<instance>& on, trn::device&) {
        for (instance& one : on) {
            one.tensors.reset();
            one.program.reset();
        }
    });
}

void run_guarded(scenario_context& ctx, const running_programs& all,
                 const std::function<void()>& work) {
    try {
        work();
    } catch (...) {
        if (all.has_collectives()) ctx.group.reset();
        throw;
    }
}

void start_in_background(scenario_context& ctx, const std::string& name, program_request request) {
    if (ctx.programs.contains(name))
        throw step_failure(fmt::format("program '{}' is not finished yet", name));
    auto all = std::make_shared<running_programs>(ctx, std::move(request));
    run_guarded(ctx, *all, [&] { all->start(); });
    ctx.programs[name] = all;
}

}  // namespace trn::scenario
