// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <optional>

#include "platform/app/scenario/context/board_access.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/app/scenario/language/step_table.h"

namespace trn::config {

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

namespace {

struct queue_spec {
    std::uint32_t engine = 0, queue = 0;
};

keys<queue_spec> queue_keys() {
    return {key("engine", &queue_spec::engine, "of the chip").required(),
            key("queue", &queue_spec::queue, "of the engine")};
}

struct ring_step : queue_spec {
    location m2s = {}, s2m = {};
    std::uint32_t length = 0;

    action plan() const {
        return {fmt::format("rings of engine {} queue {}: {} and {}, {} descriptors", engine, queue,
                            m2s.text(), s2m.text(), length),
                [s = *this](scenario_context& ctx) {
                    const std::uint64_t bytes = std::uint64_t{s.length} * sizeof(trn_descriptor);
                    ctx.device.check(trn_ring_init(ctx.device, s.engine, s.queue,
                                                   s.m2s.address(ctx.device, bytes), s.length,
                                                   s.s2m.address(ctx.device, bytes), s.length));
                }};
    }
};

struct release_step : queue_spec {
    action plan() const {
        return {fmt::format("release engine {} queue {}", engine, queue),
                [s = *this](scenario_context& ctx) {
                    ctx.device.check(trn_ring_release(ctx.device, s.engine, s.queue));
                }};
    }
};

/// Writes a pair of copy descriptors without checks.
struct descriptor_step {
    location m2s = {}, s2m = {}, source = {}, destination = {};
    std::uint32_t index = 0, ring_id = 1;
    bytes size = {};
    bool write_barrier = false, dmb = false, strong_order = false;

    void run(scenario_context& ctx) const {
        const auto put = [&](const location& ring, const trn_descriptor& d) {
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(&d);
            write_memory(ctx, ring.plus(index * sizeof d), {bytes, bytes + sizeof d});
        };
        const auto length = static_cast<std::uint32_t>(size.value);
        const std::uint32_t flags = (write_barrier ? unsigned{TRN_WRITE_BARRIER} : 0u) |
                                    (dmb ? unsigned{TRN_DMB} : 0u) |
                                    (strong_order ? unsigned{TRN_STRONG_ORDER} : 0u);
        put(m2s, trn_m2s_descriptor(source.address(ctx.device, length), length, ring_id, flags));
        put(s2m,
            trn_s2m_descriptor(destination.address(ctx.device, length), length, ring_id, flags));
    }
    std::string text() const {
        return fmt::format("descriptor {}: {} to {}, {} bytes", index, source.text(),
                           destination.text(), static_cast<std::uint32_t>(size.value));
    }
};

struct doorbell_step : queue_spec {
    std::uint32_t m2s = 0, s2m = 0;

    action plan() const {
        return {fmt::format("doorbells of engine {} queue {}: {} and {}", engine, queue, m2s, s2m),
                [s = *this](scenario_context& ctx) {
                    ctx.device.check(trn_ring_start(ctx.device, s.engine, s.queue, s.m2s, s.s2m));
                }};
    }
};

struct engine_step {
    std::uint32_t engine = 0;
    std::optional<trn_engine_command> set;
    std::optional<trn_engine_mode> is;
    nanoseconds within;

    void run(scenario_context& ctx) const {
        if (set) ctx.device.check(trn_engine_set_state(ctx.device, engine, *set));
        if (!is) return;
        trn_engine_state state{};
        const bool right = ctx.waits.wait_for(within.value, [&] {
            ctx.device.check(trn_engine_get_state(ctx.device, engine, &state));
            return state.mode == *is;
        });
        if (!right)
            throw step_failure(fmt::format("its states are {:#06x} and {:#06x}", state.m2s_state,
                                           state.s2m_state));
    }
    std::string text() const { return fmt::format("engine {}", engine); }
};

}  // namespace

std::vector<step_kind> queue_steps() {
    using ring = ring_step;
    using pair = descriptor_step;
    using bell = doorbell_step;
    constexpr size_bounds copied{.min = 1, .max = TRN_DESCRIPTOR_BYTES};
    return {
        step_of<ring>("ring", "rings of the scenario on engines 0..127",
                      extended<ring>(queue_keys(),
                                     {key("m2s", &ring::m2s).required().refused_by(address_fault),
                                      key("s2m", &ring::s2m).required().refused_by(address_fault),
                                      key("length", &ring::length, "descriptors").required()})),
        step_of<release_step>("release", "gives the rings back",
                              extended<release_step>(queue_keys())),
        step_of<pair>(
            "descriptor", "writes one pair of descriptors into rings without a check",
            {key("m2s", &pair::m2s).required().refused_by(address_fault),
             key("s2m", &pair::s2m).required().refused_by(address_fault),
             key("index", &pair::index, "in both rings"),
             key("from", &pair::source, "source of the bytes").required().refused_by(address_fault),
             key("to", &pair::destination, "their destination")
                 .required()
                 .refused_by(address_fault),
             key("size", &pair::size, "bytes").required().within(copied),
             key("ring_id", &pair::ring_id, "pass over the ring that the descriptors belong to")
                 .up_to(3),
             key("write_barrier", &pair::write_barrier, "the flag of the descriptors"),
             key("dmb", &pair::dmb, "the flag of the descriptors"),
             key("strong_order", &pair::strong_order, "the flag of the descriptors")}),
        step_of<bell>(
            "doorbell", "posts this number of descriptors",
            extended<bell>(queue_keys(), {key("m2s", &bell::m2s).required_without({"s2m"}),
                                          key("s2m", &bell::s2m)})),
        step_of<engine_step>(
            "engine", "commands an engine; waits for its state",
            {key("engine", &engine_step::engine, "of the chip").required(),
             key("set", &engine_step::set, "the command"),
             key("is", &engine_step::is, "the state that it must have").required_without({"set"}),
             key("within", &engine_step::within, "simulated time; 0: now").only_with({"is"})}),
    };
}

}  // namespace trn::scenario
