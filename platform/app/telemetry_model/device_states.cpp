// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry_model/device_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "models/cards/instance_metadata/instance_metadata.h"
#include "models/dma/udma/udma.h"
#include "models/memory/hbm/hbm.h"
#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/neuron_core/sequencer/timing/timing.h"
#include "models/pcie/pcie/pcie_endpoint.h"
#include "models/pcie/root_complex/host_function.h"
#include "models/soc/misc_ram/misc_ram.h"
#include "models/soc/sensors/sensors.h"
#include "platform/app/telemetry/process_names.h"
#include "platform/app/telemetry/sources/state_source.h"
#include "platform/app/telemetry/state_json.h"
#include "platform/app/telemetry_model/accounts.h"
#include "platform/framework/kernel/one_counter.h"
#include "platform/framework/kernel/time_value.h"
#include "sw-stubs/driver/generation.h"
#include "sw-stubs/driver/include/trn_topology.h"
#include "trn/misc_ram_regs.h"
#include "trn/sensors_regs.h"

namespace trn::telemetry {

namespace {

constexpr std::uint32_t not_published = TRN_MISC_RAM_ROUTING_ID_RESET;
constexpr unsigned positions = 16;  // of the driver's tables of routing ids

/// Registers that begin at offset 0 of an address space; 0 where there is none.
template <std::size_t words>
class register_words {
public:
    explicit register_words(address_space* space) {
        if (space == nullptr) return;
        const auto bytes = std::as_writable_bytes(std::span(words_));
        constexpr std::size_t word = sizeof(std::uint32_t);
        for (std::size_t begin = 0; begin < bytes.size(); begin += word)
            begin += space->peek(begin, bytes.subspan(begin)) / word * word;
        read_ = space->peek(0, bytes.first(word)) == word;
    }
    bool is_read() const { return read_; }
    std::uint32_t at(std::size_t offset) const { return words_.at(offset / 4); }
    const std::uint32_t* from(std::size_t offset) const { return &words_.at(offset / 4); }

private:
    std::array<std::uint32_t, words> words_{};
    bool read_ = false;
};

constexpr std::size_t words_of_firmware = TRN_MISC_RAM_FIRMWARE_STATUS_OFFSET / 4 + 1;
using firmware_words = register_words<words_of_firmware>;
constexpr std::size_t words_of_sensors = TRN_SENSORS_IRQ_STATUS_OFFSET / 4 + 1;
using sensor_words = register_words<words_of_sensors>;

/// Counters of a module, of those that its owner asks for.
class chosen_counters final : public quick_statistics {
public:
    using receiver = std::function<void(std::string_view counter, std::uint64_t value)>;
    explicit chosen_counters(receiver takes) : takes_(std::move(takes)) {}
    void count(std::string_view counter, std::uint64_t value) override { takes_(counter, value); }

private:
    const receiver takes_;
};

std::uint64_t counter_of(const publishes_statistics& module, std::string_view name) {
    std::uint64_t found = 0;
    chosen_counters all([&](std::string_view counter, std::uint64_t value) {
        if (counter == name) found = value;
    });
    module.publish(all);
    return found;
}

/// Names of the health word's components, as the public driver prints them.
constexpr std::array<std::pair<std::uint32_t, const char*>, 10> components{
    {{TRN_MISC_RAM_HEALTH_STATUS_HBM_MASK, "hbm"},
     {TRN_MISC_RAM_HEALTH_STATUS_SRAM_MASK, "sram"},
     {TRN_MISC_RAM_HEALTH_STATUS_FIRMWARE_API_MASK, "firmware_service_api"},
     {TRN_MISC_RAM_HEALTH_STATUS_FIRMWARE_PROCESSOR_MASK, "firmware_service_processor"},
     {TRN_MISC_RAM_HEALTH_STATUS_LINK_INTRASERVER_MASK, "link_intraserver"},
     {TRN_MISC_RAM_HEALTH_STATUS_LINK_HOST_MASK, "link_host"},
     {TRN_MISC_RAM_HEALTH_STATUS_LINK_EFA_MASK, "link_efa"},
     {TRN_MISC_RAM_HEALTH_STATUS_LINK_INTERSERVER_MASK, "link_interserver"},
     {TRN_MISC_RAM_HEALTH_STATUS_LINK_SWITCH_MASK, "link_switch"},
     {TRN_MISC_RAM_HEALTH_STATUS_AXI_FABRIC_MASK, "axi_fabric"}}};

void add_links(device& d, const trn_topology& topology) {
    const auto& own = topology.own;
    std::vector<unsigned> neighbours;
    for (unsigned port = 0; port < TRN_MAX_PORTS; ++port) {
        const auto& found = topology.ports[port];
        if (!found.connected && found.expected.kind == TRN_PARTNER_NONE) continue;
        link l;
        l.port = port;
        l.up = found.up;
        l.generation = found.generation;
        l.lanes = found.lanes;
        l.all_lanes = found.lanes_full;
        l.downs = found.downs;
        if (found.fault != TRN_LINK_OK) l.fault = trn_link_fault_text(found.fault);
        if (found.identified && found.partner.kind != TRN_PARTNER_NONE) {
            const auto& place = found.partner.place;
            l.partner = trn_partner_text(found.partner.kind);
            l.rack = place.rack;
            if (found.partner.kind != TRN_PARTNER_RACK_SWITCH) l.server = place.server;
            if (found.partner.kind == TRN_PARTNER_CHIP) l.chip = place.chip;
            l.partner_port = found.partner_port;
            const bool same_server = found.partner.kind == TRN_PARTNER_CHIP &&
                                     place.rack == own.rack && place.server == own.server;
            if (found.up && same_server && std::ranges::count(neighbours, place.chip) == 0)
                neighbours.push_back(place.chip);
        }
        d.links.push_back(std::move(l));
    }
    d.connected = std::move(neighbours);
}

/// Contract 4: the words of errors, by the version of the interface.
void add_errors(device& d, const firmware_words& words, unsigned stacks) {
    constexpr unsigned first_with_repairs = 6;
    if (const auto sram = words.at(TRN_MISC_RAM_SRAM_ECC_OFFSET); sram != not_published) {
        d.sram_corrected = TRN_MISC_RAM_SRAM_ECC_CORRECTED_GET(sram);
        d.sram_uncorrected = TRN_MISC_RAM_SRAM_ECC_UNCORRECTED_GET(sram);
    }
    const auto add = [](known<std::uint64_t>& sum, std::uint64_t count) {
        sum = sum.value_or(0) + count;
    };
    for (unsigned stack = 0; stack < stacks; ++stack) {
        const auto word = words.at(TRN_MISC_RAM_HBM_ECC_OFFSET(stack));
        if (word == not_published) continue;
        add(d.hbm_corrected, TRN_MISC_RAM_HBM_ECC_CORRECTED_GET(word));
        if (*d.firmware_api >= first_with_repairs) {
            add(d.hbm_uncorrected, TRN_MISC_RAM_HBM_ECC_UNCORRECTABLE_GET(word));
            add(d.hbm_repairable, TRN_MISC_RAM_HBM_ECC_REPAIRABLE_GET(word));
        } else {
            add(d.hbm_uncorrected, word & 0xffff);
        }
    }
    constexpr std::array repairs{"none", "pending", "failed"};
    const auto repair = TRN_MISC_RAM_HBM_REPAIR_STATE_GET(words.at(TRN_MISC_RAM_HBM_REPAIR_OFFSET));
    if (repair < repairs.size()) d.repair = repairs[repair];
    auto& faulty = d.faulty.emplace();
    const auto health = words.at(TRN_MISC_RAM_HEALTH_STATUS_OFFSET);
    for (const auto& [mask, name] : components)
        if (health & mask) faulty.emplace_back(name);
}

void add_power(device& d, const firmware_words& words, unsigned dies) {
    double sum = 0;
    for (unsigned die = 0; die < dies; ++die) {
        const auto word = words.at(TRN_MISC_RAM_POWER_OFFSET(die));
        const auto share = TRN_MISC_RAM_POWER_BASIS_POINTS_GET(word);
        if (word == not_published || TRN_MISC_RAM_POWER_SAMPLE_GET(word) == 0 || share > 10'000)
            return;
        sum += share / 100.0;
    }
    d.power_percent = sum / dies;
}

void add_sensors(device& d, const sensor_words& words, unsigned dies, unsigned stacks) {
    if (!words.is_read() || words.at(TRN_SENSORS_RATED_POWER_OFFSET) == 0) return;
    double milliwatts = 0;
    for (unsigned die = 0; die < dies; ++die) milliwatts += words.at(TRN_SENSORS_POWER_OFFSET(die));
    if (milliwatts == 0) return;  // no conversion yet
    d.power_watts = milliwatts / 1000;
    constexpr unsigned max_dies = 2;  // diodes of dies come first
    const auto celsius = [&](unsigned diode) {
        return static_cast<std::int32_t>(words.at(TRN_SENSORS_TEMPERATURE_OFFSET(diode))) / 1000.0;
    };
    for (unsigned die = 0; die < dies; ++die) d.celsius.push_back(celsius(die));
    for (unsigned stack = 0; stack < stacks; ++stack)
        d.celsius.push_back(celsius(max_dies + stack));
}

/// Devices whose number is not known, or is that of another one, get their place if it is free,
/// else the first number that is: a number names one device.
void number_rest(std::vector<device>& devices) {
    std::set<unsigned> used;
    std::vector<unsigned> rest;
    for (unsigned place = 0; place < devices.size(); ++place)
        if (!devices[place].routing_id || !used.insert(devices[place].index).second)
            rest.push_back(place);
    for (const auto place : rest) {
        unsigned free = place;
        if (used.contains(free))
            for (free = 0; used.contains(free);) ++free;
        devices[place].index = free;
        used.insert(free);
    }
}

}  // namespace

struct device_states::chip {
    std::string name, bdf;
    const trn_part* part = nullptr;
    const pcie::host_function* function = nullptr;
    sensors* sensing = nullptr;
    address_space* firmware_space = nullptr;
    address_space* sensor_space = nullptr;
    std::vector<const neuron_core*> cores;
    std::vector<const hbm*> stacks;
    std::vector<const udma*> engines;
};

struct device_states::server {
    std::string name, product;
    const instance_metadata* metadata = nullptr;
    std::vector<chip> chips;
};

device_states::device_states(platform& board, client_list clients)
    : board_(board), clients_(std::move(clients)) {}

device_states::~device_states() = default;

void device_states::find_devices() {
    const auto& plan = board_.modules().board();
    auto& spaces = board_.methods().spaces();
    for (const auto& f : board_.chip_functions()) {
        if (servers_.empty() || servers_.back()->name != f.server) {
            servers_.push_back(std::make_unique<server>());
            servers_.back()->name = f.server;
            servers_.back()->product = f.product;
        }
        chip found;
        found.name = f.name;
        found.bdf = f.bdf;
        found.function = dynamic_cast<const pcie::host_function*>(f.port);
        const auto index = plan.index_of(f.name);
        if (index == plan::none) continue;
        for (auto n = index; n < plan.modules[index].end; ++n) {
            auto* module = &board_.modules().module(n);
            if (const auto* core = dynamic_cast<neuron_core*>(module)) {
                found.cores.push_back(core);
            } else if (const auto* stack = dynamic_cast<hbm*>(module)) {
                found.stacks.push_back(stack);
            } else if (const auto* engines = dynamic_cast<udma*>(module)) {
                found.engines.push_back(engines);
            } else if (const auto* endpoint = dynamic_cast<pcie_endpoint*>(module)) {
                found.part = trn_part_find(endpoint->settings().device_id);
            } else if (auto* sensing = dynamic_cast<sensors*>(module)) {
                found.sensing = sensing;
                found.sensor_space = spaces.find(fmt::format("{}.in", module->name()));
            } else if (dynamic_cast<misc_ram*>(module) != nullptr) {
                found.firmware_space = spaces.find(fmt::format("{}.in", module->name()));
            }
        }
        servers_.back()->chips.push_back(std::move(found));
    }
    for (std::uint32_t n = 0; n < plan.modules.size(); ++n)
        if (const auto* metadata = dynamic_cast<instance_metadata*>(&board_.modules().module(n)))
            for (auto& each : servers_)
                if (each->name.empty() || plan.modules[n].path.starts_with(each->name + "."))
                    each->metadata = metadata;
}

device device_states::read(const chip& found, bool cores) const {
    device d;
    d.name = found.name;
    d.bdf = "0000:" + found.bdf;
    const unsigned dies = found.part ? found.part->generation->map->dies : 1;
    const auto architecture = found.part ? found.part->generation->architecture : 4;
    if (found.part) {
        d.product = found.part->name;
        // The public driver's table says v3 of Inferentia2.
        d.architecture = d.product == "Inferentia2" ? "NDv3" : fmt::format("NDv{}", architecture);
    }
    d.core_count = static_cast<unsigned>(found.cores.size());
    d.memory_bytes = 0;
    for (const auto* stack : found.stacks) *d.memory_bytes += stack->settings().size;

    const firmware_words words(found.firmware_space);
    const auto routing_id = words.at(TRN_MISC_RAM_ROUTING_ID_OFFSET);
    if (found.function != nullptr && !found.function->answers())
        d.status = device_status::gone;
    else if (!words.is_read() || routing_id == not_published)
        d.status = device_status::booting;
    const auto firmware_status = words.at(TRN_MISC_RAM_FIRMWARE_STATUS_OFFSET);
    if (d.status == device_status::ready &&
        TRN_MISC_RAM_FIRMWARE_STATUS_RESETTING_GET(firmware_status) != 0)
        d.status = device_status::resetting;

    if (d.status == device_status::ready || d.status == device_status::resetting) {
        d.routing_id = routing_id;
        d.firmware_api = words.at(TRN_MISC_RAM_API_VERSION_OFFSET);
        if (const auto build = words.at(TRN_MISC_RAM_BUILD_NUMBER_OFFSET); build != 0)
            d.firmware_build = build;
        d.serial = fmt::format("{:08x}{:08x}", words.at(TRN_MISC_RAM_SERIAL_HI_OFFSET),
                               words.at(TRN_MISC_RAM_SERIAL_LO_OFFSET));
        add_errors(d, words, static_cast<unsigned>(found.stacks.size()));
        add_power(d, words, dies);
        add_sensors(d, sensor_words(found.sensor_space), dies,
                    static_cast<unsigned>(found.stacks.size()));
        const auto resets = words.at(TRN_MISC_RAM_RESETS_OFFSET);
        d.reset_requests = TRN_MISC_RAM_RESETS_DEVICE_GET(resets);
        d.restarts = TRN_MISC_RAM_RESETS_CHIP_GET(resets);
        if (found.sensing != nullptr) d.throttled = found.sensing->throttled.level();
        trn_topology topology{};
        const bool decoded = trn_topology_decode(words.from(TRN_TOPOLOGY_OFFSET), &topology);
        if (decoded && topology.kind != TRN_TOPOLOGY_NONE) {
            d.index = topology.own.chip;
            add_links(d, topology);
        } else {
            d.index = found.part ? found.part->index_of_routing_id[routing_id % positions] : 0;
            if (found.part && found.part->generation->index_continues)
                d.index += routing_id - routing_id % positions;
            if (decoded) d.connected.emplace();
        }
    }
    if (d.status == device_status::gone) return d;
    d.dma_bytes = d.dma_descriptors = d.dma_aborts = 0;
    for (const auto* engines : found.engines) {
        chosen_counters counted([&](std::string_view counter, std::uint64_t value) {
            if (counter == "bytes") *d.dma_bytes += value;
            if (counter == "descriptors") *d.dma_descriptors += value;
            if (counter == "aborts") *d.dma_aborts += value;
        });
        engines->publish(counted);
    }
    if (!cores) return d;
    d.hbm_bytes = 0;
    for (const auto* stack : found.stacks) {
        *d.hbm_bytes += counter_of(*stack, "bytes_moved");
    }
    for (unsigned n = 0; n < found.cores.size(); ++n) {
        core c;
        c.number = n;
        c.busy_ns = 0;
        if (d.routing_id && n < TRN_MISC_RAM_CORE_ECC_COUNT) {
            const auto errors = words.at(TRN_MISC_RAM_CORE_ECC_OFFSET(n));
            c.sram_corrected = TRN_MISC_RAM_CORE_ECC_CORRECTED_GET(errors);
            c.sram_uncorrected = TRN_MISC_RAM_CORE_ECC_UNCORRECTED_GET(errors);
        }
        const auto generation = static_cast<isa::generation>(architecture);
        chosen_counters counted([&](std::string_view counter, std::uint64_t value) {
            const auto end = counter.find('_');
            const auto quantity = counter.substr(end + 1);
            if (quantity != "busy_cycles" && quantity != "instructions" && quantity != "flops")
                return;
            const std::string name(counter.substr(0, end));
            if (quantity == "instructions") {
                c.engines[name].instructions = value;
            } else if (quantity == "flops") {
                c.engines[name].flops = value;
            } else {
                for (unsigned e = 0; e < isa::engine_count; ++e) {
                    const auto engine = static_cast<isa::engine>(e);
                    if (isa::name_of(engine) != name) continue;
                    const double hertz = static_cast<double>(isa::clock_of(engine, generation));
                    const auto busy =
                        static_cast<std::uint64_t>(static_cast<double>(value) * 1e9 / hertz);
                    c.engines[name].busy_ns = busy;
                    c.busy_ns = std::max(*c.busy_ns, busy);
                }
            }
        });
        found.cores[n]->publish(counted);
        d.cores.push_back(std::move(c));
    }
    return d;
}

void device_states::add_processes(instance& machine,
                                  const std::vector<endpoints::client>& clients) {
    std::map<std::uint64_t, process> processes;
    std::map<std::uint64_t, std::vector<std::uint64_t>> latencies;
    for (const auto& client : clients) {
        const auto used = std::ranges::find(machine.devices, client.function, &device::name);
        if (used == machine.devices.end()) continue;
        auto& p = processes[client.pid];
        if (p.pid == 0) {
            p.pid = client.pid;
            p.name = name_of_process("/proc", client.pid);
            p.command = command_of_process("/proc", client.pid);
        }
        p.devices.push_back(used->index);
        if (const auto accounts = accounts_of(client.account, *used)) {
            add_accounts(*accounts, first_core(machine, *used), p, *used);
            add_latencies(*accounts, latencies[client.pid]);
        }
    }
    for (auto& [pid, p] : processes) {
        std::ranges::sort(p.devices);
        if (p.cores) std::ranges::sort(*p.cores);
        p.latency_ns = percentiles_of(std::move(latencies[pid]));
        machine.processes.push_back(std::move(p));
    }
}

machine_state device_states::read(bool cores) {
    if (servers_.empty()) find_devices();
    machine_state state;
    state.wall_ms = wall_ms_now();
    state.time_ps = in_picoseconds(sc_core::sc_time_stamp());
    state.clock_ns = *state.time_ps / 1000;
    state.source = "platform " + board_.about().board;
    state.version = board_.about().version;
    const auto clients = clients_ ? clients_() : std::vector<endpoints::client>();
    for (const auto& found : servers_) {
        instance machine;
        machine.name = found->name;
        machine.type = found->product;
        for (const auto& each : found->chips) machine.devices.push_back(read(each, cores));
        number_rest(machine.devices);
        std::ranges::stable_sort(machine.devices, {}, &device::index);
        if (!found->chips.empty() && found->chips.front().firmware_space != nullptr) {
            const firmware_words words(found->chips.front().firmware_space);
            const auto id = words.at(TRN_MISC_RAM_SERVER_ID_OFFSET);
            if (TRN_MISC_RAM_SERVER_ID_SERVER_VALID_GET(id) != 0)
                machine.server_id = TRN_MISC_RAM_SERVER_ID_SERVER_GET(id);
            if (TRN_MISC_RAM_SERVER_ID_RACK_VALID_GET(id) != 0)
                machine.rack_id = TRN_MISC_RAM_SERVER_ID_RACK_GET(id);
        }
        if (found->metadata != nullptr) machine.id = found->metadata->instance_id();
        add_processes(machine, clients);
        state.instances.push_back(std::move(machine));
    }
    return state;
}

void device_states::add_method() {
    board_.methods().methods().add(
        {"devices",
         "State of all Neuron devices, as trn-ls, trn-top and trn-monitor show it: what firmware "
         "and "
         "blocks publish, and the processes that are attached.",
         {{"cores", "true or false", "also of each core", "true"}},
         {{"wall_ms", "number", "Unix time in ms"},
          {"time_ps", "number", "simulated time"},
          {"instances", "list",
           "servers with their devices and processes, by the schema of doc/telemetry.md; what is "
           "not known is absent"}}},
        [this](const auto& p, auto&) { return to_json(read(p.flag("cores", true))); });
}

}  // namespace trn::telemetry
