// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "sw-stubs/driver/include/trn_driver.h"
#include "tests/support/bar0.h"
#include "trn/misc_ram_regs.h"
#include "trn/sim_reset_regs.h"
#include "trn/udma_regs.h"

namespace trn::test {

/// A transport to a minimal device: registers are RAM, rings complete 2 us after their doorbell,
/// tests install firmware hooks. Time advances in wait() and by 100 ns per access.
class fake_device {
public:
    struct access {
        bool write;
        std::uint64_t offset;
        std::uint32_t value;
    };
    static constexpr std::uint64_t misc = bar0::misc_ram, host_window = 1ull << 46;

    std::uint32_t ids = 0x75641d0f;
    std::uint8_t revision = 0;
    std::uint32_t power_state = 0;  ///< of the function: 3 is D3hot
    std::uint32_t register_bar = 0;
    std::uint64_t bar_sizes[6] = {1ull << 32, 0, 0, 0, 256ull << 30, 0};
    std::unordered_map<std::uint64_t, std::uint32_t> bar0;
    std::vector<access> log;
    bool recording = false;
    bool rings_run = true;
    bool check_ring_ids = true;
    int broken = 0;                  ///< status returned by every access
    std::size_t accesses = 0;        ///< of registers
    std::size_t failing_access = 0;  ///< number of the register access that fails; 0: none does
    std::uint64_t time = 1000;
    bool closed = false;
    std::size_t allocated = 0;  ///< DMA buffers not yet freed
    std::map<std::uint64_t, std::function<void(std::uint32_t)>> on_write;

    fake_device() {
        bar0[misc + TRN_MISC_RAM_API_VERSION_OFFSET] = 7;
        bar0[misc + TRN_MISC_RAM_ROUTING_ID_OFFSET] = 0;
    }

    /// Replies to reset requests as working firmware does, `after` nanoseconds later.
    void answer_resets(std::uint64_t after = 1'000'000) {
        on_write[misc + TRN_MISC_RAM_TRIGGER_OFFSET] = [this, after](std::uint32_t) {
            if (!bar0[misc + TRN_MISC_RAM_RESET_REQUEST_OFFSET]) return;
            at(after, [this] { bar0[misc + TRN_MISC_RAM_RESET_REQUEST_OFFSET] = 0; });
        };
    }

    trn_transport transport() {
        trn_transport t{};
        t.context = this;
        t.name = "fake";
        t.bar_size = [](void* c, std::uint32_t bar) { return self(c).bar_sizes[bar]; };
        t.bar_read32 = [](void* c, std::uint32_t bar, std::uint64_t offset, std::uint32_t* value) {
            return self(c).read(bar, offset, *value);
        };
        t.bar_write32 = [](void* c, std::uint32_t bar, std::uint64_t offset, std::uint32_t value) {
            return self(c).write(bar, offset, value);
        };
        t.bar_read_block = [](void* c, std::uint32_t, std::uint64_t offset, void* bytes,
                              std::uint64_t count) {
            self(c).window(offset, static_cast<std::uint8_t*>(bytes), count, false);
            return 0;
        };
        t.bar_write_block = [](void* c, std::uint32_t, std::uint64_t offset, const void* bytes,
                               std::uint64_t count) {
            auto* copy = static_cast<std::uint8_t*>(const_cast<void*>(bytes));
            self(c).window(offset, copy, count, true);
            return 0;
        };
        t.config_read = [](void* c, std::uint32_t offset, std::uint32_t, std::uint32_t* value) {
            *value = self(c).config(offset);
            return self(c).broken;
        };
        t.config_write = [](void* c, std::uint32_t offset, std::uint32_t, std::uint32_t value) {
            (offset == power_management + 4 ? self(c).power_state : self(c).command) = value;
            return self(c).broken;
        };
        t.dma_alloc = [](void* c, std::uint64_t size, trn_dma_memory* memory) {
            return self(c).allocate(size, *memory);
        };
        t.dma_free = [](void* c, const trn_dma_memory* memory) {
            self(c).allocated -= self(c).host.erase(memory->iova);
        };
        t.wait = [](void* c, std::uint64_t ns) {
            self(c).advance(ns);
            return self(c).broken;
        };
        t.now = [](void* c) { return self(c).time; };
        t.close = [](void* c) { self(c).closed = true; };
        return t;
    }

    /// Calls `work` after `delay` nanoseconds.
    void at(std::uint64_t delay, std::function<void()> work) {
        events.emplace(time + delay, std::move(work));
    }
    void advance(std::uint64_t ns) {
        const std::uint64_t end = time + ns;
        while (!events.empty() && events.begin()->first <= end) {
            const auto first = events.begin();
            time = std::max(time, first->first);
            const auto work = std::move(first->second);
            events.erase(first);
            work();
        }
        time = end;
    }

    /// Does what rings were asked to do while they did not run.
    void run_late() {
        for (const auto& [queue, sides] : queues)
            if (sides[0].pending != 0) run(queue & ~0xfffffull, queue & 0xfffff);
    }

    /// Memory by AXI address; throws std::out_of_range for unmapped addresses.
    void copy(std::uint64_t address, std::uint8_t* bytes, std::uint64_t count, bool write) {
        for (std::uint64_t done = 0; done < count;) {
            std::uint64_t room = 0;
            std::uint8_t* place = locate(address + done, room);
            const std::uint64_t part = std::min(room, count - done);
            if (write)
                std::memcpy(place, bytes + done, part);
            else
                std::memcpy(bytes + done, place, part);
            done += part;
        }
    }
    std::vector<std::uint8_t> bytes_at(std::uint64_t address, std::uint64_t count) {
        std::vector<std::uint8_t> bytes(count);
        copy(address, bytes.data(), count, false);
        return bytes;
    }

    static std::uint64_t engine_base(unsigned engine) {
        static constexpr std::uint64_t seng[] = {0x82000000, 0x94000000, 0xA2000000, 0xB4000000};
        static constexpr std::uint64_t io[] = {0x06800000, 0x06900000, 0x46800000, 0x46900000};
        return engine < 128 ? seng[engine / 32] + (engine % 32) * 0x100000ull : io[engine - 128];
    }
    /// Sets registers as hardware does on an engine failure.
    void abort_engine(unsigned engine, std::uint32_t cause_m2s) {
        const auto base = engine_base(engine);
        bar0[base + TRN_UDMA_M2S_STATE_OFFSET] = 0x2222;
        bar0[base + TRN_UDMA_SECONDARY_CAUSE_OFFSET(0)] |= cause_m2s;
    }
    std::uint64_t descriptors_done = 0;

private:
    static constexpr std::uint32_t power_management = 0x50;  ///< second of two capabilities

    std::uint32_t config(std::uint32_t offset) const {
        switch (offset) {
        case 0x00:
            return ids;
        case 0x08:
            return revision;
        case 0x34:
            return 0x40;
        case 0x40:
            return power_management << 8 | 0x11;
        case power_management:
            return 0x01;
        case power_management + 4:
            return power_state;
        default:
            return command;
        }
    }

    struct side {
        std::uint64_t base, length, head, pending, ring_id;
    };

    static fake_device& self(void* context) { return *static_cast<fake_device*>(context); }

    int start_access(std::uint32_t bar) {
        advance(100);
        if (++accesses == failing_access) return -EIO;
        return broken ? broken : bar != register_bar ? -EINVAL : 0;
    }
    int read(std::uint32_t bar, std::uint64_t offset, std::uint32_t& value) {
        if (const int error = start_access(bar)) return error;
        value = bar0[offset];
        if (recording) log.push_back({false, offset, value});
        return 0;
    }
    int write(std::uint32_t bar, std::uint64_t offset, std::uint32_t value) {
        if (const int error = start_access(bar)) return error;
        bar0[offset] = value;
        if (recording) log.push_back({true, offset, value});
        if (const auto hook = on_write.find(offset); hook != on_write.end()) hook->second(value);
        engine_write(offset, value);
        return 0;
    }

    int allocate(std::uint64_t size, trn_dma_memory& memory) {
        const std::uint64_t pages = (size + 4095) / 4096 * 4096;
        auto& bytes = host[next_iova];
        bytes.resize(pages);
        memory = {bytes.data(), next_iova, pages};
        next_iova += pages + 0x10000;  // a gap, so that overruns are detected
        ++allocated;
        return 0;
    }

    std::uint8_t* locate(std::uint64_t address, std::uint64_t& room) {
        if (address & host_window) {
            const std::uint64_t iova = address & (host_window - 1);
            auto it = host.upper_bound(iova);
            if (it == host.begin()) throw std::out_of_range("host");
            --it;
            if (iova - it->first >= it->second.size()) throw std::out_of_range("host");
            room = it->second.size() - (iova - it->first);
            return it->second.data() + (iova - it->first);
        }
        static constexpr std::uint64_t stacks[] = {0, 0x4000000000, 0x800000000000, 0x804000000000};
        const bool mapped = std::any_of(std::begin(stacks), std::end(stacks), [&](auto base) {
            return address >= base && address - base < (36ull << 30);
        });
        if (!mapped) throw std::out_of_range("device");
        auto& page = pages[address >> 16];
        if (page.empty()) page.resize(65536);
        room = 65536 - (address & 0xffff);
        return page.data() + (address & 0xffff);
    }
    void window(std::uint64_t offset, std::uint8_t* bytes, std::uint64_t count, bool write) {
        static constexpr std::uint64_t stacks[] = {0, 0x4000000000, 0x800000000000, 0x804000000000};
        const std::uint64_t slice = revision == 255 ? bar_sizes[4] / 4 : 64ull << 30;
        copy(stacks[offset / slice] + offset % slice, bytes, count, write);
    }

    void engine_write(std::uint64_t offset, std::uint32_t value) {
        const std::uint64_t base = offset & ~0xfffffull;
        const std::uint64_t reg = offset & 0xfffff;
        if (reg < 0x1000 || reg >= 0x31000) return;
        const auto q = static_cast<unsigned>((reg / 0x1000 - 1) % 32);
        auto& queue = queues[base + q];
        if (reg == TRN_UDMA_M2S_Q_SW_CONTROL_OFFSET(q)) queue[0] = {0, 0, 0, 0, 1};
        if (reg == TRN_UDMA_S2M_Q_SW_CONTROL_OFFSET(q)) queue[1] = {0, 0, 0, 0, 1};
        if (reg == TRN_UDMA_M2S_Q_TAIL_INCREMENT_OFFSET(q)) queue[0].pending += value;
        if (reg == TRN_UDMA_S2M_Q_TAIL_INCREMENT_OFFSET(q)) queue[1].pending += value;
        if (reg == TRN_UDMA_M2S_Q_TAIL_INCREMENT_OFFSET(q) && rings_run)
            at(2000, [this, base, q] { run(base, q); });
    }

    trn_descriptor fetch(std::uint64_t base, std::uint64_t lo, std::uint64_t hi, side& s,
                         std::uint64_t length) {
        const auto ring = bar0[base + lo] | std::uint64_t{bar0[base + hi]} << 32;
        trn_descriptor d;
        copy(ring + s.head * 16, reinterpret_cast<std::uint8_t*>(&d), 16, false);
        if (check_ring_ids && ((d.words[0] >> 24) & 3) != s.ring_id)
            throw std::invalid_argument("ring id");
        --s.pending;
        if (++s.head == length) s.head = 0, s.ring_id = (s.ring_id + 1) % 4;
        return d;
    }
    void run(std::uint64_t base, unsigned q) {
        auto& queue = queues[base + q];
        try {
            while (queue[0].pending && queue[1].pending) {
                const auto m2s =
                    fetch(base, TRN_UDMA_M2S_Q_BASE_LO_OFFSET(q), TRN_UDMA_M2S_Q_BASE_HI_OFFSET(q),
                          queue[0], bar0[base + TRN_UDMA_M2S_Q_LENGTH_OFFSET(q)]);
                const auto s2m =
                    fetch(base, TRN_UDMA_S2M_Q_BASE_LO_OFFSET(q), TRN_UDMA_S2M_Q_BASE_HI_OFFSET(q),
                          queue[1], bar0[base + TRN_UDMA_S2M_Q_LENGTH_OFFSET(q)]);
                const std::uint64_t length = m2s.words[0] & 0xffff ? m2s.words[0] & 0xffff : 65536;
                std::vector<std::uint8_t> bytes(length);
                copy(m2s.words[2] | std::uint64_t{m2s.words[3]} << 32, bytes.data(), length, false);
                copy(s2m.words[2] | std::uint64_t{s2m.words[3]} << 32, bytes.data(), length, true);
                ++descriptors_done;
            }
        } catch (const std::out_of_range&) {
            bar0[base + TRN_UDMA_M2S_STATE_OFFSET] = 0x2222;
            bar0[base + TRN_UDMA_SECONDARY_CAUSE_OFFSET(0)] |= 1u << 8;
        } catch (const std::invalid_argument&) {
            bar0[base + TRN_UDMA_M2S_STATE_OFFSET] = 0x2222;
            bar0[base + TRN_UDMA_SECONDARY_CAUSE_OFFSET(0)] |= 1u << 17;
        }
    }

    std::uint32_t command = 0;
    std::uint64_t next_iova = 0x10000000;
    std::map<std::uint64_t, std::vector<std::uint8_t>> host;
    std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> pages;
    std::map<std::uint64_t, std::array<side, 2>> queues;
    std::multimap<std::uint64_t, std::function<void()>> events;
};

}  // namespace trn::test
