// SPDX-License-Identifier: Apache-2.0
#include "platform/app/exec/htif.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "platform/framework/tlm/refuse_pointer.h"

namespace trn {

namespace {

// A message is device << 56 | command << 48 | payload.
constexpr std::uint64_t payload_mask = (std::uint64_t{1} << 48) - 1;
constexpr std::uint64_t system_call_device = 0, console_device = 1, console_write = 1;

// System call numbers of RISC-V Linux, which the proxied calls use.
constexpr std::uint64_t sys_write = 64, sys_exit = 93;
constexpr std::uint64_t not_implemented = ~std::uint64_t{0} - 37;  // -ENOSYS
constexpr std::uint64_t bad_address = ~std::uint64_t{0} - 13;      // -EFAULT
constexpr std::uint64_t bad_descriptor = ~std::uint64_t{0} - 8;    // -EBADF

}  // namespace

htif::htif(sc_core::sc_module_name name, memory& ram, config cfg)
    : sc_module(name), ram_(ram), cfg_(std::move(cfg)) {
    in.register_b_transport(this, &htif::b_transport);
    in.register_transport_dbg(this, &htif::transport_dbg);
    in.register_get_direct_mem_ptr(this, &htif::get_direct_mem_ptr);
}

void htif::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    copy_payload(payload, ram_.bytes().data(), ram_.bytes().size());
    if (!payload.is_write()) return;
    const std::uint64_t offset = cfg_.tohost - cfg_.ram_base, first = payload.get_address();
    if (first + payload.get_data_length() <= offset || first >= offset + 8) return;
    std::uint64_t message = 0;
    std::memcpy(&message, ram_.bytes().data() + offset, sizeof message);
    if (message == 0) return;
    std::memset(ram_.bytes().data() + offset, 0, sizeof message);  // marks the message as received
    receive(message);
}

unsigned htif::transport_dbg(tlm::tlm_generic_payload& payload) {
    return copy_debug(payload, ram_.bytes().data(), ram_.bytes().size());
}

bool htif::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    dmi.set_dmi_ptr(ram_.bytes().data());
    dmi.set_start_address(0);
    dmi.set_end_address(ram_.bytes().size() - 1);
    return grant_reads(payload, dmi);
}

void htif::receive(std::uint64_t message) {
    const std::uint64_t device = message >> 56, command = message >> 48 & 0xff;
    const std::uint64_t payload = message & payload_mask;
    if (device == system_call_device && (payload & 1) != 0) {
        cfg_.on_exit(payload >> 1);
    } else if (device == system_call_device) {
        system_call(payload);
        answer(message | 1);
    } else if (device == console_device && command == console_write) {
        std::putchar(static_cast<int>(payload & 0xff));
    }  // console input is not supported: the read gets no answer
}

void htif::system_call(std::uint64_t arguments) {
    std::array<std::uint64_t, 8> words{};
    std::uint8_t* const call = ram_at(arguments, sizeof words);
    if (call == nullptr) return;
    std::memcpy(words.data(), call, sizeof words);
    std::uint64_t result = not_implemented;
    if (words[0] == sys_exit) cfg_.on_exit(words[1]);
    if (words[0] == sys_write) result = write_file(words[1], words[2], words[3]);
    std::memcpy(call, &result, sizeof result);
}

std::uint64_t htif::write_file(std::uint64_t descriptor, std::uint64_t address,
                               std::uint64_t length) {
    if (descriptor != 1 && descriptor != 2) return bad_descriptor;
    const std::uint8_t* const text = ram_at(address, length);
    if (text == nullptr) return bad_address;
    std::fwrite(text, 1, length, descriptor == 1 ? stdout : stderr);
    return length;
}

void htif::answer(std::uint64_t message) {
    if (!cfg_.fromhost) return;
    if (std::uint8_t* const word = ram_at(*cfg_.fromhost, 8)) std::memcpy(word, &message, 8);
}

std::uint8_t* htif::ram_at(std::uint64_t address, std::uint64_t length) {
    const std::uint64_t offset = address - cfg_.ram_base, size = ram_.bytes().size();
    if (offset > size || length > size - offset) return nullptr;
    return ram_.bytes().data() + offset;
}

}  // namespace trn
