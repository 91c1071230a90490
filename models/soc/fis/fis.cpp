// SPDX-License-Identifier: Apache-2.0
#include "models/soc/fis/fis.h"

#include "models/soc/fis/fis_regs.h"

namespace trn {

fis::fis(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      regs_(fis_regs::table,
            {.instances = cfg.engines, .stride = cfg.stride, .latency = cfg.register_latency}) {}

}  // namespace trn
