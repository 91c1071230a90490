// SPDX-License-Identifier: Apache-2.0
#include "models/kinds.h"

#include "models/kind_tables.h"

namespace trn {

const kind_list& kinds() {
    using namespace kind_tables;
    static const kind_list list{
        // interconnect and memory
        router_kind(),
        memory_kind(),
        hbm_kind(),
        die_to_die_kind(),
        // between chips
        pcie_link_kind(),
        neuron_link_kind(),
        neuron_switch_kind(),
        // processors
        riscv_hart_kind(),
        aclint_kind(),
        plic_kind(),
        imsic_kind(),
        aplic_kind(),
        // the chip's blocks
        neuron_core_kind(),
        top_sp_kind(),
        udma_kind(),
        fis_kind(),
        misc_ram_kind(),
        sim_reset_kind(),
        // the management processor's devices
        boot_rom_kind(),
        image_store_kind(),
        ram_window_kind(),
        finisher_kind(),
        flash_kind(),
        uart_kind(),
        byte_uart_kind(),
        program_uart_kind(),
        watchdog_kind(),
        sensors_kind(),
        misuse_port_kind(),
        reset_controller_kind(),
        sled_controller_kind(),
        // PCI Express
        pcie_endpoint_kind(),
        root_complex_kind(),
        pcie_switch_kind(),
        // the network between servers
        efa_card_kind(),
        ethernet_fabric_kind(),
        ena_card_kind(),
        ethernet_switch_kind(),
        instance_metadata_kind(),
        // disks
        nvme_controller_kind(),
    };
    return list;
}

}  // namespace trn
