// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/language/scenario.h"

#include <fmt/format.h>

#include <cassert>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>

namespace trn::scenario {

namespace {

std::string text_of(const misuse::choices& chosen) {
    std::string text;
    for (const auto& policy : chosen.policies) text += policy.text() + "\n";
    for (const auto& rule : chosen.checked) text += fmt::format("{}\n", rule.id);
    for (const auto& allowance : chosen.allowances)
        text += allowance.text() + "\t" + allowance.place + "\n";
    return text;
}

}  // namespace

std::string beginning_of(const scenario& s) {
    // Images may be in the scenario's folder, which is then part of the key.
    const auto folder = s.firmware.empty() ? "" : std::filesystem::path(s.file).parent_path();
    auto shared = nlohmann::json::array();
    for (const auto& part : std::span(s.steps).first(s.shared_steps))
        shared.push_back({part.shared, part.text});
    // A limit may end the shared part, so that scenarios with other limits would end elsewhere.
    return nlohmann::json{
        s.board,           s.set,           folder.string(), s.firmware,     s.seed,
        text_of(s.misuse), s.time_limit_ns, s.wall_limit_s,  s.memory_limit, std::move(shared)}
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::filesystem::path firmware_beside(const scenario& run) {
    const auto folder = std::filesystem::path(run.file).parent_path();
    return (folder.empty() ? "." : folder) / run.firmware;
}

std::string find_firmware(const scenario& run) {
    std::error_code unreadable;
    const auto beside = firmware_beside(run);
    return !run.firmware.empty() && std::filesystem::is_regular_file(beside, unreadable)
               ? beside.string()
               : run.firmware;
}

std::vector<std::string> board_set(const scenario& run) {
    auto set = run.set;
    if (!run.firmware.empty()) set.push_back("firmware=" + find_firmware(run));
    return set;
}

outcome refused(const scenario& run) {
    assert(!run.mistakes.empty());
    const auto& first = run.mistakes.front();
    outcome refusal;
    refusal.result = outcome::verdict::not_loaded;
    refusal.message = fmt::format("E{:02} {}", static_cast<unsigned>(first.code),
                                  first.message.substr(0, first.message.find('\n')));
    if (const auto more = run.mistakes.size() - 1; more > 0)
        refusal.message += fmt::format(" (and {} more)", more);
    refusal.file = first.file;
    refusal.place = {first.line, first.column, first.length};
    for (const auto& mistake : run.mistakes) refusal.log += mistake.text();
    return refusal;
}

}  // namespace trn::scenario
