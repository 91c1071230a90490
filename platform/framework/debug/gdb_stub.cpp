// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb_stub.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/framework/attach/control/hex.h"
#include "platform/framework/debug/gdb_packet.h"
#include "platform/framework/debug/gdb_registers.h"

namespace trn::gdb {
namespace {

constexpr std::string_view bad_request = "E16";  // EINVAL
constexpr std::string_view bad_address = "E0e";  // EFAULT
constexpr unsigned general_registers = debug_target::pc + 1;
constexpr std::size_t threads_per_packet = 500;

std::optional<std::uint64_t> number(std::string_view hex) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
    if (error != std::errc{} || end != hex.data() + hex.size()) return std::nullopt;
    return value;
}

// Splits `text` at the first `separator`; the second part is empty when there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char separator) {
    const auto at = text.find(separator);
    if (at == std::string_view::npos) return {text, {}};
    return {text.substr(0, at), text.substr(at + 1)};
}

struct range {
    std::uint64_t address, length;
};
std::optional<range> parse_range(std::string_view text) {
    const auto [first, second] = cut(text, ',');
    const auto address = number(first), length = number(second);
    if (!address || !length) return std::nullopt;
    return range{*address, *length};
}

std::string register_hex(std::uint64_t value) {
    return to_hex(std::as_bytes(std::span(&value, 1)));
}

std::optional<std::uint64_t> register_value(std::string_view hex) {
    const auto bytes = from_hex(hex);
    if (!bytes || bytes->size() != 8) return std::nullopt;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes->data(), 8);
    return value;
}

std::string escape_xml(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '&':
            out += "&amp;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

}  // namespace

stub::stub(environment e) : env_(std::move(e)), actions_(env_.harts.size(), action::resume) {
    env_.loop.pause("debugger attached", run_loop::pause_cause::debugger_request);
}

stub::stub(environment e, const nlohmann::json& session)
    : env_(std::move(e)), actions_(env_.harts.size(), action::resume) {
    multiprocess_ = session["multiprocess"];
    swbreak_ = session["swbreak"];
    hwbreak_ = session["hwbreak"];
    continue_ = session["continue"];
    running_ = session["running"];
    stop_ = session["stop"];
    detached_ = session["detached"].get<std::set<unsigned>>();
    described_ = session["described"].get<std::set<unsigned>>();
    for (const auto& one : session["breakpoints"]) {
        general_ = one["hart"];
        breakpoint(true, {one["address"], one["type"].get<std::string>().front()});
    }
    for (const auto& one : session["watchpoints"]) {
        general_ = one["hart"];
        watchpoint(true, {{one["address"], one["size"], one["on_load"], one["on_store"]},
                          one["type"].get<std::string>().front()});
    }
    general_ = session["general"];
}

nlohmann::json stub::hand_over() const {
    using nlohmann::json;
    json breakpoints = json::array(), watchpoints = json::array();
    const auto hart_of = [this](unsigned process) { return *find({process, std::nullopt}); };
    for (const auto& [process, places] : breakpoints_)
        for (const auto& [address, type] : places)
            breakpoints.push_back(
                {{"hart", hart_of(process)}, {"address", address}, {"type", std::string(1, type)}});
    for (const auto& [process, watches] : watchpoints_)
        for (const auto& w : watches)
            watchpoints.push_back({{"hart", hart_of(process)},
                                   {"address", w.where.address},
                                   {"size", w.where.size},
                                   {"on_load", w.where.on_load},
                                   {"on_store", w.where.on_store},
                                   {"type", std::string(1, w.type)}});
    return {{"multiprocess", multiprocess_},
            {"swbreak", swbreak_},
            {"hwbreak", hwbreak_},
            {"general", general_},
            {"continue", continue_},
            {"running", running_},
            {"stop", stop_},
            {"detached", detached_},
            {"described", described_},
            {"breakpoints", breakpoints},
            {"watchpoints", watchpoints}};
}

stub::~stub() {
    detach();
}

// --- Attaching and detaching

void stub::detach() {
    for (const auto& h : env_.harts)
        if (attached(h.process)) let_go(h.process);
}

// D or D;process
void stub::detach(std::string_view process) {
    if (process.empty()) {
        detach();
        return reply("OK");
    }
    const auto n = number(process.substr(1));
    const bool known =
        n && *n <= env_.harts.size() && find({static_cast<unsigned>(*n), std::nullopt}).has_value();
    if (process[0] != ';' || !known) return reply(bad_request);
    let_go(static_cast<unsigned>(*n));
    reply("OK");
}

/// Removes the breakpoints of a process and ends its steps; resumes the platform if no process is
/// left.
void stub::let_go(unsigned process) {
    for (std::size_t i = 0; i < env_.harts.size(); ++i) {
        const auto& h = env_.harts[i];
        if (h.process != process) continue;
        for (const auto& [address, type] : breakpoints_[process])
            h.target->remove_breakpoint(address);
        for (const auto& w : watchpoints_[process]) h.target->remove_watchpoint(w.where);
        end_step(i);
        if (h.target->halted()) h.target->resume(false);
    }
    breakpoints_.erase(process);
    watchpoints_.erase(process);
    std::erase_if(pending_,
                  [&](std::size_t index) { return env_.harts[index].process == process; });
    detached_.insert(process);
    if (const auto other = find({})) {
        if (env_.harts[general_].process == process) general_ = continue_ = *other;
        return;
    }
    running_ = false;
    env_.loop.resume();
}

void stub::attach(std::string_view text) {
    const auto process = number(text);
    const auto at = std::ranges::find_if(
        env_.harts, [&](const debug_hart& h) { return process && h.process == *process; });
    if (at == env_.harts.end()) return reply(bad_request);
    detached_.erase(at->process);
    general_ = continue_ = static_cast<std::size_t>(at - env_.harts.begin());
    stop_ = "T05";
    env_.loop.pause("debugger attached", run_loop::pause_cause::debugger_request);
    reply(stop_reply());
}

// --- Threads

std::string stub::id_text(const debug_hart& h) const {
    return multiprocess_ ? fmt::format("p{:x}.{:x}", h.process, h.thread)
                         : fmt::format("{:x}", h.thread);
}

// Parses "p1.2", "p1.-1", "p1", "2", "-1" (all), "0" (any: the first match).
std::optional<stub::thread_id> stub::parse_id(std::string_view text) const {
    thread_id id;
    const auto part = [](std::string_view t, std::optional<unsigned>& to) {
        if (t == "-1" || t == "0") return true;
        const auto n = number(t);
        if (!n || *n > 0xffffffff) return false;
        to = static_cast<unsigned>(*n);
        return true;
    };
    if (text.starts_with('p')) {
        const auto [process, thread] = cut(text.substr(1), '.');
        if (!part(process, id.process)) return std::nullopt;
        if (!thread.empty() && !part(thread, id.thread)) return std::nullopt;
    } else if (!part(text, id.thread)) {
        return std::nullopt;
    }
    return id;
}

bool stub::matches(const thread_id& id, const debug_hart& h) const {
    return attached(h.process) && (!id.process || *id.process == h.process) &&
           (!id.thread || *id.thread == h.thread);
}

std::optional<std::size_t> stub::find(const thread_id& id) const {
    for (std::size_t i = 0; i < env_.harts.size(); ++i)
        if (matches(id, env_.harts[i])) return i;
    return std::nullopt;
}

template <typename visitor>
void stub::for_each_sibling(const visitor& visit) {
    for (const auto& h : env_.harts)
        if (h.process == env_.harts[general_].process) visit(*h.target);
}

void stub::select(std::string_view body) {
    const auto id = body.empty() ? std::nullopt : parse_id(body.substr(1));
    const auto index = id ? find(*id) : std::nullopt;
    if (!index) return reply(bad_request);
    (body[0] == 'c' ? continue_ : general_) = *index;
    reply("OK");
}

void stub::list_threads() {
    std::string list = "m";
    std::size_t count = 0;
    for (const auto& h : env_.harts) {
        if (!attached(h.process)) continue;
        if (count++ == threads_per_packet) break;  // GDB reads long lists with qXfer:threads
        list += (list.size() > 1 ? "," : "") + id_text(h);
    }
    reply(count == 0 ? "l" : list);
}

// --- Packets

void stub::packet(std::string_view body) {
    // All-stop mode: while harts run, GDB may only send Ctrl-C; other packets are ignored.
    if (running_) return;
    answer(body);
}

void stub::answer(std::string_view body) {
    const auto rest = body.empty() ? body : body.substr(1);
    const bool is_access = !body.empty() && std::string_view("gGpPmMX").find(body[0]) != body.npos;
    if (is_access && !attached(env_.harts[general_].process)) return reply(bad_request);
    switch (body.empty() ? '\0' : body[0]) {
    case '?':
        return reply(stop_reply());
    case '!':
        return reply("OK");
    case 'g':
        return read_registers();
    case 'G':
        return write_registers(rest);
    case 'p':
        return read_register(rest);
    case 'P':
        return write_register(rest);
    case 'm':
        return read_memory(rest);
    case 'M': {
        const auto [where, data] = cut(rest, ':');
        const auto bytes = from_hex(data);
        return bytes ? write_memory(where, *bytes) : reply(bad_request);
    }
    case 'X': {
        const auto [where, data] = cut(rest, ':');
        return write_memory(where, std::as_bytes(std::span(data)));
    }
    case 'H':
        return select(rest);
    case 'T': {
        const auto id = parse_id(rest);
        return reply(id && find(*id) ? "OK" : bad_request);
    }
    case 'Z':
    case 'z':
        return point(body);
    case 'c':
    case 'C':
    case 's':
    case 'S':
        return resume_legacy(body);
    case 'v':
        return verbose(rest);
    case 'q':
        return query(rest);
    case 'Q':
        return set(rest);
    case 'D':
        return detach(rest);
    case 'k':
        return env_.loop.quit("the debugger killed the platform");
    default:
        return reply("");
    }
}

void stub::set(std::string_view body) {
    if (body != "StartNoAckMode") return reply("");
    reply("OK");
    env_.no_acknowledgement();
}

void stub::query(std::string_view body) {
    const auto [name, rest] = cut(body, ':');
    if (name == "Supported") return supported(rest);
    if (name == "C") return reply("QC" + id_text(env_.harts[general_]));
    if (name == "fThreadInfo") return list_threads();
    if (name == "sThreadInfo") return reply("l");
    if (name == "Attached") return reply("1");  // makes GDB detach at its end instead of killing
    if (name == "Symbol") return reply("OK");
    if (name == "Xfer") return transfer(rest);
    if (body.starts_with("ThreadExtraInfo,")) return extra_info(body.substr(16));
    if (body.starts_with("Rcmd,")) return monitor(body.substr(5));
    reply("");
}

void stub::supported(std::string_view features) {
    const auto offers = [&](std::string_view feature) {
        return (";" + std::string(features) + ";").find(";" + std::string(feature) + ";") !=
               std::string::npos;
    };
    multiprocess_ = offers("multiprocess+");
    swbreak_ = offers("swbreak+");
    hwbreak_ = offers("hwbreak+");
    reply(fmt::format(
        "PacketSize={:x};QStartNoAckMode+;qXfer:features:read+;qXfer:threads:read+;vContSupported+;"
        "swbreak+;hwbreak+{}",
        largest_packet, multiprocess_ ? ";multiprocess+" : ""));
}

void stub::monitor(std::string_view hex) {
    const auto command = from_hex(hex);
    if (!command) return reply(bad_request);
    const auto text =
        env_.monitor({reinterpret_cast<const char*>(command->data()), command->size()});
    constexpr std::size_t piece = largest_packet / 4;
    for (std::size_t at = 0; at < text.size(); at += piece)
        reply("O" + hex_text(std::string_view(text).substr(at, piece)));
    reply("OK");
}

// qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH
void stub::transfer(std::string_view body) {
    const auto [object, after] = cut(body, ':');
    const auto [verb, after_verb] = cut(after, ':');
    const auto [annex, place] = cut(after_verb, ':');
    const auto wanted = parse_range(place);
    if (verb != "read" || !wanted) return reply(bad_request);
    std::string document;
    if (object == "features" && annex == "target.xml") {
        if (description_.empty()) description_ = target_description(current());
        described_.insert(env_.harts[general_].process);
        document = description_;
    } else if (object == "threads" && annex.empty()) {
        document = "<?xml version=\"1.0\"?>\n<threads>\n";
        for (const auto& h : env_.harts)
            if (attached(h.process))
                document += fmt::format("<thread id=\"{}\" name=\"{}\">{}</thread>\n", id_text(h),
                                        escape_xml(h.name), escape_xml(h.target->state()));
        document += "</threads>\n";
    } else {
        return reply("E00");
    }
    if (wanted->address >= document.size()) return reply("l");
    const auto piece = document.substr(wanted->address,
                                       std::min<std::uint64_t>(wanted->length, largest_packet / 2));
    reply((wanted->address + piece.size() < document.size() ? "m" : "l") + piece);
}

void stub::extra_info(std::string_view text) {
    const auto id = parse_id(text);
    const auto index = id ? find(*id) : std::nullopt;
    if (!index) return reply(bad_request);
    const auto& h = env_.harts[*index];
    reply(hex_text(fmt::format("{}: {}", h.name, h.target->state())));
}

// --- Registers and memory

void stub::read_registers() {
    std::string all;
    for (unsigned i = 0; i < general_registers; ++i)
        all += register_hex(current().read_register(i).value_or(0));
    reply(all);
}

void stub::write_registers(std::string_view hex) {
    if (hex.size() != 16 * general_registers || !from_hex(hex)) return reply(bad_request);
    for (unsigned i = 0; i < general_registers; ++i)
        current().write_register(i, *register_value(hex.substr(16 * i, 16)));
    reply("OK");
}

void stub::read_register(std::string_view text) {
    const auto n = number(text);
    const auto value = n && *n <= debug_target::priv
                           ? current().read_register(static_cast<unsigned>(*n))
                           : std::nullopt;
    reply(value ? register_hex(*value) : std::string(bad_request));
}

void stub::write_register(std::string_view assignment) {
    const auto [name, hex] = cut(assignment, '=');
    const auto n = number(name);
    const auto value = register_value(hex);
    const bool done = n && value && *n <= debug_target::priv &&
                      current().write_register(static_cast<unsigned>(*n), *value);
    reply(done ? "OK" : bad_request);
}

void stub::read_memory(std::string_view text) {
    const auto wanted = parse_range(text);
    if (!wanted) return reply(bad_request);
    std::array<std::byte, largest_packet / 2> buffer;
    const auto bytes =
        std::span(buffer).first(std::min<std::uint64_t>(wanted->length, buffer.size()));
    const auto done = current().memory().peek(wanted->address, bytes);
    if (done == 0 && wanted->length != 0) return reply(bad_address);
    reply(to_hex(bytes.first(done)));
}

void stub::write_memory(std::string_view text, std::span<const std::byte> bytes) {
    const auto wanted = parse_range(text);
    if (!wanted || wanted->length != bytes.size()) return reply(bad_request);
    // All or nothing: GDB reports a refused write as not done.
    std::vector<std::byte> before(bytes.size());
    if (current().memory().peek(wanted->address, before) != bytes.size()) return reply(bad_address);
    const auto done = current().memory().poke(wanted->address, bytes);
    for_each_module<caches_code>([](const auto&, caches_code& hart) { hart.invalidate_code(); });
    reply(done == bytes.size() ? "OK" : bad_address);
}

// --- Breakpoints and watchpoints: Z0/Z1 breakpoint, Z2 write, Z3 read, Z4 access; z removes

void stub::point(std::string_view body) {
    const auto [head, place] = cut(body, ',');
    const auto where = parse_range(cut(place, ';').first);
    if (head.size() != 2 || !where || !attached(env_.harts[general_].process))
        return reply(bad_request);
    const bool insert = head[0] == 'Z';
    bool done = false;
    switch (head[1]) {
    case '0':
    case '1':
        done = breakpoint(insert, {where->address, head[1]});
        break;
    case '2':
    case '3':
    case '4':
        if (where->length == 0 || where->length > 4096) return reply(bad_request);
        done = watchpoint(
            insert, {{where->address, where->length, head[1] != '2', head[1] != '3'}, head[1]});
        break;
    default:
        return reply("");
    }
    reply(done ? "OK" : bad_request);
}

bool stub::breakpoint(bool insert, const place& where) {
    auto& known = breakpoints_[env_.harts[general_].process];
    if (insert) {
        if (known.size() >= max_breakpoints) return false;
        if (known.insert(where).second)
            for_each_sibling([&](debug_target& t) { t.add_breakpoint(where.first); });
    } else if (known.erase(where) != 0) {
        for_each_sibling([&](debug_target& t) { t.remove_breakpoint(where.first); });
    }
    return true;
}

bool stub::watchpoint(bool insert, const watch& w) {
    auto& known = watchpoints_[env_.harts[general_].process];
    const auto same = [&w](const watch& k) {
        return k.type == w.type && k.where.address == w.where.address &&
               k.where.size == w.where.size;
    };
    const auto found = std::ranges::find_if(known, same);
    if (insert) {
        if (known.size() >= max_breakpoints) return false;
        if (found != known.end()) return true;
        known.push_back(w);
        for_each_sibling([&](debug_target& t) { t.add_watchpoint(w.where); });
    } else if (found != known.end()) {
        known.erase(found);
        for_each_sibling([&](debug_target& t) { t.remove_watchpoint(w.where); });
    }
    return true;
}

// --- Running

void stub::verbose(std::string_view body) {
    if (body == "Cont?") return reply("vCont;c;C;s;S");
    if (body.starts_with("Cont;")) return vcont(body.substr(5));
    if (body.starts_with("Attach;")) return attach(body.substr(7));
    if (body.starts_with("Kill")) {
        reply("OK");
        return env_.loop.quit("the debugger killed the platform");
    }
    reply("");
}

// vCont;action[:thread]...: for each thread, the leftmost matching action applies.
void stub::vcont(std::string_view text) {
    std::vector<action> actions(env_.harts.size(), action::none);
    while (!text.empty()) {
        const auto [one, rest] = cut(text, ';');
        text = rest;
        const auto [verb, thread] = cut(one, ':');
        const auto id = thread.empty() ? thread_id{} : parse_id(thread).value_or(thread_id{0, 0});
        const char kind = verb.empty() ? '\0' : verb[0];
        if (std::string_view("cCsS").find(kind) == std::string_view::npos || kind == '\0')
            return reply(bad_request);
        for (std::size_t i = 0; i < actions.size(); ++i)
            if (actions[i] == action::none && matches(id, env_.harts[i]))
                actions[i] = kind == 'c' || kind == 'C' ? action::resume : action::step;
    }
    if (std::ranges::all_of(actions, [](action a) { return a == action::none; }))
        return reply(bad_request);
    go(actions);
}

// c [address], s [address], C signal[;address], S signal[;address]
void stub::resume_legacy(std::string_view body) {
    auto where = body.substr(1);
    if (body[0] == 'C' || body[0] == 'S') where = cut(where, ';').second;
    if (!attached(env_.harts[continue_].process)) return reply(bad_request);
    if (!where.empty()) {
        const auto pc = number(where);
        if (!pc) return reply(bad_request);
        env_.harts[continue_].target->write_register(debug_target::pc, *pc);
    }
    std::vector<action> actions(env_.harts.size(), action::resume);
    if (body[0] == 's' || body[0] == 'S') actions[continue_] = action::step;
    go(actions);
}

void stub::go(const std::vector<action>& actions) {
    // Several harts can stop at the same simulated time; each resumption reports one of them to
    // GDB.
    actions_ = actions;
    if (const auto stopped = take_stop()) return report(*stopped);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        if (!attached(env_.harts[i].process)) continue;
        auto& hart = *env_.harts[i].target;
        if (actions[i] == action::none) {
            if (!hart.halted()) hart.halt();
        } else if (actions[i] == action::step) {
            if (!hart.halted()) hart.halt();
            hart.resume(true);
        } else if (hart.halted()) {
            hart.resume(false);
        }
    }
    if (actions[general_] == action::resume &&
        (leads_out_of_wait(general_) || is_stepped_by_breakpoint(general_)))
        env_.harts[general_].target->end_wait();
    running_ = true;
    env_.loop.resume();
}

/// Whether a breakpoint is at a return address of this hart's stack, as set by "finish" and
/// "until". Then the hart must leave a WFI. A pause alone does not complete a WFI (though a halt
/// does in the Debug specification), since debugging must not change the program's behaviour.
bool stub::leads_out_of_wait(std::size_t index) {
    const auto known = breakpoints_.find(env_.harts[index].process);
    if (known == breakpoints_.end() || known->second.empty()) return false;
    constexpr unsigned ra = debug_target::x0 + 1, sp = debug_target::x0 + 2;
    auto& hart = *env_.harts[index].target;
    std::array<std::uint64_t, 2048> stack;
    const auto size = hart.memory().peek(hart.read_register(sp).value_or(0),
                                         std::as_writable_bytes(std::span(stack)));
    const auto returns = std::span(stack).first(size / sizeof stack[0]);
    return std::ranges::any_of(known->second, [&](const place& p) {
        return hart.read_register(ra) == p.first || std::ranges::count(returns, p.first) > 0;
    });
}

/// GDB assumes Linux for a process whose description it has not read, and steps its harts by a
/// breakpoint at the next instruction.
bool stub::is_stepped_by_breakpoint(std::size_t index) {
    const auto& h = env_.harts[index];
    const auto known = breakpoints_.find(h.process);
    return !described_.contains(h.process) && known != breakpoints_.end() &&
           std::ranges::any_of(known->second,
                               [&](const place& p) { return h.target->leads_to(p.first); });
}

/// A step that has not been executed (its hart is in reset, or stops later than another one) must
/// not stop the hart once GDB has seen a stop or has left.
void stub::end_step(std::size_t index) {
    const bool stepped = std::exchange(actions_[index], action::resume) == action::step;
    auto& hart = *env_.harts[index].target;
    if (stepped && !hart.halted()) hart.resume(false);
}

void stub::end_steps() {
    for (std::size_t i = 0; i < env_.harts.size(); ++i) end_step(i);
    // Steps that ended at the time of the reported stop: GDB reads these harts' registers now.
    std::erase_if(pending_, [this](std::size_t index) {
        return env_.harts[index].target->last_stop().why == debug_target::stop_kind::step;
    });
}

void stub::interrupt() {
    if (!running_) return;
    env_.loop.pause("debugger interrupt", run_loop::pause_cause::debugger_request);
    if (running_) platform_paused({});  // the platform was paused already
}

void stub::hart_stopped(std::size_t index) {
    pending_.push_back(index);
    env_.loop.pause(env_.harts[index].name + " stopped in the debugger");
}

void stub::platform_paused(const std::string& why) {
    if (!running_) return;
    running_ = false;
    const auto stopped = take_stop();
    end_steps();
    if (stopped) return report(*stopped);
    // Another cause than GDB's own requests: a breakpoint of an engine, another client.
    if (!why.empty() && env_.loop.cause_of_pause() != run_loop::pause_cause::debugger_request)
        reply("O" + hex_text(why + "\n"));
    stop_ = "T02";  // SIGINT
    reply(stop_reply());
}

/// Removes and returns the next unreported stop of a hart that GDB resumed. Stops of other harts
/// are deferred: while GDB steps one hart over a breakpoint, it treats them as an error.
std::optional<std::size_t> stub::take_stop() {
    for (;;) {
        const auto at = std::ranges::find_if(
            pending_, [this](std::size_t index) { return actions_[index] != action::none; });
        if (at == pending_.end()) return std::nullopt;
        const auto index = *at;
        pending_.erase(at);
        if (stopped_at_a_point(index)) return index;
    }
}

/// False when GDB has removed the breakpoint or watchpoint meanwhile, after the report of another
/// hart.
bool stub::stopped_at_a_point(std::size_t index) {
    const auto& h = env_.harts[index];
    const auto stop = h.target->last_stop();
    if (stop.why == debug_target::stop_kind::breakpoint) {
        const auto& known = breakpoints_[h.process];
        const auto pc = h.target->read_register(debug_target::pc).value_or(0);
        return known.contains({pc, '0'}) || known.contains({pc, '1'});
    }
    return stop.why != debug_target::stop_kind::watchpoint || watch_of(index) != nullptr;
}

const stub::watch* stub::watch_of(std::size_t index) {
    const auto stop = env_.harts[index].target->last_stop();
    const auto& known = watchpoints_[env_.harts[index].process];
    const auto hit = std::ranges::find_if(known, [&](const watch& w) {
        return stop.address - w.where.address < w.where.size &&
               (stop.on_store ? w.where.on_store : w.where.on_load);
    });
    return hit == known.end() ? nullptr : &*hit;
}

void stub::exited(int status) {
    if (!std::exchange(running_, false)) return;
    reply(fmt::format("W{:02x}", status & 0xff) +
          (multiprocess_ ? fmt::format(";process:{:x}", env_.harts[general_].process) : ""));
}

void stub::report(std::size_t index) {
    general_ = continue_ = index;
    auto& hart = *env_.harts[index].target;
    const auto stop = hart.last_stop();
    stop_ = "T05";
    if (const watch* const hit = watch_of(index);
        stop.why == debug_target::stop_kind::watchpoint && hit != nullptr) {
        stop_ += fmt::format("{}:{:x};",
                             hit->type == '2'   ? "watch"
                             : hit->type == '3' ? "rwatch"
                                                : "awatch",
                             stop.address);
    } else if (stop.why == debug_target::stop_kind::breakpoint) {
        const auto pc = hart.read_register(debug_target::pc).value_or(0);
        const bool hardware = !breakpoints_[env_.harts[index].process].contains({pc, '0'});
        if (hardware && hwbreak_) stop_ += "hwbreak:;";
        if (!hardware && swbreak_) stop_ += "swbreak:;";
    }
    reply(stop_reply());
}

std::string stub::stop_reply() const {
    return fmt::format("{}thread:{};", stop_, id_text(env_.harts[general_]));
}

}  // namespace trn::gdb
