// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/programs/running_programs.h"

#include <fmt/format.h>

#include <boost/crc.hpp>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>

#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/programs/collective_service.h"

namespace trn::scenario {

namespace {

struct background_programs {
    std::map<std::string, std::shared_ptr<running_programs>> by_name;
};

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
    program_group::start(has_collectives() ? &collectives_of(ctx_).with_image(image_) : nullptr);
}

void running_programs::write_inputs(const instance& place) const {
    const auto* values = values_of(place);
    if (values == nullptr) return program_group::write_inputs(place);
    for (const auto& [tensor, bytes] : values->inputs)
        place.program->write(place.program->find(tensor), *bytes);
}

const std::vector<std::uint8_t>& running_programs::set_of(const instance& place) const {
    const auto* values = values_of(place);
    return values == nullptr ? program_group::set_of(place) : *values->set;
}

const instance_values* running_programs::values_of(const instance& placed) const {
    if (!values_) return nullptr;
    const auto place = (placed.core - request().loading.core) / request().cores;
    return &values_->at(placed.chip * request().instances + place);
}

void running_programs::check_values(const instance& place, const instance_values& values) const {
    for (const auto& expected : values.check) {
        trn_tensor tensor = place.program->find(expected.tensor);
        const auto found = place.program->read(tensor);
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
            throw step_failure(fmt::format("chip {}, core {}: {}", place.chip, place.core, *wrong));
    }
}

void running_programs::check(const program_outcome& outcome) {
    each_instance([&](const instance& place, trn::device&) {
        if (const auto* values = values_of(place)) check_values(place, *values);
    });
    if (const auto wrong = difference(outcome)) throw step_failure(*wrong);
}

std::string program_text(const std::string& name) {
    return fmt::format("program '{}'", name);
}

void run_guarded(scenario_context& ctx, const running_programs& all,
                 const std::function<void()>& work) {
    if (!all.has_collectives()) return work();
    collectives_of(ctx).guarded(work);
}

void start_in_background(scenario_context& ctx, const std::string& name,
                         const program_request& request) {
    auto& programs = ctx.kept.get<background_programs>().by_name;
    if (programs.contains(name))
        throw step_failure(fmt::format("program '{}' is not finished yet", name));
    auto all = std::make_shared<running_programs>(ctx, request);
    run_guarded(ctx, *all, [&] { all->start(); });
    programs[name] = all;
}

std::shared_ptr<running_programs> find_program(scenario_context& ctx, const std::string& name) {
    const auto& programs = ctx.kept.get<background_programs>().by_name;
    const auto found = programs.find(name);
    if (found == programs.end())
        throw step_failure(fmt::format("no program '{}' was started", name));
    return found->second;
}

std::shared_ptr<running_programs> take_program(scenario_context& ctx, const std::string& name) {
    auto taken = find_program(ctx, name);
    ctx.kept.get<background_programs>().by_name.erase(name);
    return taken;
}

}  // namespace trn::scenario
