// SPDX-License-Identifier: Apache-2.0
// Ports of a guest, with a monitor that replies as QEMU's does.
#include "platform/app/guest/guest_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.h"

namespace trn {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

/// Records executed commands, as `command ID` or the line of a human command; refuses the first
/// commands after the handshake.
class fake_qemu {
public:
    fake_qemu(asio::io_context& io, const std::string& path, unsigned refused)
        : door_(io, path), link_(io), refused_(refused) {
        door_.async_accept(link_, [this](auto error) {
            if (error) return;
            say(R"({"QMP": {"version": {}}})");
            read();
        });
    }
    std::vector<std::string> executed;

private:
    /// Commands arrive without line ends, one at a time; their ends are found by counting braces.
    void read() {
        link_.async_read_some(asio::buffer(bytes_), [this](auto error, std::size_t count) {
            if (error) return;
            for (const char each : std::string(bytes_.data(), count)) {
                text_ += each;
                depth_ += (each == '{') - (each == '}');
                if (depth_ != 0) continue;
                execute(nlohmann::json::parse(text_));
                text_.clear();
            }
            read();
        });
    }
    void execute(const nlohmann::json& command) {
        const std::string name = command["execute"];
        if (name == "qmp_capabilities") return say(R"({"return": {}})");
        const auto& arguments = command["arguments"];
        executed.push_back(arguments.contains("id") ? name + " " + std::string(arguments["id"])
                                                    : std::string(arguments["command-line"]));
        say(R"({"event": "NOISE"})");
        say(refused_ > 0 ? R"({"error": {"desc": "the guest is busy"}})" : R"({"return": {}})");
        refused_ -= refused_ > 0;
    }
    void say(const std::string& line) { asio::write(link_, asio::buffer(line + "\r\n")); }

    asio::local::stream_protocol::acceptor door_;
    asio::local::stream_protocol::socket link_;
    unsigned refused_;
    std::array<char, 1024> bytes_{};
    std::string text_;
    int depth_ = 0;
};

class GuestPorts : public testing::Test {
protected:
    /// Runs until the monitor has received `count` commands and its reply has been read.
    void run_until(const fake_qemu& qemu, std::size_t count) {
        using namespace std::chrono_literals;
        while (qemu.executed.size() < count) io.run_one();
        while (io.run_one_for(20ms) != 0) {
        }
    }

    test::scratch_folder folder;
    asio::io_context io;
    // A switch below root port 0, and a further root port.
    const std::vector<guest_function> functions{{"chip0", "/a", 0x300, {0x0000, 0x0100, 0x0200}},
                                                {"nic0", "/b", 0x400, {0x0000, 0x0100, 0x0208}},
                                                {"ena", "/c", 0x500, {0x0008}}};
};

TEST_F(GuestPorts, ErrorsAreInjectedAtTheFunctionOrPortThatReportsThem) {
    fake_qemu qemu(io, folder / "qmp", 0);
    guest_ports ports(io, folder / "qmp", functions);
    ports.error(0x400, 0x4000);
    ports.error(0x0208, 0x1000);
    ports.error(0x0900, 0x1000);  // a card that the guest does not have
    run_until(qemu, 2);
    EXPECT_THAT(qemu.executed, ElementsAre("pcie_aer_inject_error nic0 0x4000",
                                           "pcie_aer_inject_error port02.01.0 0x1000"));
}

TEST_F(GuestPorts, APulledCardPressesItsButtonAndItsReturnDoesSoAgain) {
    fake_qemu qemu(io, folder / "qmp", 0);
    guest_ports ports(io, folder / "qmp", functions);
    ports.slot(0x0008, false);
    run_until(qemu, 1);
    ports.slot(0x0008, false);  // already removed
    ports.slot(0x0008, true);
    run_until(qemu, 2);
    EXPECT_THAT(qemu.executed, ElementsAre("device_del ena", "device_del ena"));
}

TEST_F(GuestPorts, APulledSwitchTakesItsCards) {
    fake_qemu qemu(io, folder / "qmp", 0);
    guest_ports ports(io, folder / "qmp", functions);
    ports.slot(0x0000, false);
    run_until(qemu, 2);
    EXPECT_THAT(qemu.executed, ElementsAre("device_del chip0", "device_del nic0"));
}

TEST_F(GuestPorts, AButtonThatQemuRefusesIsPressedAgainLater) {
    fake_qemu qemu(io, folder / "qmp", 1);
    guest_ports ports(io, folder / "qmp", functions);
    ports.slot(0x0008, false);
    run_until(qemu, 2);
    EXPECT_THAT(qemu.executed, ElementsAre("device_del ena", "device_del ena"));
}

TEST_F(GuestPorts, WithoutQemuNothingIsSent) {
    guest_ports ports(io, folder / "none", functions);
    ports.error(0x400, 0x4000);
    ports.slot(0x0008, false);
    EXPECT_EQ(io.poll(), 0u);
}

}  // namespace
}  // namespace trn
