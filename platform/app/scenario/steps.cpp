// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "platform/app/scenario/action.h"
#include "platform/app/scenario/condition.h"
#include "platform/app/scenario/expression.h"
#include "platform/app/scenario/runner.h"
#include "platform/app/scenario/scenario.h"
#include "platform/app/scenario/world.h"
#include "platform/framework/kernel/trace.h"

// One function per kind of step: reads its keys, returns what it does. doc/scenarios.md lists them.

namespace trn::config {

template <>
struct choices<trn_status> {
    static constexpr std::array list{
        choice<trn_status>{"invalid_argument", TRN_INVALID_ARGUMENT},
        choice<trn_status>{"unknown_device", TRN_UNKNOWN_DEVICE},
        choice<trn_status>{"not_ready", TRN_NOT_READY},
        choice<trn_status>{"timed_out", TRN_TIMED_OUT},
        choice<trn_status>{"aborted", TRN_ABORTED},
        choice<trn_status>{"refused", TRN_REFUSED},
        choice<trn_status>{"protocol_error", TRN_PROTOCOL_ERROR},
        choice<trn_status>{"busy", TRN_BUSY},
        choice<trn_status>{"not_supported", TRN_NOT_SUPPORTED},
        choice<trn_status>{"no_memory", TRN_NO_MEMORY},
        choice<trn_status>{"transport_error", TRN_TRANSPORT_ERROR},
        choice<trn_status>{"device_gone", TRN_DEVICE_GONE},
    };
};

template <>
struct choices<trn_engine_mode> {
    static constexpr std::array list{
        choice<trn_engine_mode>{"idle", TRN_ENGINE_IDLE},
        choice<trn_engine_mode>{"normal", TRN_ENGINE_NORMAL},
        choice<trn_engine_mode>{"abort", TRN_ENGINE_ABORT},
    };
};

template <>
struct choices<trn_engine_command> {
    static constexpr std::array list{
        choice<trn_engine_command>{"normal", TRN_ENGINE_SET_NORMAL},
        choice<trn_engine_command>{"disable", TRN_ENGINE_SET_DISABLE},
        choice<trn_engine_command>{"abort", TRN_ENGINE_SET_ABORT},
    };
};

}  // namespace trn::config

namespace trn::scenario {

std::string address_fault(const location& place) {
    return place.what == location::kind::host
               ? "memory of the host has no address before a copy takes it: name a memory of a chip"
               : "";
}

void check_parts(const reader& r, std::string_view key, std::uint64_t size, std::uint64_t part) {
    if (part != 0 && size / part > max_parts)
        r.node().at(key).report(
            mistake::out_of_range,
            fmt::format("{} are cut into more than {} parts of {}", to_string(bytes{size}),
                        max_parts, to_string(bytes{part})));
}

std::vector<std::uint8_t> read_memory(world& w, const location& from, std::uint64_t size) {
    const auto address = from.address(w.device, size);  // before memory is asked for
    std::vector<std::uint8_t> bytes(size);
    if (from.what == location::kind::hbm)
        w.device.check(trn_window_read(w.device, from.number, from.offset, bytes.data(), size));
    else
        w.device.check(trn_read(w.device, from.core(w.device), bytes.data(), address, size));
    return bytes;
}

void write_memory(world& w, const location& to, const std::vector<std::uint8_t>& bytes) {
    const auto address = to.address(w.device, bytes.size());
    if (to.what == location::kind::hbm)
        w.device.check(
            trn_window_write(w.device, to.number, to.offset, bytes.data(), bytes.size()));
    else
        w.device.check(trn_write(w.device, to.core(w.device), address, bytes.data(), bytes.size()));
}

nlohmann::json call(world& w, std::string_view method, const nlohmann::json& params) {
    try {
        return w.control.call(method, params);
    } catch (const rpc::error& wrong) {
        throw step_failure(wrong.what());
    }
}

figure read_rate_figure(const reader& r, std::string name) {
    figure wanted{std::move(name), 0, "GB/s"};
    if (r.has("at_least")) wanted.least = static_cast<double>(r.rate("at_least", 0)) * 1e-9;
    if (r.has("at_most")) wanted.most = static_cast<double>(r.rate("at_most", any)) * 1e-9;
    check_bounds(r, wanted);
    return wanted;
}

void check_bounds(const reader& r, const figure& wanted) {
    if (wanted.least && wanted.most && *wanted.least > *wanted.most)
        r.node().at("at_most").report(mistake::out_of_range, "'at_most' is less than 'at_least'");
}

void measure(world& w, const figure& what) {
    if (!std::isfinite(what.value))
        throw step_failure("there is no such figure: what it measures took no simulated time");
    w.tell->measured(what);
    if (!what.within_bounds()) throw step_failure("it is " + what.text());
}

namespace {

using rpc::json;

// --- Memory

void expect_equal(std::string_view where, const std::optional<pattern::mismatch>& wrong) {
    if (wrong) throw step_failure(fmt::format("{}: {}", where, to_string(*wrong)));
}

/// Both ends of a copy, with host memory where an end is the host.
struct copy_ends {
    std::unique_ptr<host_buffer> from, to;
    std::uint64_t source = 0, destination = 0;
};

struct copy_spec {
    location from, to;
    std::uint64_t size = 0;
    std::optional<std::uint32_t> given_core;
    std::string pattern;
    std::string text() const {
        return fmt::format("{} to {}, {} bytes", from.text(), to.text(), size);
    }
    std::uint32_t core(const device& on) const {
        return given_core.value_or((to.what == location::kind::host ? from : to).core(on));
    }
};

/// The core that a step names, or nothing.
std::optional<std::uint32_t> read_core(const reader& r) {
    if (!r.has("core")) return std::nullopt;
    return static_cast<std::uint32_t>(r.number("core", word_max));
}

copy_spec read_copy_spec(const reader& r, bool compared) {
    const auto from = r.place("from"), to = r.place("to");
    const auto of_host = [](const location& end) { return end.what == location::kind::host; };
    const auto bounds = compared || of_host(from) || of_host(to) ? held : size_bounds{};
    return {from, to, r.size("size", bounds), read_core(r), r.text("pattern", "")};
}

copy_ends prepare(world& w, const copy_spec& c) {
    copy_ends ends;
    if (c.from.what == location::kind::host) {
        ends.from = std::make_unique<host_buffer>(w.device, c.size, c.from.offset);
        pattern(w.seed, c.pattern).fill(ends.from->bytes());
    }
    if (c.to.what == location::kind::host)
        ends.to = std::make_unique<host_buffer>(w.device, c.size, c.to.offset);
    ends.source = ends.from ? ends.from->address() : c.from.address(w.device, c.size);
    ends.destination = ends.to ? ends.to->address() : c.to.address(w.device, c.size);
    return ends;
}

action read_copy(const reader& r) {
    r.only({"from", "to", "size", "core", "pattern", "verify"});
    const bool verify = r.flag("verify", true);
    const auto c = read_copy_spec(r, verify);
    return {"copy " + c.text(), [c, verify](world& w) {
                const auto ends = prepare(w, c);
                std::vector<std::uint8_t> expected;
                if (verify && !ends.from) expected = read_memory(w, c.from, c.size);
                w.device.check(
                    trn_copy(w.device, c.core(w.device), ends.destination, ends.source, c.size));
                if (!verify) return;
                const auto found = ends.to ? std::vector<std::uint8_t>(ends.to->bytes().begin(),
                                                                       ends.to->bytes().end())
                                           : read_memory(w, c.to, c.size);
                expect_equal(c.to.text(),
                             compare(ends.from ? ends.from->bytes() : expected, found));
            }};
}

action read_submit(const reader& r) {
    r.only({"job", "from", "to", "size", "core", "pattern"});
    const auto c = read_copy_spec(r, false);
    const auto name = r.text("job");
    return {fmt::format("submit '{}': {}", name, c.text()), [c, name](world& w) {
                if (w.jobs.contains(name))
                    throw step_failure(fmt::format("job '{}' is not finished yet", name));
                auto ends = prepare(w, c);
                world::job job;
                w.device.check(trn_submit(w.device, c.core(w.device), ends.destination, ends.source,
                                          c.size, &job.id));
                job.from = std::move(ends.from);
                job.to = std::move(ends.to);
                w.jobs.emplace(name, std::move(job));
            }};
}

action read_finish(const reader& r) {
    r.only({"job"});
    const auto name = r.text("job");
    return {fmt::format("finish '{}'", name), [name](world& w) {
                const auto found = w.jobs.extract(name);
                if (!found) throw step_failure(fmt::format("there is no job '{}'", name));
                w.device.check(trn_wait(w.device, found.mapped().id));
            }};
}

action read_memset(const reader& r) {
    r.only({"at", "size", "value", "core", "verify"});
    const auto at = r.place("at", address_fault);
    const bool verify = r.flag("verify", true);
    const auto size = r.size("size", verify ? held : size_bounds{});
    const auto value = static_cast<std::uint8_t>(r.number("value", 255));
    const auto given_core = read_core(r);
    return {fmt::format("memset {} to {:#04x}, {} bytes", at.text(), value, size), [=](world& w) {
                const auto core = given_core.value_or(at.core(w.device));
                w.device.check(trn_memset(w.device, core, at.address(w.device, size), value, size));
                if (!verify) return;
                const std::vector<std::uint8_t> expected(size, value);
                expect_equal(at.text(), compare(expected, read_memory(w, at, size)));
            }};
}

/// What `fill` writes and `verify` expects: a pattern, or one value everywhere.
struct content {
    std::string text;
    std::function<std::vector<std::uint8_t>(const world&, std::size_t)> bytes;
};

content read_content(const reader& r) {
    if (r.has("value") && r.has("pattern"))
        r.node().report_at(r.node().key_place("value"), mistake::unused_key,
                           "'value' and 'pattern' both say what is in memory; one of them does");
    if (r.has("value")) {
        const auto value = static_cast<std::uint8_t>(r.number("value", 255));
        return {fmt::format("{:#04x}", value), [value](const world&, std::size_t size) {
                    return std::vector<std::uint8_t>(size, value);
                }};
    }
    const auto name = r.text("pattern", "");
    return {fmt::format("pattern '{}'", name), [name](const world& w, std::size_t size) {
                std::vector<std::uint8_t> bytes(size);
                pattern(w.seed, name).fill(bytes);
                return bytes;
            }};
}

action read_fill(const reader& r) {
    r.only({"at", "size", "pattern", "value"});
    const auto at = r.place("at", address_fault);
    const auto size = r.size("size", held);
    const auto what = read_content(r);
    return {fmt::format("fill {} with {}, {} bytes", at.text(), what.text, size), [=](world& w) {
                at.address(w.device, size);  // before memory is asked for
                write_memory(w, at, what.bytes(w, size));
            }};
}

action read_verify(const reader& r) {
    r.only({"at", "size", "pattern", "value"});
    const auto at = r.place("at", address_fault);
    const auto size = r.size("size", held);
    const auto what = read_content(r);
    return {fmt::format("verify {} has {}, {} bytes", at.text(), what.text, size), [=](world& w) {
                const auto found = read_memory(w, at, size);
                expect_equal(at.text(), compare(what.bytes(w, size), found));
            }};
}

action read_scrub(const reader& r) {
    r.only({"stack", "offset", "size", "value"});
    const auto stack = static_cast<std::uint32_t>(r.number("stack", 3));
    const auto offset = r.offset("offset", TRN_HBM_RESERVED_BYTES);
    const auto size = r.size("size");
    const auto value = static_cast<std::uint32_t>(r.number("value", word_max, 0));
    return {fmt::format("scrub hbm{}@{:#x}, {} bytes", stack, offset, size),
            [=](world& w) { w.device.check(trn_scrub(w.device, stack, offset, size, value)); }};
}

// --- Life

action read_boot(const reader& r) {
    r.only({"within", "reset"});
    const auto within = r.time("within", 1'000'000'000);
    const bool reset = r.flag("reset", true);
    return {.text = "boot",
            .work =
                [=](world& w) {
                    const auto ready = ready_condition();
                    if (!w.wait_for(within, ready))
                        throw step_failure(fmt::format("not ready after {} ns", within));
                    w.device.check(trn_probe(w.device));
                    if (reset) w.device.check(trn_reset_device(w.device));
                },
            .shared = fmt::format("boot within {} ns, {}", within, reset ? "reset" : "no reset")};
}

action read_probe(const reader& r) {
    r.only({});
    return {"probe", [](world& w) { w.device.check(trn_probe(w.device)); }};
}

action read_reset(const reader& r) {
    r.only({"cores"});
    if (!r.has("cores"))
        return {"reset the device", [](world& w) { w.device.check(trn_reset_device(w.device)); }};
    const auto map = static_cast<std::uint32_t>(r.number("cores", word_max));
    return {fmt::format("reset cores {:#x}", map),
            [map](world& w) { w.device.check(trn_reset_cores(w.device, map)); }};
}

action read_restart_queue(const reader& r) {
    r.only({"core"});
    const auto core = static_cast<std::uint32_t>(r.number("core", word_max));
    return {fmt::format("restart the copy queue of core {}", core),
            [core](world& w) { w.device.check(trn_restart_queue(w.device, core)); }};
}

action read_wait(std::uint64_t nanoseconds) {
    return {.text = fmt::format("wait {} ns", nanoseconds),
            .work = [=](world& w) { w.sleep(nanoseconds); },
            .drives = false};
}

// --- Registers, semaphores

action read_write_register(const reader& r) {
    r.only({"offset", "value", "guarded"});
    const auto offset = r.number("offset");
    const auto value = static_cast<std::uint32_t>(r.number("value", word_max));
    const bool guarded = r.flag("guarded", false);
    return {fmt::format("write {:#x} to BAR0 + {:#x}", value, offset), [=](world& w) {
                w.device.check(guarded ? trn_bar_write(w.device, offset, value)
                                       : trn_bar_write_raw(w.device, offset, value));
            }};
}

action read_read_register(const reader& r) {
    r.only({"offset", "equals", "mask", "within"});
    const auto offset = r.number("offset");
    const auto mask = static_cast<std::uint32_t>(r.number("mask", word_max, word_max));
    const bool checked = r.has("equals");
    const auto equals = static_cast<std::uint32_t>(r.number("equals", word_max, 0));
    const auto within = r.time("within", 0);
    return {fmt::format("read BAR0 + {:#x}", offset), [=](world& w) {
                std::uint32_t value = 0;
                const bool right = w.wait_for(within, [&] {
                    w.device.check(trn_bar_read(w.device, offset, &value));
                    return !checked || (value & mask) == (equals & mask);
                });
                if (!right)
                    throw step_failure(fmt::format("BAR0 + {:#x} reads {:#x} instead of {:#x}",
                                                   offset, value & mask, equals & mask));
            }};
}

/// {core: N} or {top_sp: N}
std::pair<trn_sync_block, std::uint32_t> read_block(const reader& r) {
    if (r.has("top_sp"))
        return {TRN_SYNC_TOP_SP, static_cast<std::uint32_t>(r.number("top_sp", word_max))};
    return {TRN_SYNC_CORE, static_cast<std::uint32_t>(r.number("core", word_max))};
}

action read_semaphore(const reader& r) {
    r.only({"core", "top_sp", "index", "set", "increment", "decrement", "equals"});
    const auto [block, number] = read_block(r);
    const auto index = static_cast<std::uint32_t>(r.number("index", word_max));
    const auto set = r.has("set") ? std::optional(r.signed_number("set")) : std::nullopt;
    const auto up = static_cast<std::uint32_t>(r.number("increment", word_max, 0));
    const auto down = static_cast<std::uint32_t>(r.number("decrement", word_max, 0));
    const auto equals = r.has("equals") ? std::optional(r.signed_number("equals")) : std::nullopt;
    return {fmt::format("semaphore {} of {} {}", index, block ? "top_sp" : "core", number),
            [=, block = block, number = number](world& w) {
                auto& d = w.device;
                if (set) d.check(trn_semaphore_set(d, block, number, index, *set));
                if (up) d.check(trn_semaphore_increment(d, block, number, index, up));
                if (down) d.check(trn_semaphore_decrement(d, block, number, index, down));
                std::int32_t value = 0;
                if (!equals) return;
                d.check(trn_semaphore_read(d, block, number, index, &value));
                if (value != *equals)
                    throw step_failure(fmt::format("it is {} instead of {}", value, *equals));
            }};
}

action read_event(const reader& r) {
    r.only({"core", "top_sp", "index", "set", "equals"});
    const auto [block, number] = read_block(r);
    const auto index = static_cast<std::uint32_t>(r.number("index", word_max));
    const bool sets = r.has("set"), checks = r.has("equals");
    const auto set = static_cast<std::uint32_t>(r.number("set", word_max, 0));
    const auto equals = static_cast<std::uint32_t>(r.number("equals", word_max, 0));
    return {fmt::format("event {} of {} {}", index, block ? "top_sp" : "core", number),
            [=, block = block, number = number](world& w) {
                auto& d = w.device;
                if (sets) d.check(trn_event_set(d, block, number, index, set));
                std::uint32_t value = 0;
                if (!checks) return;
                d.check(trn_event_get(d, block, number, index, &value));
                if (value != equals)
                    throw step_failure(fmt::format("it is {} instead of {}", value, equals));
            }};
}

// --- Engines and rings

struct queue_name {
    std::uint32_t engine, queue;
};

queue_name read_queue(const reader& r) {
    return {static_cast<std::uint32_t>(r.number("engine", word_max)),
            static_cast<std::uint32_t>(r.number("queue", word_max, 0))};
}

action read_ring(const reader& r) {
    r.only({"engine", "queue", "m2s", "s2m", "length"});
    const auto q = read_queue(r);
    const auto m2s = r.place("m2s", address_fault), s2m = r.place("s2m", address_fault);
    const auto length = static_cast<std::uint32_t>(r.number("length", word_max));
    return {
        fmt::format("rings of engine {} queue {}: {} and {}, {} descriptors", q.engine, q.queue,
                    m2s.text(), s2m.text(), length),
        [=](world& w) {
            const std::uint64_t bytes = std::uint64_t{length} * sizeof(trn_descriptor);
            w.device.check(trn_ring_init(w.device, q.engine, q.queue, m2s.address(w.device, bytes),
                                         length, s2m.address(w.device, bytes), length));
        }};
}

action read_release(const reader& r) {
    r.only({"engine", "queue"});
    const auto q = read_queue(r);
    return {fmt::format("release engine {} queue {}", q.engine, q.queue),
            [q](world& w) { w.device.check(trn_ring_release(w.device, q.engine, q.queue)); }};
}

/// A copy descriptor pair as the scenario wants it, right or wrong.
struct ring_entry {
    std::uint32_t index;
    trn_descriptor m2s, s2m;
    location from, to;
    std::uint32_t size, ring_id;
};

action read_descriptor(const reader& r) {
    r.only({"m2s", "s2m", "index", "from", "to", "size", "ring_id", "write_barrier", "dmb",
            "strong_order"});
    const auto m2s = r.place("m2s", address_fault), s2m = r.place("s2m", address_fault),
               from = r.place("from", address_fault), to = r.place("to", address_fault);
    const auto index = r.number("index", word_max, 0);
    const auto size = static_cast<std::uint32_t>(r.size("size"));
    const auto ring_id = static_cast<std::uint32_t>(r.number("ring_id", 3, 1));
    const std::uint32_t flags =
        (r.flag("write_barrier", false) ? unsigned{TRN_WRITE_BARRIER} : 0u) |
        (r.flag("dmb", false) ? unsigned{TRN_DMB} : 0u) |
        (r.flag("strong_order", false) ? unsigned{TRN_STRONG_ORDER} : 0u);
    return {fmt::format("descriptor {}: {} to {}, {} bytes", index, from.text(), to.text(), size),
            [=](world& w) {
                const auto put = [&](const location& ring, const trn_descriptor& d) {
                    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&d);
                    write_memory(w, ring.plus(index * sizeof d), {bytes, bytes + sizeof d});
                };
                put(m2s, trn_m2s_descriptor(from.address(w.device, size), size, ring_id, flags));
                put(s2m, trn_s2m_descriptor(to.address(w.device, size), size, ring_id, flags));
            }};
}

action read_doorbell(const reader& r) {
    r.only({"engine", "queue", "m2s", "s2m"});
    const auto q = read_queue(r);
    const auto m2s = static_cast<std::uint32_t>(r.number("m2s", word_max, 0));
    const auto s2m = static_cast<std::uint32_t>(r.number("s2m", word_max, 0));
    return {
        fmt::format("doorbells of engine {} queue {}: {} and {}", q.engine, q.queue, m2s, s2m),
        [=](world& w) { w.device.check(trn_ring_start(w.device, q.engine, q.queue, m2s, s2m)); }};
}

action read_engine(const reader& r) {
    r.only({"engine", "set", "is", "within"});
    const auto engine = static_cast<std::uint32_t>(r.number("engine", word_max));
    const auto within = r.time("within", 0);
    const auto set =
        r.has("set") ? std::optional(r.choice<trn_engine_command>("set")) : std::nullopt;
    const auto is = r.has("is") ? std::optional(r.choice<trn_engine_mode>("is")) : std::nullopt;
    return {fmt::format("engine {}", engine), [=](world& w) {
                if (set) w.device.check(trn_engine_set_state(w.device, engine, *set));
                if (!is) return;
                trn_engine_state state{};
                const bool right = w.wait_for(within, [&] {
                    w.device.check(trn_engine_get_state(w.device, engine, &state));
                    return state.mode == *is;
                });
                if (!right)
                    throw step_failure(fmt::format("its states are {:#06x} and {:#06x}",
                                                   state.m2s_state, state.s2m_state));
            }};
}

// --- Firmware

action read_mailbox(const reader& r) {
    r.only({"power_profile", "throttling", "metric", "get_data", "command"});
    if (r.has("power_profile")) {
        const auto profile = static_cast<std::uint8_t>(r.number("power_profile", 255));
        return {fmt::format("set power profile {}", profile),
                [=](world& w) { w.device.check(trn_set_power_profile(w.device, profile)); }};
    }
    if (r.has("throttling")) {
        const bool on = r.flag("throttling", false);
        return {fmt::format("throttling notifications {}", on ? "on" : "off"),
                [=](world& w) { w.device.check(trn_set_throttling_notifications(w.device, on)); }};
    }
    if (r.has("metric")) {
        // One record of the driver's list: id, length, text (contract 12).
        const auto text = r.text("metric").substr(0, TRN_MAX_METRIC_BYTES - 2);
        const auto record = std::string{1, static_cast<char>(text.size())} + text;
        return {"post a metric", [=](world& w) {
                    w.device.check(trn_post_metric(w.device, record.data(),
                                                   static_cast<std::uint32_t>(record.size())));
                }};
    }
    if (r.has("get_data")) {
        const auto type = static_cast<std::uint32_t>(r.number("get_data", word_max));
        return {fmt::format("get data of type {}", type), [=](world& w) {
                    std::array<std::uint8_t, TRN_MAX_MAILBOX_BYTES> data{};
                    auto size = static_cast<std::uint32_t>(data.size());
                    w.device.check(trn_get_data(w.device, type, data.data(), &size));
                    if (size == 0) throw step_failure("the answer is empty");
                }};
    }
    const auto command = static_cast<std::uint8_t>(r.number("command", 255));
    return {fmt::format("mailbox command {}", command), [=](world& w) {
                std::uint32_t none = 0;
                w.device.check(trn_mailbox_request(w.device, command, nullptr, 0, nullptr, &none));
            }};
}

action read_read_counters(const reader& r) {
    r.only({"address", "equals"});
    const auto address = r.number("address");
    const bool checked = r.has("equals");
    const auto equals = static_cast<std::uint32_t>(r.number("equals", word_max, 0));
    return {fmt::format("let firmware read {:#x}", address), [=](world& w) {
                std::uint32_t value = 0;
                w.device.check(trn_read_counters(w.device, &address, &value, 1));
                if (checked && value != equals)
                    throw step_failure(fmt::format("it is {:#x} instead of {:#x}", value, equals));
            }};
}

action read_power(const reader& r) {
    r.only({"die", "changes_within"});
    const auto die = static_cast<std::uint32_t>(r.number("die", 1));
    const auto within = r.time("changes_within");
    return {fmt::format("power samples of die {}", die), [=](world& w) {
                trn_power_sample first{}, next{};
                w.device.check(trn_get_power(w.device, die, &first));
                const bool changed = w.wait_for(within, [&] {
                    w.device.check(trn_get_power(w.device, die, &next));
                    return next.counter != first.counter;
                });
                if (!changed) throw step_failure(fmt::format("no new sample after {} ns", within));
            }};
}

// --- The platform's own endpoints

/// The modules that `pattern` names and that know the fault; `some`: so many of them, drawn with
/// the scenario's seed.
std::vector<std::string> faulty_modules(world& w, const std::string& pattern,
                                        const expression& names, const std::string& fault,
                                        std::size_t some) {
    std::vector<std::string> all, others, faults;
    for (const auto& one : call(w, "list", {{"what", "faults"}})) {
        const std::string module = one["module"], name = one["fault"];
        const bool meant = names.matches(module);
        if (meant) faults.push_back(name);
        if (name == fault) (meant ? all : others).push_back(module);
    }
    if (all.empty() && !faults.empty())
        throw step_failure(
            fmt::format("{} has no fault '{}'  {}", pattern, fault, suggest(fault, faults)));
    if (all.empty())
        throw step_failure(fmt::format("no module '{}' has the fault '{}'  {}", pattern, fault,
                                       suggest(pattern, others)));
    if (some > all.size())
        throw step_failure(fmt::format("only {} modules match {}", all.size(), pattern));
    std::mt19937_64 random(w.seed);
    while (some != 0 && all.size() > some)
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
    return all;
}

action read_inject(const reader& r) {
    r.only({"module", "fault", "with", "some", "at", "when"});
    const auto pattern = r.text("module"), fault = r.text("fault");
    std::string none;
    const auto names = expression::of_names(pattern, none);
    if (!names) r.node().at("module").report(mistake::not_a_choice, none);
    const auto some = r.number("some", word_max, 0);
    json arguments = json::object();
    if (r.has("with")) {
        const auto with = r.map("with");
        for (const auto& key : with.node().keys()) arguments[key] = with.text(key);
    }
    const auto at = r.time("at", 0);
    const auto when =
        r.has("when") ? std::optional(read_condition(r.map("when"), 1'000'000'000)) : std::nullopt;
    return {
        .text = fmt::format("inject {} into {}{}", fault, pattern,
                            when ? fmt::format(" when {}", when->text) : ""),
        .work =
            [=](world& w) {
                const auto now = trn_now(w.device);
                if (at != 0 && at < now)
                    throw step_failure(fmt::format("it is {} ns already", now));
                if (at != 0) w.sleep(at - now);
                if (when) await(w, *when);
                for (const auto& module : faulty_modules(w, pattern, *names, fault, some)) {
                    if (trace::on())
                        trace::event("scenario", "fault", {{"module", module}, {"fault", fault}});
                    call(w, "inject",
                         {{"module", module}, {"fault", fault}, {"arguments", arguments}});
                }
            },
        .provokes = when ? when->provokes : std::vector<misuse::rule>{},
        .drives = false};
}

/// A register or field by its name, or an address of a space: what `peek` and `poke` reach.
struct target {
    std::string text;
    json params;
};

target read_target(const reader& r, const char* width) {
    if (r.has("register")) return {r.text("register"), register_named(r, "register")};
    const auto bytes = r.number("width", 8, 4);
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        r.node().find("width").report(mistake::out_of_range, "'width' must be 1, 2, 4 or 8");
    return {fmt::format("{} {:#x}", r.text("space"), r.number("address")),
            {{"space", r.text("space")}, {"address", r.number("address")}, {width, bytes}}};
}

action read_peek(const reader& r) {
    r.only({"register", "index", "instance", "space", "address", "width", "equals", "mask", "as"});
    const auto mask = r.number("mask", any, any);
    const auto name = r.text("as", "");
    const bool checked = r.has("equals") || name.empty();
    const auto equals = checked ? r.number("equals") : 0;
    const auto from = read_target(r, "size");
    return {.text = "peek " + from.text,
            .work =
                [=](world& w) {
                    const auto value =
                        call(w, "peek", from.params).value("value", std::uint64_t{0});
                    if (!name.empty()) w.captured[name] = fmt::format("{:#x}", value & mask);
                    if (checked && (value & mask) != (equals & mask))
                        throw step_failure(fmt::format("it is {:#x} instead of {:#x}", value & mask,
                                                       equals & mask));
                },
            .drives = false};
}

action read_poke(const reader& r) {
    r.only({"register", "index", "instance", "space", "address", "width", "value"});
    auto to = read_target(r, "width");
    to.params["value"] = r.number("value");
    return {.text = "poke " + to.text,
            .work = [=](world& w) { call(w, "poke", to.params); },
            .drives = false};
}

/// `expect` fails at once, unless it is given time; `wait` waits.
action look_for(std::string_view verb, const condition& what) {
    return {.text = fmt::format("{} {}", verb, what.text),
            .work = [what](world& w) { await(w, what); },
            .provokes = what.provokes,
            .drives = false};
}

action read_expect(const reader& r) {
    return look_for("expect", read_condition(r, 0));
}

action read_expect_uart(const reader& r) {
    r.only({"module", "text", "matches", "within", "as"});
    return look_for("expect", read_text_condition(r));
}

action read_wait_for(const reader& r) {
    return look_for("wait for", read_condition(r, 1'000'000'000));
}

// --- All chips of the machine

action read_traffic(const reader& r) {
    r.only({"pattern", "engines", "size", "wrap", "descriptor", "machine", "at_least", "at_most"});
    const auto pattern = r.choice<traffic_pattern>("pattern");
    machine::load how;
    how.engines = static_cast<std::uint32_t>(r.number("engines", word_max, how.engines));
    if (how.engines == 0)
        r.node().find("engines").report(mistake::out_of_range, "at least one engine copies");
    how.bytes = r.size("size", {.least = 1, .most = max_held});
    how.wrap = r.offset("wrap", 0);
    how.descriptor = static_cast<std::uint32_t>(
        r.offset("descriptor", how.descriptor, {.least = 1, .most = TRN_DESCRIPTOR_BYTES}));
    check_parts(r, "size", how.bytes, how.descriptor);
    const bool whole = r.flag("machine", false);  // the bounds are of all chips together
    auto wanted =
        read_rate_figure(r, fmt::format("{} traffic of {} engines per chip{}", to_string(pattern),
                                        how.engines, whole ? ", of the machine" : ""));
    return {wanted.name, [=](world& w) {
                if (!w.chips) w.chips.emplace(w.hosts);
                const auto chips = whole ? 1 : w.chips->chips().size();
                auto found = wanted;
                found.value = w.chips->sustained(pattern, how) / static_cast<double>(chips);
                measure(w, found);
            }};
}

constexpr std::array kinds{
    step_kind{"boot", read_boot},
    step_kind{"probe", read_probe},
    step_kind{"reset", read_reset},
    step_kind{"restart_queue", read_restart_queue},
    step_kind{"copy", read_copy},
    step_kind{"submit", read_submit},
    step_kind{"finish", read_finish},
    step_kind{"memset", read_memset},
    step_kind{"fill", read_fill},
    step_kind{"verify", read_verify},
    step_kind{"scrub", read_scrub},
    step_kind{"write_register", read_write_register},
    step_kind{"read_register", read_read_register},
    step_kind{"semaphore", read_semaphore},
    step_kind{"event", read_event},
    step_kind{"ring", read_ring},
    step_kind{"release", read_release},
    step_kind{"descriptor", read_descriptor},
    step_kind{"doorbell", read_doorbell},
    step_kind{"compute", read_compute},
    step_kind{"engine", read_engine},
    step_kind{"mailbox", read_mailbox},
    step_kind{"read_counters", read_read_counters},
    step_kind{"power", read_power},
    step_kind{"traffic", read_traffic},
    step_kind{"efa", read_efa},
    step_kind{"collective", read_collective},
    step_kind{"client", read_client},
    step_kind{"snapshot", read_snapshot},
    step_kind{"restore", read_restore},
    step_kind{"inject", read_inject},
    step_kind{"peek", read_peek},
    step_kind{"poke", read_poke},
    step_kind{"expect_uart", read_expect_uart},
    step_kind{"expect", read_expect},
};

}  // namespace

std::span<const step_kind> step_kinds() {
    return kinds;
}

step read_step(const config::node& item, const parameters& point) {
    step result;
    result.where = item.where();
    if (!item.is_map()) {
        item.report(mistake::wrong_shape, "a step is a mapping, such as 'wait: 10 us'");
        return result;
    }
    const reader r(item, point);
    std::vector<std::string_view> names{"wait"};
    for (const auto& kind : kinds) names.push_back(kind.name);
    std::size_t found = 0;
    for (const auto& key : item.keys()) {
        if (key == "fails" || key == "saying") continue;
        const auto name = std::ranges::find(names, key);
        if (name == names.end() || ++found > 1) {
            item.report(name == names.end() ? mistake::unknown_type : mistake::unknown_key,
                        name == names.end() ? fmt::format("there is no step '{}'", key)
                                            : fmt::format("'{}' is a second step here", key),
                        suggest(key, names));
            return result;
        }
        const auto value = item.find(key);
        const auto waits = [&] {
            return value.is_map() ? read_wait_for(reader(value, point))
                                  : read_wait(reader::time_of(value, point));
        };
        static_cast<action&>(result) =
            key == "wait" ? waits()
                          : kinds[static_cast<std::size_t>(name - names.begin() - 1)].read(
                                reader(value, point));
        result.where = item.key_place(key);
    }
    if (found == 0) item.report(mistake::missing_key, "a step needs its kind");
    if (r.has("fails")) result.fails = r.choice<trn_status>("fails");
    result.saying = r.text("saying", "");
    if (result.fails) result.shared.clear();
    return result;
}

}  // namespace trn::scenario
