// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/netlist/kinds/kind.h"

/// A table for each class that a board can name: a description of its `config`, sockets and lines.
/// Format: doc/boards.md.
namespace trn::kind_tables {

kind router_kind();
kind memory_kind();
kind hbm_kind();
kind die_to_die_kind();

kind pcie_link_kind();
kind neuron_link_kind();
kind neuron_switch_kind();

kind riscv_hart_kind();
kind aclint_kind();
kind plic_kind();
kind imsic_kind();
kind aplic_kind();

kind neuron_core_kind();
kind top_sp_kind();
kind udma_kind();
kind fis_kind();
kind misc_ram_kind();
kind sim_reset_kind();

kind boot_rom_kind();
kind image_store_kind();
kind ram_window_kind();
kind finisher_kind();
kind flash_kind();
kind uart_kind();
kind byte_uart_kind();
kind program_uart_kind();
kind watchdog_kind();
kind sensors_kind();
kind misuse_port_kind();
kind reset_controller_kind();
kind sled_controller_kind();

kind pcie_endpoint_kind();
kind root_complex_kind();
kind pcie_switch_kind();

kind efa_card_kind();
kind ethernet_fabric_kind();

kind ena_card_kind();
kind ethernet_switch_kind();
kind instance_metadata_kind();
kind nvme_controller_kind();

}  // namespace trn::kind_tables
