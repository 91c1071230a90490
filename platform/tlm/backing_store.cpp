// SPDX-License-Identifier: Apache-2.0
#include "platform/tlm/backing_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <new>

namespace trn {

namespace {

/// Pages of [data, data + size) present in the page tables, asked in bounded steps.
std::uint64_t resident_private(const std::uint8_t* data, std::uint64_t size) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0) return 0;
    std::array<std::uint64_t, 8192> entries;
    std::uint64_t pages = 0;
    const std::uint64_t first = reinterpret_cast<std::uint64_t>(data) / page;
    const std::uint64_t total = size / page;
    for (std::uint64_t at = 0; at < total;) {
        const std::uint64_t want = std::min<std::uint64_t>(entries.size(), total - at);
        const auto got =
            pread(pagemap, entries.data(), want * 8, static_cast<off_t>((first + at) * 8));
        if (got <= 0) break;
        const auto count = static_cast<std::uint64_t>(got) / 8;
        constexpr std::uint64_t present_or_swapped = 3ull << 62;
        pages += static_cast<std::uint64_t>(
            std::count_if(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count),
                          [](std::uint64_t entry) { return (entry & present_or_swapped) != 0; }));
        at += count;
    }
    close(pagemap);
    return pages * page;
}

}  // namespace

backing_store::backing_store(std::uint64_t size, sharing how) : size_(size) {
    assert(size > 0);
    int flags = MAP_NORESERVE | MAP_PRIVATE | MAP_ANONYMOUS;
    if (how == sharing::file_descriptor) {
        descriptor_ = memfd_create("trnvp-memory", MFD_CLOEXEC);
        if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(size)) != 0)
            throw std::bad_alloc();
        flags = MAP_NORESERVE | MAP_SHARED;
    }
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, descriptor_, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::uint8_t*>(at);
}

backing_store::~backing_store() {
    if (data_ != nullptr) munmap(data_, size_);
    if (descriptor_ >= 0) close(descriptor_);
}

std::uint64_t backing_store::resident() const {
    if (descriptor_ < 0) return resident_private(data_, size_);
    struct stat status {};
    fstat(descriptor_, &status);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

void backing_store::clear() {
    if (descriptor_ < 0) {
        madvise(data_, size_, MADV_DONTNEED);
    } else {
        fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  static_cast<off_t>(size_));
    }
}

}  // namespace trn
