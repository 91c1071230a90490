// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/host_options/collective_firmware.h"
#include "platform/app/scenario/context/measure.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/programs/collective_service.h"
#include "platform/framework/config/file.h"
#include "platform/framework/loader/firmware_file.h"

namespace trn::scenario {

namespace {

/// Checks that the step has a size, or counts from which the size follows.
void check_size(const reader& r, const collective_request& request) {
    const auto op = trn_coll_op_text(request.op);
    const bool counted = trn_coll_has_counts(request.op);
    const auto refuse = [&](std::string_view key, const std::string& why) { r.refuse({key}, why); };
    if (!counted && r.has("counts"))
        refuse("counts", fmt::format("{} has equal blocks: give 'size', not 'counts'", op));
    if (counted && r.has("size"))
        refuse("size", fmt::format("{} takes its size from 'counts'", op));
    if (request.op != TRN_COLL_BROADCAST) r.refuse({"root"}, fmt::format("{} has no root", op));
    if (request.op != TRN_COLL_ALL_REDUCE && request.op != TRN_COLL_REDUCE_SCATTER &&
        request.op != TRN_COLL_REDUCE_SCATTER_V)
        r.refuse({"operator"}, fmt::format("{} does not reduce", op));
    if (request.op == TRN_COLL_BARRIER)
        r.refuse({"size", "in", "out", "type"}, "a barrier moves no data");
    if (counted)
        r.node().at("counts");
    else if (request.op != TRN_COLL_BARRIER)
        r.node().at("size");
    if (request.op != TRN_COLL_PERMUTE && r.has("pairs"))
        refuse("pairs", fmt::format("{} takes no pairs: only a permute does", op));
    if (request.op == TRN_COLL_BARRIER && r.has("in_place"))
        refuse("in_place", "a barrier has no buffers");
    if (request.in_place && request.places.send.name() != request.places.receive.name())
        refuse("in_place", fmt::format("the input is in {}, the output in {}: in place they are "
                                       "one memory",
                                       request.places.send.name(), request.places.receive.name()));
}

std::string text_of(const collective_request& request) {
    const auto op = trn_coll_op_text(request.op);
    const auto& places = request.places;
    const std::string usual = collective_places().send.name();
    auto text = trn_coll_has_counts(request.op)
                    ? fmt::format("{} of {} elements", op,
                                  std::accumulate(request.counts.begin(), request.counts.end(),
                                                  std::uint64_t{0}))
                    : fmt::format("{} of {} bytes", op, request.bytes);
    if (request.in_place) text += " in place";
    if (places.send.name() != usual || places.receive.name() != usual)
        text += fmt::format(", {} to {},", places.send.name(), places.receive.name());
    return text + " over all chips";
}

struct collective_spec : collective_request {
    std::optional<trn::bytes> size = {};
    location input = collective_places{}.send, output = collective_places{}.receive,
             scratch = collective_places{}.scratch;
    std::vector<std::string> between = {};
    nanoseconds limit{collective_request{}.limit_ns};
    std::optional<nanoseconds> within = {};
    std::string image = collective_firmware;

    figure wanted = {};
    void finish(const reader& r);
    void read_pairs(const reader& r);
    collective_result run_on(scenario_context& ctx) const;
    action plan() const;
};

void collective_spec::read_pairs(const reader& r) {
    pairs.emplace();
    const auto list = r.node().at("pairs");
    const auto places = list.is_list() ? list.items() : std::vector{list};
    std::set<std::uint32_t> senders, receivers;
    for (std::size_t i = 0; i < between.size(); ++i) try {
            const auto [sender, receiver] = pairs->emplace_back(collective_pair(between[i]));
            const auto refuse_twice = [&](std::uint32_t rank, std::string_view verb) {
                places[i].report(mistake::duplicate_name,
                                 fmt::format("rank {} {} twice", rank, verb));
            };
            if (!senders.insert(sender).second) refuse_twice(sender, "sends");
            if (!receivers.insert(receiver).second) refuse_twice(receiver, "receives");
        } catch (const std::runtime_error& wrong) {
            places[i].report(mistake::not_a_choice, wrong.what());
        }
}

void collective_spec::finish(const reader& r) {
    if (r.has("pairs")) read_pairs(r);
    note_input(trn::find_firmware(image));
    bytes = size.value_or(trn::bytes{}).value;
    places = {input, output, scratch};
    limit_ns = limit.value;
    check = true;
    if (!trn_coll_has_algorithm(op, algorithm))
        r.node()
            .at("algorithm")
            .report(mistake::not_a_choice,
                    fmt::format("{} has no algorithm {}", trn_coll_op_text(op),
                                trn_coll_algorithm_text(algorithm)));
    check_size(r, *this);
    if (trn_coll_type_bytes(type) == 0)
        r.node().at("type").report(mistake::not_a_choice, "collectives do not take this type");
    wanted = {text_of(*this), 0, "us"};
    if (within) wanted.max = static_cast<double>(within->value) * 1e-3;
}

collective_result collective_spec::run_on(scenario_context& ctx) const {
    auto& service = collectives_of(ctx);
    auto& group = service.with_image(image);
    return service.guarded([&] { return group.run(*this); });
}

action collective_spec::plan() const {
    return {wanted.name, [s = *this](scenario_context& ctx) {
                const auto done = s.run_on(ctx);
                if (done.wrong != 0)
                    throw step_failure(
                        fmt::format("{} differences, first {}", done.wrong, done.first_wrong));
                auto found = s.wanted;
                found.value = done.ns * 1e-3;
                measure(ctx, found);
            }};
}

}  // namespace

std::vector<step_kind> collective_steps() {
    using c = collective_spec;
    return {step_of<c>(
        "collective",
        "over all chips, by the firmware of their cores, compared with a reference "
        "([collectives](collectives.md))",
        {key("op", &c::op, "operation").required(),
         key("algorithm", &c::algorithm, "chosen by size unless given"),
         key("size", &c::size, "bytes of each rank's input"),
         key("counts", &c::counts, "elements per rank, in place of `size`, of a `_v`"),
         key("pairs", &c::between,
             "senders and receivers, `[0-1, 1-3]`, of a permute (else to the "
             "next rank of the ring)"),
         key("in_place", &c::in_place, "the input is in the memory of the output"),
         key("in", &c::input, "place of the input on every rank")
             .refused_by(collective_place_fault),
         key("out", &c::output, "place of the result on every rank")
             .refused_by(collective_place_fault),
         key("scratch", &c::scratch, "place of memory for steps in between")
             .refused_by(collective_place_fault),
         key("type", &c::type, "of the elements"),
         key("operator", &c::with, "how elements are reduced"),
         key("root", &c::root, "rank that has the data of a broadcast"),
         key("limit", &c::limit, "of each wait for another rank").positive(),
         key("within", &c::within, "simulated time of the whole collective"),
         key("image", &c::image, "ELF that the cores execute, in place of the collectives' own")})};
}

}  // namespace trn::scenario
