// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <systemc>

#include "models/cards/efa/card/efa_card.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/cards/verbs_host.h"
#include "tests/support/memory_path.h"
#include "tests/support/message_path.h"
#include "tests/support/tlm_driver.h"

namespace trn::test {

/// Driver of a card model in this process.
class verbs_driver : public verbs_host {
public:
    verbs_driver(const std::string& name, const efa_card::config& cfg)
        : host((name + "_host").c_str(), {.size = 64 << 20}),
          path((name + "_path").c_str()),
          messages((name + "_messages").c_str()),
          card((name + "_card").c_str(), cfg),
          bar0((name + "_bar0").c_str()),
          bar2((name + "_bar2").c_str()),
          vectors((name + "_vectors").c_str(), cfg.vectors, [this](unsigned line, bool level) {
              if (level) ++raised[line];
          }) {
        card.dma.bind(path.in);
        path.out.bind(messages.in);
        messages.out.bind(host.in);
        bar0.out.bind(card.registers);
        bar2.out.bind(card.send_rings);
        for (unsigned i = 0; i < cfg.vectors; ++i) card.irq[i].bind(vectors, i);
    }

    void set(std::uint64_t at, std::uint32_t value) override {
        const auto how = bar0.write(at, value);
        if (!expects_answers) return;
        EXPECT_EQ(how, tlm::TLM_OK_RESPONSE) << at;
    }
    std::uint32_t get(std::uint64_t at) override { return bar0.read<std::uint32_t>(at); }
    void write_ring(std::uint64_t at, std::span<const std::uint8_t> bytes) override {
        EXPECT_EQ(bar2.write_bytes(at, bytes), tlm::TLM_OK_RESPONSE);
    }
    std::uint8_t* bytes(std::uint64_t at) override { return host.bytes().data() + at; }
    std::uint64_t memory_size() const override { return host.settings().size; }
    void advance(double microseconds) override { run(microseconds); }
    static void run(double microseconds) { sc_core::sc_start(microseconds, sc_core::SC_US); }

    memory host;
    memory_path path;
    message_path messages;
    efa_card card;
    tlm_driver bar0, bar2;
    irq_in vectors;
    std::array<unsigned, 16> raised{};
};

}  // namespace trn::test
