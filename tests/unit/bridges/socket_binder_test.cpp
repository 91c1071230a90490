// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/socket_binder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/framework/tlm/memory.h"
#include "tests/support/tlm_driver.h"
#include "tests/unit/bridges/foreign_models.h"
#include "tests/unit/bridges/restricted_models.h"

namespace {

using namespace trn;
using namespace trn::test;
using foreign::ns;
using testing::HasSubstr;

/// Plain memory with a socket of another width.
template <unsigned Width>
struct wide_memory : sc_core::sc_module {
    tlm_utils::simple_target_socket<wide_memory, Width> in{"in"};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(256);
    explicit wide_memory(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &wide_memory::b_transport);
        in.register_get_direct_mem_ptr(this, &wide_memory::get_direct_mem_ptr);
    }
    void b_transport(tlm::tlm_generic_payload& request, sc_core::sc_time& delay) {
        foreign::move_bytes(request, bytes);
        delay += ns(3);
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
        dmi.allow_read_write();
        dmi.set_start_address(0);
        dmi.set_end_address(255);
        dmi.set_dmi_ptr(bytes.data());
        return true;
    }
};

template <unsigned Width>
void expect_bytes_pass() {
    tlm_driver cpu("cpu");
    wide_memory<Width> wide("wide");
    socket_binder binder;
    binder.bind(cpu.out, wide.in);
    EXPECT_EQ(binder.inserted().size(), Width == 64 ? 0u : 1u);
    sc_core::sc_start(ns(1));
    std::vector<std::uint8_t> bytes(100);
    for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
    EXPECT_EQ(cpu.write_bytes(3, bytes), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.delay, ns(3));
    EXPECT_TRUE(std::ranges::equal(bytes, std::span(wide.bytes).subspan(3, 100)));
    EXPECT_EQ(cpu.read<std::uint16_t>(5), 0x0302u);
    tlm::tlm_dmi dmi;
    EXPECT_TRUE(cpu.request_dmi(0, dmi));
    wide.in->invalidate_direct_mem_ptr(0, 7);
    EXPECT_EQ(cpu.invalidations, 1u);
}

TEST(SocketBinder, Joins64BitsTo32) {
    expect_bytes_pass<32>();
}
TEST(SocketBinder, Joins64BitsTo64WithoutAnAdapter) {
    expect_bytes_pass<64>();
}
TEST(SocketBinder, Joins64BitsTo128) {
    expect_bytes_pass<128>();
}
TEST(SocketBinder, Joins64BitsTo512) {
    expect_bytes_pass<512>();
}

TEST(SocketBinder, JoinsAForeignInitiatorOf256BitsToOurMemory) {
    foreign::thread_cpu<256> cpu("cpu");
    memory ram("ram", {.size = 0x1000});
    socket_binder binder;
    binder.bind(cpu.data, ram.in, coding_style::loosely_timed);
    std::uint32_t word = 0;
    cpu.program = [&](auto& self) {
        self.write(8, 99);
        word = self.read(8);
    };
    sc_core::sc_start(ns(1));
    EXPECT_EQ(word, 99u);
}

TEST(SocketBinder, JoinsForeignModelsOfOneStyleDirectly) {
    foreign::thread_cpu<32> cpu("cpu");
    foreign::waiting_peripheral peripheral("peripheral");
    sc_core::sc_signal<bool> irq("irq");
    peripheral.irq.bind(irq);
    socket_binder binder;
    binder.bind(cpu.data, peripheral.in, coding_style::loosely_timed, coding_style::loosely_timed);
    EXPECT_TRUE(binder.inserted().empty());
    cpu.program = [](auto& self) { self.write(8, 99); };
    sc_core::sc_start(ns(100));
    EXPECT_EQ(peripheral.bytes[8], 99u);
}

template <class Bind>
std::string report_of(Bind bind) {
    try {
        bind();
    } catch (const sc_core::sc_report& report) {
        return report.get_msg();
    }
    return "no report";
}

TEST(SocketBinder, ASocketThatIsBoundIsReportedWithBothNames) {
    tlm_driver first("first"), second("second");
    wide_memory<32> wide("wide");
    socket_binder binder;
    binder.bind(first.out, wide.in);
    const std::string text = report_of([&] { binder.bind(second.out, wide.in); });
    EXPECT_EQ(text,
              "cannot bind second.out (64 bits) to wide.in (32 bits): wide.in is bound to "
              "first.out already");
}

TEST(SocketBinder, AWidthThatIsNotSupportedIsReportedWithBothNames) {
    tlm_driver cpu("cpu");
    wide_memory<1024> wide("wide");
    wide_memory<8> narrow("narrow");
    socket_binder binder;
    EXPECT_THAT(report_of([&] { binder.bind(cpu.out, wide.in); }),
                HasSubstr("cannot bind cpu.out (64 bits) to wide.in (1024 bits): wide.in is not "
                          "32, 64, 128, 256 or 512 bits wide"));
    EXPECT_THAT(report_of([&] { binder.bind(cpu.out, narrow.in); }), HasSubstr("narrow.in is not"));
}

}  // namespace
