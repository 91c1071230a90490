// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/soc/misuse_port/misuse_port.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind misuse_port_kind() {
    return kind_of<misuse_port>("misuse_port", "Reports of firmware on errors of the host.", {},
                                {port::target("in", "misuse_port.regs.yaml").of_size(0x1000)});
}

}  // namespace trn::kind_tables
