// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/monitor_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "platform/framework/config/json.h"

namespace trn::telemetry {

namespace {

using nlohmann::json;

/// Expressions of neuron-monitor are those of Go, which RE2 reads. They take no more time than the
/// text is long.
RE2::Options quiet() {
    RE2::Options options;
    options.set_log_errors(false);
    return options;
}

/// "1s", "500ms", "2m". \throws std::runtime_error
double period_of(const json& value, const std::string& place) {
    constexpr double shortest = 0.05, longest = 3600;
    double seconds = 0;
    if (value.is_number()) {
        seconds = value.get<double>();
    } else if (value.is_string()) {
        const auto text = value.get<std::string>();
        std::size_t end = 0;
        try {
            seconds = std::stod(text, &end);
        } catch (const std::exception&) {
            end = 0;
        }
        const auto unit = text.substr(end);
        if (end == 0 || (unit != "s" && unit != "ms" && unit != "m"))
            throw std::runtime_error(fmt::format("{}: '{}' is not a period like 5s", place, text));
        seconds *= unit == "ms" ? 1e-3 : unit == "m" ? 60 : 1;
    } else {
        throw std::runtime_error(place + " is not a period like \"5s\"");
    }
    if (!(seconds >= shortest && seconds <= longest))
        throw std::runtime_error(place + ": a period is 50 ms to 1 hour");
    return seconds;
}

/// Reads the file, and keeps the shortest period of it.
class choice_reader {
public:
    monitor_choice read(const json& file) {
        if (!file.is_object()) throw std::runtime_error("it is not a JSON object");
        note_keys(file, {"period", "neuron_runtimes", "system_metrics"}, "it");
        monitor_choice chosen;
        if (file.contains("period")) chosen.period_s = period_of(file["period"], "period");
        const auto runtimes = file.value("neuron_runtimes", json::array());
        if (!runtimes.is_array()) throw std::runtime_error("neuron_runtimes is not a list");
        chosen.runtimes.clear();
        for (const auto& row : runtimes) chosen.runtimes.push_back(runtimes_of(row));
        chosen.system =
            groups_of(file.value("system_metrics", json::array()), system_groups, "system_metrics");
        chosen.period_s = std::min(chosen.period_s, shortest_.value_or(chosen.period_s));
        return chosen;
    }

private:
    static void note_keys(const json& object, const std::set<std::string>& known_keys,
                          const std::string& place) {
        for (const auto& [key, value] : object.items())
            if (!known_keys.contains(key))
                throw std::runtime_error(fmt::format("{} has the key '{}', which is not one of {}",
                                                     place, key, fmt::join(known_keys, ", ")));
    }

    void note_period(const json& object, const std::string& place) {
        if (!object.contains("period")) return;
        const auto period = period_of(object["period"], place + ": period");
        shortest_ = std::min(period, shortest_.value_or(period));
    }

    monitored_runtimes runtimes_of(const json& row) {
        monitored_runtimes wanted;
        const std::string place = "neuron_runtimes";
        if (!row.is_object()) throw std::runtime_error(place + ": an element is no object");
        note_keys(row, {"tag_filter", "metrics", "period"}, place);
        note_period(row, place);
        if (row.contains("tag_filter")) wanted.tag_filter = filter_of(row["tag_filter"]);
        wanted.groups =
            groups_of(row.value("metrics", json::array()), runtime_groups, place + ": metrics");
        return wanted;
    }

    static std::string filter_of(const json& value) {
        if (!value.is_string()) throw std::runtime_error("neuron_runtimes: tag_filter is not text");
        auto filter = value.get<std::string>();
        constexpr std::size_t longest_filter = 255;
        if (filter.size() > longest_filter)
            throw std::runtime_error("neuron_runtimes: tag_filter is longer than 255");
        if (const RE2 expression(filter, quiet()); !expression.ok())
            throw std::runtime_error(
                fmt::format("neuron_runtimes: tag_filter '{}': {}", filter, expression.error()));
        return filter;
    }

    std::set<std::string> groups_of(const json& list, const std::set<std::string>& known_groups,
                                    const std::string& place) {
        if (!list.is_array()) throw std::runtime_error(place + " is not a list");
        std::set<std::string> all;
        for (const auto& each : list) {
            const auto type = each.is_object() ? each.value("type", json()) : json();
            if (!type.is_string() || !known_groups.contains(type.get<std::string>()))
                throw std::runtime_error(fmt::format("{}: type {} is not one of {}", place,
                                                     config::to_ascii(type),
                                                     fmt::join(known_groups, ", ")));
            note_keys(each, {"type", "period"}, place);
            note_period(each, place);
            all.insert(type.get<std::string>());
        }
        return all;
    }

    std::optional<double> shortest_;
};

}  // namespace

monitor_choice monitor_choice_of(const std::string& text) {
    return choice_reader().read(config::parse_json(text));
}

bool monitored_runtimes::matches(const std::string& tag) const {
    return RE2::FullMatch(tag, RE2(tag_filter, quiet()));
}

}  // namespace trn::telemetry
