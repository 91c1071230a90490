// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/backing_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace trn {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t block = 65536;  // granularity of in_use_, bytes

std::uint64_t blocks_in_use = 0;  // of all stores

/// File descriptor of this process's page map; reopened after a fork().
int pagemap() {
    static pid_t owner = 0;
    static int file = -1;
    if (const pid_t self = getpid(); self != owner) {
        if (file >= 0) close(file);
        file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        owner = self;
    }
    return file;
}

/// Whether the page of a page table entry is in memory or swap.
bool held(std::uint64_t entry) {
    return (entry & 3ull << 62) != 0;
}

/// Reads page table entries of `pages` pages from `first`; returns fewer if the host does not
/// report them.
std::size_t read_entries(std::uint64_t first, std::span<std::uint64_t> pages) {
    const auto got =
        pread(pagemap(), pages.data(), pages.size_bytes(), static_cast<off_t>(first * 8));
    return got > 0 ? static_cast<std::size_t>(got) / 8 : 0;
}

/// Bytes in [data, data + size) whose pages are in memory or swap; stops counting at `enough`. All
/// bytes if the host does not report pages.
std::uint64_t resident_private(const std::uint8_t* data, std::uint64_t size, std::uint64_t enough) {
    const std::uint64_t end = (reinterpret_cast<std::uint64_t>(data) + size + page - 1) / page;
    std::array<std::uint64_t, 512> entries;
    std::uint64_t pages = 0;
    for (std::uint64_t index = reinterpret_cast<std::uint64_t>(data) / page;
         index < end && pages * page < enough;) {
        const auto wanted = std::span(entries).first(std::min(entries.size(), end - index));
        const auto got = read_entries(index, wanted);
        if (got == 0) return size;
        pages += static_cast<std::uint64_t>(std::ranges::count_if(wanted.first(got), held));
        index += got;
    }
    return pages * page;
}

/// Bytes of [offset, offset + size) for which the file has pages.
std::uint64_t resident_shared(int file, std::uint64_t offset, std::uint64_t size) {
    const auto end = static_cast<off_t>(offset + size);
    std::uint64_t bytes = 0;
    off_t start = lseek(file, static_cast<off_t>(offset), SEEK_DATA);
    while (start >= 0 && start < end) {
        const off_t hole = std::min(lseek(file, start, SEEK_HOLE), end);
        bytes += static_cast<std::uint64_t>(hole - start);
        start = lseek(file, hole, SEEK_DATA);
    }
    return bytes;
}

/// All stores of the process, sorted by address. A sorted vector, because look-ups (one per large
/// copy) are frequent and changes are rare.
struct store_place {
    const std::uint8_t* begin;
    const backing_store* store;
};
std::vector<store_place>& stores() {
    static std::vector<store_place> all;
    return all;
}

/// The first store that begins after `address`.
std::vector<store_place>::iterator store_after(const std::uint8_t* address) {
    return std::ranges::upper_bound(stores(), address, std::less<>(), &store_place::begin);
}

bool all_zero(const std::uint8_t* bytes, std::size_t size) {
    return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0;
}

constexpr std::size_t worth_asking = 16384;  // bytes; below, the query costs as much as the copy

/// Whether [address, address + size) belongs to a store and no host page backs it.
bool fresh(const std::uint8_t* address, std::size_t size) {
    const auto* store = backing_store::holding(address);
    return store != nullptr && store->untouched(address, size);
}

struct slice {
    int file;
    std::uint64_t offset;
};

/// A file for memory whose descriptor other processes get: no process can make it shorter, which
/// would end this one at its next access. -1: there is none.
int make_shared_file() {
    const int file = memfd_create("trnvp-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0) return file;
    close(file);
    return -1;
}

/// Makes a file at least as long; another process may have made it longer.
bool extend(int file, std::uint64_t size) {
    struct stat found {};
    if (fstat(file, &found) != 0) return false;
    return static_cast<std::uint64_t>(found.st_size) >= size ||
           ftruncate(file, static_cast<off_t>(size)) == 0;
}

/// Allocates the next part of the group's file; parts are not reused.
slice take_slice(std::uint64_t size, std::string_view group) {
    struct shared_file {
        int descriptor = make_shared_file();
        std::uint64_t end = 0;
    };
    static std::map<std::string, shared_file, std::less<>> files;
    auto found = files.find(group);
    if (found == files.end()) found = files.try_emplace(std::string(group)).first;
    auto& [file, end] = found->second;
    const std::uint64_t alignment = std::bit_ceil(std::max<std::uint64_t>(size, 4096));
    const std::uint64_t offset = (end + alignment - 1) & ~(alignment - 1);
    if (file < 0 || !extend(file, offset + size)) throw std::bad_alloc();
    end = offset + size;
    return {file, offset};
}

/// Address for mapping a store of `size` bytes backed by a file; null: any address. Such mappings
/// are kept apart, because they would prevent adjacent anonymous stores from merging into one
/// mapping, and fork() copies each mapping.
void* place_of_content(std::uint64_t size) {
    constexpr std::uint64_t reserved = std::uint64_t{1} << 30;
    static void* const begin =
        mmap(nullptr, reserved, PROT_NONE, MAP_NORESERVE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static std::uint64_t used = 0;
    const std::uint64_t length = (size + page - 1) / page * page;
    if (begin == MAP_FAILED || length > reserved - used) return nullptr;
    return static_cast<std::uint8_t*>(begin) + std::exchange(used, used + length);
}

/// Returns -1 if the host refuses.
int file_of(std::span<const std::uint8_t> bytes) {
    const int file = memfd_create("trnvp-content", MFD_CLOEXEC);
    if (file < 0) return -1;
    for (std::uint64_t done = 0; done < bytes.size();) {
        const auto count = write(file, bytes.data() + done, bytes.size() - done);
        if (count <= 0) {
            close(file);
            return -1;
        }
        done += static_cast<std::uint64_t>(count);
    }
    return file;
}

}  // namespace

initial_content::initial_content(std::span<const std::uint8_t> bytes)
    : size_(bytes.size()),
      descriptor_(file_of(bytes)),
      copy_(bytes.begin(), descriptor_ < 0 ? bytes.end() : bytes.begin()) {
    assert(!bytes.empty());
}

initial_content::~initial_content() {
    if (descriptor_ >= 0) close(descriptor_);
}

backing_store::backing_store(std::uint64_t size, sharing mode, std::string_view group)
    : size_(size) {
    assert(size > 0);
    int flags = MAP_NORESERVE | MAP_PRIVATE | MAP_ANONYMOUS;
    if (mode == sharing::file_descriptor) {
        const slice mine = take_slice(size, group);
        descriptor_ = mine.file;
        descriptor_offset_ = mine.offset;
        flags = MAP_NORESERVE | MAP_SHARED;
    }
    map(flags, descriptor_, descriptor_offset_);
}

backing_store::backing_store(std::shared_ptr<const initial_content> content)
    : size_(content->size()) {
    map(MAP_NORESERVE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, true);
    show(0, std::move(content));
}

/// `apart`: for content.
void backing_store::map(int flags, int descriptor, std::uint64_t offset, bool apart) {
    void* const place = apart ? place_of_content(size_) : nullptr;
    if (place != nullptr) flags |= MAP_FIXED;
    void* mapped =
        mmap(place, size_, PROT_READ | PROT_WRITE, flags, descriptor, static_cast<off_t>(offset));
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::uint8_t*>(mapped);
    stores().insert(store_after(data_), {data_, this});
}

void backing_store::show(std::uint64_t offset, std::shared_ptr<const initial_content> content) {
    assert(descriptor_ < 0 && offset % page == 0 && offset <= size_ &&
           content->size() <= size_ - offset && !shows(offset, content->size()));
    if (content->descriptor() < 0)
        std::ranges::copy(content->copy(), data_ + offset);
    else if (mmap(data_ + offset, content->size(), PROT_READ | PROT_WRITE,
                  MAP_NORESERVE | MAP_PRIVATE | MAP_FIXED, content->descriptor(), 0) == MAP_FAILED)
        throw std::bad_alloc();
    parts_ = std::make_shared<const part>(part{offset, std::move(content), parts_});
}

bool backing_store::shows(std::uint64_t offset, std::uint64_t size) const {
    for (const auto* each = parts_.get(); each != nullptr; each = each->next.get())
        if (each->offset < offset + size && offset < each->offset + each->content->size())
            return true;
    return false;
}

backing_store::~backing_store() {
    forget_in_use();
    // The slice is not freed: after a fork() its pages may be in use by another process.
    stores().erase(std::prev(store_after(data_)));
    munmap(data_, size_);
}

bool backing_store::any_shared() {
    return std::ranges::any_of(stores(), [](const auto& s) { return s.store->descriptor() >= 0; });
}

std::uint64_t backing_store::resident() const {
    if (descriptor_ < 0) return resident_private(data_, size_, size_);
    return resident_shared(descriptor_, descriptor_offset_, size_);
}

void backing_store::clear() {
    forget_in_use();
    if (descriptor_ < 0) {
        madvise(data_, size_, MADV_DONTNEED);
        for (const auto* each = parts_.get(); each != nullptr; each = each->next.get())
            std::ranges::copy(each->content->copy(), data_ + each->offset);
    } else {
        fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(descriptor_offset_), static_cast<off_t>(size_));
    }
}

void backing_store::release_zeroes() {
    if (descriptor_ >= 0) return;
    std::array<std::uint64_t, 512> entries;
    const std::uint64_t pages = (size_ + page - 1) / page;
    std::uint64_t first = 0, end = 0;  // pages to return
    const auto release = [&] {
        if (end > first) madvise(data_ + first * page, (end - first) * page, MADV_DONTNEED);
    };
    for (std::uint64_t index = 0, got = 0; index < pages; index += got) {
        const auto wanted = std::span(entries).first(std::min(entries.size(), pages - index));
        got = read_entries(reinterpret_cast<std::uint64_t>(data_) / page + index, wanted);
        if (got == 0) break;
        for (std::uint64_t i = index; i < index + got; ++i) {
            const auto size = std::min(page, size_ - i * page);
            if (!held(entries[i - index]) || !all_zero(data_ + i * page, size) ||
                shows(i * page, size))
                continue;
            if (i != end) {
                release();
                first = i;
            }
            end = i + 1;
        }
    }
    release();
    forget_in_use();
}

bool backing_store::untouched(const std::uint8_t* address, std::uint64_t size) const {
    const auto offset = static_cast<std::uint64_t>(address - data_);
    assert(address >= data_ && size > 0 && size <= size_ - offset);
    if (shows(offset, size)) return false;
    if (in_use_.empty()) in_use_.resize((size_ + block - 1) / block);
    const std::uint64_t last = (offset + size - 1) / block;
    for (std::uint64_t i = offset / block; i <= last; ++i)
        if (in_use_[i]) return false;
    for (std::uint64_t i = offset / block; i <= last; ++i) {
        const std::uint64_t start = std::max(offset, i * block);
        if (unbacked(start, std::min(offset + size, (i + 1) * block) - start)) continue;
        note_in_use(i);
        return false;
    }
    return true;
}

void backing_store::provide(const std::uint8_t* address, std::uint64_t size) const {
    const auto offset = static_cast<std::uint64_t>(address - data_);
    assert(address >= data_ && size > 0 && size <= size_ - offset);
    if (descriptor_ >= 0) return;
    if (in_use_.empty()) in_use_.resize((size_ + block - 1) / block);
    const std::uint64_t last = (offset + size - 1) / block;
    for (std::uint64_t i = offset / block; i <= last; ++i) {
        if (in_use_[i]) continue;
        set_in_use(i);
        // Where the host refuses (Linux before 5.14), the write takes the faults.
        madvise(data_ + i * block, std::min(block, size_ - i * block), MADV_POPULATE_WRITE);
    }
}

/// Memory in use tends to be contiguous: queries the following blocks in the same call.
void backing_store::note_in_use(std::uint64_t block_number) const {
    set_in_use(block_number);
    if (descriptor_ < 0) {
        constexpr std::uint64_t pages_per_block = block / page;
        std::array<std::uint64_t, 32 * pages_per_block> entries;
        const auto first = reinterpret_cast<std::uint64_t>(data_) / page;
        const auto wanted = std::min<std::uint64_t>(
            entries.size(), (size_ - block_number * block + page - 1) / page);
        const auto got =
            read_entries(first + block_number * pages_per_block, std::span(entries).first(wanted));
        for (std::size_t i = 0; i < got; ++i)
            if (held(entries[i])) set_in_use(block_number + i / pages_per_block);
    } else {
        const auto start = static_cast<off_t>(descriptor_offset_ + block_number * block);
        const off_t hole = lseek(
            descriptor_, std::max<off_t>(lseek(descriptor_, start, SEEK_DATA), start), SEEK_HOLE);
        const auto end =
            std::min(static_cast<std::uint64_t>(std::max(hole, start)) - descriptor_offset_, size_);
        for (std::uint64_t i = block_number; i * block < end; ++i) set_in_use(i);
    }
}

void backing_store::set_in_use(std::uint64_t block_number) const {
    blocks_in_use += in_use_[block_number] ? 0 : 1;
    in_use_[block_number] = true;
}

void backing_store::forget_in_use() {
    blocks_in_use -= static_cast<std::uint64_t>(std::ranges::count(in_use_, true));
    in_use_.clear();
}

std::uint64_t backing_store::known_in_use() {
    return blocks_in_use * block;
}

bool backing_store::unbacked(std::uint64_t offset, std::uint64_t size) const {
    if (descriptor_ < 0) return resident_private(data_ + offset, size, 1) == 0;
    const auto start = static_cast<off_t>(descriptor_offset_ + offset);
    const off_t next = lseek(descriptor_, start, SEEK_DATA);
    return next < 0 ? errno == ENXIO : next >= start + static_cast<off_t>(size);
}

const backing_store* backing_store::holding(const std::uint8_t* address) {
    const auto after = store_after(address);
    if (after == stores().begin()) return nullptr;
    const backing_store* store = std::prev(after)->store;
    return static_cast<std::uint64_t>(address - store->data_) < store->size_ ? store : nullptr;
}

void provide_pages(std::uint8_t* target, std::size_t size) {
    if (size < worth_asking) return;
    if (const auto* store = backing_store::holding(target)) store->provide(target, size);
}

bool copied_as_zeroes(std::uint8_t* target, const std::uint8_t* source, std::size_t size) {
    constexpr std::size_t glance = 64;
    if (size < worth_asking) return false;
    if (fresh(source, size)) {
        if (!fresh(target, size)) std::memset(target, 0, size);
        return true;
    }
    return all_zero(source, glance) && fresh(target, size) && all_zero(source, size);
}

}  // namespace trn
