// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/steps/step_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/steps/nesting_steps.h"

namespace trn::config {

template <>
struct choices<trn_status> {
    static constexpr std::array list{
        choice<trn_status>{"invalid_argument", TRN_INVALID_ARGUMENT},
        choice<trn_status>{"unknown_device", TRN_UNKNOWN_DEVICE},
        choice<trn_status>{"not_ready", TRN_NOT_READY},
        choice<trn_status>{"timed_out", TRN_TIMED_OUT},
        choice<trn_status>{"aborted", TRN_ABORTED},
        choice<trn_status>{"refused", TRN_REFUSED},
        choice<trn_status>{"protocol_error", TRN_PROTOCOL_ERROR},
        choice<trn_status>{"busy", TRN_BUSY},
        choice<trn_status>{"not_supported", TRN_NOT_SUPPORTED},
        choice<trn_status>{"no_memory", TRN_NO_MEMORY},
        choice<trn_status>{"transport_error", TRN_TRANSPORT_ERROR},
        choice<trn_status>{"device_gone", TRN_DEVICE_GONE},
    };
};

}  // namespace trn::config

namespace trn::scenario {

/// The kinds of steps that a file of this folder defines.
using family = std::vector<step_kind>();
family reset_steps, memory_steps, register_steps, queue_steps, compute_steps, program_steps,
    core_engine_steps, kernel_steps, firmware_steps, condition_steps, traffic_steps,
    compute_rate_steps, efa_steps, collective_steps, client_steps, host_steps, snapshot_steps,
    inject_steps;

namespace {

/// In the order of the document.
constexpr std::array families{
    reset_steps,   memory_steps,       register_steps, queue_steps,      compute_steps,
    program_steps, core_engine_steps,  kernel_steps,   firmware_steps,   condition_steps,
    traffic_steps, compute_rate_steps, efa_steps,      collective_steps, client_steps,
    host_steps,    snapshot_steps,     inject_steps,   nesting_steps};

}  // namespace

const std::vector<step_kind>& step_kinds() {
    static const auto kinds = [] {
        std::vector<step_kind> all;
        for (const auto family : families) std::ranges::move(family(), std::back_inserter(all));
        return all;
    }();
    return kinds;
}

const step_kind* find_step(std::string_view name) {
    const auto& all = step_kinds();
    const auto found = std::ranges::find(all, name, &step_kind::name);
    return found == all.end() ? nullptr : &*found;
}

step read_step(const config::node& item, const parameters& point) {
    step result;
    result.place = item.place();
    if (!item.is_map()) {
        item.report(mistake::wrong_shape, "a step is a mapping, such as 'wait: 10 us'");
        return result;
    }
    const reader r(item, point);
    std::size_t found = 0;
    for (const auto& key : item.keys()) {
        if (key == "fails" || key == "saying" || key == "may_fail") continue;
        const step_kind* const kind = find_step(key);
        if (kind == nullptr || ++found > 1 || !kind->read) {
            std::vector<std::string_view> names;
            for (const auto& known : step_kinds()) names.push_back(known.name);
            item.report(kind == nullptr ? mistake::unknown_type : mistake::unknown_key,
                        kind == nullptr ? fmt::format("there is no step '{}'", key)
                                        : fmt::format("'{}' is a second step here", key),
                        suggest(key, names));
            return result;
        }
        static_cast<action&>(result) = kind->read(reader(item.find(key), point));
        result.place = item.key_place(key);
    }
    if (found == 0) item.report(mistake::missing_key, "a step needs its kind");
    if (r.has("fails")) result.fails = r.choice<trn_status>("fails");
    if (r.has("saying")) result.saying = r.text("saying");
    if (r.has("saying") && !result.fails)
        item.report_at(item.key_place("saying"), mistake::unknown_key,
                       "'saying' is the message of a failure and needs 'fails'");
    if (r.has("may_fail")) result.may_fail = r.choices<trn_status>("may_fail");
    if (result.fails && !result.may_fail.empty())
        item.report_at(item.key_place("may_fail"), mistake::unknown_key,
                       "a step has 'fails' or 'may_fail', not both");
    if (found == 1 && !(result.drives && result.has_status))
        r.refuse({"fails", "may_fail"}, "this step has no call of the driver that could fail");
    if (result.fails || !result.may_fail.empty()) result.shared.clear();
    return result;
}

}  // namespace trn::scenario
