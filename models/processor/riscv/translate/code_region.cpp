// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/code_region.h"

#include <sys/mman.h>

#include <cstring>

namespace trn::riscv::translate {

namespace {

constexpr std::size_t page_size = 4096;
constexpr std::size_t alignment = 16;

}  // namespace

code_region::code_region(std::size_t size) : size_(size / page_size * page_size) {
    if (size_ == 0) return;
    void* const region = mmap(nullptr, size_, PROT_READ | PROT_EXEC,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) return;
    base_ = static_cast<std::uint8_t*>(region);
    // Some policies refuse only the change of protection.
    if (protect(0, page_size, PROT_READ | PROT_WRITE) &&
        protect(0, page_size, PROT_READ | PROT_EXEC))
        return;
    munmap(base_, size_);
    base_ = nullptr;
}

code_region::~code_region() {
    if (base_ != nullptr) munmap(base_, size_);
}

bool code_region::protect(std::size_t first, std::size_t last, int access) {
    first = first / page_size * page_size;
    last = (last + page_size - 1) / page_size * page_size;
    return mprotect(base_ + first, last - first, access) == 0;
}

bool code_region::write(std::size_t place, std::span<const std::uint8_t> code) {
    const std::size_t end = place + code.size();
    if (!protect(place, end, PROT_READ | PROT_WRITE)) return false;
    std::memcpy(base_ + place, code.data(), code.size());
    return protect(place, end, PROT_READ | PROT_EXEC);
}

bool code_region::add(std::span<const std::uint8_t> code) {
    if (code.size() > room() || !write(used_, code)) return false;
    used_ = (used_ + code.size() + alignment - 1) / alignment * alignment;
    if (used_ > size_) used_ = size_;
    return true;
}

bool code_region::replace(const std::uint8_t* place, std::span<const std::uint8_t> code) {
    return write(static_cast<std::size_t>(place - base_), code);
}

}  // namespace trn::riscv::translate
