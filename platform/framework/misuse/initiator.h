// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace trn {

/// Makes bus accesses on software's behalf: the host, a hart, a DMA engine. A target that
/// is used wrongly, or that counts its use, names it so. Read only when a report is made.
class initiator {
public:
    enum class kind : std::uint8_t { host, firmware, dma, tool };

    explicit initiator(kind what) : what_(what) {}
    virtual ~initiator() = default;
    kind what() const { return what_; }
    /// "the host", "chip0.management.cpu", "engine 128 queue 0".
    virtual std::string describe() const = 0;
    /// Address of the instruction that makes the access, of a hart.
    virtual std::optional<std::uint64_t> instruction() const { return std::nullopt; }

    /// Whose access is being carried out; nullptr: a model's own process or a tool.
    static const initiator* current() { return current_; }
    static kind current_kind() { return current_ == nullptr ? kind::tool : current_->what_; }

private:
    friend class acting;
    static inline const initiator* current_ = nullptr;
    const kind what_;
};

/// Names the initiator for as long as it lives: around a bus access, which never waits.
class acting {
public:
    explicit acting(const initiator& who) : before_(std::exchange(initiator::current_, &who)) {}
    ~acting() { initiator::current_ = before_; }
    acting(const acting&) = delete;
    acting& operator=(const acting&) = delete;

private:
    const initiator* const before_;
};

}  // namespace trn
