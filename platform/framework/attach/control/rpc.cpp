// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/rpc.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "platform/framework/config/json.h"
#include "platform/framework/config/units.h"

namespace trn::rpc {
namespace {

std::string response(const json& id, const json& result) {
    return to_line({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

bool is_id(const json& id) {
    return id.is_null() || id.is_string() || id.is_number();
}

}  // namespace

std::string to_line(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string error_response(const json& id, code number, std::string_view text) {
    return to_line({{"jsonrpc", "2.0"},
                    {"id", id},
                    {"error", {{"code", static_cast<int>(number)}, {"message", text}}}});
}

std::string notification(std::string_view method, const json& params) {
    return to_line({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

// --- Parameters

parameters::parameters(std::string_view method, const json& values)
    : method_(method), values_(values) {
    if (values_.is_null()) values_ = json::object();
    if (!values_.is_object())
        throw error(code::invalid_params,
                    fmt::format("{}: parameters are given by name, in an object", method_));
}

void parameters::only(const std::vector<std::string_view>& known) const {
    for (const auto& item : values_.items())
        if (std::ranges::find(known, item.key()) == known.end())
            throw error(code::invalid_params,
                        fmt::format("{} has no parameter '{}' (known: {})", method_, item.key(),
                                    fmt::join(known, ", ")));
}

void parameters::wrong(std::string_view name, std::string_view expected) const {
    throw error(code::invalid_params,
                fmt::format("{}: parameter '{}' must be {}", method_, name, expected));
}

const json& parameters::value(std::string_view name) const {
    static const json missing;
    const auto found = values_.find(name);
    return found == values_.end() ? missing : *found;
}

std::string parameters::text(std::string_view name) const {
    if (!value(name).is_string()) wrong(name, "a string");
    return value(name).get<std::string>();
}

std::string parameters::text(std::string_view name, std::string otherwise) const {
    return has(name) ? text(name) : std::move(otherwise);
}

std::uint64_t parameters::number(std::string_view name) const {
    const auto& v = value(name);
    // Calls from inside the process may pass signed literals.
    if (v.is_number_integer() && (v.is_number_unsigned() || v.get<std::int64_t>() >= 0))
        return v.get<std::uint64_t>();
    if (v.is_string())
        if (const auto parsed = config::parse_unsigned(v.get_ref<const std::string&>());
            const auto* n = std::get_if<std::uint64_t>(&parsed))
            return *n;
    wrong(name, "an unsigned integer or a string like \"0x1f\"");
}

std::uint64_t parameters::number(std::string_view name, std::uint64_t otherwise) const {
    return has(name) ? number(name) : otherwise;
}

std::optional<sc_core::sc_time> parameters::time(std::string_view name) const {
    if (!has(name)) return std::nullopt;
    if (value(name).is_string())
        if (const auto parsed = config::parse_time(value(name).get_ref<const std::string&>());
            const auto* ps = std::get_if<picoseconds>(&parsed))
            return sc_core::sc_time::from_value(ps->value);
    wrong(name, "a time with its unit, like \"10 us\"");
}

std::optional<double> parameters::seconds(std::string_view name) const {
    if (!has(name)) return std::nullopt;
    constexpr double a_year = 365.0 * 86400;
    const auto& v = value(name);
    const double s = v.is_number() ? v.get<double>() : -1;
    if (!(s >= 0 && s <= a_year)) wrong(name, "a number of seconds");
    return s;
}

bool parameters::flag(std::string_view name, bool otherwise) const {
    if (!has(name)) return otherwise;
    const auto& v = value(name);
    if (!v.is_boolean()) wrong(name, "true or false");
    return v.get<bool>();
}

// --- Methods

void method_table::add_waiting(method m) {
    methods_[m.name] = std::move(m);
}

std::string signature::parameter_names() const {
    std::vector<std::string> names;
    for (const auto& parameter : takes)
        names.push_back(parameter.otherwise == required ? std::string(parameter.name)
                                                        : fmt::format("[{}]", parameter.name));
    return fmt::format("{}", fmt::join(names, " "));
}

json to_json(const signature& method) {
    const auto list = [](const std::vector<field>& fields) {
        json all = json::array();
        for (const auto& field : fields)
            all.push_back({{"name", field.name},
                           {"type", field.type},
                           {"description", field.doc},
                           {"default", field.otherwise}});
        return all;
    };
    json failures = json::array();
    for (const auto& failure : method.fails)
        failures.push_back({{"code", static_cast<int>(failure.number)}, {"when", failure.reason}});
    return {{"name", method.name},
            {"description", method.description},
            {"parameters", method.parameter_names()},
            {"takes", list(method.takes)},
            {"returns", list(method.returns)},
            {"fails", failures}};
}

void method::operator()(const json& params, caller& client, const answer& done) const {
    const parameters given(name, params);
    std::vector<std::string_view> known;
    for (const auto& parameter : takes) known.push_back(parameter.name);
    given.only(known);
    call(given, client, done);
}

void method_table::add(signature method, std::function<json(const parameters&, caller&)> call) {
    add_waiting(
        {std::move(method), [call = std::move(call)](const auto& p, auto& client,
                                                     const auto& done) { done(call(p, client)); }});
}

const method* method_table::find(std::string_view name) const {
    const auto found = methods_.find(name);
    return found == methods_.end() ? nullptr : &found->second;
}

void execute(const method_table& methods, std::string_view text, caller& client,
             std::function<void(std::string)> reply) {
    const auto request = config::parse_json(text);
    if (request.is_discarded())
        return reply(error_response(nullptr, code::parse_error, "this line is not JSON"));
    if (!request.is_object())
        return reply(error_response(
            nullptr, code::invalid_request,
            "a request is a JSON object; batches are not served, send one request per line"));
    const json id = request.value("id", json());
    if (!is_id(id))
        return reply(
            error_response(nullptr, code::invalid_request, "'id' must be a number or a string"));
    if (request.value("jsonrpc", json()) != "2.0")
        return reply(error_response(id, code::invalid_request, "'jsonrpc' must be \"2.0\""));
    const json name = request.value("method", json());
    if (!name.is_string())
        return reply(error_response(id, code::invalid_request, "'method' must be a string"));

    const bool silent = !request.contains("id");
    const auto fail = [&](code number, std::string_view why) {
        if (!silent) reply(error_response(id, number, why));
    };
    const auto* found = methods.find(name.get_ref<const std::string&>());
    if (!found)
        return fail(
            code::method_not_found,
            fmt::format("there is no method '{}'; 'methods' lists them", name.get<std::string>()));
    try {
        (*found)(request.value("params", json()), client, [id, silent, reply](const json& result) {
            if (!silent) reply(response(id, result));
        });
    } catch (const error& e) {
        fail(e.number, e.what());
    }
}

}  // namespace trn::rpc
