// SPDX-License-Identifier: Apache-2.0
#include "platform/tlm/backing_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <functional>
#include <map>
#include <new>
#include <string>

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

/// Bytes of [offset, offset + size) that the file has pages for.
std::uint64_t resident_shared(int file, std::uint64_t offset, std::uint64_t size) {
    const auto end = static_cast<off_t>(offset + size);
    std::uint64_t bytes = 0;
    off_t at = lseek(file, static_cast<off_t>(offset), SEEK_DATA);
    while (at >= 0 && at < end) {
        const off_t hole = std::min(lseek(file, at, SEEK_HOLE), end);
        bytes += static_cast<std::uint64_t>(hole - at);
        at = lseek(file, hole, SEEK_DATA);
    }
    return bytes;
}

struct slice {
    int file;
    std::uint64_t offset;
};

/// The next part of the group's file; never given twice.
slice take_slice(std::uint64_t size, std::string_view group) {
    struct shared_file {
        int descriptor = memfd_create("trnvp-memory", MFD_CLOEXEC);
        std::uint64_t end = 0;
    };
    static std::map<std::string, shared_file, std::less<>> files;
    auto found = files.find(group);
    if (found == files.end()) found = files.try_emplace(std::string(group)).first;
    auto& [file, end] = found->second;
    const std::uint64_t alignment = std::bit_ceil(std::max<std::uint64_t>(size, 4096));
    const std::uint64_t offset = (end + alignment - 1) & ~(alignment - 1);
    if (file < 0 || ftruncate(file, static_cast<off_t>(offset + size)) != 0) throw std::bad_alloc();
    end = offset + size;
    return {file, offset};
}

}  // namespace

backing_store::backing_store(std::uint64_t size, sharing how, std::string_view group)
    : size_(size) {
    assert(size > 0);
    int flags = MAP_NORESERVE | MAP_PRIVATE | MAP_ANONYMOUS;
    if (how == sharing::file_descriptor) {
        const slice mine = take_slice(size, group);
        descriptor_ = mine.file;
        descriptor_offset_ = mine.offset;
        flags = MAP_NORESERVE | MAP_SHARED;
    }
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, descriptor_,
                    static_cast<off_t>(descriptor_offset_));
    if (at == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::uint8_t*>(at);
}

backing_store::~backing_store() {
    // The slice stays in the file: after a fork() its pages may be another process's memory still.
    munmap(data_, size_);
}

std::uint64_t backing_store::resident() const {
    if (descriptor_ < 0) return resident_private(data_, size_);
    return resident_shared(descriptor_, descriptor_offset_, size_);
}

void backing_store::clear() {
    if (descriptor_ < 0) {
        madvise(data_, size_, MADV_DONTNEED);
    } else {
        fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(descriptor_offset_), static_cast<off_t>(size_));
    }
}

}  // namespace trn
