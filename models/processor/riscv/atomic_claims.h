// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace trn {

/// The words of atomic instructions (AMO, SC) that memory has deferred. Such an instruction is a
/// read and a write with simulated time between them: other harts wait until it is done.
class atomic_claims {
public:
    struct word {
        const void* bus = nullptr;  ///< harts with the same one have the same addresses
        std::uint64_t address = 0;
        std::uint64_t size = 0;  ///< bytes; 0: none

        bool meets(const word& other) const {
            return bus == other.bus && address < other.address + other.size &&
                   other.address < address + size;
        }
    };

    /// A hart.
    class client {
    public:
        client(const client&) = delete;
        client& operator=(const client&) = delete;

    protected:
        explicit client(std::shared_ptr<atomic_claims> claims) : claims_(std::move(claims)) {
            claims_->clients_.push_back(this);
        }
        virtual ~client() {
            std::erase(claims_->clients_, this);
            std::erase_if(claims_->claims_, [this](const auto& c) { return c.owner == this; });
        }
        void claim(const word& wanted) {
            if (claims_->owns(*this)) return;
            claims_->claims_.push_back({this, wanted});
            claims_->announce();
        }
        void release() {
            if (std::erase_if(claims_->claims_, [this](const auto& c) { return c.owner == this; }))
                claims_->announce();
        }
        bool are_words_claimed() const { return !claims_->claims_.empty(); }
        /// Whether another hart has claimed a part of `wanted`.
        bool must_wait(const word& wanted) const {
            return std::ranges::any_of(claims_->claims_, [&](const auto& c) {
                return c.owner != this && c.claimed.meets(wanted);
            });
        }

    private:
        friend atomic_claims;
        /// A claim of any hart begins or ends.
        virtual void claims_changed() = 0;

        const std::shared_ptr<atomic_claims> claims_;
    };

private:
    struct claim {
        const client* owner;
        word claimed;
    };
    bool owns(const client& owner) const {
        return std::ranges::find(claims_, &owner, &claim::owner) != claims_.end();
    }
    void announce() {
        for (client* const each : clients_) each->claims_changed();
    }

    std::vector<client*> clients_;
    std::vector<claim> claims_;
};

}  // namespace trn
