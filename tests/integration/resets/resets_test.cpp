// SPDX-License-Identifier: Apache-2.0
// The table of doc/resets.md: which state of a chip's blocks survives which event.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "models/dma/udma/dma_generator_regs.h"
#include "models/dma/udma/udma.h"
#include "models/dma/udma/udma_regs.h"
#include "models/kinds.h"
#include "models/memory/hbm/hbm.h"
#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/processor/interrupts/aclint.h"
#include "models/processor/interrupts/aclint_regs.h"
#include "models/processor/interrupts/plic.h"
#include "models/processor/riscv/riscv_hart.h"
#include "models/processor/top_sp/top_sp.h"
#include "models/scale_up/die_to_die/die_to_die.h"
#include "models/scale_up/die_to_die/die_to_die_regs.h"
#include "models/scale_up/neuron_link/neuron_link_regs.h"
#include "models/soc/fis/fis_regs.h"
#include "models/soc/flash/flash.h"
#include "models/soc/flash/flash_regs.h"
#include "models/soc/misc_ram/misc_ram_regs.h"
#include "models/soc/misc_ram/sim_reset_firmware_regs.h"
#include "models/soc/notification_queue/notification_queue_regs.h"
#include "models/soc/reset_controller/reset_controller.h"
#include "models/soc/reset_controller/reset_controller_regs.h"
#include "models/soc/sensors/sensors_regs.h"
#include "models/soc/uart/uart_regs.h"
#include "models/soc/watchdog/watchdog_regs.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/memory.h"
#include "sw-stubs/host/machine/device.h"

namespace trn {
namespace {

const std::string page = "doc/resets.md";

std::string contents(const std::string& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Cells of the page's table: "`block` | state" to one cell per event.
std::map<std::string, std::vector<std::string>> table() {
    std::map<std::string, std::vector<std::string>> rows;
    std::istringstream lines(contents(page));
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("| `", 0) != 0) continue;
        std::vector<std::string> cells;
        std::istringstream parts(line);
        for (std::string cell; std::getline(parts, cell, '|');)
            if (cell.size() > 2) cells.push_back(cell.substr(1, cell.size() - 2));
        EXPECT_EQ(cells.size(), 7u) << line;
        rows[cells[0] + " " + cells[1]] = {cells.begin() + 2, cells.end()};
    }
    return rows;
}

TEST(ResetsPage, NamesEveryBlockOfAChip) {
    const std::string text = contents(page);
    for (const std::string file : {"trainium3", "trainium1", "management"}) {
        const std::string board = contents("platform/boards/chips/" + file + ".yaml");
        const std::regex type("type: ([a-z_0-9]+)[,}\\s]");
        for (std::sregex_iterator it(board.begin(), board.end(), type), end; it != end; ++it)
            EXPECT_NE(text.find('`' + it->str(1) + '`'), text.npos) << it->str(1);
    }
}

/// A state of a block: `set` makes it differ from that at power-on; `is_kept` after the event.
struct probe {
    std::function<void()> set;
    std::function<bool()> is_kept;
    bool is_seen_after_boot = false;  ///< only firmware makes it visible again
};

class ResetsTest : public testing::TestWithParam<unsigned> {
protected:
    ResetsTest() : platform_(kinds(), {.board = "trn3-chip"}) {
        log::replace_sink({});
        host_ = std::make_unique<host_cpu>(*platform_.functions().front().port, host_cpu::config{});
        platform_.boot(sc_core::sc_time(1, sc_core::SC_SEC));
        define_memories();
        define_domains();
        define_local_devices();
    }
    template <class T>
    T& at(const std::string& name) {
        auto* found = platform_.modules().find<T>("chip0." + name);
        EXPECT_NE(found, nullptr) << name;
        return *found;
    }
    register_bank& bank(const std::string& module, std::string_view block) {
        register_bank* found = nullptr;
        for_each_bank([&](const sc_core::sc_object& owner, register_bank& each) {
            if (owner.name() == "chip0." + module && each.table().block == block) found = &each;
        });
        EXPECT_NE(found, nullptr) << module << " " << block;
        return *found;
    }
    template <class Reg>
    void add(const std::string& row, const std::string& module, std::string_view block, Reg reg,
             std::uint32_t value, unsigned index = 0, unsigned instance = 0) {
        register_bank& regs = bank(module, block);
        states_[row] = {[=, &regs] { regs.set(reg, value, index, instance); },
                        [=, &regs] { return regs.get(reg, index, instance) == value; }};
    }
    void add_bytes(const std::string& row, backing_store& bytes, std::uint64_t offset) {
        states_[row] = {[&bytes, offset] { bytes.data()[offset] = 0xa5; },
                        [&bytes, offset] { return bytes.data()[offset] == 0xa5; }};
    }
    template <class Socket>
    static std::uint32_t access(Socket& in, tlm::tlm_command command, std::uint64_t address,
                                std::uint32_t value = 0) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        sc_core::sc_time delay;
        in.get_base_export()->b_transport(payload, delay);
        EXPECT_TRUE(payload.is_response_ok()) << std::hex << address;
        return value;
    }

    void define_memories() {
        hbm& stack = at<hbm>("hbm0");
        add_bytes("`hbm` bytes", stack.bytes(), 0x1234'5678);
        states_["`hbm` training"] = {[] {}, [&] { return stack.trained(); }};
        states_["`hbm` armed errors"] = {
            [&] { stack.inject_error(memory_error::uncorrected, 0x2000'0000); },
            [&] {
                tlm::tlm_generic_payload payload;
                payload.set_read();
                payload.set_address(0x2000'0000);
                tlm::tlm_dmi dmi;
                return !stack.in.get_base_export()->get_direct_mem_ptr(payload, dmi);
            },
            true};
        die_to_die& link = at<die_to_die>("die_to_die");
        states_["`die_to_die` training"] = {[] {}, [&] { return link.up(); }};
        add("`die_to_die` counters", "die_to_die", "die_to_die", die_to_die_regs::reg::retries, 3);
        add_bytes("`memory` bytes of the processor's SRAM", at<memory>("management.sram").bytes(),
                  0x8'0000);
        add_bytes("`memory` bytes of PREPROC", at<memory>("preproc0").bytes(), 64);
        add_bytes("`flash` content", at<flash>("management.flash").bytes(), 0xf'0000);
        add("`flash` registers", "management.flash", "flash", flash_regs::reg::address, 0x1000);
        using misc = misc_ram_regs::reg;
        add("`misc_ram` words of the host", "management.misc_ram", "misc_ram", misc::pod_serial_lo,
            77);
        register_bank& words = bank("management.misc_ram", "misc_ram");
        states_["`misc_ram` routing id"] = {
            [] {}, [&words] { return words.get(misc::routing_id) != 0xdeadbeef; }};
        add("`sim_reset` pending request", "management.sim_reset", "sim_reset_firmware",
            sim_reset_firmware_regs::reg::map, 3);
    }

    void define_domains() {
        neuron_core& core = at<neuron_core>("nc0");
        add_bytes("`neuron_core` bytes of SBUF", core.sbuf(), 0x100);
        add_bytes("`neuron_core` bytes of PSUM", core.psum(), 0x100);
        const auto add_semaphores = [this](const std::string& block, semaphores& sync) {
            states_[block + " semaphores and events"] = {
                [&sync] {
                    sync.set(200, 5);
                    sync.set_event(200, 1);
                },
                [&sync] { return sync.value(200) == 5 && sync.event(200) == 1; }};
        };
        top_sp& cc = at<top_sp>("top_sp0");
        add_semaphores("`neuron_core`", core.sync());
        add_semaphores("`top_sp`", cc.sync());
        add_bytes("`top_sp` memory", cc.bytes(), 0x3f'0000);
        using slot = notification_queue_regs::reg;
        for (const auto& [block, module] :
             {std::pair{"`neuron_core`", "nc0"}, {"`top_sp`", "top_sp0"}, {"`udma`", "udma0"}})
            add(block + std::string(" notification slots"), module, "notification_queue",
                slot::slot_size, 4096, 9);
        using reg = udma_regs::reg;
        constexpr unsigned engine = 3, queue = 7;
        add("`udma` registers", "udma0", "udma", reg::m2s_q_length, 64, queue, engine);
        udma& group = at<udma>("udma0");
        const auto offset = engine * group.settings().stride;
        states_["`udma` posted descriptors"] = {
            [&group, offset] {
                access(group.registers, tlm::TLM_WRITE_COMMAND,
                       offset + udma_regs::offset(reg::s2m_q_length, queue), 64);
                access(group.registers, tlm::TLM_WRITE_COMMAND,
                       offset + udma_regs::offset(reg::s2m_q_tail_increment, queue), 1);
            },
            [&group, offset] {
                return access(group.registers, tlm::TLM_READ_COMMAND,
                              offset + udma_regs::offset(reg::s2m_q_tail, queue)) == 0x4000'0001;
            }};
        add("`udma` generator registers", "udma0", "dma_generator",
            dma_generator_regs::reg::source_lo, 64, queue, engine);
        add("`fis` registers", "fis0", "fis", fis_regs::reg::error_mask_0, 0x800, 0, engine);
        add("`neuron_link` OWN_ID", "neuron_link", "neuron_link", neuron_link_regs::reg::own_id,
            0x8000'0005);
        function_port& function = *platform_.functions().front().port;
        constexpr std::uint32_t interrupt_line = 0x3c;
        states_["`pcie_endpoint` configuration space (interrupt line)"] = {
            [&function] {
                const std::array<std::uint8_t, 1> line{42};
                function.config_write(interrupt_line, line);
            },
            [&function] {
                std::array<std::uint8_t, 1> now{};
                function.config_read(interrupt_line, now);
                return now[0] == 42;
            }};
    }

    void define_local_devices() {
        riscv_hart& hart = at<riscv_hart>("management.cpu");
        states_["`riscv_hart` program counter of the management processor"] = {
            [] {}, [&hart] { return hart.instruction() != 0x1'0000u; }};
        plic& irqs = at<plic>("management.irqs");
        constexpr std::uint64_t priority = 30 * 4;
        states_["`plic` priorities"] = {
            [&irqs] { access(irqs.in, tlm::TLM_WRITE_COMMAND, priority, 5); },
            [&irqs] { return access(irqs.in, tlm::TLM_READ_COMMAND, priority) == 5; }};
        add("`aclint` MTIMECMP", "management.timer", "aclint", aclint_regs::reg::mtimecmp_lo, 5, 9);
        aclint& timer = at<aclint>("management.timer");
        const auto mtime = [&timer] { return timer.mtime(sc_core::sc_time_stamp()); };
        states_["`aclint` MTIME"] = {[] {}, [=, before = mtime()] { return mtime() >= before; }};
        add("`uart` registers", "management.uart", "uart", uart_regs::reg::scr, 0x55);
        add("`watchdog` registers", "management.watchdog", "watchdog",
            watchdog_regs::reg::bark_time, 0x1000'0000);
        add("`sensors` registers", "management.sensors", "sensors",
            sensors_regs::reg::alarm_temperature, 104'000);
        using resets = reset_controller_regs::reg;
        const std::string module = "management.resets";
        add("`reset_controller` SCRATCH", module, "reset_controller", resets::scratch, 9, 3);
        add("`reset_controller` PLL_CONTROL", module, "reset_controller", resets::pll_control, 7);
        namespace status = reset_controller_regs::boot_status;
        register_bank& regs = bank(module, "reset_controller");
        states_["`reset_controller` BOOT_STATUS.FELL_BACK"] = {
            [&regs] { regs.set(status::fell_back, 1); },
            [&regs] { return regs.get(status::fell_back) == 1; }};
        states_["`reset_controller` BOOT_STATUS.STAGE"] = {
            [] {}, [&regs] { return regs.get(status::stage) == status::stage_ready; }};
    }

    void run(double us) { sc_core::sc_start(sc_core::sc_time(us, sc_core::SC_US)); }
    void by_host(const std::function<void(device&)>& work) {
        host_->run([&] {
            device on(host_->transport());
            on.check(trn_probe(on));
            work(on);
        });
        run_loop::goal goal{"the reset", "its host"};
        goal.condition = [&] { return host_->idle(); };
        platform_.loop().run(std::move(goal));
        host_->rethrow();
    }
    /// Causes the event of the table's column after `prepare`. After chip reset and power loss,
    /// firmware has not run yet.
    void cause(unsigned column, const std::function<void()>& prepare) {
        if (column < 2)
            return by_host([&](device& on) {
                on.check(trn_reset_device(on));
                prepare();
                on.check(column == 0 ? trn_reset_cores(on, 1) : trn_reset_device(on));
            });
        prepare();
        reset_controller& resets = at<reset_controller>("management.resets");
        if (column == 2) {
            platform_.functions().front().port->reset();
            return run(20'000);
        }
        irq_in& line = column == 3 ? resets.requested : resets.power_off;
        line.drive(0, true);
        run(1);
        line.drive(0, false);
        run(5);
    }

    platform platform_;
    std::unique_ptr<host_cpu> host_;
    std::map<std::string, probe> states_;
};

TEST_P(ResetsTest, KeepAndLoseWhatThePageSays) {
    const auto rows = table();
    const auto cell = [&](const std::string& row) {
        return rows.contains(row) ? rows.at(row)[GetParam()] : "-";
    };
    cause(GetParam(), [&] {
        for (const auto& [row, state] : states_) {
            EXPECT_TRUE(rows.contains(row)) << row << " is not in the table";
            if (cell(row) == "-") continue;
            state.set();
            EXPECT_TRUE(state.is_kept()) << row;
        }
    });
    for (const bool after_boot : {false, true}) {
        if (after_boot) run(20'000);
        for (const auto& [row, cells] : rows) {
            ASSERT_TRUE(states_.contains(row)) << row << " is not checked";
            const probe& state = states_[row];
            if (cell(row) == "-" || state.is_seen_after_boot != after_boot) continue;
            EXPECT_EQ(state.is_kept() ? "kept" : "lost", cell(row)) << row;
        }
    }
}

std::string event_name(const testing::TestParamInfo<unsigned>& column) {
    static const char* const names[] = {"Core", "Device", "Function", "Chip", "Power"};
    return names[column.param];
}
INSTANTIATE_TEST_SUITE_P(Events, ResetsTest, testing::Range(0u, 5u), event_name);

}  // namespace
}  // namespace trn
