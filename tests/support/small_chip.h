// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/neuron_core/neuron_core/neuron_core.h"
#include "platform/framework/tlm/shifted.h"
#include "tests/support/memory_path.h"

namespace trn::test {

/// Address map of two cores: RAM at 0, their apertures and notification blocks. Records every
/// write.
class small_chip : public sc_core::sc_module {
public:
    static constexpr std::uint64_t aperture_at = 0x1000'0000, top_at = 0x3000'0000;
    static constexpr std::uint64_t aperture_of(unsigned core) {
        return aperture_at + core * neuron_core::aperture_size;
    }
    static constexpr std::uint64_t top_of(unsigned core) { return top_at + core * 0x20'0000; }

    tlm_utils::simple_target_socket_tagged<small_chip, 64> from0{"from0"}, from1{"from1"},
        host_aperture{"host_aperture"}, host_top{"host_top"};  // of core 0, accessed by the test
    tlm_utils::simple_initiator_socket<small_chip, 64> ram{"ram"}, aperture0{"aperture0"},
        aperture1{"aperture1"}, top0{"top0"}, top1{"top1"};

    struct access {
        std::uint64_t address;
        unsigned length;
        bool operator==(const access&) const = default;
    };
    std::vector<access> writes;

    explicit small_chip(sc_core::sc_module_name name) : sc_module(name) {
        from0.register_b_transport(this, &small_chip::pass, 0);
        from1.register_b_transport(this, &small_chip::pass, 1);
        host_aperture.register_b_transport(this, &small_chip::pass, 2);
        host_top.register_b_transport(this, &small_chip::pass, 3);
    }

    /// Binds cores 0 and 1, and the RAM that `memory` accepts.
    template <class Memory>
    void connect(neuron_core& core, neuron_core& other, Memory& memory) {
        bind_memory(core.memory, from0, paths_[0]);
        bind_memory(other.memory, from1, paths_[1]);
        ram.bind(memory);
        aperture0.bind(core.aperture);
        aperture1.bind(other.aperture);
        top0.bind(core.top);
        top1.bind(other.top);
    }

private:
    void pass(int source, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const shifted global(payload, source == 2 ? -aperture_of(0) : source == 3 ? -top_of(0) : 0);
        const std::uint64_t address = payload.get_address(), length = payload.get_data_length();
        if (payload.is_write() && source < 2)
            writes.push_back({address, static_cast<unsigned>(length)});
        const struct {
            std::uint64_t base, size;
            tlm_utils::simple_initiator_socket<small_chip, 64>& target;
        } places[] = {{0, 1 << 20, ram},
                      {aperture_of(0), neuron_core::aperture_size, aperture0},
                      {aperture_of(1), neuron_core::aperture_size, aperture1},
                      {top_of(0), 0x18'0000, top0},
                      {top_of(1), 0x18'0000, top1}};
        for (const auto& place : places)
            if (address >= place.base && address - place.base < place.size &&
                length <= place.size - (address - place.base)) {
                const shifted local(payload, place.base);
                return place.target->b_transport(payload, delay);
            }
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }

    std::array<std::optional<memory_path>, 2> paths_;  // of both cores
};

}  // namespace trn::test
