// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "platform/loader/firmware_file.h"
#include "platform/scenario/action.h"
#include "platform/scenario/scenario.h"

namespace trn::scenario {

action read_collective(const reader& r) {
    r.only({"op", "algorithm", "size", "type", "operator", "root", "limit", "within", "image"});
    collective_request what;
    what.op = r.choice<trn_coll_op>("op");
    what.algorithm = r.choice("algorithm", TRN_COLL_AUTO);
    if (!trn_coll_has_algorithm(what.op, what.algorithm))
        r.node()
            .at("algorithm")
            .report(mistake::not_a_choice,
                    fmt::format("{} has no algorithm {}", trn_coll_op_text(what.op),
                                trn_coll_algorithm_text(what.algorithm)));
    if (what.op != TRN_COLL_BARRIER) what.bytes = r.size("size");
    what.type = r.choice("type", TRN_BF16);
    if (trn_coll_type_bytes(what.type) == 0)
        r.node().at("type").report(mistake::not_a_choice, "collectives do not take this type");
    what.with = r.choice("operator", TRN_COLL_SUM);
    what.root = static_cast<std::uint32_t>(r.number("root", word_max, 0));
    what.limit_ns = r.time("limit", what.limit_ns);
    what.check = true;
    figure wanted{
        fmt::format("{} of {} bytes over all chips", trn_coll_op_text(what.op), what.bytes), 0,
        "us"};
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
