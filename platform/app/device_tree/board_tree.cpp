// SPDX-License-Identifier: Apache-2.0
#include "platform/app/device_tree/board_tree.h"

#include <any>
#include <map>
#include <optional>
#include <random>
#include <string_view>

#include "models/pcie/root_complex/processor_bus.h"
#include "models/processor/interrupts/aclint.h"
#include "models/processor/interrupts/aplic.h"
#include "models/processor/interrupts/imsic.h"
#include "models/processor/interrupts/plic.h"
#include "models/processor/riscv/riscv_hart.h"
#include "models/soc/image_store/image_store.h"
#include "models/soc/ram_window/ram_window.h"
#include "models/soc/uart/uart.h"
#include "platform/app/device_tree/server_identity.h"
#include "platform/framework/kernel/random.h"
#include "platform/framework/netlist/plan/address_map.h"

namespace trn {

namespace {

bool is_a(const plan::module& m, std::string_view kind_name) {
    return m.built_as != nullptr && m.built_as->name == kind_name;
}

template <typename Model>
const typename Model::config& config_of(const plan::module& m) {
    return std::any_cast<const typename Model::config&>(m.config);
}

/// The module of the kind `kind_name` in the same assembly as `store`.
std::optional<std::uint32_t> neighbour(const plan& board, std::uint32_t store,
                                       std::string_view kind_name) {
    for (std::uint32_t i = 0; i < board.modules.size(); ++i)
        if (board.modules[i].parent == board.modules[store].parent &&
            is_a(board.modules[i], kind_name))
            return i;
    return std::nullopt;
}

/// Numbers of wired interrupts at their controller, by the module that raises them.
std::multimap<std::uint32_t, std::uint32_t> interrupts_of(const plan& board,
                                                          std::uint32_t controller) {
    std::multimap<std::uint32_t, std::uint32_t> sources;
    for (const auto& b : board.bindings)
        if (b.target.module == controller && board.port_of(b.target).name == "source")
            sources.emplace(b.source.module, b.target.index);
    return sources;
}

/// The router at the hart's bus port.
std::optional<std::uint32_t> router_of(const plan& board, std::uint32_t hart) {
    for (const auto& b : board.bindings)
        if (b.source.module == hart && board.port_of(b.source).name == "bus")
            return b.target.module;
    return std::nullopt;
}

class description {
public:
    description(const plan& board, std::uint32_t store) : board_(board) {
        const auto hart = neighbour(board, store, "riscv_hart");
        auto controller = neighbour(board, store, "plic");
        if (!controller) controller = neighbour(board, store, "aplic");
        if (!hart || !controller) return;
        sources_ = interrupts_of(board, *controller);
        describe_hart(*hart);
        machine_.harts = 0;
        for (const auto& m : board.modules)
            if (m.parent == board.modules[store].parent && is_a(m, "riscv_hart")) ++machine_.harts;
        describe_store(config_of<image_store>(board.modules[store]));
        machine_.model = "trnvp " + board.name;
        if (const auto router = router_of(board, *hart))
            for (const auto& row : address_maps(board).own(*router)) add(row);
        describe_boot(store);
    }
    machine_description take() { return std::move(machine_); }

private:
    void describe_hart(std::uint32_t hart) {
        const auto& isa = config_of<riscv_hart>(board_.modules[hart]).isa;
        machine_.isa = isa.name();
        machine_.has_sv48 = isa.has(riscv::extension::sv48);
        machine_.has_cache_blocks =
            isa.has(riscv::extension::zicbom) || isa.has(riscv::extension::zicboz);
    }

    void describe_store(const image_store::config& store) {
        ram_base_ = store.ram_base;
        machine_.bootargs = store.bootargs;
        if (store.initrd.empty()) return;
        const auto images = image_store::read_images(store);  // the device tree is the last image
        const auto& initrd = images[images.size() - 2];
        machine_.initrd = {initrd.address, initrd.size()};
    }

    void add(const map_row& row) {
        const plan::module& m = board_.module_of(row.target);
        const machine_description::region window{row.window.base, row.window.size};
        if (m.built_as == nullptr) return;
        if (is_a(m, "root_complex")) return add_pcie(row);
        if (window.base >= end_of_map) {
            if (is_a(m, "memory") && window.base != ram_base_) machine_.exchange = window;
            return;
        }
        if (is_a(m, "aclint")) {
            machine_.aclint = window;
            machine_.timebase_hz = static_cast<std::uint32_t>(sc_core::sc_time(1, sc_core::SC_SEC) /
                                                              config_of<aclint>(m).tick);
        } else if (is_a(m, "plic")) {
            machine_.plic = window;
            machine_.plic_sources = config_of<plic>(m).sources;
        } else if (is_a(m, "uart") || is_a(m, "byte_uart") || is_a(m, "program_uart")) {
            add_uart(row.target.module, window);
        } else if (is_a(m, "imsic")) {
            add_files(row, config_of<imsic>(m));
        } else if (is_a(m, "aplic")) {
            const bool root = board_.port_of(row.target).name == "machine";
            (root ? machine_.msi.machine_domain : machine_.msi.supervisor_domain) = window;
            machine_.msi.sources = config_of<aplic>(m).sources;
        } else if (is_a(m, "finisher")) {
            machine_.finisher = window;
        } else if (is_a(m, "ram_window") || (is_a(m, "memory") && window.base == ram_base_)) {
            machine_.ram = window;
        } else {
            add_other(row.target.module, window);
        }
    }

    /// The pages of all harts follow each other.
    void add_files(const map_row& row, const imsic::config& cfg) {
        const bool machine = board_.port_of(row.target).name == "machine";
        auto& pages = machine ? machine_.msi.machine_files : machine_.msi.supervisor_files;
        if (pages.size == 0) pages.base = row.window.base;
        pages.size += row.window.size;
        machine_.msi.identities = cfg.identities;
    }

    void add_pcie(const map_row& row) {
        const machine_description::region window{row.window.base, row.window.size};
        if (row.window.target_base == pcie::processor_bus::window)
            machine_.pcie.configuration = window;
        else
            (window.base < end_of_map ? machine_.pcie.narrow : machine_.pcie.wide) = window;
    }

    void add_uart(std::uint32_t module, const machine_description::region& window) {
        constexpr std::uint32_t clocks_per_bit = 16, slot_shift = 2;
        const auto& cfg = config_of<uart>(board_.modules[module]);
        const auto clock_hz = static_cast<std::uint32_t>(cfg.clock_hz);
        const auto found = sources_.find(module);
        machine_.uarts.push_back({.window = window,
                                  .clock_hz = clock_hz,
                                  .baud = clock_hz / clocks_per_bit,
                                  .interrupt = found == sources_.end() ? 0 : found->second,
                                  .register_shift = slot_shift});
    }

    void add_other(std::uint32_t module, const machine_description::region& window) {
        machine_description::device device{board_.modules[module].built_as->name, window, {}};
        const auto [first, last] = sources_.equal_range(module);
        for (auto source = first; source != last; ++source)
            device.interrupts.push_back(source->second);
        machine_.others.push_back(std::move(device));
    }

    static constexpr std::uint64_t end_of_map = std::uint64_t{1} << 32;

    /// A server's processors: the chips' own have no root complex.
    void describe_boot(std::uint32_t store) {
        if (machine_.pcie.configuration.size == 0) return;
        machine_.has_boot_tables = true;
        constexpr unsigned words = 8;
        std::mt19937_64 random(seed_for(board_.modules[store].path));
        for (unsigned i = 0; i < words; ++i)
            machine_.random_seed.push_back(static_cast<std::uint32_t>(random()));
    }

    const plan& board_;
    std::uint64_t ram_base_ = 0;
    std::multimap<std::uint32_t, std::uint32_t> sources_;
    machine_description machine_{};
};

}  // namespace

std::vector<std::uint32_t> image_stores(const plan& board) {
    std::vector<std::uint32_t> stores;
    for (std::uint32_t i = 0; i < board.modules.size(); ++i)
        if (is_a(board.modules[i], "image_store")) stores.push_back(i);
    return stores;
}

std::vector<std::string> boot_files_of(const plan& board, std::uint32_t store) {
    const auto& choices = config_of<image_store>(board.modules[store]);
    std::vector<std::string> files;
    for (const auto* list : {&choices.images, &choices.initrd})
        for (const auto& name : split_boot_images(*list))
            files.push_back(parse_boot_image(name).file);
    if (!choices.device_tree.empty()) files.push_back(choices.device_tree);
    return files;
}

machine_description describe_processor(const plan& board, std::uint32_t store) {
    return description(board, store).take();
}

void store_device_trees(const system& built) {
    const plan& board = built.board();
    unsigned servers = 0;
    for (const std::uint32_t store : image_stores(board)) {
        auto* const module = built.find<image_store>(board.modules[store].path);
        const auto machine = describe_processor(board, store);
        module->set_device_tree(make_device_tree(machine));
        if (!machine.has_boot_tables) continue;
        const auto server = parent_path(parent_path(module->name()));
        module->set_machine({product_of(board), instance_id_of(built, server, ++servers)});
    }
}

}  // namespace trn
