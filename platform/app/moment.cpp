// SPDX-License-Identifier: Apache-2.0
#include "platform/app/moment.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <stdexcept>
#include <systemc>
#include <utility>

#include "platform/app/signals.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/time_value.h"

namespace trn {

namespace {

using relation = moment::relation;

struct sign {
    std::string_view text;
    relation meaning;
};
/// Longer ones first.
constexpr sign signs[]{{"==", relation::equal},    {"!=", relation::not_equal},
                       {">=", relation::at_least}, {"<=", relation::at_most},
                       {">", relation::more},      {"<", relation::less}};

std::string trimmed(std::string_view text) {
    return boost::algorithm::trim_copy(std::string(text));
}

template <class T>
bool holds(relation r, const T& a, const T& b) {
    switch (r) {
    case relation::equal:
        return a == b;
    case relation::not_equal:
        return a != b;
    case relation::at_least:
        return a >= b;
    case relation::at_most:
        return a <= b;
    case relation::more:
        return a > b;
    case relation::less:
        return a < b;
    }
    return false;
}

template <class T>
T value_of(const config::parsed<T>& parsed, const moment& asked) {
    if (const auto* value = std::get_if<T>(&parsed)) return *value;
    throw std::invalid_argument(
        fmt::format("'{}' of {}: {}", asked.value, asked.signal,
                    config::refusal_text(std::get<config::refusal>(parsed))));
}

std::uint64_t number_of(const watched_signal& signal, const moment& asked) {
    for (std::size_t state = 0; state < signal.states.size(); ++state)
        if (boost::iequals(signal.states[state], asked.value)) return state;
    const bool is_number = asked.value[0] >= '0' && asked.value[0] <= '9';
    if (!signal.states.empty() && !is_number)
        throw std::invalid_argument(fmt::format("{} has no state '{}'  {}", asked.signal,
                                                asked.value, suggest(asked.value, signal.states)));
    const auto value = value_of(config::parse_unsigned(asked.value), asked);
    if (signal.width < 64 && value >> signal.width != 0)
        throw std::invalid_argument(
            fmt::format("{} of {}: it has {} bits", asked.value, asked.signal, signal.width));
    return value;
}

watched_signal signal_of(const moment& asked) {
    auto found = find_signals({asked.signal});
    if (!found.transactions.empty())
        throw std::invalid_argument(
            fmt::format("'{}': transactions have no value to compare", asked.signal));
    if (found.signals.size() != 1)
        throw std::invalid_argument(fmt::format("'{}' names {} signals: one was expected",
                                                asked.signal, found.signals.size()));
    return std::move(found.signals.front());
}

}  // namespace

moment parse_moment(std::string_view option, std::string_view text, std::string_view others) {
    if (text.size() > moment::max_text)
        throw std::invalid_argument(
            fmt::format("{}: longer than {} characters", option, moment::max_text));
    if (trimmed(text) == "ready") return {};
    // The first sign in the text; of two at one place the longer.
    const sign* found = nullptr;
    auto place = text.npos;
    for (const auto& each : signs)
        if (const auto position = text.find(each.text); position < place) {
            found = &each;
            place = position;
        }
    if (found != nullptr) {
        moment asked{.signal = trimmed(text.substr(0, place)),
                     .value = trimmed(text.substr(place + found->text.size())),
                     .compared = found->meaning};
        if (asked.signal.empty() || asked.value.empty() ||
            asked.value.find_first_of("=<>!") != std::string::npos)
            throw std::invalid_argument(
                fmt::format("{}: '{}': SIGNAL {} VALUE was expected", option, text, found->text));
        return asked;
    }
    const auto parsed = config::parse_time(trimmed(text));
    if (const auto* time = std::get_if<picoseconds>(&parsed)) return {.picoseconds = time->value};
    const auto& wrong = std::get<config::refusal>(parsed);
    if (wrong.code == mistake::not_a_number)
        throw std::invalid_argument(
            fmt::format("{}: '{}' is not 'ready',{} a simulated time such as '10 ms', "
                        "or a condition such as 'chip0.nc0.vector.state == halted'",
                        option, text, others));
    throw std::invalid_argument(fmt::format("{}: {}", option, config::refusal_text(wrong)));
}

std::function<bool()> moment_condition(const moment& awaited) {
    if (awaited.picoseconds)
        return [time = *awaited.picoseconds] {
            return in_picoseconds(sc_core::sc_time_stamp()) >= time;
        };
    if (awaited.signal.empty()) {
        if (!any_module<reports_ready>())
            throw std::invalid_argument("ready: the board has no module that reports ready");
        return ready_condition();
    }
    const auto signal = signal_of(awaited);
    const auto compared = awaited.compared;
    if (const auto* real = std::get_if<watched_signal::real>(&signal.value))
        return
            [compared, read = *real, value = value_of(config::parse_real(awaited.value), awaited)] {
                return holds(compared, read(), value);
            };
    if (const auto* number = std::get_if<watched_signal::number>(&signal.value))
        return [compared, read = *number, value = number_of(signal, awaited)] {
            return holds(compared, read(), value);
        };
    throw std::invalid_argument(
        fmt::format("{} has {} bits: at most 64 can be compared", awaited.signal, signal.width));
}

}  // namespace trn
