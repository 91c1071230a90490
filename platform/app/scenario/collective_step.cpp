// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "platform/app/scenario/action.h"
#include "platform/app/scenario/scenario.h"
#include "platform/framework/loader/firmware_file.h"

namespace trn::scenario {

namespace {

/// The size, or the counts that say it.
void read_size(const reader& r, collective_request& what) {
    const bool counted = trn_coll_has_counts(what.op);
    if (counted || r.has("counts")) what.counts = r.numbers("counts");
    if (!counted && r.has("counts"))
        r.node().report_at(
            r.node().key_place("counts"), mistake::unused_key,
            fmt::format("{} has equal blocks: its 'size' says them", trn_coll_op_text(what.op)));
    if (counted && r.has("size"))
        r.node().report_at(
            r.node().key_place("size"), mistake::unused_key,
            fmt::format("the size of {} is that of its 'counts'", trn_coll_op_text(what.op)));
    else if (!counted && what.op != TRN_COLL_BARRIER)
        what.bytes = r.size("size");
}

std::string text_of(const collective_request& what) {
    const auto op = trn_coll_op_text(what.op);
    const auto& in = what.places;
    const std::string usual = collective_places().send.name();
    auto text =
        trn_coll_has_counts(what.op)
            ? fmt::format("{} of {} elements", op,
                          std::accumulate(what.counts.begin(), what.counts.end(), std::uint64_t{0}))
            : fmt::format("{} of {} bytes", op, what.bytes);
    if (in.send.name() != usual || in.receive.name() != usual)
        text += fmt::format(", {} to {},", in.send.name(), in.receive.name());
    return text + " over all chips";
}

}  // namespace

action read_collective(const reader& r) {
    r.only({"op", "algorithm", "size", "counts", "type", "operator", "root", "in", "out", "scratch",
            "limit", "within", "image"});
    collective_request what;
    what.op = r.choice<trn_coll_op>("op");
    what.algorithm = r.choice("algorithm", TRN_COLL_AUTO);
    if (!trn_coll_has_algorithm(what.op, what.algorithm))
        r.node()
            .at("algorithm")
            .report(mistake::not_a_choice,
                    fmt::format("{} has no algorithm {}", trn_coll_op_text(what.op),
                                trn_coll_algorithm_text(what.algorithm)));
    read_size(r, what);
    if (r.has("in")) what.places.send = r.place("in", collective_place_fault);
    if (r.has("out")) what.places.receive = r.place("out", collective_place_fault);
    if (r.has("scratch")) what.places.scratch = r.place("scratch", collective_place_fault);
    what.type = r.choice("type", TRN_BF16);
    if (trn_coll_type_bytes(what.type) == 0)
        r.node().at("type").report(mistake::not_a_choice, "collectives do not take this type");
    what.with = r.choice("operator", TRN_COLL_SUM);
    what.root = static_cast<std::uint32_t>(r.number("root", word_max, 0));
    what.limit_ns = r.time("limit", what.limit_ns);
    what.check = true;
    figure wanted{text_of(what), 0, "us"};
    if (r.has("within")) wanted.most = static_cast<double>(r.time("within")) * 1e-3;
    const auto image = r.text("image", "cc_core.img");
    return {wanted.name, [=](world& w) {
                if (!w.group) {
                    std::vector<std::size_t> all(w.hosts.chips().size());
                    std::iota(all.begin(), all.end(), std::size_t{0});
                    constexpr std::uint64_t most = 1 << 20;
                    w.group.emplace(w.hosts, all, read_firmware(image, most));
                }
                const auto made = [&] {
                    try {
                        return w.group->run(what);
                    } catch (...) {
                        w.group.reset();  // the next one begins with a reset of all chips
                        throw;
                    }
                };
                const auto done = made();
                if (done.wrong != 0)
                    throw step_failure(
                        fmt::format("{} differences, first {}", done.wrong, done.first_wrong));
                auto found = wanted;
                found.value = done.ns * 1e-3;
                measure(w, found);
            }};
}

}  // namespace trn::scenario
