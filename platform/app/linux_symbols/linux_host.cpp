// SPDX-License-Identifier: Apache-2.0
#include "platform/app/linux_symbols/linux_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "platform/framework/loader/elf.h"

namespace trn {

namespace {

constexpr unsigned stvec = debug_target::first_csr + 0x105;
constexpr unsigned sscratch = debug_target::first_csr + 0x140;
constexpr unsigned tp = 4, s0 = 8, a0 = 10;
constexpr std::uint64_t user = 0, machine = 3;
constexpr std::size_t max_objects = 256, shown_calls = 4;

/// How every task waits: not what it waits for.
constexpr std::array<std::string_view, 9> scheduler = {"__switch_to",
                                                       "__schedule",
                                                       "schedule",
                                                       "context_switch",
                                                       "schedule_timeout",
                                                       "preempt_schedule",
                                                       "schedule_preempt_disabled",
                                                       "io_schedule",
                                                       "schedule_hrtimeout_range_clock"};

bool is_before(const loaded_module& a, const loaded_module& b) {
    return std::tie(a.address, a.name, a.sections) < std::tie(b.address, b.name, b.sections);
}

std::uint64_t address_in(const kernel_image& kernel, std::string_view symbol) {
    return kernel.symbols().find(symbol).value_or(0);
}

/// Of a module as it is loaded (NT_GNU_BUILD_ID); empty: it has none.
std::vector<std::uint8_t> build_id_of(const guest_memory& memory, const loaded_module& loaded) {
    constexpr std::uint64_t size_place = 4, place = 16, max_size = 64;
    const auto note = loaded.sections.find(".note.gnu.build-id");
    if (note == loaded.sections.end()) return {};
    const auto size = memory.number<std::uint32_t>(note->second + size_place).value_or(0);
    std::vector<std::uint8_t> found(std::min<std::uint64_t>(size, max_size));
    if (!memory.read(note->second + place, found)) found.clear();
    return found;
}

}  // namespace

linux_host::linux_host(std::string name, std::vector<debug_hart> harts, const kernel_image& kernel,
                       const module_files& files)
    : name_(std::move(name)),
      harts_(std::move(harts)),
      kernel_(kernel),
      files_(files),
      module_list_(kernel.types()),
      task_list_(kernel.types()),
      at_{address_in(kernel, "linux_banner"), address_in(kernel, "handle_exception"),
          address_in(kernel, "modules"),      address_in(kernel, "do_init_module"),
          address_in(kernel, "free_module"),  address_in(kernel, "init_task")},
      objects_(is_before) {}

/// Whether the kernel of this file runs: its banner is there.
bool linux_host::is_there(const view& seen) const {
    std::array<std::uint8_t, 64> found{};
    const auto wanted = kernel_.at(at_.banner, found.size());
    return at_.banner != 0 && wanted.size() == found.size() &&
           seen.memory.read(at_.banner + seen.slide, found) && std::ranges::equal(wanted, found);
}

std::optional<linux_host::view> linux_host::look() const {
    for (const auto& hart : harts_) {
        view seen{guest_memory(*hart.target), 0};
        if (is_there(seen)) return seen;
        // A kernel that has relocated itself.
        const auto vector = hart.target->read_register(stvec).value_or(0) & ~std::uint64_t{3};
        seen.slide = vector - at_.trap_entry;
        if (vector != 0 && is_there(seen)) return seen;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> linux_host::slide() const {
    const auto seen = look();
    return seen ? std::optional(seen->slide) : std::nullopt;
}

std::vector<std::uint64_t> linux_host::module_events() const {
    std::vector<std::uint64_t> all;
    const auto distance = slide().value_or(0);
    for (const auto place : {at_.module_begins, at_.module_ends})
        if (place != 0) all.push_back(place + distance);
    return all;
}

std::shared_ptr<const placed_object> linux_host::object_of(const guest_memory& memory,
                                                           const loaded_module& loaded) const {
    const auto build_id = build_id_of(memory, loaded);
    if (build_id.empty()) return nullptr;
    if (std::exchange(files_version_, files_.version()) != files_.version()) objects_.clear();
    if (const auto known = objects_.find(loaded);
        known != objects_.end() && known->second.build_id == build_id)
        return known->second.object;
    std::vector<std::shared_ptr<const placed_object>> matching;
    for (const auto& file : files_.named(loaded.name)) try {
            auto object = std::make_shared<const placed_object>(file, loaded.sections);
            if (object->build_id() == build_id) matching.push_back(std::move(object));
        } catch (const elf_error&) {  // not a module
        }
    std::shared_ptr<const placed_object> found = matching.empty() ? nullptr : matching.front();
    if (matching.size() > 1) {  // one of them may be stripped
        const auto complete =
            std::ranges::find_if(matching, [](const auto& each) { return each->has_lines(); });
        if (complete != matching.end()) found = *complete;
    }
    if (objects_.size() >= max_objects) objects_.clear();
    objects_.insert_or_assign(loaded, known_object{build_id, found});
    return found;
}

std::vector<linux_host::module_code> linux_host::modules() const {
    const auto seen = look();
    return seen ? modules(*seen) : std::vector<module_code>();
}

std::vector<linux_host::module_code> linux_host::modules(const view& seen) const {
    std::vector<module_code> all;
    if (at_.modules == 0) return all;
    // When free_module() begins, its module is still in the list.
    std::vector<std::uint64_t> freed;
    for (const auto& hart : harts_)
        if (hart.target->read_register(debug_target::pc) == at_.module_ends + seen.slide)
            freed.push_back(hart.target->read_register(a0).value_or(0));
    for (auto& loaded : module_list_.read(seen.memory, at_.modules + seen.slide)) {
        if (std::ranges::find(freed, loaded.address) != freed.end()) continue;
        auto object = object_of(seen.memory, loaded);
        all.push_back({std::move(loaded), std::move(object)});
    }
    return all;
}

std::vector<std::uint8_t> linux_host::read(std::uint64_t address, std::size_t size) const {
    std::vector<std::uint8_t> bytes(size);
    const auto seen = look();
    if (!seen || !seen->memory.read(address, bytes)) bytes.clear();
    return bytes;
}

std::string linux_host::describe(std::uint64_t pc) const {
    const auto seen = pc >> 63 != 0 ? look() : std::nullopt;
    return seen ? describe(pc, *seen, modules(*seen)) : std::string();
}

std::string linux_host::describe(std::uint64_t pc, const view& seen,
                                 const std::vector<module_code>& loaded) const {
    if (const auto in_file = pc - seen.slide;
        in_file >= kernel_.first() && in_file < kernel_.end()) {
        const auto* const found = kernel_.symbols().at(in_file);
        return found == nullptr ? std::string() : found->name;
    }
    for (const auto& [module, object] : loaded) {
        if (object == nullptr) continue;
        const auto text = object->find(pc);
        if (!text.empty())
            return text.ends_with(')') ? text : fmt::format("{} [{}]", text, module.name);
    }
    return {};
}

/// The first calls that are not the scheduler's.
std::string linux_host::calls(const view& seen, std::uint64_t pc, std::uint64_t frame,
                              const std::vector<module_code>& loaded) const {
    std::string text;
    std::size_t shown = 0;
    auto pcs = task_list::callers(seen.memory, frame);
    for (auto& caller : pcs) --caller;  // in the call, not after it
    pcs.insert(pcs.begin(), pc);
    for (const auto each : pcs) {
        const auto place = describe(each, seen, loaded);
        if (place.empty()) continue;
        if (shown == 0 && std::ranges::find(scheduler, place) != scheduler.end()) continue;
        text += (shown == 0 ? "" : " < ") + place;
        if (++shown == shown_calls) break;
    }
    return text;
}

std::string linux_host::activity(const debug_hart& hart) const {
    const auto seen = look();
    auto& target = *hart.target;
    const auto mode = target.read_register(debug_target::priv).value_or(machine);
    if (!seen || mode == machine) return {};
    // In the kernel, tp points to the task; otherwise the kernel keeps that pointer in sscratch.
    const auto pointer = target.read_register(mode == user ? sscratch : tp).value_or(0);
    const auto task = task_list_.task_at(seen->memory, pointer);
    std::string text = task ? fmt::format("{} (pid {})", task->name, task->id) : "a task";
    if (mode == user) return text + " in its program";
    const auto called = calls(*seen, target.read_register(debug_target::pc).value_or(0),
                              target.read_register(s0).value_or(0), modules(*seen));
    return called.empty() ? text : fmt::format("{} in {}", text, called);
}

std::vector<std::string> linux_host::waiting_tasks() const {
    std::vector<std::string> all;
    const auto seen = at_.first_task == 0 ? std::nullopt : look();
    if (!seen) return all;
    const auto loaded = modules(*seen);
    for (const auto& task : task_list_.read(seen->memory, at_.first_task + seen->slide)) {
        if (task.runs || !task.is_process) continue;
        all.push_back(fmt::format("{} (pid {}) waits in {}", task.name, task.id,
                                  calls(*seen, task.pc, task.frame, loaded)));
    }
    return all;
}

}  // namespace trn
