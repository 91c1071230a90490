// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/nvme_controller/nvme_controller.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind nvme_controller_kind() {
    using c = nvme_controller::config;
    return kind_of<nvme_controller>(
        "nvme_controller", "An NVMe disk: the Linux driver for NVMe drives it.",
        {{"capacity", &c::capacity, unit::bytes, "of the namespace"},
         {"block", &c::block, "bytes of a logical block: 512 or 4096"},
         {"image", &c::image, "file of the content, which lasts over runs; default: memory"},
         {"serial", &c::serial, unit::address, "serial number"},
         {"model", &c::model, "model number"},
         {"queues", &c::queues, "of I/O, in each direction"},
         {"vectors", &c::vectors, "MSI-X"},
         {"write_cache", &c::write_cache, unit::bytes, "that a loss of power can destroy; 0: none"},
         {"read_rate", &c::read_rate, unit::bytes_per_second, "of the medium"},
         {"write_rate", &c::write_rate, unit::bytes_per_second, "of the medium"},
         {"read_latency", &c::read_latency, "of a read, without transfer"},
         {"write_latency", &c::write_latency, "of a write into the cache, without transfer"},
         {"flush_latency", &c::flush_latency, "after the last write"},
         {"command_time", &c::command_time, "of an admin command"},
         {"ready_time", &c::ready_time, "of enabling and of a shutdown"}},
        {port::target("registers", "BAR0").of_size(0x4000),
         port::initiator("dma", "bus addresses of its server"),
         port::irq_out("irq", "for the MSI-X vector of the same number")
             .times(&c::vectors)
             .optional(),
         port::irq_in("reset", "high: the controller is reset"),
         port::irq_in("no_power", "high: no power, what is not flushed is lost")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.block != 512 && cfg.block != 4096) return "a block has 512 or 4096 bytes";
            if (cfg.capacity == 0 || cfg.capacity % 4096 != 0 || cfg.capacity >> 62 != 0)
                return "the capacity is a multiple of 4096 bytes";
            if (cfg.queues == 0 || cfg.queues > nvme_controller::max_queues)
                return "a disk has 1 to 64 I/O queues";
            if (cfg.vectors == 0 || cfg.vectors > 256) return "a disk has 1 to 256 vectors";
            if (cfg.read_rate == 0 || cfg.write_rate == 0) return "rates are not 0";
            return std::nullopt;
        });
}

}  // namespace trn::kind_tables
