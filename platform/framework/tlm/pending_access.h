// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

namespace trn {

class deferral;

/// An access of an initiator that can wait, from its first attempt until memory has responded.
///
/// b_transport must not wait, but host memory that a client shares only by messages responds some
/// slices later: it defers the access, and notifies the initiator's event when the access can be
/// repeated. An access with another command, address or length abandons the pending one, as do
/// abandon() and the end of this object. memory_port attaches it to its payloads.
class pending_access : public tlm::tlm_extension<pending_access> {
public:
    /// `wake`: event of the initiator's process, which repeats the access. May be notified although
    /// memory has no response yet, because other work notifies it too.
    explicit pending_access(sc_core::sc_event& wake) : wake_(wake) {}
    ~pending_access() override { abandon(); }
    pending_access(const pending_access&) = delete;
    pending_access& operator=(const pending_access&) = delete;

    /// Whether the latest attempt was deferred: no byte has moved.
    bool is_deferred() const { return is_deferred_; }
    /// Whether memory has deferred an earlier attempt of this access.
    bool is_repeated() const { return held_by_ != nullptr; }
    /// Tells the target that the access will not be repeated. No effect without one.
    void abandon() {
        is_deferred_ = false;
        if (held_by_ != nullptr) leave();
    }
    /// To be called before each attempt.
    void attempt(const tlm::tlm_generic_payload& payload);
    /// For an initiator whose accesses are rarely deferred: to be called after a first attempt that
    /// was deferred, instead of attempt() before it.
    void begin(const tlm::tlm_generic_payload& payload);

    tlm::tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm::tlm_extension_base&) override {}

private:
    friend deferral;
    void leave();

    sc_core::sc_event& wake_;
    deferral* held_by_ = nullptr;
    bool is_deferred_ = false;
    tlm::tlm_command command_ = tlm::TLM_IGNORE_COMMAND;
    std::uint64_t address_ = 0;
    unsigned length_ = 0;
};

/// The accesses that a target has deferred until one response or condition. Either side may end
/// first.
class deferral {
public:
    /// `unused`: called when no access is held any more.
    explicit deferral(std::function<void()> unused = {}) : unused_(std::move(unused)) {}
    ~deferral();
    deferral(const deferral&) = delete;
    deferral& operator=(const deferral&) = delete;

    /// Defers the payload's access: TLM_INCOMPLETE_RESPONSE. TLM_GENERIC_ERROR_RESPONSE if the
    /// initiator cannot wait.
    void hold(tlm::tlm_generic_payload& payload);
    /// Whether the payload repeats an access that is held.
    bool holds(const tlm::tlm_generic_payload& payload) const;
    bool is_used() const { return !held_.empty(); }
    /// Wakes the initiators, which repeat their accesses.
    void wake() const;

private:
    friend pending_access;

    std::vector<pending_access*> held_;
    std::function<void()> unused_;
};

}  // namespace trn
