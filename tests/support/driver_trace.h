// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace trn::test {

/// One request of a recorded driver (tests/data/driver-traces/README.md).
struct driver_request {
    enum class kind { read, write, map, unmap, reset };
    kind operation;
    unsigned region = 0;        // read, write
    std::uint64_t offset = 0;   // in the region, or the IOVA
    std::uint64_t size = 0;     // bytes
    std::uint64_t value = 0;    // first 8 bytes read or written
    std::uint64_t in_file = 0;  // map: offset in the mapped file
    unsigned flags = 0;         // map: 1 readable, 2 writable
    bool descriptor = false;    // map: a file descriptor was attached
};

/// The requests of a compressed trace, in order.
inline std::vector<driver_request> read_driver_trace(const std::string& path) {
    using kind = driver_request::kind;
    const std::unique_ptr<FILE, int (*)(FILE*)> text(popen(("gzip -dc " + path).c_str(), "r"),
                                                     pclose);
    std::vector<driver_request> requests;
    char line[1024];
    while (text != nullptr && fgets(line, sizeof line, text.get()) != nullptr) {
        driver_request request{.operation = kind::read};
        char direction = 0;
        unsigned long long offset = 0, size = 0, value = 0, in_file = 0;
        int fds = 0;
        char reset[8] = "";
        if (sscanf(line, "%*f R%u %c %llx/%llu %*[<>-] %llx", &request.region, &direction, &offset,
                   &size, &value) == 5) {
            request.operation = direction == 'W' ? kind::write : kind::read;
        } else if (sscanf(line, "%*f DMA_MAP iova %llx size %llx off %llx flags %u fd %d", &offset,
                          &size, &in_file, &request.flags, &fds) == 5) {
            request.operation = kind::map;
            request.descriptor = fds != 0;
        } else if (sscanf(line, "%*f DMA_UNMAP iova %llx size %llx", &offset, &size) == 2) {
            request.operation = kind::unmap;
        } else if (sscanf(line, "%*f %7s", reset) == 1 && std::string(reset) == "RESET") {
            request.operation = kind::reset;
        } else {
            continue;
        }
        request.offset = offset;
        request.size = size;
        request.value = value;
        request.in_file = in_file;
        requests.push_back(request);
    }
    if (requests.empty()) throw std::runtime_error("no trace in " + path);
    return requests;
}

}  // namespace trn::test
