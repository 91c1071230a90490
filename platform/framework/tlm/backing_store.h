// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace trn {

/// Bytes that any number of private stores begin with; each store copies the pages that it writes.
class initial_content {
public:
    /// `bytes` is not empty.
    explicit initial_content(std::span<const std::uint8_t> bytes);
    ~initial_content();
    initial_content(const initial_content&) = delete;
    initial_content& operator=(const initial_content&) = delete;

    std::uint64_t size() const { return bytes_.size(); }
    const std::uint8_t* data() const { return bytes_.data(); }
    /// A file of these bytes; -1 where the host allows none (limits of files): stores copy them.
    int descriptor() const { return descriptor_; }

private:
    const std::vector<std::uint8_t> bytes_;
    const int descriptor_;
};

/// Zero-filled bytes that cost nothing until touched: address space is reserved, not backed.
/// A private store is copied on write by fork(); a shared one has a file descriptor that other
/// processes can map (a guest's BAR window). Shared stores of one group are slices of one file,
/// each at the next multiple of its size rounded up to a power of two, so that adjacent memories
/// of a BAR can be mapped from one descriptor. A chip is a group, so that a mapping of its memory
/// contains no other chip's.
class backing_store {
public:
    enum class sharing { private_pages, file_descriptor };

    /// Aborts (std::bad_alloc) when the host cannot reserve `size` bytes of address space.
    /// Private stores have no group.
    explicit backing_store(std::uint64_t size, sharing how = sharing::private_pages,
                           std::string_view group = {});
    /// A private store of the content's size.
    explicit backing_store(std::shared_ptr<const initial_content> content);
    ~backing_store();
    backing_store(const backing_store&) = delete;
    backing_store& operator=(const backing_store&) = delete;

    std::uint8_t* data() const { return data_; }
    std::uint64_t size() const { return size_; }
    /// The memfd of a shared store's group, else -1; the store does not own it.
    int descriptor() const { return descriptor_; }
    /// Offset of the store in the memfd.
    std::uint64_t descriptor_offset() const { return descriptor_offset_; }
    /// Host bytes that back this store now (pages touched).
    std::uint64_t resident() const;
    /// Back to zeroes, or to its initial content; pages returned to the host.
    void clear();
    /// True: no host page backs [at, at + size), so all of it reads zero. False also when only its
    /// surroundings (64 KiB) are in use.
    bool untouched(const std::uint8_t* at, std::uint64_t size) const;

    /// Whether any store of this process has a file descriptor.
    static bool any_shared();
    /// The store that contains `at`; nullptr for other memory.
    static const backing_store* holding(const std::uint8_t* at);

private:
    void map(int flags, int descriptor, std::uint64_t offset);
    bool unbacked(std::uint64_t offset, std::uint64_t size) const;
    void note_in_use(std::uint64_t block) const;

    const std::uint64_t size_;
    const std::shared_ptr<const initial_content> content_;
    int descriptor_ = -1;
    std::uint64_t descriptor_offset_ = 0;
    std::uint8_t* data_ = nullptr;
    // Blocks once seen in use; they stay so until clear(). Spares the question to the host's
    // kernel.
    mutable std::vector<bool> in_use_;
};

/// Copies large runs of zeroes between stores without backing them: a scrub of a whole HBM stack
/// then costs no host memory. False: nothing was done, the bytes have to be copied.
bool copied_as_zeroes(std::uint8_t* to, const std::uint8_t* from, std::size_t size);

}  // namespace trn
