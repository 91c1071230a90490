// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/host_mapping.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
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

}  // namespace

struct host_mapping_guard {
    static void on_bus_error(int, siginfo_t* info, void*) {
        const int saved = errno;
        if (!host_mapping::repair(static_cast<const std::uint8_t*>(info->si_addr))) {
            // Another address: repeat the access, which now ends the process.
            signal(SIGBUS, SIG_DFL);
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

/// Maps a zero page in place of a page that the file no longer has.
bool host_mapping::repair(const std::uint8_t* address) {
    constexpr std::uintptr_t page = 4096;
    const auto next = live().upper_bound(address);
    if (next == live().begin()) return false;
    host_mapping& at = *std::prev(next)->second;
    if (address >= at.bytes_ + at.size_) return false;
    at.torn_ = true;
    void* where = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) & ~(page - 1));
    return mmap(where, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

host_mapping::host_mapping(int descriptor, std::uint64_t offset, std::uint64_t size, bool writable)
    : size_(size) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) throw std::system_error(errno, std::generic_category());
    const auto length = static_cast<std::uint64_t>(status.st_size);
    if (!S_ISREG(status.st_mode) || size == 0 || offset > length || size > length - offset) {
        throw std::system_error(EINVAL, std::generic_category());
    }
    install_guard();
    const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* at = mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, descriptor,
                    static_cast<off_t>(offset));
    if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category());
    bytes_ = static_cast<std::uint8_t*>(at);
    live().emplace(bytes_, this);
}

host_mapping::~host_mapping() {
    live().erase(bytes_);
    munmap(bytes_, size_);
}

}  // namespace trn
