// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace trn {

/// Something that makes bus accesses for software: the host, a hart, a DMA engine. Targets name it
/// in reports of misuse and in statistics of use. It is only read when a report is made.
class initiator {
public:
    enum class kind : std::uint8_t { host, firmware, dma, tool };

    constexpr explicit initiator(kind source) : kind_(source) {}
    virtual ~initiator() = default;
    initiator(const initiator&) = delete;
    initiator& operator=(const initiator&) = delete;
    /// Name for reports: "the host", "chip0.management.cpu", "engine 128 queue 0".
    virtual std::string describe() const = 0;
    /// For a hart: address of the instruction that makes the access.
    virtual std::optional<std::uint64_t> instruction() const { return std::nullopt; }

    /// Refers to an initiator that may end first, for an access that outlasts a call.
    class handle {
    public:
        handle() = default;
        /// nullptr after the initiator's end.
        const initiator* get() const { return source_.lock().get(); }

    private:
        friend initiator;
        explicit handle(std::weak_ptr<const initiator> source) : source_(std::move(source)) {}
        std::weak_ptr<const initiator> source_;
    };
    handle refer() const {
        if (!self_) self_ = {this, [](const initiator*) {}};
        return handle(self_);
    }

    /// The initiator of the current access; nullptr: a model's own process or a tool.
    static const initiator* current() { return current_kind() == kind::tool ? nullptr : current_; }
    static kind current_kind() { return current_->kind_; }

private:
    friend class acting;
    class tool_initiator;
    static const tool_initiator tool;
    static const initiator* current_;  // never null, so that counting an access has no branch
    const kind kind_;
    mutable std::shared_ptr<const initiator> self_;  // made when a handle needs it; owns nothing
};

/// The initiator of accesses by tools and by a model's own process.
class initiator::tool_initiator final : public initiator {
public:
    constexpr tool_initiator() : initiator(kind::tool) {}
    std::string describe() const override { return "a tool"; }
};

inline constinit const initiator::tool_initiator initiator::tool{};
inline constinit const initiator* initiator::current_ = &initiator::tool;

/// Sets the current initiator during its lifetime, around a bus access that does not wait.
class acting {
public:
    explicit acting(const initiator& source)
        : before_(std::exchange(initiator::current_, &source)) {}
    ~acting() { initiator::current_ = before_; }
    acting(const acting&) = delete;
    acting& operator=(const acting&) = delete;

private:
    const initiator* const before_;
};

}  // namespace trn
