// SPDX-License-Identifier: Apache-2.0

#include "models/cards/nvme/controller/nvme_controller.h"
#include "models/kind_tables.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind nvme_controller_kind() {
    using c = nvme_controller::config;
    auto made = kind_of<nvme_controller>(
        "nvme_controller", "An NVMe disk: the Linux driver for NVMe drives it.",
        {{"capacity", &c::capacity, unit::bytes, within(4 * KiB, PiB).multiples_of(4 * KiB),
          "of the namespace"},
         {"block", &c::block, one_of(512, 4096), "bytes of a logical block"},
         {"image", &c::image, "file of the content, which lasts over runs; default: memory"},
         {"serial", &c::serial, unit::address, any_number, "serial number"},
         {"model", &c::model, "model number"},
         {"queues", &c::queues, within(1, nvme_controller::max_queues),
          "of I/O, in each direction"},
         {"vectors", &c::vectors, within(1, 256), "MSI-X"},
         {"write_cache", &c::write_cache, unit::bytes, within(0, TiB),
          "that a loss of power can destroy; 0: none"},
         {"read_rate", &c::read_rate, unit::bytes_per_second, any_rate, "of the medium"},
         {"write_rate", &c::write_rate, unit::bytes_per_second, any_rate, "of the medium"},
         {"read_latency", &c::read_latency, any_time, "of a read, without transfer"},
         {"write_latency", &c::write_latency, any_time,
          "of a write into the cache, without transfer"},
         {"flush_latency", &c::flush_latency, any_time, "after the last write"},
         {"command_time", &c::command_time, any_time, "of an admin command"},
         {"ready_time", &c::ready_time, any_time, "of enabling and of a shutdown"}},
        {port::target("registers", "BAR0").of_size(0x4000),
         port::initiator("dma", "bus addresses of its server"),
         port::irq_out("irq", "for the MSI-X vector of the same number")
             .times(&c::vectors)
             .optional(),
         port::irq_in("reset", "high: the controller is reset"),
         port::irq_in("no_power", "high: no power, what is not flushed is lost")});
    made.statistics = {{"admin_commands", "", "executed"},
                       {"commands", "", "of I/O queues executed"},
                       {"failed_commands", "", "completed with an error"},
                       {"lost_commands", "", "without a completion, by a fault"},
                       {"bytes_read", "bytes", "by the host"},
                       {"bytes_written", "bytes", "by the host"},
                       {"bytes_stored", "bytes", "of host memory that the content takes"},
                       {"bytes_not_flushed", "bytes", "in the write cache"},
                       {"media_errors", "", "that commands have met"}};
    made.events = {{"command", "queue, id, opcode", "a command is fetched"}};
    return made;
}

}  // namespace trn::kind_tables
