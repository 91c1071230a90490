// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/inspection/cci/cci_parameters.h"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <systemc>
#include <type_traits>

namespace trn {

using nlohmann::json;

namespace {

constexpr auto preset_type = "/trn/parameters/preset";
constexpr auto originator = "trnvp";

template <class T>
T get(const json& value) {
    if constexpr (std::is_same_v<T, sc_core::sc_time>)
        return sc_core::sc_time(1, sc_core::SC_PS) *
               static_cast<double>(value.get<std::uint64_t>());
    else
        return value.get<T>();
}

/// Calls `use` with an empty value of the parameter's C++ type.
template <class Use>
void with_type(const json& value, std::string_view unit, Use use) {
    if (value.is_boolean()) return use(bool{});
    if (value.is_number_unsigned() && unit == "ps") return use(sc_core::sc_time{});
    if (value.is_number_unsigned()) return use(cci::uint64{});
    if (value.is_number_float()) return use(double{});
    if (!value.is_array()) return use(std::string{});
    if (value.empty() || value[0].is_number_unsigned()) return use(std::vector<cci::uint64>{});
    if (value[0].is_number_float()) return use(std::vector<double>{});
    use(std::vector<std::string>{});
}

/// "trn3-chip.yaml:12:3", "--set devices=2", "preset"
std::string place_of(const parameter_origin& origin) {
    if (!origin.file.empty())
        return fmt::format("{}:{}:{}", origin.file, origin.line, origin.column);
    return fmt::format("{} {}", to_string(origin.given_by), origin.written);
}

}  // namespace

cci_parameters::cci_parameters(const parameter_broker& board, const cci::cci_broker_handle& broker,
                               std::string_view module)
    : broker_(broker) {
    parameter_origins origins;
    try {
        origins = board.get_value_origins(module);
    } catch (const std::exception& why) {
        SC_REPORT_INFO("/trn/parameters/origin", why.what());
    }
    for (const auto& parameter : board.get_param_handles(module)) {
        const auto found = origins.find(board.local(parameter.name()).value_or(parameter.name()));
        add(parameter, found == origins.end() ? parameter_origin{} : found->second);
    }
}

cci_parameters::~cci_parameters() = default;

void cci_parameters::add(const parameter_handle& parameter, const parameter_origin& origin) {
    const auto value = parameter.value();
    auto otherwise = origin.default_text.empty()
                         ? parameter.default_value()
                         : parameter_value(parameter.type(), origin.default_text);
    if (otherwise.type() != value.type()) otherwise = value;  // none, or of another form
    with_type(value, parameter.unit(), [&](auto empty) {
        using type = decltype(empty);
        const auto& name = parameter.name();
        if (otherwise != value || broker_.has_preset_value(name))
            preset(name, cci::cci_value(get<type>(value)), place_of(origin));
        all_.push_back(std::make_unique<cci::cci_param_typed<type, cci::CCI_IMMUTABLE_PARAM>>(
            name, get<type>(otherwise), broker_, parameter.description(), cci::CCI_ABSOLUTE_NAME,
            cci::cci_originator(originator)));
    });
}

void cci_parameters::preset(const std::string& name, const cci::cci_value& value,
                            const std::string& place) {
    if (broker_.has_preset_value(name)) {
        const auto earlier = broker_.get_preset_cci_value(name);
        if (earlier == value) return;
        SC_REPORT_WARNING(preset_type,
                          fmt::format("{} is {}, not {} as its preset: modules are built from "
                                      "their board; give its parameters to load_board()",
                                      name, value.to_json(), earlier.to_json())
                              .c_str());
    }
    broker_.create_broker_handle(cci::cci_originator(place)).set_preset_cci_value(name, value);
}

std::vector<std::string> board_settings(const cci::cci_broker_handle& broker,
                                        const std::vector<std::string>& names,
                                        const std::string& above) {
    std::vector<std::string> settings;
    for (const auto& name : names) {
        const auto whole = above.empty() ? name : above + "." + name;
        if (!broker.has_preset_value(whole)) continue;
        const auto value = broker.get_preset_cci_value(whole);
        settings.push_back(fmt::format(
            "{}={}", name, value.is_string() ? value.get<std::string>() : value.to_json()));
    }
    return settings;
}

}  // namespace trn
