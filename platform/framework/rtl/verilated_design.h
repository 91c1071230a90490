// SPDX-License-Identifier: Apache-2.0
// For the sources that trnvp_rtl() makes, which include Verilator's headers.
#pragma once

#include <verilated.h>
#include <verilated_save.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "platform/framework/rtl/design.h"

namespace trn::rtl {

/// Values of a model, in memory.
class state_writer final : public VerilatedSerialize {
public:
    explicit state_writer(design::state& copy) : copy_(copy) { copy_.clear(); }
    ~state_writer() override { flush(); }
    void flush() override {
        copy_.insert(copy_.end(), m_bufp, m_cp);
        m_cp = m_bufp;
    }

private:
    design::state& copy_;
};

class state_reader final : public VerilatedDeserialize {
public:
    explicit state_reader(const design::state& copy) : copy_(copy) {
        m_endp = m_cp;
        fill();
    }
    void fill() override {
        const auto kept = static_cast<std::size_t>(m_endp - m_cp);
        std::memmove(m_bufp, m_cp, kept);
        const std::size_t added = std::min(bufferSize() - kept, copy_.size() - taken_);
        std::memcpy(m_bufp + kept, copy_.data() + taken_, added);
        taken_ += added;
        m_cp = m_bufp;
        m_endp = m_bufp + kept + added;
    }

private:
    const design::state& copy_;
    std::size_t taken_ = 0;
};

/// Sets the seed before a model is constructed.
class seeded_context : public VerilatedContext {
public:
    explicit seeded_context(const start_values& values) {
        threads(1);  // none of Verilator's own: they would take signals, and no fork has them
        randReset(values.seed == 0 ? 0 : 2);
        randSeed(static_cast<int>(std::max(values.seed & 0x7fffffff, 1u)));  // 0: any seed
        Verilated::threadContextp(this);
    }
};

/// `Top`: class of Verilator.
template <class Top>
class verilated_design final : public design {
public:
    using list_ports = std::vector<top_port> (*)(Top& top);

    verilated_design(const start_values& values, list_ports list)
        : context_(values), top_(&context_, ""), ports_(list(top_)) {}
    /// A model's destructor uses the context of the thread.
    ~verilated_design() override { Verilated::threadContextp(&context_); }

    const std::vector<top_port>& ports() const override { return ports_; }
    void evaluate() override {
        Verilated::threadContextp(&context_);
        top_.eval();
    }
    void set_time(std::uint64_t picoseconds) override { context_.time(picoseconds); }
    // Verilator saves the time too, which is no state of the design.
    void save(state& copy) override {
        const std::uint64_t now = context_.time();
        context_.time(0);
        {
            state_writer writer(copy);
            writer << top_;
        }
        context_.time(now);
    }
    void restore(const state& copy) override {
        const std::uint64_t now = context_.time();
        state_reader reader(copy);
        reader >> top_;
        context_.time(now);
    }

private:
    seeded_context context_;
    Top top_;
    std::vector<top_port> ports_;
};

}  // namespace trn::rtl
