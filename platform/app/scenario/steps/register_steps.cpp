// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/context/board_access.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/framework/attach/control/hex.h"
#include "platform/framework/config/file.h"

namespace trn::scenario {

namespace {

/// Reports a value that no read with this mask can give.
void check_mask(const reader& r, const std::optional<std::uint64_t>& equals, std::uint64_t mask) {
    if (equals && (*equals & ~mask) != 0)
        r.node().at("equals").report(mistake::out_of_range, "'equals' has bits outside 'mask'");
}

// --- Through the driver stub

struct write_register_step {
    std::uint64_t offset = 0;
    std::uint32_t value = 0;
    bool guarded = false;

    action plan() const {
        return {fmt::format("write {:#x} to BAR0 + {:#x}", value, offset),
                [s = *this](scenario_context& ctx) {
                    ctx.device.check(s.guarded ? trn_bar_write(ctx.device, s.offset, s.value)
                                               : trn_bar_write_raw(ctx.device, s.offset, s.value));
                }};
    }
};

struct read_register_step {
    std::uint64_t offset = 0;
    std::optional<std::uint32_t> equals;
    std::uint32_t mask = ~0u;
    nanoseconds within;

    void finish(const reader& r) const { check_mask(r, equals, mask); }
    void run(scenario_context& ctx) const {
        std::uint32_t value = 0;
        const bool right = ctx.waits.wait_for(within.value, [&] {
            ctx.device.check(trn_bar_read(ctx.device, offset, &value));
            return !equals || (value & mask) == *equals;
        });
        if (!right)
            throw step_failure(fmt::format("BAR0 + {:#x} reads {:#x} instead of {:#x}", offset,
                                           value & mask, *equals));
    }
    std::string text() const { return fmt::format("read BAR0 + {:#x}", offset); }
};

/// A semaphore or event of a core or a TOP_SP.
struct sync_spec {
    std::optional<std::uint32_t> top_sp = {};
    std::uint32_t core = 0, index = 0;

    trn_sync_block block() const { return top_sp ? TRN_SYNC_TOP_SP : TRN_SYNC_CORE; }
    std::uint32_t number() const { return top_sp.value_or(core); }
    std::string text(std::string_view noun) const {
        return fmt::format("{} {} of {} {}", noun, index, top_sp ? "top_sp" : "core", number());
    }
};

keys<sync_spec> sync_keys() {
    return keys<sync_spec>{
        key("core", &sync_spec::core, "of the chip").required_without({"top_sp"}),
        key("top_sp", &sync_spec::top_sp, "in place of a core"),
        key("index", &sync_spec::index, "of the semaphore or event").required()}
        .one_of({"core", "top_sp"});
}

struct semaphore_step : sync_spec {
    std::optional<std::int32_t> set, equals;
    std::uint32_t increment = 0, decrement = 0;

    void run(scenario_context& ctx) const {
        auto& d = ctx.device;
        if (set) d.check(trn_semaphore_set(d, block(), number(), index, *set));
        if (increment) d.check(trn_semaphore_increment(d, block(), number(), index, increment));
        if (decrement) d.check(trn_semaphore_decrement(d, block(), number(), index, decrement));
        if (!equals) return;
        std::int32_t value = 0;
        d.check(trn_semaphore_read(d, block(), number(), index, &value));
        if (value != *equals)
            throw step_failure(fmt::format("it is {} instead of {}", value, *equals));
    }
    std::string text() const { return sync_spec::text("semaphore"); }
};

struct event_step : sync_spec {
    std::optional<std::uint32_t> set, equals;

    void run(scenario_context& ctx) const {
        auto& d = ctx.device;
        if (set) d.check(trn_event_set(d, block(), number(), index, *set));
        if (!equals) return;
        std::uint32_t value = 0;
        d.check(trn_event_get(d, block(), number(), index, &value));
        if (value != *equals)
            throw step_failure(fmt::format("it is {} instead of {}", value, *equals));
    }
    std::string text() const { return sync_spec::text("event"); }
};

// --- Through the control methods

/// A register or field by name, or an address in an address space.
struct access_spec : number_source {
    std::string space = {};
    std::uint64_t address = 0, width = 4;

    void finish(const reader& r) const {
        if (width != 1 && width != 2 && width != 4 && width != 8)
            r.node().find("width").report(mistake::out_of_range, "'width' must be 1, 2, 4 or 8");
    }
    std::string text() const {
        return register_name ? *register_name : fmt::format("{} {:#x}", space, address);
    }
    /// Parameters of the control method; `width_name` is the method's name for the width.
    rpc::json params(const char* width_name) const {
        if (register_name) return named(*register_name);
        return {{"space", space}, {"address", address}, {width_name, width}};
    }
};

keys<access_spec> access_keys() {
    using a = access_spec;
    const std::vector<std::string_view> named{"register"};
    return {key("space", &a::space, "name of an address space, as `chip0.management.misc_ram.in`")
                .required_without(named)
                .not_with(named),
            key("address", &a::address, "in the space").required_without(named).not_with(named),
            key("width", &a::width, "bytes").up_to(8).not_with(named),
            key("register", &a::register_name,
                "its name, as `chip0.management.uart.LSR`, in place of an address")
                .not_with({"space", "address", "width"}),
            key("index", &a::index, "of an element of a register array").only_with(named),
            key("instance", &a::instance, "of a register that a module has several times")
                .only_with(named)};
}

struct peek_step : access_spec {
    std::optional<std::uint64_t> equals;
    std::uint64_t mask = any;
    std::string capture;

    void finish(const reader& r) const {
        access_spec::finish(r);
        check_mask(r, equals, mask);
    }
    void run(scenario_context& ctx) const {
        const auto found =
            call(ctx, "peek", params("size")).value("value", std::uint64_t{0}) & mask;
        if (!capture.empty()) ctx.captured[capture] = fmt::format("{:#x}", found);
        if (equals && found != *equals)
            throw step_failure(fmt::format("it is {:#x} instead of {:#x}", found, *equals));
    }
    action plan() const {
        return {.text = "peek " + text(),
                .work = [s = *this](scenario_context& ctx) { s.run(ctx); },
                .drives = false};
    }
};

struct write_spec : access_spec {
    std::uint64_t value = 0;
    std::string data = {}, file = {};

    void finish(const reader& r) {
        access_spec::finish(r);
        if (r.has("data")) check_data(r);
        if (r.has("file")) read_content(r);
    }
    action plan_of(const char* method) const {
        auto request = params("width");
        if (data.empty()) {
            request["value"] = value;
        } else {
            request.erase("width");
            request["data"] = data;
        }
        return {.text = fmt::format("{} {}", method, text()),
                .work = [=](scenario_context& ctx) { call(ctx, method, request); },
                .drives = false,
                .file_bytes = file.empty() ? 0 : data.size()};
    }

private:
    void check_data(const reader& r) const {
        const auto bytes = from_hex(data);
        if (!bytes || bytes->empty())
            r.node().at("data").report(mistake::not_a_number,
                                       "'data' must be bytes in hexadecimal, such as '0102ff'");
    }
    /// Replaces `data` with the file's content.
    void read_content(const reader& r) {
        const auto node = r.node().at("file");
        const auto path = std::filesystem::path(r.node().file()).parent_path() / file;
        note_input(path);
        try {
            const auto content = read_file(path, max_file);
            if (content.empty()) node.report(mistake::out_of_range, "the file is empty");
            data = to_hex(std::as_bytes(std::span(content)));
        } catch (const file_error& wrong) {
            node.report(mistake::unreadable_file, fmt::format("{}: {}", file, wrong.what()));
        }
    }
    static constexpr std::uint64_t max_file = 1 << 20;  // of one call of the method
};

struct poke_step : write_spec {
    action plan() const { return plan_of("poke"); }
};

struct deposit_step : write_spec {
    action plan() const { return plan_of("deposit"); }
};

keys<write_spec> write_keys() {
    using w = write_spec;
    return extended<w>(
        access_keys(),
        keys<w>{
            key("value", &w::value, "to write").required_without({"data", "file"}),
            key("data", &w::data, "bytes in hexadecimal, in the order of addresses")
                .not_with({"register", "width"}),
            key("file", &w::file, "file of bytes to write, at most 1 MiB; in the scenario's folder")
                .not_with({"register", "width"})}
            .one_of({"value", "data", "file"}));
}

}  // namespace

std::vector<step_kind> register_steps() {
    using write = write_register_step;
    using read = read_register_step;
    return {
        step_of<write>("write_register", "writes a register through the driver stub",
                       {key("offset", &write::offset, "in BAR0").required(),
                        key("value", &write::value, "to write").required(),
                        key("guarded", &write::guarded,
                            "refused at addresses that user space may not write")}),
        step_of<read>("read_register", "reads a register through the driver stub",
                      {key("offset", &read::offset, "in BAR0").required(),
                       key("equals", &read::equals, "the value read, masked"),
                       key("mask", &read::mask, "bits that are compared").only_with({"equals"}),
                       key("within", &read::within, "simulated time to wait for the value; 0: now")
                           .only_with({"equals"})}),
        step_of<semaphore_step>(
            "semaphore",
            "a semaphore of a core or TOP_SP: `set`, `increment`, `decrement`, `equals`, in this "
            "order",
            extended<semaphore_step>(sync_keys(),
                                     {key("set", &semaphore_step::set, "a value"),
                                      key("increment", &semaphore_step::increment, "by"),
                                      key("decrement", &semaphore_step::decrement, "by"),
                                      key("equals", &semaphore_step::equals, "the value afterwards")
                                          .required_without({"set", "increment", "decrement"})})),
        step_of<event_step>(
            "event", "an event of a core or TOP_SP: `set`, then `equals`",
            extended<event_step>(sync_keys(),
                                 {key("set", &event_step::set, "0 or 1"),
                                  key("equals", &event_step::equals, "the value afterwards")
                                      .required_without({"set"})})),
        step_of<peek_step>(
            "peek", "reads memory or a register, without side effects",
            extended<peek_step>(
                access_keys(),
                {key("equals", &peek_step::equals, "the value, masked").required_without({"as"}),
                 key("mask", &peek_step::mask, "bits that are compared"),
                 key("as", &peek_step::capture, "a name for the value")})),
        step_of<poke_step>("poke",
                           "writes memory or a register as software does: a doorbell rings. A "
                           "field's register keeps its other fields",
                           extended<poke_step>(write_keys())),
        step_of<deposit_step>("deposit",
                              "writes memory or a register without side effects, also what "
                              "software cannot write",
                              extended<deposit_step>(write_keys())),
    };
}

}  // namespace trn::scenario
