// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <systemc>

#include "models/cards/nvme/controller/nvme_controller.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/cards/disk_host.h"
#include "tests/support/memory_path.h"
#include "tests/support/message_path.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

/// Driver of a disk model in this process.
class disk_driver : public disk_host {
public:
    explicit disk_driver(const nvme_controller::config& cfg)
        : host("host", {.size = 64 << 20}),
          disk("disk", cfg),
          bar0("bar0"),
          vectors("vectors", cfg.vectors, [this](unsigned line, bool level) {
              if (level) ++raised[line];
          }) {
        disk.dma.bind(path.in);
        path.out.bind(messages.in);
        messages.out.bind(host.in);
        bar0.out.bind(disk.registers);
        for (unsigned i = 0; i < cfg.vectors; ++i) disk.irq[i].bind(vectors, i);
    }

    void set(std::uint64_t at, std::uint32_t value) override { bar0.write(at, value); }
    std::uint32_t get(std::uint64_t at) override { return bar0.read<std::uint32_t>(at); }
    void write_ring(std::uint64_t, std::span<const std::uint8_t>) override {}
    std::uint8_t* bytes(std::uint64_t at) override { return host.bytes().data() + at; }
    std::uint64_t memory_size() const override { return host.settings().size; }
    void advance(double microseconds) override { run(microseconds); }
    static void run(double microseconds) { sc_core::sc_start(microseconds, sc_core::SC_US); }

    memory host;
    memory_path path{"path"};
    message_path messages{"messages"};
    nvme_controller disk;
    tlm_driver bar0;
    irq_in vectors;
    std::array<unsigned, 16> raised{};
};

}  // namespace trn::test
