// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "platform/app/scenario/context/board_access.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/app/scenario/language/step_table.h"

namespace trn::scenario {

namespace {

void expect_equal(std::string_view place, const std::optional<pattern::mismatch>& wrong) {
    if (wrong) throw step_failure(fmt::format("{}: {}", place, to_string(*wrong)));
}

// --- Copies

/// Source and destination of a copy, with buffers in host memory if needed.
struct copy_ends {
    std::unique_ptr<host_buffer> source_buffer, destination_buffer;
    std::uint64_t source = 0, destination = 0;
};

struct copy_spec {
    location source = {}, destination = {};
    bytes size = {};
    std::optional<std::uint32_t> given_core = {};
    std::string pattern = {};

    void check(const reader& r, bool compared) const {
        if (source.space != location::kind::host)
            r.refuse({"pattern"}, "only a copy from the host has a data pattern");
        const auto of_host = [](const location& end) { return end.space == location::kind::host; };
        if (compared || of_host(source) || of_host(destination))
            r.check_size("size", size.value, held);
    }
    std::string text() const {
        return fmt::format("{} to {}, {} bytes", source.text(), destination.text(), size.value);
    }
    std::uint32_t core(const device& chip) const {
        return given_core.value_or(
            (destination.space == location::kind::host ? source : destination).core(chip));
    }
    copy_ends prepare(scenario_context& ctx) const;
};

keys<copy_spec> copy_keys() {
    return {
        key("from", &copy_spec::source, "source").required(),
        key("to", &copy_spec::destination, "destination").required(),
        key("size", &copy_spec::size, "bytes").required().within(not_empty),
        key("core", &copy_spec::given_core, "whose DMA rings do it; without it the first one's"),
        key("pattern", &copy_spec::pattern, "name of the data that a copy from the host has")};
}

copy_ends copy_spec::prepare(scenario_context& ctx) const {
    copy_ends ends;
    if (source.space == location::kind::host) {
        ends.source_buffer = std::make_unique<host_buffer>(ctx.device, size.value, source.offset);
        trn::pattern(ctx.seed, pattern).fill(ends.source_buffer->bytes());
    }
    if (destination.space == location::kind::host)
        ends.destination_buffer =
            std::make_unique<host_buffer>(ctx.device, size.value, destination.offset);
    ends.source =
        ends.source_buffer ? ends.source_buffer->address() : source.address(ctx.device, size.value);
    ends.destination = ends.destination_buffer ? ends.destination_buffer->address()
                                               : destination.address(ctx.device, size.value);
    return ends;
}

struct copy_step : copy_spec {
    bool verify = true;

    void finish(const reader& r) const { check(r, verify); }
    void run(scenario_context& ctx) const {
        const auto ends = prepare(ctx);
        std::vector<std::uint8_t> expected;
        if (verify && !ends.source_buffer) expected = read_memory(ctx, source, size.value);
        ctx.device.check(
            trn_copy(ctx.device, core(ctx.device), ends.destination, ends.source, size.value));
        if (!verify) return;
        const auto found = ends.destination_buffer
                               ? std::vector<std::uint8_t>(ends.destination_buffer->bytes().begin(),
                                                           ends.destination_buffer->bytes().end())
                               : read_memory(ctx, destination, size.value);
        expect_equal(destination.text(),
                     compare(ends.source_buffer ? ends.source_buffer->bytes() : expected, found));
    }
    action plan() const {
        return {"copy " + text(), [s = *this](scenario_context& ctx) { s.run(ctx); }};
    }
};

/// A running copy with its buffers.
struct background_copy {
    trn_job id = 0;
    copy_ends ends;
};
struct background_copies {
    std::map<std::string, background_copy> by_job;
};

/// The noun of a copy in the background.
std::string job_text(const std::string& name) {
    return fmt::format("copy '{}'", name);
}

struct submit_step : copy_spec {
    std::string job = {};

    void finish(const reader& r) const { check(r, false); }
    void run(scenario_context& ctx) const {
        auto& copies = ctx.kept.get<background_copies>().by_job;
        if (copies.contains(job))
            throw step_failure(fmt::format("job '{}' is not finished yet", job));
        background_copy begun{.ends = prepare(ctx)};
        ctx.device.check(trn_submit(ctx.device, core(ctx.device), begun.ends.destination,
                                    begun.ends.source, size.value, &begun.id));
        copies.emplace(job, std::move(begun));
    }
    action plan() const {
        return {.text = fmt::format("submit '{}': {}", job, text()),
                .work = [s = *this](scenario_context& ctx) { s.run(ctx); },
                .starts = job_text(job)};
    }
};

struct finish_step {
    std::string job = {};

    action plan() const {
        return {.text = fmt::format("finish '{}'", job),
                .work =
                    [name = job](scenario_context& ctx) {
                        const auto found = ctx.kept.get<background_copies>().by_job.extract(name);
                        if (!found) throw step_failure(fmt::format("there is no job '{}'", name));
                        ctx.device.check(trn_wait(ctx.device, found.mapped().id));
                    },
                .finishes = job_text(job)};
    }
};

// --- Memset, fill and verify

struct memset_step {
    location destination = {};
    bytes size = {};
    std::uint8_t value = 0;
    std::optional<std::uint32_t> given_core = {};
    bool verify = true;

    void finish(const reader& r) const {
        if (verify) r.check_size("size", size.value, held);
    }
    void run(scenario_context& ctx) const {
        const auto core = given_core.value_or(destination.core(ctx.device));
        ctx.device.check(trn_memset(ctx.device, core, destination.address(ctx.device, size.value),
                                    value, size.value));
        if (!verify) return;
        const std::vector<std::uint8_t> expected(size.value, value);
        expect_equal(destination.text(),
                     compare(expected, read_memory(ctx, destination, size.value)));
    }
    std::string text() const {
        return fmt::format("memset {} to {:#04x}, {} bytes", destination.text(), value, size.value);
    }
};

/// The content that `fill` writes and `verify` expects: a pattern, or a constant byte.
struct content_spec {
    location area = {};
    bytes size = {};
    std::optional<std::uint8_t> value = {};
    std::optional<std::string> pattern = {};

    std::string text() const {
        return value ? fmt::format("{:#04x}", *value)
                     : fmt::format("pattern '{}'", pattern.value_or(""));
    }
    std::vector<std::uint8_t> content(const scenario_context& ctx) const {
        std::vector<std::uint8_t> bytes(size.value, value.value_or(0));
        if (!value) trn::pattern(ctx.seed, pattern.value_or("")).fill(bytes);
        return bytes;
    }
};

keys<content_spec> content_keys() {
    return keys<content_spec>{
        key("at", &content_spec::area, "first byte").required().refused_by(address_fault),
        key("size", &content_spec::size, "bytes").required().within({.min = 1, .max = max_held}),
        key("pattern", &content_spec::pattern, "name of the data"),
        key("value", &content_spec::value, "instead of a pattern")}
        .one_of({"pattern", "value"});
}

struct fill_step : content_spec {
    action plan() const {
        return {fmt::format("fill {} with {}, {} bytes", area.text(), text(), size.value),
                [s = *this](scenario_context& ctx) {
                    // Checks the range before memory is allocated.
                    s.area.address(ctx.device, s.size.value);
                    write_memory(ctx, s.area, s.content(ctx));
                }};
    }
};

struct verify_step : content_spec {
    action plan() const {
        return {fmt::format("verify {} has {}, {} bytes", area.text(), text(), size.value),
                [s = *this](scenario_context& ctx) {
                    const auto found = read_memory(ctx, s.area, s.size.value);
                    expect_equal(s.area.text(), compare(s.content(ctx), found));
                }};
    }
};

struct scrub_step {
    std::uint32_t stack = 0, value = 0;
    byte_offset offset{TRN_HBM_RESERVED_BYTES};
    bytes size = {};

    action plan() const {
        return {fmt::format("scrub hbm{}@{:#x}, {} bytes", stack, offset.value, size.value),
                [s = *this](scenario_context& ctx) {
                    ctx.device.check(
                        trn_scrub(ctx.device, s.stack, s.offset.value, s.size.value, s.value));
                }};
    }
};

}  // namespace

std::vector<step_kind> memory_steps() {
    return {
        step_of<copy_step>(
            "copy", "copies by DMA; `verify` compares both ends, HBM through BAR4",
            extended<copy_step>(copy_keys(), {key("verify", &copy_step::verify,
                                                  "compares source and destination")})),
        step_of<submit_step>(
            "submit", "begins a copy in the background",
            extended<submit_step>(copy_keys(),
                                  {key("job", &submit_step::job, "name for `finish`").required()})),
        step_of<finish_step>("finish", "waits for the copy `job`",
                             {key("job", &finish_step::job, "name in `submit`").required()}),
        step_of<memset_step>(
            "memset", "fills memory with the DMA engines",
            {key("at", &memset_step::destination, "first byte")
                 .required()
                 .refused_by(address_fault),
             key("size", &memset_step::size, "bytes").required().within(not_empty),
             key("value", &memset_step::value, "of each byte").required(),
             key("core", &memset_step::given_core,
                 "whose DMA rings do it; without it the first one's"),
             key("verify", &memset_step::verify, "reads the memory and compares")}),
        step_of<fill_step>("fill", "writes memory, through BAR4 where a window exists",
                           extended<fill_step>(content_keys())),
        step_of<verify_step>("verify", "compares memory, through BAR4 where a window exists",
                             extended<verify_step>(content_keys())),
        step_of<scrub_step>(
            "scrub", "clears HBM with 16 engines",
            {key("stack", &scrub_step::stack, "number of the HBM stack").required().up_to(3),
             key("offset", &scrub_step::offset, "first byte in the stack"),
             key("size", &scrub_step::size, "bytes").required().within(not_empty),
             key("value", &scrub_step::value, "of each byte")}),
    };
}

}  // namespace trn::scenario
