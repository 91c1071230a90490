// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/window_socket.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

namespace {

using namespace trn;
using tlm::tlm_generic_payload;

/// Records the last access without transferring bytes.
struct noted_part {
    std::uint64_t address = ~0ull, debug_address = ~0ull;

    void access(tlm_generic_payload& payload, sc_core::sc_time& delay) {
        address = payload.get_address();
        delay += sc_core::sc_time(3, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned debug_access(tlm_generic_payload& payload) {
        debug_address = payload.get_address();
        return payload.get_data_length();
    }
    void refuse(tlm_generic_payload& payload, sc_core::sc_time&) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    unsigned refuse_debug(tlm_generic_payload&) { return 1; }
    bool grant(tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        static unsigned char granted[4];
        dmi.set_dmi_ptr(granted);
        dmi.allow_read();
        dmi.set_start_address(payload.get_address());
        return true;
    }
};

class WindowSocket : public testing::Test {
protected:
    WindowSocket() {
        initiator.bind(socket);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }

    tlm::tlm_response_status access(std::uint64_t address) {
        tlm_generic_payload payload;
        prepare(payload, address);
        initiator->b_transport(payload, delay);
        EXPECT_EQ(payload.get_address(), address);
        return payload.get_response_status();
    }
    unsigned debug_access(std::uint64_t address) {
        tlm_generic_payload payload;
        prepare(payload, address);
        const unsigned done = initiator->transport_dbg(payload);
        EXPECT_EQ(payload.get_address(), address);
        return done;
    }
    void prepare(tlm_generic_payload& payload, std::uint64_t address) {
        payload.set_command(tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(bytes);
        payload.set_data_length(sizeof bytes);
        payload.set_streaming_width(sizeof bytes);
    }

    unsigned char bytes[4] = {};
    sc_core::sc_time delay;
    noted_part part, other;
    struct initiators : sc_core::sc_module {
        explicit initiators(const sc_core::sc_module_name& name) : sc_module(name) {}
        tlm_utils::simple_initiator_socket<initiators, 64> out{"out"};
        window_socket in{"in"};
    } module{"module"};
    tlm_utils::simple_initiator_socket<initiators, 64>& initiator = module.out;
    window_socket& socket = module.in;
};

TEST_F(WindowSocket, PartSeesAddressesFromItsOwnBegin) {
    socket.map(0x1000, 0x100, part);
    socket.map(0x2000, 0x100, other, 0x40);
    EXPECT_EQ(access(0x1010), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(access(0x2010), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(part.address, 0x10u);
    EXPECT_EQ(other.address, 0x50u);
    EXPECT_EQ(delay, sc_core::sc_time(6, sc_core::SC_NS));
}

TEST_F(WindowSocket, DebugAccessesUseTheSameWindows) {
    socket.map(0x1000, 0x100, part);
    EXPECT_EQ(debug_access(0x1010), 4u);
    EXPECT_EQ(part.debug_address, 0x10u);
    EXPECT_EQ(part.address, ~0ull);
    EXPECT_EQ(debug_access(0x1100), 0u);
}

TEST_F(WindowSocket, FirstAndLastByteBelongToTheWindowAndTheirNeighboursDoNot) {
    constexpr std::uint64_t first = 0x1000, size = 0x100;
    socket.map(first, size, part);
    EXPECT_EQ(access(first - 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(first + size), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(part.address, ~0ull);
    EXPECT_EQ(access(first), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(access(first + size - 1), tlm::TLM_OK_RESPONSE);
}

TEST_F(WindowSocket, UpperHalfOfTheAddressSpaceIsAWindow) {
    constexpr std::uint64_t half = std::uint64_t{1} << 63;
    socket.map(half, half, part, half);
    EXPECT_EQ(access(half - 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(~0ull), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(part.address, ~0ull);
}

TEST_F(WindowSocket, WindowMappedFirstServesWhatOverlaps) {
    socket.map(0x0, 0x100, part);
    socket.map(0x80, 0x100, other);
    EXPECT_EQ(access(0x90), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(access(0x100), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(part.address, 0x90u);
    EXPECT_EQ(other.address, 0x80u);
}

TEST_F(WindowSocket, NamedFunctionsServeTheirWindow) {
    socket.map<&noted_part::refuse, &noted_part::refuse_debug>(0, 0x100, part);
    EXPECT_EQ(access(0), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(debug_access(0), 1u);
}

TEST_F(WindowSocket, PointersAreRefusedUnlessAPartGrantsThem) {
    tlm_generic_payload payload;
    prepare(payload, 0x1010);
    tlm::tlm_dmi dmi;
    socket.map(0x1000, 0x100, part);
    EXPECT_FALSE(initiator->get_direct_mem_ptr(payload, dmi));
    socket.grant_pointers<&noted_part::grant>(other);
    dmi.init();
    EXPECT_TRUE(initiator->get_direct_mem_ptr(payload, dmi));
    EXPECT_EQ(dmi.get_start_address(), 0x1010u);
}

}  // namespace
