// SPDX-License-Identifier: Apache-2.0
// Two Trainium3 chips, two cables and a host in a program with its own sc_main. The testbench is
// plain TLM-2.0: an initiator with an SC_THREAD, a memory that waits, a signal. doc/embedding.md
// explains it.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/embedding/board_module.h"
#include "trn_driver.h"

namespace {

using sc_core::SC_NS;
using sc_core::sc_time;

/// The memory of the host. It takes time like a bus: by wait(). A write to its doorbell is an
/// interrupt message.
class host_memory : public sc_core::sc_module {
public:
    static constexpr std::uint64_t base = std::uint64_t{4} << 30, size = std::uint64_t{1} << 30;
    static constexpr std::uint64_t doorbell = 0xfee0'0000;

    tlm_utils::simple_target_socket<host_memory, 64> in{"in"};
    sc_core::sc_event rung{"rung"};
    std::uint32_t message = 0;  ///< the latest
    std::uint64_t written = 0;  ///< bytes of chips, by transactions

    explicit host_memory(const sc_core::sc_module_name& name) : sc_module(name) {
        in.register_b_transport(this, &host_memory::access);
    }
    /// Zeroed pages; nullptr: no memory is left.
    std::uint8_t* allocate(std::uint64_t length, std::uint64_t& address) {
        const std::uint64_t pages = (length + 4095) / 4096 * 4096;
        if (pages > size - used_) return nullptr;
        address = base + used_;
        used_ += pages;
        return &bytes_[address - base];
    }

private:
    void access(tlm::tlm_generic_payload& request, sc_time& delay) {
        wait(delay + sc_time(90, SC_NS));
        delay = sc_core::SC_ZERO_TIME;
        const std::uint64_t length = request.get_data_length();
        request.set_response_status(tlm::TLM_OK_RESPONSE);
        if (request.get_address() == doorbell && request.is_write() && length == 4) {
            std::memcpy(&message, request.get_data_ptr(), 4);
            return rung.notify();
        }
        const std::uint64_t offset = request.get_address() - base;
        if (offset >= size || length > size - offset)
            return request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        if (request.is_read()) std::memcpy(request.get_data_ptr(), &bytes_[offset], length);
        if (!request.is_write()) return;
        std::memcpy(&bytes_[offset], request.get_data_ptr(), length);
        written += length;
    }

    struct release {
        void operator()(void* bytes) const { std::free(bytes); }
    };
    // Pages are zeroed when they are touched.
    const std::unique_ptr<std::uint8_t[], release> bytes_{
        static_cast<std::uint8_t*>(std::calloc(size, 1))};
    std::uint64_t used_ = 0;
};

/// A processor: loads and stores of its program become transactions, and take their time.
class processor : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<processor, 64> out{"out"};

    explicit processor(const sc_core::sc_module_name& name) : sc_module(name) {}

    bool access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned length) {
        tlm::tlm_generic_payload request;
        set(request, command, address, data, length);
        sc_time delay;
        out->b_transport(request, delay);
        wait(delay);
        return request.is_response_ok();
    }
    bool peek(std::uint64_t address, void* data, unsigned length) {
        tlm::tlm_generic_payload request;
        set(request, tlm::TLM_READ_COMMAND, address, data, length);
        return out->transport_dbg(request) == length;
    }
    template <class T>
    T read(std::uint64_t address) {
        T value{};
        access(tlm::TLM_READ_COMMAND, address, &value, sizeof value);
        return value;
    }
    template <class T>
    void write(std::uint64_t address, T value) {
        access(tlm::TLM_WRITE_COMMAND, address, &value, sizeof value);
    }

private:
    static void set(tlm::tlm_generic_payload& request, tlm::tlm_command command,
                    std::uint64_t address, void* data, unsigned length) {
        request.set_command(command);
        request.set_address(address);
        request.set_data_ptr(static_cast<unsigned char*>(data));
        request.set_data_length(length);
        request.set_streaming_width(length);
    }
};

/// One PCI Express function as software on the processor sees it; also the bus of the driver stub.
class function {
public:
    static constexpr std::uint64_t config_window = 0xb000'0000;

    function(processor& cpu, host_memory& memory, std::uint64_t bus)
        : cpu_(cpu), memory_(memory), config_(config_window + (bus << 20)) {}

    template <class T>
    T config(std::uint64_t offset) {
        return cpu_.read<T>(config_ + offset);
    }
    template <class T>
    void set_config(std::uint64_t offset, T value) {
        cpu_.write<T>(config_ + offset, value);
    }
    /// Address of a BAR, as the firmware of the host has assigned it; 0: none.
    std::uint64_t bar(unsigned index) {
        const auto low = config<std::uint32_t>(0x10 + 4 * index);
        const bool is_wide = (low & 6) == 4;
        const std::uint64_t high = is_wide ? config<std::uint32_t>(0x14 + 4 * index) : 0;
        return high << 32 | (low & ~0xfu);
    }
    processor& cpu() { return cpu_; }

    trn_transport transport() {
        trn_transport t{};
        t.context = this;
        t.name = "TLM";
        t.timeout_scale = 1;
        t.bar_size = [](void* f, std::uint32_t bar) { return self(f).size_of(bar); };
        t.bar_read32 = [](void* f, std::uint32_t bar, std::uint64_t offset, std::uint32_t* value) {
            return self(f).access(tlm::TLM_READ_COMMAND, bar, offset, value, 4);
        };
        t.bar_write32 = [](void* f, std::uint32_t bar, std::uint64_t offset, std::uint32_t value) {
            return self(f).access(tlm::TLM_WRITE_COMMAND, bar, offset, &value, 4);
        };
        t.bar_read_block = [](void* f, std::uint32_t bar, std::uint64_t offset, void* bytes,
                              std::uint64_t count) {
            return self(f).access(tlm::TLM_READ_COMMAND, bar, offset, bytes, count);
        };
        t.bar_write_block = [](void* f, std::uint32_t bar, std::uint64_t offset, const void* bytes,
                               std::uint64_t count) {
            return self(f).access(tlm::TLM_WRITE_COMMAND, bar, offset, const_cast<void*>(bytes),
                                  count);
        };
        t.config_read = [](void* f, std::uint32_t offset, std::uint32_t width,
                           std::uint32_t* value) {
            *value = 0;
            self(f).cpu_.access(tlm::TLM_READ_COMMAND, self(f).config_ + offset, value, width);
            return 0;
        };
        t.config_write = [](void* f, std::uint32_t offset, std::uint32_t width,
                            std::uint32_t value) {
            self(f).cpu_.access(tlm::TLM_WRITE_COMMAND, self(f).config_ + offset, &value, width);
            return 0;
        };
        t.dma_alloc = [](void* f, std::uint64_t size, trn_dma_memory* memory) {
            memory->size = (size + 4095) / 4096 * 4096;
            memory->host = self(f).memory_.allocate(size, memory->iova);
            return memory->host == nullptr ? -ENOMEM : 0;
        };
        t.dma_free = [](void*, const trn_dma_memory*) {};  // the program ends soon
        t.wait = [](void*, std::uint64_t nanoseconds) {
            sc_core::wait(sc_time(static_cast<double>(nanoseconds), SC_NS));
            return 0;
        };
        t.now = [](void*) {
            return static_cast<std::uint64_t>(sc_core::sc_time_stamp() / sc_time(1, SC_NS));
        };
        t.simulated_now = t.now;
        t.close = [](void*) {};
        return t;
    }

private:
    static function& self(void* context) { return *static_cast<function*>(context); }

    /// As software sizes a BAR: it writes ones, and reads which bits it has.
    std::uint64_t size_of(unsigned index) {
        const std::uint64_t at = 0x10 + 4 * index;
        const auto low = config<std::uint32_t>(at);
        const bool is_wide = (low & 6) == 4;
        const auto high = config<std::uint32_t>(at + 4);
        set_config(at, ~0u);
        if (is_wide) set_config(at + 4, ~0u);
        const std::uint64_t upper = is_wide ? config<std::uint32_t>(at + 4) : ~0u;
        const std::uint64_t bits = upper << 32 | (config<std::uint32_t>(at) & ~0xfu);
        set_config(at, low);
        if (is_wide) set_config(at + 4, high);
        return (bits & 0xffff'fff0) == 0 && (!is_wide || upper == 0) ? 0 : ~bits + 1;
    }
    int access(tlm::tlm_command command, unsigned index, std::uint64_t offset, void* bytes,
               std::uint64_t count) {
        const std::uint64_t first = bar(index) + offset;
        for (std::uint64_t done = 0; done < count;) {
            const auto length = static_cast<unsigned>(std::min<std::uint64_t>(count - done, 64));
            if (!cpu_.access(command, first + done, static_cast<char*>(bytes) + done, length))
                return -EIO;
            done += length;
        }
        return 0;
    }

    processor& cpu_;
    host_memory& memory_;
    const std::uint64_t config_;  // address of its configuration space
};

std::string now() {
    return std::to_string(sc_core::sc_time_stamp().to_seconds() * 1e3) + " ms";
}

void require(bool condition, const std::string& text) {
    if (!condition) throw std::runtime_error(text);
}

void require(trn_status status, trn_device* chip) {
    require(status == TRN_OK, trn_last_error(chip));
}

/// The testbench and what it tests.
class testbench : public sc_core::sc_module {
public:
    explicit testbench(const sc_core::sc_module_name& name) : sc_module(name) {
        cpu.out.bind(host.target("bus").in);
        host.initiator("memory").out.bind(memory.in);
        host.link("port0").bind(chip0.link("link"));
        host.link("port1").bind(chip1.link("link"));
        // A ring of two: port 0 of a chip leads to port 1 of the next.
        chip0.link("port0").bind(cable0.link("a"));
        cable0.link("b").bind(chip1.link("port1"));
        chip1.link("port0").bind(cable1.link("a"));
        cable1.link("b").bind(chip0.link("port1"));
        chip1.input("interrupt").in.bind(interrupt);
        SC_HAS_PROCESS(testbench);
        SC_THREAD(run);
        set_stack_size(1 << 20);
    }

    std::string failure = "the testbench did not finish";

private:
    using parameters = trn::board_module::parameters;

    static parameters chip(const std::string& number) {
        return {{"topology", "ring"},
                {"shape_x", "2"},
                {"chip", number},
                {"serial", number},
                {"routing_id", number}};
    }

    void run() {
        try {
            wait(sc_core::SC_ZERO_TIME);  // the host's firmware enumerates at the start
            test();
            failure.clear();
        } catch (const std::exception& error) {
            failure = error.what();
        }
        sc_core::sc_stop();
    }

    void test() {
        std::vector<std::uint64_t> buses;
        for (std::uint64_t bus = 1; bus < 256; ++bus)
            if (function(cpu, memory, bus).config<std::uint32_t>(0) == 0x7564'1d0f)
                buses.push_back(bus);
        require(buses.size() == 2, "two chips were expected");
        function first(cpu, memory, buses[0]), second(cpu, memory, buses[1]);
        trn_device* const a = start(first);
        trn_device* const b = start(second);
        copy_to_host(a, first);
        copy_to_neighbour(a, b);
        get_interrupt(second);
    }

    /// Boots the firmware of a chip, as its driver does.
    trn_device* start(function& f) {
        const auto transport = f.transport();
        trn_device* const chip = trn_create(&transport, nullptr);
        require(trn_probe(chip), chip);
        require(trn_reset_device(chip), chip);
        std::uint32_t id = 0;  // contract 4: misc RAM in BAR0
        require(trn_bar_read(chip, 0x06c8'4024, &id), chip);
        std::cout << now() << ": chip " << id << " is ready\n";
        return chip;
    }

    void copy_to_host(trn_device* chip, function& f) {
        std::vector<std::uint8_t> pattern(64 << 10), seen(pattern.size());
        for (std::size_t i = 0; i < pattern.size(); ++i)
            pattern[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
        require(trn_window_write(chip, 0, offset, pattern.data(), pattern.size()), chip);
        trn_buffer buffer{};
        require(trn_buffer_alloc(chip, pattern.size(), &buffer), chip);
        const auto before = memory.written;
        require(trn_copy(chip, 0, trn_buffer_address(chip, &buffer, 0),
                         trn_hbm_address(chip, 0, offset), pattern.size()),
                chip);
        require(std::memcmp(buffer.memory.host, pattern.data(), pattern.size()) == 0,
                "DMA has copied other bytes");
        require(memory.written >= before + pattern.size(), "the bytes did not pass the socket");
        require(cpu.peek(f.bar(4) + offset, seen.data(), 4096) &&
                    std::memcmp(seen.data(), pattern.data(), 4096) == 0,
                "debug transport reads other bytes");
        std::cout << now() << ": 64 KiB from HBM to host memory\n";
    }

    /// The cable trains: a copy between the chips needs the link up.
    void copy_to_neighbour(trn_device* a, trn_device* b) {
        trn_topology seen{};
        require(trn_get_topology(a, &seen), a);
        require(
            seen.ports[0].up && seen.ports[0].fault == TRN_LINK_OK && seen.reachable_server == 1,
            "chip 0 does not see its neighbour");
        std::vector<std::uint8_t> bytes(4096);
        const trn_place neighbour{.rack = 0, .server = 0, .chip = 1};
        require(trn_copy(a, 0, trn_remote_address(&neighbour, 0, trn_hbm_address(b, 0, offset)),
                         trn_hbm_address(a, 0, offset), bytes.size()),
                a);
        require(trn_window_read(b, 0, offset, bytes.data(), bytes.size()), b);
        require(bytes[300] == static_cast<std::uint8_t>(300 * 7 + 1),
                "the neighbour has other bytes");
        std::cout << now() << ": 4 KiB from chip 0 to chip 1 at generation "
                  << seen.ports[0].generation << "\n";
    }

    /// Software sets up MSI-X vector 0; a rising edge of the chip's line sends its message.
    void get_interrupt(function& f) {
        constexpr std::uint64_t msix = 0x84;  // offset of the capability (doc/models/pcie/pcie.md)
        const std::uint64_t table = f.bar(2);
        cpu.write<std::uint32_t>(table, host_memory::doorbell);
        cpu.write<std::uint32_t>(table + 4, 0);
        cpu.write<std::uint32_t>(table + 8, 0x41);
        cpu.write<std::uint32_t>(table + 12, 0);
        f.set_config<std::uint16_t>(msix + 2, 0x8000);
        interrupt.write(true);
        wait(sc_time(10, sc_core::SC_US), memory.rung);
        require(memory.message == 0x41, "no interrupt has arrived");
        std::cout << now() << ": interrupt, message 0x" << std::hex << memory.message << std::dec
                  << "\n";
    }

    static constexpr std::uint64_t offset = TRN_HBM_RESERVED_BYTES;  // in HBM stack 0

    processor cpu{"cpu"};
    host_memory memory{"memory"};
    trn::board_module host{"host", "hosts/server", {{"ports", "2"}}};
    trn::board_module chip0{"chip0", "chips/trainium3", chip("0")};
    trn::board_module chip1{"chip1", "chips/trainium3", chip("1")};
    trn::board_module cable0{"cable0", "cables/pcie"}, cable1{"cable1", "cables/pcie"};
    sc_core::sc_signal<bool> interrupt{"interrupt"};
};

}  // namespace

int sc_main(int, char**) {
    testbench top("top");
    sc_core::sc_start();
    if (!top.failure.empty()) std::cerr << "two_chips: " << top.failure << "\n";
    return top.failure.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
