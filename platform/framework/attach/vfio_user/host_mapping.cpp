// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user/host_mapping.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

namespace trn {

namespace {

// All live mappings by address, for the signal handler, which is process-wide. The simulator has
// one thread, and SIGBUS is raised synchronously by a copy, so never during an update of this map.
// Never destroyed, since mappings may outlive static objects.
std::map<const std::uint8_t*, host_mapping*>& live() {
    static auto& all = *new std::map<const std::uint8_t*, host_mapping*>;
    return all;
}

std::uint64_t bytes_mapped = 0;

[[noreturn]] void fail(int error) {
    throw std::system_error(error, std::generic_category());
}

/// Size of the pages of a file: huge pages can only be mapped and unmapped whole.
std::uint64_t page_of(int descriptor, const struct stat& status) {
    struct statfs system {};
    const bool huge = fstatfs(descriptor, &system) == 0 && system.f_type == HUGETLBFS_MAGIC;
    return huge ? static_cast<std::uint64_t>(status.st_blksize) : 4096;
}

}  // namespace

struct host_mapping_guard {
    static void on_bus_error(int, siginfo_t* info, void*) {
        const int saved = errno;
        const bool sent = info->si_code <= 0;  // by a process: without an address
        if (sent || !host_mapping::replace(static_cast<const std::uint8_t*>(info->si_addr))) {
            // Another address: repeat the access, which now ends the process.
            signal(SIGBUS, SIG_DFL);
            if (sent) raise(SIGBUS);
        }
        errno = saved;
    }
};

void host_mapping::install_guard() {
    static const bool installed = [] {
        struct sigaction action {};
        action.sa_sigaction = host_mapping_guard::on_bus_error;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        return sigaction(SIGBUS, &action, nullptr) == 0;
    }();
    static_cast<void>(installed);
}

/// Maps zeroes in place of the whole range, which is one area of the kernel again, however many of
/// its pages are accessed. Calls only functions that a signal handler may call.
bool host_mapping::replace(const std::uint8_t* address) {
    const auto next = live().upper_bound(address);
    if (next == live().begin()) return false;
    host_mapping& mapping = *std::prev(next)->second;
    if (mapping.lost_ || address >= mapping.bytes_ + mapping.mapped_) return false;
    mapping.lost_ = true;
    if (mmap(mapping.bytes_, mapping.mapped_, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    const std::uint64_t increment = 1;
    if (mapping.lost_event_ >= 0) {
        [[maybe_unused]] const auto written =
            write(mapping.lost_event_, &increment, sizeof increment);
    }
    return true;
}

std::size_t host_mapping::max_mappings() {
    static const std::size_t limit = [] {
        std::size_t areas = 65'530;  // the kernel's default
        std::ifstream("/proc/sys/vm/max_map_count") >> areas;
        return areas / 4 * 3;
    }();
    return limit;
}

host_mapping::host_mapping(int descriptor, std::uint64_t offset, std::uint64_t size, bool writable,
                           int lost_event)
    : size_(size), lost_event_(lost_event) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) fail(errno);
    const auto length = static_cast<std::uint64_t>(status.st_size);
    if (!S_ISREG(status.st_mode) || size == 0 || offset > length || size > length - offset)
        throw mapping_refused("the file has not so many");
    const std::uint64_t page = page_of(descriptor, status);
    if (offset % page != 0)
        throw mapping_refused(fmt::format("the offset is not a multiple of {}", page));
    mapped_ = (size + page - 1) / page * page;
    if (live().size() >= max_mappings() || mapped_ > max_bytes - bytes_mapped) fail(ENOSPC);
    install_guard();
    const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* address = mmap(nullptr, mapped_, protection, MAP_SHARED | MAP_NORESERVE, descriptor,
                         static_cast<off_t>(offset));
    if (address == MAP_FAILED) fail(errno);
    bytes_ = static_cast<std::uint8_t*>(address);
    live().emplace(bytes_, this);
    bytes_mapped += mapped_;
}

host_mapping::~host_mapping() {
    bytes_mapped -= mapped_;
    live().erase(bytes_);
    munmap(bytes_, mapped_);
}

}  // namespace trn
