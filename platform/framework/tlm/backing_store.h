// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace trn {

/// Initial content shared by private stores; each store copies the pages that it writes.
class initial_content {
public:
    /// Precondition: `bytes` is not empty.
    explicit initial_content(std::span<const std::uint8_t> bytes);
    ~initial_content();
    initial_content(const initial_content&) = delete;
    initial_content& operator=(const initial_content&) = delete;

    std::uint64_t size() const { return size_; }
    /// A file of these bytes; -1 if the host's limits prevent it: then stores copy the bytes.
    int descriptor() const { return descriptor_; }
    /// The bytes; empty if there is a file.
    std::span<const std::uint8_t> copy() const { return copy_; }

private:
    const std::uint64_t size_;
    const int descriptor_;
    const std::vector<std::uint8_t> copy_;
};

/// Zero-filled bytes that use no host memory until touched: address space is only reserved. A
/// private store is copied on write by fork(); a shared one has a file descriptor that other
/// processes can map (a guest's BAR window). Shared stores of a group are slices of one file, each
/// aligned to its size rounded up to a power of two, so that adjacent memories of a BAR can be
/// mapped from one descriptor. Each chip is a group, so that a mapping of its memory contains no
/// other chip's.
class backing_store {
public:
    enum class sharing { private_pages, file_descriptor };

    /// Aborts (std::bad_alloc) if the host cannot reserve `size` bytes of address space. Private
    /// stores have no group.
    explicit backing_store(std::uint64_t size, sharing mode = sharing::private_pages,
                           std::string_view group = {});
    /// A private store of the content's size.
    explicit backing_store(std::shared_ptr<const initial_content> content);
    ~backing_store();
    backing_store(const backing_store&) = delete;
    backing_store& operator=(const backing_store&) = delete;

    std::uint8_t* data() const { return data_; }
    std::uint64_t size() const { return size_; }
    /// The memfd of a shared store's group, else -1; not owned by the store.
    int descriptor() const { return descriptor_; }
    /// Offset of the store in the memfd.
    std::uint64_t descriptor_offset() const { return descriptor_offset_; }
    /// Puts `content` at `offset`, a multiple of the host's page size, as initial content of these
    /// bytes. Precondition: a private store, in which it has room, and none there yet.
    void show(std::uint64_t offset, std::shared_ptr<const initial_content> content);
    /// Bytes of host memory in use by this store (touched pages).
    std::uint64_t resident() const;
    /// Resets to zeroes or the initial content; returns pages to the host.
    void clear();
    /// Returns touched pages to the host that are all zero, as many of a machine whose software
    /// clears memory that it does not use. Bytes and addresses stay. Not for shared stores.
    void release_zeroes();
    /// True: no host page backs [address, address + size), so it reads zero. May be false if other
    /// bytes in the same 64 KiB are in use.
    bool untouched(const std::uint8_t* address, std::uint64_t size) const;

    /// Has the host provide, in one call, each 64 KiB that [address, address + size) overlaps and
    /// that is not known to be in use. Not for shared stores, whose pages show what other processes
    /// touched.
    void provide(const std::uint8_t* address, std::uint64_t size) const;

    /// Bytes of all stores of this process that are known to be in use: a lower limit, in steps of
    /// 64 KiB.
    static std::uint64_t known_in_use();
    /// Whether any store of this process has a file descriptor.
    static bool any_shared();
    /// The store that contains `address`; nullptr for other memory.
    static const backing_store* holding(const std::uint8_t* address);

private:
    struct part {
        std::uint64_t offset;
        std::shared_ptr<const initial_content> content;
        std::shared_ptr<const part> next;
    };

    void map(int flags, int descriptor, std::uint64_t offset, bool apart = false);
    bool shows(std::uint64_t offset, std::uint64_t size) const;
    bool unbacked(std::uint64_t offset, std::uint64_t size) const;
    void note_in_use(std::uint64_t block) const;
    void set_in_use(std::uint64_t block) const;
    void forget_in_use();

    const std::uint64_t size_;
    std::shared_ptr<const part> parts_;  // with initial content
    int descriptor_ = -1;
    std::uint64_t descriptor_offset_ = 0;
    std::uint8_t* data_ = nullptr;
    // Blocks found or made to be in use; reset by clear(). Saves queries to the host's kernel.
    mutable std::vector<bool> in_use_;
};

/// Call before a large write to [target, target + size), which need not be in a store: see
/// backing_store::provide().
void provide_pages(std::uint8_t* target, std::size_t size);

/// Copies large zero areas between stores without touching them, so that scrubbing an HBM stack
/// takes no host memory. False: nothing was done, and the bytes must be copied.
bool copied_as_zeroes(std::uint8_t* target, const std::uint8_t* source, std::size_t size);

}  // namespace trn
