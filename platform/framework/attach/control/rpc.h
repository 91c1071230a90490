// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>
#include <vector>

/// JSON-RPC 2.0 without a transport: errors, parameters, a table of methods
/// (doc/control-socket.md).
namespace trn::rpc {

using nlohmann::json;

/// Codes of JSON-RPC 2.0 section 5.1, and our own from -32000 on.
enum class code : int {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    internal_error = -32603,
    refused = -32000,    ///< not greeted, wrong version, wrong token
    not_found = -32001,  ///< no module, space or fault has that name
    failed = -32002,     ///< valid request that the platform cannot execute
};

struct error : std::runtime_error {
    error(code c, const std::string& text) : std::runtime_error(text), number(c) {}
    code number;
};

/// The parameters of one call. Reading a missing or mistyped parameter throws an error with its
/// name.
class parameters {
public:
    parameters(std::string_view method, const json& values);

    /// Throws for a parameter that is not in `known`.
    void only(const std::vector<std::string_view>& known) const;
    bool has(std::string_view name) const { return values_.contains(name); }
    std::string text(std::string_view name) const;
    std::string text(std::string_view name, std::string otherwise) const;
    /// A JSON integer, or a string such as "0x1f".
    std::uint64_t number(std::string_view name) const;
    std::uint64_t number(std::string_view name, std::uint64_t otherwise) const;
    bool flag(std::string_view name, bool otherwise) const;
    /// A string with a unit, such as "10 us".
    std::optional<sc_core::sc_time> time(std::string_view name) const;
    /// Seconds of wall time, a JSON number.
    std::optional<double> seconds(std::string_view name) const;
    /// Any JSON value; null when it is missing.
    const json& value(std::string_view name) const;
    const json& all() const { return values_; }

    [[noreturn]] void wrong(std::string_view name, std::string_view expected) const;

private:
    std::string method_;
    json values_;
};

/// A caller: a connection, the debugger's monitor, a scenario. Lives until control::forget().
class caller {
public:
    virtual ~caller() = default;
    /// Sends a notification; may do nothing.
    virtual void notify(std::string_view method, const json& params) = 0;

    std::string name;              ///< for logs and stall reports
    std::uint64_t attachment = 0;  ///< attachment of the run_loop; 0: none
    bool greeted = false;
    bool can_wait = true;  ///< false: needs its answer immediately
};

/// Receives the result of a call, immediately or after some slices. Called exactly once, unless the
/// caller has disconnected.
using answer = std::function<void(json result)>;

/// A parameter of a method, or a part of its result.
struct field {
    std::string_view name;
    std::string_view type;            ///< how it is written, with unit and range: "1, 2, 4 or 8"
    std::string_view doc = {};        ///< its meaning
    std::string_view otherwise = {};  ///< the default, or `required`; "": may be left out
};
inline constexpr std::string_view required = "required";

/// An error that a method may return, beside that of wrong parameters.
struct failure {
    code number;
    std::string_view reason;
};

/// What a caller must know of a method.
struct signature {
    std::string_view name;
    std::string_view description;
    std::vector<field> takes = {};
    std::vector<field> returns = {};
    std::vector<failure> fails = {};

    /// Their names: "space address [size]".
    std::string parameter_names() const;
};
json to_json(const signature& method);

struct method : signature {
    std::function<void(const parameters&, caller&, const answer&)> call;

    /// Calls it. Throws for a parameter that it does not have.
    void operator()(const json& params, caller& client, const answer& done) const;
};

class method_table {
public:
    /// Adds a method that responds when a condition is met.
    void add_waiting(method m);
    /// Adds a method that responds immediately.
    void add(signature method, std::function<json(const rpc::parameters&, caller&)> call);
    const method* find(std::string_view name) const;
    const std::map<std::string_view, method>& all() const { return methods_; }

private:
    std::map<std::string_view, method> methods_;
};

/// Executes a request text. `reply` receives the response without line end, immediately or later;
/// it is not called for notifications. Does not throw: errors in `text` become an error response.
void execute(const method_table& methods, std::string_view text, caller& client,
             std::function<void(std::string)> reply);

std::string error_response(const json& id, code number, std::string_view text);
/// Formats one line of JSON. Replaces bytes that are not UTF-8, which guests may print.
std::string to_line(const json& value);
std::string notification(std::string_view method, const json& params);

}  // namespace trn::rpc
