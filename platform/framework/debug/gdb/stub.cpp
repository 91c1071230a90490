// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/stub.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "platform/framework/attach/control/hex.h"
#include "platform/framework/debug/gdb/access.h"
#include "platform/framework/debug/gdb/packet.h"
#include "platform/framework/debug/gdb/registers.h"
#include "platform/framework/debug/gdb/syntax.h"

namespace trn::gdb {
namespace {

constexpr std::size_t threads_per_packet = 500;

}  // namespace

stub::stub(environment e)
    : env_(std::move(e)), points_(env_.harts), actions_(env_.harts.size(), action::resume) {
    env_.loop.pause("debugger attached", run_loop::pause_cause::debugger_request);
}

stub::stub(environment e, const nlohmann::json& session)
    : env_(std::move(e)), points_(env_.harts), actions_(env_.harts.size(), action::resume) {
    multiprocess_ = session["multiprocess"];
    swbreak_ = session["swbreak"];
    hwbreak_ = session["hwbreak"];
    continue_ = session["continue"];
    running_ = session["running"];
    stop_ = session["stop"];
    detached_ = session["detached"].get<std::set<unsigned>>();
    described_ = session["described"].get<std::set<unsigned>>();
    points_.take_over(session["points"]);
    general_ = session["general"];
}

nlohmann::json stub::hand_over() const {
    return {{"multiprocess", multiprocess_},
            {"swbreak", swbreak_},
            {"hwbreak", hwbreak_},
            {"general", general_},
            {"continue", continue_},
            {"running", running_},
            {"stop", stop_},
            {"detached", detached_},
            {"described", described_},
            {"points", points_.hand_over()}};
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
    points_.remove_all(process);
    for (std::size_t i = 0; i < env_.harts.size(); ++i) {
        const auto& h = env_.harts[i];
        if (h.process != process) continue;
        end_step(i);
        if (h.target->halted()) h.target->resume(false);
    }
    std::erase_if(pending_,
                  [&](std::size_t index) { return env_.harts[index].process == process; });
    detached_.insert(process);
    if (const auto other = find({})) {
        if (current().process == process) general_ = continue_ = *other;
        return;
    }
    running_ = false;
    env_.loop.resume();
}

void stub::attach(std::string_view text) {
    const auto process = number(text);
    const auto found = std::ranges::find_if(
        env_.harts, [&](const debug_hart& h) { return process && h.process == *process; });
    if (found == env_.harts.end()) return reply(bad_request);
    detached_.erase(found->process);
    general_ = continue_ = static_cast<std::size_t>(found - env_.harts.begin());
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
    const auto part = [](std::string_view t, std::optional<unsigned>& part_number) {
        if (t == "-1" || t == "0") return true;
        const auto n = number(t);
        if (!n || *n > 0xffffffff) return false;
        part_number = static_cast<unsigned>(*n);
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
    if (is_access && !attached(current().process)) return reply(bad_request);
    auto& hart = *current().target;
    switch (body.empty() ? '\0' : body[0]) {
    case '?':
        return reply(stop_reply());
    case '!':
        return reply("OK");
    case 'g':
        return reply(read_registers(hart));
    case 'G':
        return reply(write_registers(hart, rest));
    case 'p':
        return reply(read_register(hart, rest));
    case 'P':
        return reply(write_register(hart, rest));
    case 'm':
        return reply(read_memory(hart, rest));
    case 'M': {
        const auto [range_text, data] = cut(rest, ':');
        const auto bytes = from_hex(data);
        return reply(bytes ? write_memory(hart, range_text, *bytes) : std::string(bad_request));
    }
    case 'X': {
        const auto [range_text, data] = cut(rest, ':');
        return reply(write_memory(hart, range_text, std::as_bytes(std::span(data))));
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
    if (name == "C") return reply("QC" + id_text(current()));
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
        "swbreak+;hwbreak+{}{}",
        largest_packet, multiprocess_ ? ";multiprocess+" : "",
        env_.libraries.list ? ";qXfer:libraries:read+" : ""));
}

void stub::monitor(std::string_view hex) {
    const auto command = from_hex(hex);
    if (!command) return reply(bad_request);
    const auto text =
        env_.monitor({reinterpret_cast<const char*>(command->data()), command->size()});
    constexpr std::size_t piece = largest_packet / 4;
    for (std::size_t offset = 0; offset < text.size(); offset += piece)
        reply("O" + hex_text(std::string_view(text).substr(offset, piece)));
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
        if (description_.empty()) description_ = target_description(*current().target);
        described_.insert(current().process);
        document = description_;
    } else if (object == "threads" && annex.empty()) {
        document = "<?xml version=\"1.0\"?>\n<threads>\n";
        for (const auto& h : env_.harts)
            if (attached(h.process))
                document += fmt::format("<thread id=\"{}\" name=\"{}\">{}</thread>\n", id_text(h),
                                        escape_xml(h.name), escape_xml(h.target->state()));
        document += "</threads>\n";
    } else if (object == "libraries" && annex.empty() && env_.libraries.list) {
        if (wanted->address == 0) {
            libraries_ = env_.libraries.list(current());
            watch_libraries(current());
        }
        document = libraries_;
    } else {
        return reply("E00");
    }
    if (wanted->address >= document.size()) return reply("l");
    const auto piece = document.substr(wanted->address,
                                       std::min<std::uint64_t>(wanted->length, largest_packet / 2));
    reply((wanted->address + piece.size() < document.size() ? "m" : "l") + piece);
}

/// Stops its harts from now on where the list may change.
void stub::watch_libraries(const debug_hart& hart) {
    for (const auto address : env_.libraries.events(hart))
        points_.set(true, hart.process, points::breakpoint{address, points::library});
}

void stub::extra_info(std::string_view text) {
    const auto id = parse_id(text);
    const auto index = id ? find(*id) : std::nullopt;
    if (!index) return reply(bad_request);
    const auto& h = env_.harts[*index];
    reply(hex_text(fmt::format("{}: {}", h.name, h.target->state())));
}

// --- Breakpoints and watchpoints: Z0/Z1 breakpoint, Z2 write, Z3 read, Z4 access; z removes

void stub::point(std::string_view body) {
    const auto [head, place] = cut(body, ',');
    const auto range = parse_range(cut(place, ';').first);
    const auto process = current().process;
    if (head.size() != 2 || !range || !attached(process)) return reply(bad_request);
    const bool insert = head[0] == 'Z';
    bool done = false;
    switch (head[1]) {
    case '0':
    case '1':
        done = points_.set(insert, process, points::breakpoint{range->address, head[1]});
        break;
    case '2':
    case '3':
    case '4':
        if (range->length == 0 || range->length > 4096 ||
            range->length - 1 > ~range->address)  // beyond the end of the address space
            return reply(bad_request);
        done = points_.set(
            insert, process,
            points::watchpoint{{range->address, range->length, head[1] != '2', head[1] != '3'},
                               head[1]});
        break;
    default:
        return reply("");
    }
    reply(done ? "OK" : bad_request);
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
        const auto [entry, rest] = cut(text, ';');
        text = rest;
        const auto [verb, thread] = cut(entry, ':');
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
    auto address = body.substr(1);
    if (body[0] == 'C' || body[0] == 'S') address = cut(address, ';').second;
    if (!attached(env_.harts[continue_].process)) return reply(bad_request);
    if (!address.empty()) {
        const auto pc = number(address);
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
    if (actions[general_] == action::resume && must_leave_wait(current()))
        current().target->end_wait();
    running_ = true;
    env_.loop.resume();
}

/// Whether a WFI of the hart must end because GDB waits for a breakpoint after it: one at a return
/// address ("finish", "until"), or one by which GDB steps. GDB assumes Linux for a process whose
/// description it has not read, and steps its harts by a breakpoint at the next instruction. A
/// pause alone does not complete a WFI (though a halt does in the Debug specification), since
/// debugging must not change the program's behaviour.
bool stub::must_leave_wait(const debug_hart& hart) const {
    const bool stepped_by_breakpoint = !described_.contains(hart.process);
    return points_.catches_return(hart) || (stepped_by_breakpoint && points_.catches_next(hart));
}

/// A step that has not been executed (its hart is in reset, or stops later than another hart) must
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
        const auto found = std::ranges::find_if(
            pending_, [this](std::size_t index) { return actions_[index] != action::none; });
        if (found == pending_.end()) return std::nullopt;
        const auto index = *found;
        pending_.erase(found);
        if (points_.explains_stop(env_.harts[index])) return index;
    }
}

void stub::exited(int status) {
    if (!std::exchange(running_, false)) return;
    reply(fmt::format("W{:02x}", status & 0xff) +
          (multiprocess_ ? fmt::format(";process:{:x}", current().process) : ""));
}

void stub::report(std::size_t index) {
    general_ = continue_ = index;
    const auto stop = current().target->last_stop();
    stop_ = "T05";
    if (const auto* const hit = points_.hit_by(current());
        stop.why == debug_target::stop_kind::watchpoint && hit != nullptr) {
        stop_ += fmt::format("{}:{:x};",
                             hit->type == '2'   ? "watch"
                             : hit->type == '3' ? "rwatch"
                                                : "awatch",
                             stop.address);
    } else if (stop.why == debug_target::stop_kind::breakpoint) {
        const bool hardware = points_.is_at(current(), '1');
        const bool software = points_.is_at(current(), '0');
        if (!hardware && !software) stop_ += "library:;";
        if (!software && hardware && hwbreak_) stop_ += "hwbreak:;";
        if (software && swbreak_) stop_ += "swbreak:;";
    }
    reply(stop_reply());
}

std::string stub::stop_reply() const {
    return fmt::format("{}thread:{};", stop_, id_text(current()));
}

}  // namespace trn::gdb
