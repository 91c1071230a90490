// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/guest/trivial_device.h"

#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "platform/framework/attach/vfio_user/protocol.h"

namespace trn::test {

namespace {

using namespace vfio_user;

constexpr std::uint64_t bar0_size = 1 << 20;

class device {
public:
    explicit device(int client) : client_(client) {
        put16(PCI_VENDOR_ID, 0x1234);  // QEMU's own value for unassigned ids
        put16(PCI_DEVICE_ID, 0x7472);
        config_[PCI_CLASS_DEVICE + 1] = 0xff;
    }

    void serve() {
        while (receive()) {
            reply_.assign(sizeof(header), 0);
            answer();
            header head;
            std::memcpy(&head, request_.data(), sizeof head);
            if ((head.flags & flag_no_reply) != 0) continue;
            head.flags = flag_reply;
            head.size = static_cast<std::uint32_t>(reply_.size());
            std::memcpy(reply_.data(), &head, sizeof head);
            if (send(client_, reply_.data(), reply_.size(), MSG_NOSIGNAL) < 0) return;
        }
    }

private:
    void put16(unsigned at, std::uint16_t value) {
        std::memcpy(&config_[at], &value, sizeof value);
    }

    bool read_whole(std::size_t size, bool with_descriptors) {
        const std::size_t old = request_.size();
        request_.resize(old + size);
        for (std::size_t done = 0; done < size;) {
            iovec part{&request_[old + done], size - done};
            alignas(cmsghdr) std::array<char, CMSG_SPACE(16 * sizeof(int))> control;
            msghdr message{};
            message.msg_iov = &part;
            message.msg_iovlen = 1;
            if (with_descriptors) {
                message.msg_control = control.data();
                message.msg_controllen = control.size();
            }
            const auto got = recvmsg(client_, &message, MSG_CMSG_CLOEXEC);
            if (got <= 0) return false;
            for (auto* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
                for (std::size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i)
                    ::close(reinterpret_cast<int*>(CMSG_DATA(c))[i]);
            done += static_cast<std::size_t>(got);
        }
        return true;
    }

    bool receive() {
        request_.clear();
        if (!read_whole(sizeof(header), true)) return false;
        header head;
        std::memcpy(&head, request_.data(), sizeof head);
        return head.size >= sizeof head && head.size <= max_message &&
               (head.size == sizeof head || read_whole(head.size - sizeof head, true));
    }

    template <typename T>
    T payload() const {
        T value{};
        std::memcpy(&value, request_.data() + sizeof(header),
                    std::min(sizeof value, request_.size() - sizeof(header)));
        return value;
    }
    template <typename T>
    void add(const T& value) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
        reply_.insert(reply_.end(), bytes, bytes + sizeof value);
    }

    void answer() {
        header head;
        std::memcpy(&head, request_.data(), sizeof head);
        switch (static_cast<command>(head.command)) {
        case command::version: {
            add(version{version_major, 0});
            constexpr std::string_view json =
                R"({"capabilities":{"max_msg_fds":8,"max_data_xfer_size":1048576,"pgsizes":4096}})";
            reply_.insert(reply_.end(), json.begin(), json.end());
            reply_.push_back(0);
            break;
        }
        case command::device_get_info:
            // The leading part of the structure: QEMU refuses the fields that newer headers append.
            for (const std::uint32_t word :
                 {16u, std::uint32_t{VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET},
                  std::uint32_t{VFIO_PCI_NUM_REGIONS}, std::uint32_t{VFIO_PCI_NUM_IRQS}})
                add(word);
            break;
        case command::device_get_region_info:
            region(payload<vfio_region_info>());
            break;
        case command::device_get_irq_info: {
            auto irq = payload<vfio_irq_info>();
            irq.count = 0;
            add(irq);
            break;
        }
        case command::region_read:
            read(payload<region_access>());
            break;
        case command::region_write:
            add(payload<region_access>());
            break;
        case command::dma_unmap:
            add(payload<dma_unmap>());
            break;
        default:
            break;  // the message consists of its header only
        }
    }

    void region(vfio_region_info info) {
        const bool registers = info.index == VFIO_PCI_BAR0_REGION_INDEX;
        const bool config = info.index == VFIO_PCI_CONFIG_REGION_INDEX;
        info.argsz = sizeof info;
        info.size = registers ? bar0_size : config ? config_.size() : 0;
        info.flags = info.size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
        info.cap_offset = 0;
        info.offset = 0;
        add(info);
    }

    void read(const region_access& access) {
        add(access);
        for (std::uint32_t i = 0; i < access.count && i < 4096; ++i)
            reply_.push_back(access.region == VFIO_PCI_CONFIG_REGION_INDEX
                                 ? config_[(access.offset + i) % config_.size()]
                                 : 0x5a);
    }

    int client_;
    std::array<std::uint8_t, 256> config_{};
    std::vector<std::uint8_t> request_, reply_;
};

}  // namespace

int listen_on(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return -1;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(made, 1) != 0)
        return -1;
    return made;
}

void serve_trivial_device(int listening_socket) {
    const int client = accept4(listening_socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) device(client).serve();
}

}  // namespace trn::test
