// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/running_programs.h"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <string>

#include "platform/app/scenario/scenario.h"
#include "platform/app/scenario/steps.h"

namespace trn::scenario {

namespace {

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

/// The number of chips that a step uses. \throws step_failure
std::size_t chips_of(scenario_context& ctx, const program_request& request) {
    const auto there = ctx.hosts.chips().size();
    if (!request.all_chips && request.chips > there)
        throw step_failure(fmt::format("the board has {} chips, not {}", there, request.chips));
    return request.all_chips ? there : request.chips;
}

program_group::each_device run_on(scenario_context& ctx, std::size_t chips) {
    if (chips == 1) return [&ctx](const program_group::chip_work& work) { work(0, ctx.device); };
    std::vector<std::size_t> all(chips);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return [&ctx, all](const program_group::chip_work& work) { ctx.hosts.run_each(all, work); };
}

}  // namespace

running_programs::running_programs(scenario_context& ctx, const program_request& request)
    : program_group(chips_of(ctx, request), run_on(ctx, chips_of(ctx, request)), ctx.seed, request),
      ctx_(ctx),
      image_(request.image),
      values_(request.values),
      allowed_(request.allowed) {
    if (values_ && values_->size() != chips() * request.instances)
        throw step_failure(
            fmt::format("collectives are over all {} chips of the board: the step "
                        "needs 'chips: {}'",
                        chips(), chips()));
}

void running_programs::start() {
    program_group::start(has_collectives() ? &collective_chips(ctx_, image_) : nullptr);
}

void running_programs::write_inputs(const instance& one) const {
    const auto* values = values_of(one);
    if (values == nullptr) return program_group::write_inputs(one);
    for (const auto& [tensor, bytes] : values->in)
        one.program->write(one.program->find(tensor), *bytes);
}

const std::vector<std::uint8_t>& running_programs::set_of(const instance& one) const {
    const auto* values = values_of(one);
    return values == nullptr ? program_group::set_of(one) : *values->set;
}

const instance_values* running_programs::values_of(const instance& one) const {
    if (!values_) return nullptr;
    const auto place = (one.core - request().loading.core) / request().cores;
    return &values_->at(one.chip * request().instances + place);
}

void running_programs::check_values(const instance& one, const instance_values& values) const {
    for (const auto& expected : values.check) {
        trn_tensor tensor = one.program->find(expected.tensor);
        const auto found = one.program->read(tensor);
        tensor.name = expected.result.c_str();  // name in messages
        std::optional<std::string> wrong;
        if (expected.digest && *expected.digest != digest_of(found))
            wrong = fmt::format("the digest of {} is {:016x}, expected {:016x}", expected.result,
                                digest_of(found), *expected.digest);
        if (expected.bytes)
            wrong = expected.has_numbers
                        ? tensors::difference(tensor, numbers_in(*expected.bytes), found, allowed_)
                        : tensors::difference(tensor, *expected.bytes, found, allowed_);
        if (wrong)
            throw step_failure(fmt::format("chip {}, core {}: {}", one.chip, one.core, *wrong));
    }
}

void running_programs::check(const program_outcome& outcome) {
    each_instance([&](const instance& one, trn::device&) {
        if (const auto* values = values_of(one)) check_values(one, *values);
    });
    if (const auto wrong = difference(outcome)) throw step_failure(*wrong);
}

std::string program_text(const std::string& name) {
    return fmt::format("program '{}'", name);
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

void start_in_background(scenario_context& ctx, const std::string& name,
                         const program_request& request) {
    if (ctx.programs.contains(name))
        throw step_failure(fmt::format("program '{}' is not finished yet", name));
    auto all = std::make_shared<running_programs>(ctx, request);
    run_guarded(ctx, *all, [&] { all->start(); });
    ctx.programs[name] = all;
}

}  // namespace trn::scenario
