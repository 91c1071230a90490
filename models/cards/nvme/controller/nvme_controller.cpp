// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/controller/nvme_controller.h"

#include <fmt/format.h>

#include "models/cards/nvme/controller/nvme_controller_regs.h"
#include "platform/framework/log.h"

namespace trn {

using namespace nvme_controller_regs;
using nvme::async_events;
using sc_core::sc_time;

namespace {

constexpr std::uint16_t amazon = 0x1d0f;
constexpr std::uint64_t subsystem_reset = 0x4e56'4d65;  // "NVMe"
constexpr std::uint64_t submission_log2 = 6, completion_log2 = 4;

nvme::medium::config content_of(const nvme_controller::config& cfg) {
    return {.capacity = cfg.capacity,
            .image = cfg.image,
            .read_only_image = cfg.read_only_image,
            .write_cache = cfg.write_cache,
            .read_rate = cfg.read_rate,
            .write_rate = cfg.write_rate,
            .read_latency = cfg.read_latency,
            .write_latency = cfg.write_latency,
            .flush_latency = cfg.flush_latency};
}

nvme::identity identity_of(const nvme_controller::config& cfg, bool has_write_cache) {
    return {.vendor = amazon,
            .subsystem_vendor = amazon,
            .model = cfg.model,
            .serial = cfg.serial,
            .blocks = cfg.capacity / cfg.block,
            .block_bytes = cfg.block,
            .has_write_cache = has_write_cache};
}

}  // namespace

nvme_controller::nvme_controller(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      registers_(nvme_controller_regs::table),
      irq("irq", cfg.vectors),
      cfg_(cfg),
      queues_(cfg.queues),
      content_(this->name(), content_of(cfg)),
      features_({cfg.queues, cfg.vectors, content_.has_write_cache()}),
      events_([this](std::uint16_t id, std::uint32_t result) {
          engine_.complete({.queue = 0, .id = id, .result = result});
      }),
      admin_(identity_of(cfg, content_.has_write_cache()), cfg.vectors, cfg.command_time,
             {queues_, content_, features_, health_, events_},
             [this]() -> nvme::command_engine& { return engine_; }),
      io_(content_, cfg.block, features_, health_),
      engine_("engine", dma, queues_, content_, admin_, io_, *this) {
    dma.register_invalidate_direct_mem_ptr(this, &nvme_controller::revoke);
    set_up_registers();
    SC_METHOD(settle);
    sensitive << settled_;
    dont_initialize();
}

// --- registers ---

void nvme_controller::set_up_registers() {
    registers_.on_write(reg::cc, [this](register_access& a) { configure(a.old, a.value); });
    registers_.on_write(reg::nssr, [this](register_access& a) {
        registers_[reg::nssr] = 0;
        if (a.written != subsystem_reset) return;
        forget();
        registers_.set(csts::nssro, 1);
    });
    registers_.on_write(reg::intms, [this](register_access& a) {
        masked_ |= static_cast<std::uint32_t>(a.written);
    });
    registers_.on_write(reg::intmc, [this](register_access& a) {
        masked_ &= ~static_cast<std::uint32_t>(a.written);
    });
    for (const reg mask : {reg::intms, reg::intmc})
        registers_.view(mask, [this](unsigned, unsigned) { return std::uint64_t{masked_}; });
    registers_.on_write(reg::sq_tail, [this](register_access& a) {
        doorbell(queues_.set_tail(a.index, static_cast<std::uint32_t>(a.written & 0xffff)),
                 queues_.submission(a.index) != nullptr);
        engine_.tail_moved();
    });
    registers_.on_write(reg::cq_head, [this](register_access& a) {
        doorbell(queues_.set_head(a.index, static_cast<std::uint32_t>(a.written & 0xffff)),
                 queues_.completions(a.index) != nullptr);
        engine_.head_moved(a.index);
    });
}

/// Reports an invalid doorbell write if the controller is ready.
void nvme_controller::doorbell(bool accepted, bool exists) {
    if (accepted || registers_.get(csts::rdy) == 0) return;
    log::guest_warn(
        name(), "{}",
        exists ? "invalid value of a doorbell" : "doorbell of a queue that does not exist");
    events_.report(async_events::type::error,
                   exists ? async_events::bad_doorbell_value : async_events::no_such_doorbell);
}

void nvme_controller::configure(std::uint64_t before, std::uint64_t now) {
    const bool was_on = cc::en.get(before) != 0, on = cc::en.get(now) != 0;
    if (was_on != on) stop();  // enabling ends a shutdown too
    const auto notification = cc::shn.get(now);
    const bool shuts_down = notification != cc::shn_none && notification != cc::shn.get(before);
    if (shuts_down) registers_.set(csts::shst, csts::shst_occurring);
    if ((on && !was_on) || shuts_down)
        settled_.notify(timing() == timing_mode::contended ? cfg_.ready_time
                                                           : sc_core::SC_ZERO_TIME);
}

/// Whether the controller supports the configuration in CC (NVM Express 3.1.5).
bool nvme_controller::can_start() const {
    const std::uint64_t now = registers_[reg::cc];
    const auto entries = [this](register_field field) { return registers_.get(field); };
    return cc::css.get(now) == 0 && cc::mps.get(now) == 0 && cc::ams.get(now) == 0 &&
           (cc::iosqes.get(now) == 0 || cc::iosqes.get(now) == submission_log2) &&
           (cc::iocqes.get(now) == 0 || cc::iocqes.get(now) == completion_log2) &&
           entries(aqa::asqs) != 0 && entries(aqa::acqs) != 0;
}

/// Completes enabling or a shutdown.
void nvme_controller::settle() {
    if (registers_.get(csts::shst) == csts::shst_occurring) {
        engine_.forget();
        if (registers_.get(cc::shn) != cc::shn_abrupt) content_.flush();
        registers_.set(csts::shst, csts::shst_complete);
    }
    if (registers_.get(cc::en) == 0 || registers_.get(csts::rdy) != 0 ||
        registers_.get(csts::cfs) != 0)
        return;
    if (!can_start()) return fail();
    const auto base = [this](reg low, reg high) {
        return registers_.get(high) << 32 | registers_.get(low);
    };
    queues_.open({.base = base(reg::asq_lo, reg::asq_hi),
                  .size = static_cast<std::uint32_t>(registers_.get(aqa::asqs)) + 1},
                 {.base = base(reg::acq_lo, reg::acq_hi),
                  .size = static_cast<std::uint32_t>(registers_.get(aqa::acqs)) + 1,
                  .interrupts = true});
    registers_.set(csts::rdy, 1);
    if (registers_.get(csts::shst) == csts::shst_normal) engine_.start();
}

/// Controller reset by CC.EN: keeps the addresses of the admin queues.
void nvme_controller::stop() {
    engine_.forget();
    queues_.close();
    events_.reset();
    features_.reset();
    settled_.cancel();
    masked_ = 0;
    registers_.set(csts::rdy, 0);
    registers_.set(csts::cfs, 0);
    registers_.set(csts::shst, csts::shst_normal);
}

/// Reset of the function or of the subsystem: the medium and its cache keep their content.
void nvme_controller::forget() {
    stop();
    registers_.reset();
}

void nvme_controller::lose_power() {
    if (registers_.get(csts::shst) != csts::shst_complete) ++health_.unsafe_shutdowns;
    ++health_.power_cycles;
    health_.forget_errors();
    content_.lose_power();
    forget();
}

// --- command_engine::listener ---

void nvme_controller::fail() {
    engine_.forget();
    registers_.set(csts::cfs, 1);
}

// --- for tools ---

std::vector<accepts_faults::fault> nvme_controller::faults() {
    const auto blocks = static_cast<std::int64_t>(cfg_.capacity / cfg_.block);
    return {
        {"media_error",
         "blocks cannot be read until they are written",
         {fault_argument::number("block", 0, blocks - 1, "first one"),
          fault_argument::number("blocks", 1, blocks, "how many").by_default(1)},
         [this, blocks](const fault_values& given) {
             const auto first = given.number("block"), count = given.number("blocks");
             const auto left = static_cast<std::uint64_t>(blocks) - first;
             if (count > left)
                 throw fault_error(fmt::format("'blocks': only {} from block {}", left, first));
             content_.spoil(first * cfg_.block, count * cfg_.block);
         }},
        {"lost_command",
         "the next I/O commands do not complete, but can be aborted",
         {fault_argument::count()},
         [this](const fault_values& given) { engine_.lose(given.number("count")); }},
        {"stuck_command",
         "the next I/O commands do not complete and cannot be aborted",
         {fault_argument::count()},
         [this](const fault_values& given) { engine_.stick(given.number("count")); }},
        {"lost_completion",
         "the next I/O commands take effect, but are not completed",
         {fault_argument::count()},
         [this](const fault_values& given) { engine_.lose_completions(given.number("count")); }},
        {"fatal_error",
         "the controller reports a fatal error until it is reset",
         {},
         [this](auto&) { fail(); }},
        {"temperature",
         "the composite temperature",
         {fault_argument::number("kelvin", 0, 0xffff, "temperature").in_unit("K")},
         [this](const fault_values& given) {
             health_.temperature = given.number<std::uint16_t>("kelvin");
             admin_.check_temperature();
         }},
        {"power_loss",
         "the disk has no power for a moment: what was not flushed may be lost, all queues are",
         {},
         [this](auto&) { lose_power(); }}};
}

std::optional<std::string> nvme_controller::describe_wait() const {
    if (engine_.outstanding() == 0) return std::nullopt;
    return fmt::format("{} commands not completed", engine_.outstanding());
}

void nvme_controller::publish_signals(signal_list& out) const {
    for (unsigned n = 0; n <= queues_.pairs(); ++n) {
        const auto queue = "queue" + std::to_string(n);
        out.number(queue + ".commands", 16, [this, n] { return queues_.commands(n); });
        out.number(queue + ".completions", 16, [this, n] { return queues_.unread(n); });
    }
}

void nvme_controller::publish(statistics& out) const {
    const auto& commands = engine_.counters();
    out.count("admin_commands", commands.admin_commands);
    out.count("commands", commands.commands);
    out.count("failed_commands", commands.failed);
    out.count("lost_commands", commands.lost);
    out.count("bytes_read", commands.bytes_read);
    out.count("bytes_written", commands.bytes_written);
    out.count("bytes_stored", content_.used());
    out.count("bytes_not_flushed", content_.dirty_bytes());
    out.count("media_errors", health_.media_errors);
}

}  // namespace trn
