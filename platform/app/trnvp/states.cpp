// SPDX-License-Identifier: Apache-2.0
#include "platform/app/trnvp/states.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cassert>
#include <csignal>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/snapshots/io_hooks.h"
#include "platform/framework/tlm/backing_store.h"

namespace trn {

using rpc::code;
using rpc::json;

namespace {

/// The name as text: a debugger's monitor command converts "1" to a number.
std::string name_of(const rpc::parameters& p) {
    constexpr std::size_t longest = 64;
    const auto& given = p.value("name");
    auto name = given.is_number_unsigned() ? given.dump() : p.text("name");
    if (name.empty() || name.size() > longest)
        p.wrong("name", fmt::format("1 to {} characters", longest));
    return name;
}

json to_json(const std::vector<standard_streams::unread>& all) {
    json list = json::array();
    for (const auto& [text, dropped] : all)
        list.push_back({{"text", json::binary({text.begin(), text.end()})}, {"dropped", dropped}});
    return list;
}

std::vector<standard_streams::unread> output_from(const json& list) {
    std::vector<standard_streams::unread> all;
    for (const auto& each : list) {
        const auto& text = each["text"].get_binary();
        all.push_back({{text.begin(), text.end()}, each["dropped"]});
    }
    return all;
}

}  // namespace

states::states(control& methods, endpoints& clients, standard_streams& output,
               event_recording& events, config cfg)
    : methods_(methods),
      clients_(clients),
      output_(output),
      events_(events),
      cfg_(std::move(cfg)),
      kept_(hooks_of(methods.loop().io(), [&clients, &output] {
          clients.drop_clients();
          output.give();  // the process that continues prints it
      })) {
    auto& table = methods_.methods();
    const rpc::field name{"name", "1 to 64 characters", "of the state", rpc::required};
    const std::vector<rpc::field> about{{"name", "text"},
                                        {"time_ps", "number", "simulated time of the state, in ps"},
                                        {"time", "text", "the same with a unit"}};
    auto list_of_states = about;
    list_of_states.insert(list_of_states.begin(), {"", "list", "of states, each with:"});
    const rpc::failure impossible{code::failed, "a host is attached, or a part cannot be restored"};
    table.add({"snapshot",
               "Keeps the current state of the platform in memory, and replaces an older one of "
               "that name; only of `trnvp run`.",
               {name},
               about,
               {impossible}},
              [this](const auto& p, auto&) { return keep(p); });
    table.add({"restore",
               "Returns to a kept state and pauses the platform. Waits of all clients end.",
               {name},
               about,
               {{code::not_found, "no such state"}, impossible}},
              [this](const auto& p, auto& caller) { return restore(p, caller); });
    table.add({"snapshots", "Lists the kept states.", {}, list_of_states},
              [this](const auto&, auto&) { return list(); });
}

void states::ends() {
    if (kept_.all().empty()) return;
    const auto requests = snapshots::requests_to_end();
    sigprocmask(SIG_BLOCK, &requests, nullptr);
}

void states::check_possible() const {
    const auto refuse = [](const std::string& why) { throw rpc::error(code::failed, why); };
    if (!cfg_.never.empty()) refuse(cfg_.never);
    if (const auto hosts = clients_.attached(); !hosts.empty())
        refuse(fmt::format(
            "a host is attached to {}: its driver and memory cannot be restored; detach it first",
            fmt::join(hosts, ", ")));
    if (backing_store::any_shared())
        refuse(
            "memory that other processes can map cannot be restored: run without shared_hbm=true");
}

json states::keep(const rpc::parameters& p) {
    const auto name = name_of(p);
    check_possible();
    if (cfg_.flush) cfg_.flush();
    output_.flush();
    json about = {{"name", name},
                  {"time_ps", in_picoseconds(sc_core::sc_time_stamp())},
                  {"time", to_text(sc_core::sc_time_stamp())}};
    try {
        if (auto carried = kept_.keep(name, about)) resume(name, std::move(*carried));
    } catch (const std::system_error& e) {
        throw rpc::error(code::failed, fmt::format("no snapshot: {}", e.what()));
    } catch (const std::runtime_error& e) {
        throw rpc::error(code::failed, e.what());
    }
    return about;
}

json states::list() const {
    json all = json::array();
    for (const auto& [name, state] : kept_.all()) all.push_back(state.about);
    return all;
}

json states::restore(const rpc::parameters& p, const rpc::caller& caller) {
    const auto name = name_of(p);
    if (!kept_.has(name)) {
        std::vector<std::string> known;
        for (const auto& [state, about] : kept_.all()) known.push_back(state);
        throw rpc::error(code::not_found,
                         known.empty()
                             ? fmt::format("there is no snapshot '{}': none was kept", name)
                             : fmt::format("there is no snapshot '{}'  (known: {})", name,
                                           fmt::join(known, ", ")));
    }
    check_possible();
    if (misuse::failed())
        throw rpc::error(code::failed,
                         "a misuse rule with policy 'fail' was broken, and restore would hide it; "
                         "clear it first: 'misuse' with clear: true");
    passed_ = descriptors();
    try {
        successor_.emplace(kept_.prepare(name, passed_));
    } catch (const std::system_error& e) {
        throw rpc::error(code::failed,
                         fmt::format("not restored: {}; the platform keeps its state", e.what()));
    }
    // Leave this process after the response is queued; the restored process sends unsent bytes.
    methods_.loop().at_rest([this, name, client = caller.name] { leave(name, client); });
    return kept_.all().at(name).about;
}

/// Descriptors for the restored process: the sockets of all clients, and the recording of events.
std::vector<int> states::descriptors() const {
    auto all = clients_.hand_over().sockets;
    events_.hand_over(all);
    return all;
}

void states::leave(const std::string& name, const std::string& client) {
    methods_.end_waits(
        {stop_reason::kind::restored, fmt::format("{} restored '{}'", client, name)});
    auto clients = clients_.hand_over();  // with the response
    if (cfg_.flush) cfg_.flush();
    auto events = events_.hand_over(clients.sockets);
    assert(clients.sockets == passed_);  // no handler has run since
    auto output = output_.give();
    try {
        kept_.restore(*std::exchange(successor_, {}), {{"by", client},
                                                       {"events", std::move(events)},
                                                       {"clients", std::move(clients.clients)},
                                                       {"output", to_json(output)}});
    } catch (const std::system_error& e) {  // the copy was killed since restore()
        output_.take(std::move(output));
        const auto why = fmt::format("'{}' is not restored: {}", name, e.what());
        log::error("snapshots", "{}; the platform keeps its state", why);
        methods_.loop().resume();  // so that all clients are notified of the pause
        methods_.loop().pause(why);
    }
}

// Runs in the restored process, after the call that took the snapshot; the client of that call has
// been disconnected.
void states::resume(const std::string& name, snapshots::handover_state carried) {
    auto& loop = methods_.loop();
    const auto& events = carried.state["events"];
    int file = -1;
    if (events["started"]) {
        file = carried.descriptors.back();
        carried.descriptors.pop_back();
    }
    events_.take_over(events, file);
    if (trace::on())
        trace::event("platform", "restored",
                     {{"snapshot", name}, trace::hex("after", carried.traced.digest)});
    output_.take(output_from(carried.state["output"]));
    loop.resume();  // so that all clients are notified of the pause
    clients_.take_over({std::move(carried.state["clients"]), std::move(carried.descriptors)});
    loop.pause(fmt::format("{} restored '{}'", carried.state["by"].get<std::string>(), name));
}

}  // namespace trn
