// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/hooks.h"

#include <memory>
#include <optional>
#include <utility>

#include "platform/framework/kernel/time_value.h"

namespace trn {

namespace {

struct attached_host {
    run_loop& loop;
    const std::string client, host;
    std::uint64_t attachment = 0;
    std::optional<run_loop::goal_id> waiting = {}, accessing = {};
    std::string access = {};  // that waits for its target

    void come() { attachment = loop.attach(client, host); }
    void go() {
        if (waiting) loop.cancel(*waiting);
        waiting.reset();
        access_waits({});
        loop.detach(attachment);
    }
    /// Simulated time advances for the access as for wait().
    void access_waits(const std::string& text) {
        if (text == access) return;
        if (accessing) loop.cancel(*accessing);
        accessing.reset();
        access = text;
        if (access.empty()) return;
        accessing = loop.wait_for({.waiter = client,
                                   .condition_text = access,
                                   .attachment = attachment,
                                   .outlives_stall = true},
                                  [this](const stop_reason&) { accessing.reset(); });
    }
    void wait(const sc_core::sc_time& time, std::function<void(bool)> done) {
        waiting = loop.wait_for({.waiter = client,
                                 .condition_text = "simulated time to pass",
                                 .until = later(sc_core::sc_time_stamp(), time),
                                 .attachment = attachment},
                                [this, done = std::move(done)](const stop_reason& why) {
                                    waiting.reset();
                                    done(why.cause == stop_reason::kind::time_limit);
                                });
    }
};

}  // namespace

vfio_user_hooks hooks_into(run_loop& loop, std::string client, std::string host_name) {
    const auto host = std::shared_ptr<attached_host>(
        new attached_host{loop, std::move(client), std::move(host_name)});
    return {
        .before_access = [&loop] { loop.host_access(); },
        .after_access = [&loop](const sc_core::sc_time& delay) { loop.host_access_took(delay); },
        .may_answer =
            [&loop](const started_work& work, std::function<void()> answer) {
                return loop.host_wrote(work, std::move(answer));
            },
        .attached = [host](bool now) { now ? host->come() : host->go(); },
        .wait = [host](const sc_core::sc_time& time,
                       std::function<void(bool)> done) { host->wait(time, std::move(done)); },
        .access_waits = [host](const std::string& text) { host->access_waits(text); },
        .between_slices =
            [&loop](std::function<void()> work) { loop.between_slices(std::move(work)); },
        .log = {}};
}

}  // namespace trn
