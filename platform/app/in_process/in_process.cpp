// SPDX-License-Identifier: Apache-2.0
#include "platform/app/in_process/in_process.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "platform/framework/kernel/trace.h"

namespace trn {

namespace {

constexpr int stack_bytes = 1 << 20;  // enough for a scenario's steps

std::uint64_t nanoseconds(const sc_core::sc_time& time) {
    return time.value() / sc_core::sc_time(1, sc_core::SC_NS).value();
}

/// False where time cannot pass: a device may end after the last process.
bool can_wait() {
    return sc_core::sc_get_current_process_handle().valid();
}

template <typename T>
std::span<std::uint8_t> bytes_of(T& value) {
    return {reinterpret_cast<std::uint8_t*>(&value), sizeof value};
}

std::uint64_t first_bytes(const void* bytes, std::uint64_t count) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, std::min<std::uint64_t>(count, sizeof value));
    return value;
}

}  // namespace

host_cpu::host_cpu(function_port& function, const config& cfg) : function_(function), cfg_(cfg) {
    memory_ = function_.memory_of_server();
    if (memory_ == nullptr) {
        own_memory_ = std::make_unique<server_memory>(cfg_.memory_size);
        memory_ = own_memory_.get();
    }
    if (!function_.map_host({server_memory::base, memory_->size(), memory_->data(), true, true}))
        throw std::runtime_error("the function has another host already");
    function_.await_accesses(this);
}

host_cpu::~host_cpu() {
    function_.await_accesses(nullptr);
    function_.unmap_host(server_memory::base, memory_->size(), [](const auto&) {});
}

/// A process that does one work after another: making one, with its stack and guard pages, takes
/// longer than a short call of the stub. Its process owns it, and may outlive the host.
struct host_cpu::worker {
    std::function<void()> work;
    sc_core::sc_event next;
};

void host_cpu::run(std::function<void()> work) {
    ++running_;
    if (!idle_.empty()) {
        const auto ready = std::move(idle_.back());
        idle_.pop_back();
        ready->work = std::move(work);
        return ready->next.notify();
    }
    const auto made = std::make_shared<worker>();
    made->work = std::move(work);
    sc_core::sc_spawn_options options;
    options.set_stack_size(stack_bytes);
    sc_core::sc_spawn(
        [this, made] {
            for (;;) {
                carry_out(std::exchange(made->work, nullptr));
                idle_.push_back(made);
                sc_core::wait(made->next);
            }
        },
        sc_core::sc_gen_unique_name("host_cpu"), &options);
}

void host_cpu::carry_out(const std::function<void()>& work) {
    try {
        work();
    } catch (const sc_core::sc_unwind_exception&) {
        throw;  // the kernel ends the process
    } catch (...) {
        if (!failure_) failure_ = std::current_exception();
    }
    --running_;
}

void host_cpu::rethrow() {
    if (const auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void host_cpu::on_log(std::function<void(trn_log_level, const std::string&)> sink) {
    log_ = std::move(sink);
}

/// Executes one access: the device annotates its delay, the CPU adds its cost and waits for both,
/// so that accesses stay in order.
template <typename Access>
int host_cpu::access(sc_core::sc_time cost, Access&& perform) {
    if (!can_wait()) return -ENODEV;
    stay_behind();
    sc_core::sc_time delay = cost;
    const bool done = [&] {
        const trace::on_behalf_of it(posting_);
        return perform(delay);
    }();
    if (waits_) {
        sc_core::wait(access_over_);
        delay = rest_;
    }
    sc_core::wait(delay);
    return done ? 0 : -EINVAL;
}

/// Waits until no access is deferred: none of this host may pass it.
void host_cpu::stay_behind() {
    while (waits_) sc_core::wait(access_over_);
}

void host_cpu::ended(const sc_core::sc_time& delay) {
    waits_ = false;
    rest_ = delay;
    access_over_.notify(sc_core::SC_ZERO_TIME);
}

/// For blocks, `value` is that of the first eight bytes.
void host_cpu::note_access(std::string_view access, std::uint32_t bar, std::uint64_t offset,
                           std::uint64_t value, std::uint64_t size) const {
    if (!trace::on()) return;
    const trace::on_behalf_of it(posting_);
    trace::event(
        cfg_.name, access,
        {{"bar", bar}, trace::hex("offset", offset), trace::hex("value", value), {"bytes", size}});
}

int host_cpu::allocate(std::uint64_t size, trn_dma_memory& memory) {
    if (size == 0) return -EINVAL;
    const auto offset = memory_->allocate(size);
    if (!offset) return -ENOMEM;
    const std::uint64_t pages = (size + server_memory::page - 1) / server_memory::page;
    memory = {memory_->data() + *offset, server_memory::base + *offset,
              pages * server_memory::page};
    return 0;
}

void host_cpu::free(const trn_dma_memory& memory) {
    memory_->free(memory.iova - server_memory::base, memory.size);
}

trn_transport host_cpu::transport() {
    trn_transport t{};
    t.context = this;
    t.name = "in-process";
    t.timeout_scale = 1;
    t.bar_size = [](void* c, std::uint32_t bar) {
        return bar < function_port::bar_count ? self(c).function_.bar(bar).size : 0;
    };
    t.bar_read32 = [](void* c, std::uint32_t bar, std::uint64_t offset, std::uint32_t* value) {
        const int error = self(c).access(self(c).cfg_.read_cost, [&](auto& delay) {
            return self(c).function_.bar_read(bar, offset, bytes_of(*value), delay);
        });
        self(c).note_access("read", bar, offset, *value, sizeof *value);
        return error;
    };
    t.bar_write32 = [](void* c, std::uint32_t bar, std::uint64_t offset, std::uint32_t value) {
        self(c).note_access("write", bar, offset, value, sizeof value);
        return self(c).access(self(c).cfg_.write_cost, [&](auto& delay) {
            return self(c).function_.bar_write(bar, offset, bytes_of(value), delay);
        });
    };
    t.bar_read_block = [](void* c, std::uint32_t bar, std::uint64_t offset, void* bytes,
                          std::uint64_t count) {
        const int error = self(c).access(self(c).cfg_.read_cost, [&](auto& delay) {
            return self(c).function_.bar_read(bar, offset,
                                              {static_cast<std::uint8_t*>(bytes), count}, delay);
        });
        self(c).note_access("read", bar, offset, first_bytes(bytes, count), count);
        return error;
    };
    t.bar_write_block = [](void* c, std::uint32_t bar, std::uint64_t offset, const void* bytes,
                           std::uint64_t count) {
        self(c).note_access("write", bar, offset, first_bytes(bytes, count), count);
        return self(c).access(self(c).cfg_.write_cost, [&](auto& delay) {
            return self(c).function_.bar_write(
                bar, offset, {static_cast<const std::uint8_t*>(bytes), count}, delay);
        });
    };
    t.config_read = [](void* c, std::uint32_t offset, std::uint32_t width, std::uint32_t* value) {
        *value = 0;
        if (width > sizeof *value) return -EINVAL;
        if (!can_wait()) return -ENODEV;
        self(c).stay_behind();
        self(c).function_.config_read(offset, bytes_of(*value).first(width));
        sc_core::wait(self(c).cfg_.read_cost);
        return 0;
    };
    t.config_write = [](void* c, std::uint32_t offset, std::uint32_t width, std::uint32_t value) {
        if (width > sizeof value) return -EINVAL;
        if (!can_wait()) return -ENODEV;
        self(c).stay_behind();
        self(c).function_.config_write(offset, bytes_of(value).first(width));
        sc_core::wait(self(c).cfg_.write_cost);
        return 0;
    };
    t.dma_alloc = [](void* c, std::uint64_t size, trn_dma_memory* memory) {
        return self(c).allocate(size, *memory);
    };
    t.dma_free = [](void* c, const trn_dma_memory* memory) { self(c).free(*memory); };
    t.wait = [](void*, std::uint64_t ns) {
        if (!can_wait()) return -ENODEV;
        const std::uint64_t unit = sc_core::sc_time(1, sc_core::SC_NS).value();
        const auto left = sc_core::sc_max_time() - sc_core::sc_time_stamp();
        sc_core::wait(
            sc_core::sc_time::from_value(std::min<std::uint64_t>(ns, left.value() / unit) * unit));
        return 0;
    };
    t.now = [](void*) { return nanoseconds(sc_core::sc_time_stamp()); };
    t.simulated_now = t.now;
    t.bar_bus_address = [](void* c, std::uint32_t bar, std::uint64_t* bus_address) {
        if (bar >= function_port::bar_count) return -EINVAL;
        *bus_address = self(c).function_.bar(bar).bus_address;
        return *bus_address == 0 ? -ENOTSUP : 0;
    };
    t.function_reset = [](void* c) {
        self(c).function_.reset();
        return 0;
    };
    t.log = [](void* c, trn_log_level level, const char* text) {
        if (self(c).log_) self(c).log_(level, text);
    };
    t.operation_begins = [](void* c, const char* name, std::uint64_t joins) {
        auto& cpu = self(c);
        if (!trace::on()) return joins;
        cpu.posting_ = joins != 0 ? joins : trace::new_operation();
        const trace::on_behalf_of it(cpu.posting_);
        cpu.operations_[cpu.posting_] = trace::begin(cpu.cfg_.name, name);
        return cpu.posting_;
    };
    t.operation_posted = [](void* c) { self(c).posting_ = 0; };
    t.operation_complete = [](void* c, std::uint64_t operation) {
        if (auto found = self(c).operations_.extract(operation))
            trace::end(found.mapped(), self(c).cfg_.name, "complete");
    };
    t.close = [](void*) {};
    return t;
}

}  // namespace trn
