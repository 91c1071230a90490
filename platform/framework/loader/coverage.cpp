// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/loader/coverage.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace trn {

namespace {

std::size_t marks_of(const elf_program::segment& s) {
    return (s.bytes.size() + 1) / 2;
}

}  // namespace

coverage::program::program(std::filesystem::path file, elf_program code, std::uint64_t moved_by)
    : file_(std::move(file)), code_(std::move(code)), moved_by_(moved_by) {}

std::uint8_t* coverage::program::marks(std::uint64_t address) const {
    for (std::size_t i = 0; i < code_.segments.size(); ++i) {
        const auto& s = code_.segments[i];
        if (address - s.address < s.bytes.size()) return marks_[i] + (address - s.address) / 2;
    }
    return nullptr;
}

std::uint8_t* coverage::program::marks(std::uint64_t address, std::uint32_t bits) const {
    const std::uint64_t in_file = address - moved_by_;
    return code_.instruction(in_file) == bits ? marks(in_file) : nullptr;
}

bool coverage::program::any_ran() const {
    for (std::size_t i = 0; i < code_.segments.size(); ++i)
        if (std::ranges::any_of(std::span(marks_[i], marks_of(code_.segments[i])),
                                [](auto m) { return m != 0; }))
            return true;
    return false;
}

coverage::coverage(const std::vector<std::filesystem::path>& programs, std::uint64_t moved_by) {
    for (const auto& file : programs) try {
            programs_.push_back(std::make_unique<program>(file, read_elf(file.string()), moved_by));
            for (const auto& s : programs_.back()->code_.segments) size_ += marks_of(s);
        } catch (const elf_error&) {  // not an ELF program for this processor
        }
    shared_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_ == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "memory for the coverage");
    auto* next = static_cast<std::uint8_t*>(shared_) + sizeof(header);
    for (auto& program : programs_)
        for (const auto& s : program->code_.segments) {
            program->marks_.push_back(next);
            next += marks_of(s);
        }
    assert(active_ == nullptr);
    active_ = this;
}

coverage::~coverage() {
    active_ = nullptr;
    munmap(shared_, size_);
}

coverage::program* coverage::find(std::uint64_t address, std::span<const std::uint8_t> page) {
    program* found = nullptr;
    std::size_t best = 0;
    for (auto& program : programs_)
        if (const auto equal = program->code_.agreement(address - program->moved_by_, page);
            equal > best) {
            best = equal;
            found = program.get();
        }
    if (found == nullptr)
        note_unknown(address);
    else
        found->used_ = true;
    return found;
}

std::uint8_t* coverage::marks(std::uint64_t address, std::uint32_t bits) {
    for (const bool used : {true, false})
        for (auto& program : programs_)
            if (program->used_ == used)
                if (auto* const found = program->marks(address, bits)) return found;
    note_unknown(address);
    return nullptr;
}

void coverage::note_unknown(std::uint64_t address) {
    auto& first = static_cast<header*>(shared_)->unknown;
    if (first == 0) first = address + 1;
}

std::optional<std::uint64_t> coverage::unknown_code() const {
    const auto first = static_cast<const header*>(shared_)->unknown;
    if (first == 0) return std::nullopt;
    return first - 1;
}

}  // namespace trn
