// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "platform/framework/kernel/random.h"
#include "tests/unit/rtl/patient_driver.h"

namespace trn::test {

random_traffic::random_traffic(sc_core::sc_module_name name, const plan& what)
    : sc_module(name), plan_(what), copy_(what.bytes), state_(what.first + 1) {
    out.bind(*this);
    SC_HAS_PROCESS(random_traffic);
    SC_THREAD(run);
}

std::uint64_t random_traffic::random(std::uint64_t below) {
    return mix_bits(++state_) % below;
}

void random_traffic::run() {
    // First all of it is written.
    for (std::uint64_t place = 0; place < plan_.bytes; place += 256) {
        for (std::uint64_t n = place; n < place + 256; ++n)
            copy_[n] = static_cast<std::uint8_t>(random(256));
        tlm::tlm_generic_payload payload;
        set_access(payload, tlm::TLM_WRITE_COMMAND, plan_.first + place, copy_.data() + place, 256);
        access(payload);
    }
    for (; done < plan_.accesses; ++done) one();
}

void random_traffic::one() {
    const std::uint64_t unit = plan_.alignment;
    const std::uint64_t length =
        unit * (1 + random(random(4) == 0 ? plan_.longest / unit
                                          : std::min<std::uint64_t>(plan_.longest / unit, 16)));
    const std::uint64_t place = unit * random((plan_.bytes - length) / unit + 1);
    const bool is_write = random(2) == 0;
    std::vector<std::uint8_t> bytes(length), enables;
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random(256));
    if (plan_.has_enables && random(3) == 0)
        for (std::uint64_t n = 0; n < length; ++n)
            enables.push_back(random(2) == 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED);
    std::vector<std::uint8_t> expected = bytes;
    for (std::uint64_t n = 0; n < length; ++n) {
        if (!enables.empty() && enables[n] != TLM_BYTE_ENABLED) continue;
        (is_write ? copy_[place + n] : expected[n]) = (is_write ? bytes[n] : copy_[place + n]);
    }
    tlm::tlm_generic_payload payload;
    set_access(payload, is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
               plan_.first + place, bytes.data(), length);
    payload.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
    payload.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    access(payload);
    if (bytes != expected) ++wrong;
    if (random(8) == 0) wait(sc_core::sc_time(static_cast<double>(random(300)), sc_core::SC_NS));
}

void random_traffic::access(tlm::tlm_generic_payload& payload) {
    for (;;) {
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        payload.set_dmi_allowed(false);
        payload.set_extension(&pending_);
        pending_.attempt(payload);
        sc_core::sc_time delay;
        out->b_transport(payload, delay);
        payload.clear_extension(&pending_);
        if (!pending_.is_deferred()) {
            wait(delay);
            break;
        }
        wait(wake_);
    }
    if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) ++failed;
}

}  // namespace trn::test
