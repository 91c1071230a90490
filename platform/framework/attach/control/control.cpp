// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/control.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "platform/framework/attach/control/fault_methods.h"
#include "platform/framework/attach/control/hex.h"
#include "platform/framework/attach/control/posted_write.h"
#include "platform/framework/attach/control/type_name.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

using rpc::caller;
using rpc::code;
using rpc::failure;
using rpc::field;
using rpc::json;
using rpc::parameters;
using rpc::required;

namespace {

json ended(const stop_reason& reason) {
    return {{"reason", to_string(reason.cause)},
            {"text", reason.text},
            {"time_ps", in_picoseconds(sc_core::sc_time_stamp())},
            {"time", to_text(sc_core::sc_time_stamp())}};
}

class inside_caller final : public caller {
public:
    explicit inside_caller(std::string_view name) {
        this->name = name;
        can_wait = false;
    }
    void notify(std::string_view, const json&) override {}
};

class counters final : public statistics {
public:
    json values = json::object();
    void count(std::string_view counter, std::uint64_t value) override {
        values[std::string(counter)] = value;
    }
};

}  // namespace

control::control(run_loop& loop, identity about) : loop_(loop), about_(std::move(about)) {
    add_session_methods();
    add_run_methods();
    add_memory_methods();
    add_module_methods();
    loop_.on_pause_change([this](bool, const std::string&) {
        if (subscribed("state")) publish("state", status());
    });
    consoles_.listen([this](std::string_view module, std::string_view text) {
        if (subscribed("uart")) publish("uart", {{"module", module}, {"text", text}});
    });
}

json control::call(std::string_view name, const json& params, std::string_view caller_name) {
    const auto* method = methods_.find(name);
    if (!method)
        throw rpc::error(code::method_not_found, fmt::format("there is no method '{}'", name));
    inside_caller inside(caller_name);
    const auto store = std::make_shared<std::optional<json>>();
    (*method)(params, inside, [store](json value) { *store = std::move(value); });
    forget(inside);
    if (!*store) throw rpc::error(code::refused, fmt::format("'{}' would wait here", name));
    return **store;
}

void control::forget(caller& gone) {
    if (const auto found = waits_.find(&gone); found != waits_.end()) {
        for (const auto id : found->second) loop_.cancel(id);
        waits_.erase(found);
    }
    for (auto& [topic, callers] : subscribers_) callers.erase(&gone);
}

void control::end_waits(const stop_reason& why) {
    std::set<run_loop::goal_id> all;
    for (const auto& [client, goals] : waits_) all.insert(goals.begin(), goals.end());
    for (const auto id : all) loop_.finish(id, why);
}

void control::subscribe(caller& client, const json& topics) {
    for (auto& [topic, callers] : subscribers_) callers.erase(&client);
    for (const auto& topic : topics) subscribers_[topic.get<std::string>()].insert(&client);
}

json control::topics(caller& client) const {
    json all = json::array();
    for (const auto& [topic, callers] : subscribers_)
        if (callers.contains(&client)) all.push_back(topic);
    return all;
}

bool control::subscribed(std::string_view topic) const {
    const auto found = subscribers_.find(topic);
    return found != subscribers_.end() && !found->second.empty();
}

void control::publish(std::string_view topic, const json& params) {
    const auto found = subscribers_.find(topic);
    if (found == subscribers_.end()) return;
    for (auto* subscriber : found->second) subscriber->notify(topic, params);
}

void control::add_list(std::string name, std::function<json()> list) {
    lists_[std::move(name)] = std::move(list);
}

// --- Sessions

json control::hello(const parameters& p, caller& client) {
    const auto expect = [&](std::string_view key, const std::string& ours) {
        const auto theirs = p.text(key, ours);
        if (theirs != ours)
            throw rpc::error(code::refused,
                             fmt::format("the client expects {} '{}', this platform is '{}'", key,
                                         theirs, ours));
    };
    if (const auto theirs = p.number("protocol"); theirs != protocol)
        throw rpc::error(
            code::refused,
            fmt::format("the client speaks control protocol {}, this trnvp {} speaks {}", theirs,
                        about_.version, protocol));
    expect("version", about_.version);
    expect("board", about_.board);
    expect("digest", about_.digest);
    expect("endianness", "little");
    client.name = printable(p.text("client", client.name).substr(0, 64));
    client.greeted = true;
    return {{"protocol", protocol},   {"version", about_.version},
            {"board", about_.board},  {"digest", about_.digest},
            {"endianness", "little"}, {"time_policy", loop_.settings().policy.text()}};
}

void control::add_session_methods() {
    constexpr std::string_view same = "equal to the platform's, if given";
    methods_.add({"hello",
                  "Begins a session; the first message of each.",
                  {{"protocol", "1", "version of this protocol", required},
                   {"client", "text", "name in logs and stall reports, at most 64 characters"},
                   {"token", "text", "if the platform has one"},
                   {"version", "text", same},
                   {"board", "text", same},
                   {"digest", "text", same},
                   {"endianness", "\"little\"", same}},
                  {{"protocol", "1"},
                   {"version", "text", "of trnvp"},
                   {"board", "text"},
                   {"digest", "text", "of board, images and timing"},
                   {"endianness", "\"little\""},
                   {"time_policy", "text"}},
                  {{code::refused, "the sides differ, or the token is wrong"}}},
                 [this](const auto& p, auto& client) { return hello(p, client); });
    methods_.add(
        {"methods",
         "Lists every method, as the table on this page has it.",
         {},
         {{"", "list",
           "name, description, takes, returns and fails of each; parameters: names as text"}}},
        [this](const auto&, auto&) {
            json all = json::array();
            for (const auto& [name, m] : methods_.all()) all.push_back(rpc::to_json(m));
            return all;
        });
    methods_.add(
        {"subscribe",
         "Sends notifications named after the topic from now on.",
         {{"topics", "list of \"uart\", \"log\", \"state\"", "an empty list ends them", required}},
         {{"topics", "list", "as given"}}},
        [this](const auto& p, auto& client) {
            const auto& topics = p.value("topics");
            constexpr std::array known{"uart", "log", "state"};
            if (!topics.is_array()) p.wrong("topics", "an array");
            for (const auto& t : topics)
                if (!t.is_string() || std::ranges::find(known, t) == known.end())
                    p.wrong("topics", "an array of any of uart, log, state");
            subscribe(client, topics);
            return json{{"topics", topics}};
        });
    methods_.add({"quit", "Ends the platform."}, [this](const auto&, auto& client) {
        loop_.quit(client.name + " said quit");
        return json::object();
    });
}

// --- Running

json control::status() {
    // Cached, since finding the modules of a rack takes longer than the rest of a response.
    if (!ready_ || sc_core::sc_get_status() < sc_core::SC_START_OF_SIMULATION)
        ready_ = ready_condition();
    json result = {{"time_ps", in_picoseconds(sc_core::sc_time_stamp())},
                   {"time", to_text(sc_core::sc_time_stamp())},
                   {"paused", loop_.paused()},
                   {"why", loop_.pause_text()},
                   {"ready", ready_()},
                   {"time_policy", loop_.settings().policy.text()},
                   {"attached", loop_.attached()}};
    return result;
}

std::function<bool()> control::condition_of(const parameters& p, std::string& description) {
    if (p.has("condition")) {
        if (p.text("condition") != "ready") p.wrong("condition", "\"ready\"");
        description = "every chip to be ready";
        return ready_condition();
    }
    if (p.has("uart")) {
        const parameters uart("uart", p.value("uart"));
        uart.only({"module", "text", "since"});
        const auto module = uart.text("module");
        const auto text = uart.text("text");
        if (!consoles_.find(module))
            throw rpc::error(code::not_found, fmt::format("there is no console '{}'", module));
        if (text.size() > console_log::kept / 2) uart.wrong("text", "at most 32 KiB long");
        description = fmt::format("'{}' on {}", text, module);
        return consoles_.printed(module, text, uart.number("since", 0));
    }
    if (p.has("memory")) {
        const parameters m("memory", p.value("memory"));
        m.only({"space", "address", "width", "mask", "equals"});
        auto& memory = space(m);
        const auto address = m.number("address");
        const auto width = m.number("width", 4);
        if (width > 8 || !std::has_single_bit(width)) m.wrong("width", "1, 2, 4 or 8");
        const auto mask = m.number("mask", ~std::uint64_t{0});
        const auto equals = m.number("equals");
        if (width < 8 && (equals & mask) >> (8 * width) != 0)
            m.wrong("equals", "small enough for its width");
        description = fmt::format("{:#x} at {} {:#x}", equals, m.text("space"), address);
        return [&memory, address, width, mask, equals] {
            std::uint64_t value = 0;  // little endian, like every supported host
            const auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(width);
            return memory.peek(address, bytes) == width && (value & mask) == (equals & mask);
        };
    }
    return {};
}

run_loop::goal control::goal_of(const parameters& p, const caller& client) {
    run_loop::goal g{client.name, "simulated time"};
    g.attachment = client.attachment;
    if (const auto span = p.time("for")) g.until = later(sc_core::sc_time_stamp(), *span);
    if (const auto end = p.time("until")) g.until = g.until ? std::min(*g.until, *end) : *end;
    g.condition = condition_of(p, g.condition_text);
    if (const auto limit = p.seconds("wall_limit"))
        g.wall_limit = std::chrono::duration_cast<run_loop::wall_clock::duration>(
            std::chrono::duration<double>(*limit));
    return g;
}

void control::wait(const parameters& p, caller& client, const rpc::answer& done, bool then_pause) {
    auto goal = goal_of(p, client);
    goal.ends_on_pause = then_pause;
    if (!client.can_wait) throw rpc::error(code::refused, "a wait is not possible here");
    auto& waits = waits_[&client];
    if (waits.size() >= waits_per_caller)
        throw rpc::error(code::refused,
                         fmt::format("more than {} waits at once", waits_per_caller));
    if (then_pause) loop_.resume();
    const auto id = std::make_shared<run_loop::goal_id>();
    *id = loop_.wait_for(std::move(goal),
                         [this, &client, done, id, then_pause](const stop_reason& reason) {
                             if (const auto found = waits_.find(&client); found != waits_.end())
                                 found->second.erase(*id);
                             if (then_pause && reason.cause != stop_reason::kind::restored)
                                 loop_.pause(reason.text);
                             done(ended(reason));
                         });
    waits.insert(*id);
}

void control::add_run_methods() {
    const std::vector<field> limits{
        {"for", "time, as \"10 us\"", "simulated time from now on"},
        {"until", "time", "simulated time since the start"},
        {"condition", "\"ready\"", "every chip is ready"},
        {"uart", "{module, text, since}",
         "the console has printed the text (at most 32 KiB) after its first `since` (0) bytes"},
        {"memory", "{space, address, width, mask, equals}",
         "memory has this value: width 1, 2, 4 (default) or 8 bytes; mask: the bits compared "
         "(all)"},
        {"wall_limit", "number of seconds", "of the host's clock"}};
    const std::vector<field> end{
        {"reason", "text",
         "condition, time_limit, wall_limit, paused, stalled, restored (a snapshot) or quit"},
        {"text", "text", "the reason in words; of stalled: the stall report"},
        {"time_ps", "number", "simulated time in ps"},
        {"time", "text", "the same with a unit"}};
    const std::vector<field> state{{"time_ps", "number", "simulated time in ps"},
                                   {"time", "text", "the same with a unit"},
                                   {"paused", "true or false"},
                                   {"why", "text", "the reason of a pause"},
                                   {"ready", "true or false", "every chip is ready"},
                                   {"time_policy", "text"},
                                   {"attached", "number", "of clients and hosts"}};
    const std::vector<failure> waiting{
        {code::not_found, "no such console or space"},
        {code::refused, "more than 64 waits of one client; or a wait in GDB's monitor"}};
    methods_.add({"status", "Simulated time and run state.", {}, state},
                 [this](const auto&, auto&) { return status(); });
    auto resumed = end;
    resumed.push_back({"", "", "without limits: the result of `status`"});
    methods_.add_waiting({{"run",
                           "Resumes. With limits responds and pauses when the first limit is "
                           "reached, else responds at once.",
                           limits, resumed, waiting},
                          [this](const auto& p, auto& client, const auto& done) {
                              const auto goal = goal_of(p, client);
                              const bool limited = goal.until || goal.condition || goal.wall_limit;
                              if (limited) return wait(p, client, done, true);
                              loop_.resume();
                              done(status());
                          }});
    methods_.add_waiting(
        {{"wait",
          "Responds when the first of the limits is reached; does not change the run state.",
          limits, end, waiting},
         [this](const auto& p, auto& client, const auto& done) { wait(p, client, done, false); }});
    methods_.add({"pause", "Stops simulated time.", {}, state}, [this](const auto&, auto& client) {
        loop_.pause(client.name + " paused");
        return status();
    });
    auto stepped = state;
    stepped.push_back({"moved", "true or false", "there was an event"});
    methods_.add(
        {"step", "Pauses, and executes all events of the next simulated time.", {}, stepped},
        [this](const auto&, auto& client) {
            loop_.pause(client.name + " steps");
            const bool moved = loop_.step();
            auto result = status();
            result["moved"] = moved;
            return result;
        });
}

// --- Memory

address_space& control::space(const parameters& p) {
    const auto name = p.text("space");
    auto* found = spaces_.find(name);
    if (!found)
        throw rpc::error(code::not_found, fmt::format("there is no address space '{}'  {}", name,
                                                      suggest(name, spaces_.names())));
    return *found;
}

json control::peek(const parameters& p) {
    if (p.has("register") && registers_.peek) return registers_.peek(p);
    p.only({"space", "address", "size"});
    auto& source = space(p);
    const auto address = p.number("address");
    const auto size = p.number("size", 4);
    if (size == 0 || size > largest_peek) p.wrong("size", "1 to 1048576 bytes");
    std::vector<std::byte> bytes(size);
    const auto done = source.peek(address, bytes);
    if (done != size)
        throw rpc::error(code::failed, fmt::format("no response from {} at {:#x}", p.text("space"),
                                                   address + done));
    json result = {{"data", to_hex(bytes)}};
    if (size <= 8) {
        std::uint64_t value = 0;
        std::ranges::copy(bytes, std::as_writable_bytes(std::span(&value, 1)).begin());
        result["value"] = value;
    }
    return result;
}

namespace {

/// The bytes that a request writes: `data`, or `value` with `width`.
std::vector<std::byte> bytes_of(const parameters& p) {
    if (p.has("data") == p.has("value"))
        p.wrong("data", "given, or 'value' with 'width', and not both");
    if (p.has("data")) {
        const auto parsed = from_hex(p.text("data"));
        if (!parsed || parsed->empty() || parsed->size() > control::largest_peek)
            p.wrong("data", "1 to 1048576 bytes in hexadecimal");
        return *parsed;
    }
    const auto width = p.number("width", 4);
    const auto value = p.number("value");
    if (width > 8 || !std::has_single_bit(width)) p.wrong("width", "1, 2, 4 or 8");
    if (width < 8 && value >> (8 * width) != 0) p.wrong("value", "small enough for its width");
    const auto all = std::as_bytes(std::span(&value, 1)).first(width);
    return {all.begin(), all.end()};
}

}  // namespace

json control::write(const parameters& p,
                    std::size_t (address_space::*access)(std::uint64_t,
                                                         std::span<const std::byte>)) {
    p.only({"space", "address", "data", "value", "width"});
    auto& target = space(p);
    const auto address = p.number("address");
    const auto bytes = bytes_of(p);
    const auto done = (target.*access)(address, bytes);
    for_each_module<caches_code>([](const auto&, caches_code& hart) { hart.invalidate_code(); });
    if (done != bytes.size())
        throw rpc::error(
            code::failed,
            fmt::format("{} refuses the write at {:#x}{}", p.text("space"), address + done,
                        access == &address_space::poke
                            ? "; deposit writes without a bus access and its checks"
                            : ""));
    return json::object();
}

// Accesses the bus like an initiator, between two slices. Returns the annotated delay without
// waiting.
json control::bus_access(const parameters& p, bool write) {
    const auto name = p.text("space");
    auto* target = spaces_.find_bus(name);
    if (!target)
        throw rpc::error(code::not_found, fmt::format("there is no bus '{}'; list 'spaces'", name));
    const auto width = p.number("width", 4);
    if (width > 8 || !std::has_single_bit(width)) p.wrong("width", "1, 2, 4 or 8");
    std::uint64_t value = write ? p.number("value") : 0;
    if (width < 8 && value >> (8 * width) != 0) p.wrong("value", "small enough for its width");
    tlm::tlm_generic_payload payload;
    set_access(payload, write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, p.number("address"),
               &value, width);
    auto delay = sc_core::SC_ZERO_TIME;
    if (write)
        payload.set_response_status(
            posted_write::make(*target, name.c_str(), payload.get_address(),
                               std::as_bytes(std::span(&value, 1)).first(width), delay));
    else
        target->b_transport(payload, delay);
    if (!payload.is_response_ok())
        throw rpc::error(code::failed,
                         fmt::format("{} returned {} at {:#x}", name, payload.get_response_string(),
                                     payload.get_address()));
    json result = {{"delay", to_text(delay)}};
    if (!write) result["value"] = value;
    return result;
}

void control::add_memory_methods() {
    const field space{"space", "text", "address space, of `list spaces`"};
    const field address{"address", "number", "in the space"};
    const field width{"width", "1, 2, 4 or 8", "bytes", "4"};
    const field in_register{"register", "\"MODULE.NAME\" or \"MODULE.NAME.FIELD\"",
                            "instead of space and address"};
    const field index{"index", "number", "of an element of a register array", "0"};
    const field instance{"instance", "number", "of a block that a module has several times", "0"};
    const std::vector<failure> silent{{code::not_found, "no such space, module or register"},
                                      {code::failed, "nothing responds at the address"}};
    const auto needed = [](field parameter) {
        parameter.otherwise = required;
        return parameter;
    };
    methods_.add(
        {"peek",
         "Reads without side effects.",
         {space, address, {"size", "1 to 1048576", "bytes", "4"}, in_register, index, instance},
         {{"data", "hexadecimal text", "the bytes"},
          {"value", "number", "the same, little endian, up to 8 bytes"},
          {"", "", "of a register: its row of `registers`, and `field`"}},
         silent},
        [this](const auto& p, auto&) { return peek(p); });
    const std::vector<field> of_write{
        space,
        address,
        {"data", "hexadecimal text, 1 to 1048576 bytes", "instead of value"},
        {"value", "number", "of at most `width` bytes, or the register's bits"},
        width,
        in_register,
        index,
        instance};
    methods_.add({"poke",
                  "Writes as software does: a doorbell rings. A field's register keeps its other "
                  "fields.",
                  of_write,
                  {},
                  {{code::not_found, "no such space, module or register"},
                   {code::failed, "nothing responds, or software cannot write it"}}},
                 [this](const auto& p, auto&) {
                     if (p.has("register") && registers_.poke) return registers_.poke(p);
                     return write(p, &address_space::poke);
                 });
    methods_.add({"deposit",
                  "Writes without side effects, also what software cannot write.",
                  of_write,
                  {},
                  {{code::not_found, "no such space, module or register"},
                   {code::failed, "nothing responds, or the model computes the register"}}},
                 [this](const auto& p, auto&) {
                     if (p.has("register") && registers_.deposit) return registers_.deposit(p);
                     return write(p, &address_space::deposit);
                 });
    const field delay{"delay", "time", "that the access takes"};
    methods_.add({"bus_read",
                  "One bus access with its side effects; not for a hart's memory.",
                  {needed(space), needed(address), width},
                  {{"value", "number"}, delay},
                  silent},
                 [this](const auto& p, auto&) { return bus_access(p, false); });
    methods_.add({"bus_write",
                  "One bus access with its side effects; not for a hart's memory.",
                  {needed(space), needed(address), {"value", "number", "", required}, width},
                  {delay},
                  silent},
                 [this](const auto& p, auto&) { return bus_access(p, true); });
    add_list("spaces", [this] { return json(spaces_.names()); });
}

// --- Modules

void control::add_module_methods() {
    add_list("modules", [] {
        json all = json::array();
        for_each_module<sc_core::sc_module>([&](const auto& object, auto&) {
            all.push_back({{"name", object.name()}, {"type", type_name(object)}});
        });
        return all;
    });
    add_list("memories", [] {
        json all = json::array();
        for_each_module<memory>([&](const auto& object, memory& m) {
            all.push_back({{"name", object.name()},
                           {"size", m.settings().size},
                           {"read_only", m.settings().read_only}});
        });
        return all;
    });
    add_list("consoles", [this] {
        json all = json::array();
        for (const auto& [name, output] : consoles_.all())
            all.push_back({{"name", name}, {"printed", output.printed}});
        return all;
    });
    add_list("faults", list_faults);
    methods_.add(
        {"list",
         "Lists what the platform has.",
         {{"what",
           "modules, harts, engines, spaces, memories, registers, consoles, faults, misuse "
           "or functions",
           "engines: those that were started; functions: of PCI Express", "modules"}},
         {{"", "list", "of names, or of objects with `name` and properties"}}},
        [this](const auto& p, auto&) {
            const auto found = lists_.find(p.text("what", "modules"));
            if (found == lists_.end()) {
                std::vector<std::string> known;
                for (const auto& [name, list] : lists_) known.push_back(name);
                p.wrong("what", fmt::format("one of {}", fmt::join(known, ", ")));
            }
            return found->second();
        });
    methods_.add(
        {"statistics",
         "Counters by module.",
         {{"module", "text", "a name, or the beginning of names", "all"}},
         {{"", "{module: {counter: number}}", "the counters of doc/kinds.md"}}},
        [](const auto& p, auto&) {
            const auto prefix = p.text("module", "");
            json all = json::object();
            for_each_module<publishes_statistics>([&](const auto& object, publishes_statistics& m) {
                if (!std::string_view(object.name()).starts_with(prefix)) return;
                counters c;
                m.publish(c);
                all[object.name()] = std::move(c.values);
            });
            return all;
        });
    methods_.add({"inject",
                  "Injects a fault into a module, or into all modules that match a pattern.",
                  {{"module", "text", "its full name; * is any part between two dots", required},
                   {"fault", "text", "of `list faults`", required},
                   {"arguments", "{name: value}", "of the fault"}},
                  {{"modules", "list of text", "that have the fault"}},
                  {{code::invalid_params, "no such module or fault, or a wrong argument"}}},
                 [](const auto& p, auto&) { return inject_fault(p); });
    const field console{"module", "text", "of `list consoles`", required};
    const failure no_console{code::not_found, "no such console"};
    methods_.add(
        {"console",
         "Output of a console.",
         {console},
         {{"text", "text", "the last 64 KiB"}, {"printed", "number", "bytes that it ever printed"}},
         {no_console}},
        [this](const auto& p, auto&) {
            const auto* output = consoles_.find(p.text("module"));
            if (!output)
                throw rpc::error(code::not_found, "there is no console '" + p.text("module") + "'");
            return json{{"text", output->recent()}, {"printed", output->printed}};
        });
    methods_.add({"type",
                  "Sends input to a console.",
                  {console, {"text", "text", "", required}},
                  {{"taken", "number", "bytes that the device's queue accepted"}},
                  {no_console}},
                 [this](const auto& p, auto&) {
                     const auto module = p.text("module");
                     if (!consoles_.find(module))
                         throw rpc::error(code::not_found, "there is no console '" + module + "'");
                     return json{{"taken", consoles_.type(module, p.text("text"))}};
                 });
}

}  // namespace trn
