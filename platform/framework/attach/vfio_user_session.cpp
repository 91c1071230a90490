// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/vfio_user_session.h"

#include <fmt/format.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "platform/framework/config/json.h"
#include "platform/framework/log.h"

namespace trn {

using namespace vfio_user;
using boost::system::error_code;
using nlohmann::json;
using sc_core::sc_time;

namespace {

constexpr unsigned regions = VFIO_PCI_NUM_REGIONS;
constexpr unsigned interrupt_kinds = VFIO_PCI_NUM_IRQS;
constexpr std::uint32_t min_transfer = 4096;  // bytes: below this a client's limit is nonsense

/// The leading fixed part of a payload; nothing when the message is shorter.
template <typename T>
std::optional<T> leading(const message& request) {
    if (request.payload.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, request.payload.data(), sizeof value);
    return value;
}

template <typename T>
void put(std::span<std::uint8_t> at, const T& value, std::size_t offset = 0) {
    std::memcpy(&at[offset], &value, sizeof value);
}

/// A client might pass a pipe or a terminal that would block the simulator.
bool is_eventfd(int descriptor) {
    char target[64] = {};
    const std::string link = fmt::format("/proc/self/fd/{}", descriptor);
    return readlink(link.c_str(), target, sizeof target - 1) > 0 &&
           std::strcmp(target, "anon_inode:[eventfd]") == 0;
}

/// Adds one, unless the counter is full: then the client has enough to wake up for.
void signal_eventfd(int descriptor) {
    pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const std::uint64_t one = 1;
    if (poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0) {
        [[maybe_unused]] const auto written = ::write(descriptor, &one, sizeof one);
    }
}

/// The process that has connected; 0: not known, as of one in another namespace.
std::uint64_t process_of(int socket) {
    ucred client{};
    socklen_t size = sizeof client;
    const bool known = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &client, &size) == 0;
    return known ? static_cast<std::uint64_t>(client.pid) : 0;
}

std::uint64_t simulated_nanoseconds() {
    return static_cast<std::uint64_t>(sc_core::sc_time_stamp() / sc_time(1, sc_core::SC_NS));
}

/// As the vfio-user specification calls it.
std::string name_of(std::uint16_t number) {
    switch (static_cast<command>(number)) {
    case command::version:
        return "VERSION";
    case command::dma_map:
        return "DMA_MAP";
    case command::dma_unmap:
        return "DMA_UNMAP";
    case command::device_get_info:
        return "DEVICE_GET_INFO";
    case command::device_get_region_info:
        return "DEVICE_GET_REGION_INFO";
    case command::device_get_irq_info:
        return "DEVICE_GET_IRQ_INFO";
    case command::device_set_irqs:
        return "DEVICE_SET_IRQS";
    case command::region_read:
        return "REGION_READ";
    case command::region_write:
        return "REGION_WRITE";
    case command::device_reset:
        return "DEVICE_RESET";
    default:
        return std::to_string(number);
    }
}

}  // namespace

vfio_user_session::vfio_user_session(socket client, function_port& function,
                                     const vfio_user_server::config& cfg,
                                     const vfio_user_server::hooks& hooks, events to)
    : client_(std::move(client)),
      stream_(client_.native_handle()),
      function_(function),
      cfg_(cfg),
      hooks_(hooks),
      to_(std::move(to)),
      dma_(
          stream_, [this] { flush(); }, [this] { function_.host_messages_ready(); }) {
    client_.non_blocking(true);
    for (unsigned i = 0; i < function_port::bar_count; ++i) {
        region_sizes_[i] = function_.bar(i).size;
    }
    region_sizes_[VFIO_PCI_CONFIG_REGION_INDEX] = function_port::config_size;
}

void vfio_user_session::start() {
    await();
}

void vfio_user_session::finish_if_hung_up() {
    const auto self = shared_from_this();
    constexpr int max_reads = 64;  // what a socket buffers is read in fewer
    for (int i = 0; i < max_reads && !closed_; ++i) {
        pollfd end{.fd = client_.native_handle(), .events = POLLRDHUP, .revents = 0};
        if (poll(&end, 1, 0) != 1) return;
        held_ = false;  // no one is there to be answered
        serve(true);
    }
}

void vfio_user_session::close() {
    if (std::exchange(closed_, true)) return;
    error_code ignored;
    client_.close(ignored);
    if (!negotiated_) return;  // the function is not this client's
    function_.detach();
    function_.carry_host_messages(nullptr);
    while (!ranges_.empty()) unmap(ranges_.begin()->first, ranges_.begin()->second.size);
}

// --- the socket ---

void vfio_user_session::await() {
    if (stream_.pending()) return await_writable();
    if (std::exchange(awaiting_read_, true)) return;
    client_.async_wait(socket::wait_read, [self = shared_from_this()](const error_code& failed) {
        self->awaiting_read_ = false;
        if (!failed) self->serve(true);
    });
}

void vfio_user_session::await_writable() {
    if (std::exchange(awaiting_write_, true)) return;
    client_.async_wait(socket::wait_write, [self = shared_from_this()](const error_code& failed) {
        self->awaiting_write_ = false;
        if (!failed) self->serve(false);
    });
}

/// Sends what the models posted; not while a request is being answered: its reply goes first.
void vfio_user_session::flush() {
    if (dispatching_ || held_ || closed_) return;
    try {
        if (!stream_.flush()) await_writable();
    } catch (const std::system_error&) {
        await_writable();  // its handler finds the broken socket and ends the session
    }
}

/// A reply that the client does not take stops the reading of its requests.
void vfio_user_session::serve(bool readable) {
    if (closed_ || held_) return;
    std::string why;
    try {
        bool drained = stream_.flush();
        if (drained && readable && !stream_.receive()) why = "the client closed the connection";
        while (drained && why.empty()) {
            auto request = stream_.next();
            if (!request) break;
            dispatch(*request);
            if (closed_ || held_) return;
            drained = stream_.flush();
        }
    } catch (const protocol_error& wrong) {
        why = fmt::format("connection closed: {}", wrong.what());
    } catch (const std::system_error& failed) {
        why = fmt::format("connection lost: {}", failed.what());
    }
    if (!why.empty()) return to_.ended(*this, why);
    await();
}

/// Sends the held reply, and continues with messages that the client has sent meanwhile.
void vfio_user_session::release() {
    if (std::exchange(held_, false)) serve(false);
}

void vfio_user_session::dispatch(message& request) {
    const std::uint32_t type = request.head.flags & flag_type_mask;
    if (type == flag_reply) return dma_.answered(request);
    if (type != flag_request) {
        throw protocol_error(fmt::format("message flags {:#x}", request.head.flags));
    }
    const auto what = static_cast<command>(request.head.command);
    if (!negotiated_ && what != command::version) {
        throw protocol_error(fmt::format("command {} before the version", request.head.command));
    }
    dispatching_ = true;
    const int error = answer(request);
    dispatching_ = false;
    if (error != 0) {
        stream_.reply_error(request.head, error);
        say_refused(request, error);
    }
    if ((request.head.flags & flag_no_reply) != 0) stream_.drop_reply();
}

void vfio_user_session::say_refused(const message& request, int error) {
    constexpr unsigned most = 10;
    const std::string why = std::exchange(why_, {});
    if (refusals_ >= most) return;
    const std::string line =
        fmt::format("the client's message {} was refused: {}{}", name_of(request.head.command),
                    why.empty() ? std::generic_category().message(error) : why,
                    ++refusals_ == most ? " (its further refusals are not shown)" : "");
    if (hooks_.log)
        hooks_.log(line);
    else
        log::info(cfg_.name, "{}", line);
}

int vfio_user_session::answer(message& request) {
    if (request.lost_descriptors) {
        why_ = "its descriptors did not arrive, for this process has too many files open";
        return EMFILE;
    }
    switch (static_cast<command>(request.head.command)) {
    case command::version:
        return version(request);
    case command::dma_map:
        return map_dma(request);
    case command::dma_unmap:
        return unmap_dma(request);
    case command::device_get_info:
        return send_device_info(request);
    case command::device_get_region_info:
        return send_region_info(request);
    case command::device_get_irq_info:
        return send_interrupt_info(request);
    case command::device_set_irqs:
        return set_interrupts(request);
    case command::region_read:
        return read_region(request);
    case command::region_write:
        return write_region(request);
    case command::device_reset:
        return reset(request);
    case command::trn_now:
        return send_time(request);
    case command::trn_wait:
        return wait(request);
    case command::dma_read:
    case command::dma_write:
        break;  // ours to send
    }
    return ENOTSUP;
}

// --- version ---

int vfio_user_session::version(const message& request) {
    const auto offered = leading<vfio_user::version>(request);
    if (negotiated_ || !offered) return EINVAL;
    if (offered->major != version_major) {
        return refuse_version(
            request, fmt::format("the client speaks vfio-user {}.{}, this server {}.{}",
                                 offered->major, offered->minor, version_major, version_minor));
    }
    const auto text = request.payload.subspan(sizeof *offered);
    const auto end = std::ranges::find(text, std::uint8_t{0});
    const json said = text.empty()
                          ? json::object()
                          : config::parse_json({reinterpret_cast<const char*>(text.data()),
                                                static_cast<std::size_t>(end - text.begin())});
    if (!said.is_object())
        return refuse_version(request, "the version message carries no JSON object");

    const json capabilities = said.value("capabilities", json::object());
    json answer = {{"capabilities",
                    {{"max_msg_fds", max_descriptors},
                     {"max_data_xfer_size", max_data_transfer},
                     {"max_dma_maps", max_dma_maps},
                     {"pgsizes", page_size}}}};
    if (capabilities.is_object() && capabilities.contains("max_data_xfer_size")) {
        const json& limit = capabilities["max_data_xfer_size"];
        if (!limit.is_number_unsigned() || limit < min_transfer) {
            return refuse_version(request,
                                  fmt::format("max_data_xfer_size is {}, at least {} is needed",
                                              limit.dump(), min_transfer));
        }
        dma_.limit_transfer(static_cast<std::uint32_t>(
            std::min<std::uint64_t>(limit.get<std::uint64_t>(), max_data_transfer)));
    }
    if (said.contains("trnvp")) {
        if (const auto why = mismatch(said["trnvp"]); !why.empty())
            return refuse_version(request, why);
        answer["trnvp"] = {{"board", cfg_.board}, {"digest", cfg_.digest}, {"endian", "little"}};
    }
    if (const auto why = to_.introduced(*this); !why.empty())
        return refuse_version(request, why, EBUSY);
    negotiated_ = true;
    function_.join(process_of(client_.native_handle()));
    function_.carry_host_messages(&dma_);
    const std::string reply = answer.dump();
    const auto room = stream_.reply(request.head, sizeof *offered + reply.size() + 1);
    put(room, vfio_user::version{version_major, std::min(offered->minor, version_minor)});
    std::memcpy(&room[sizeof *offered], reply.c_str(), reply.size() + 1);
    return 0;
}

/// The error reply carries the sentence for the client's user; the log line carries it for ours.
int vfio_user_session::refuse_version(const message& request, const std::string& why, int error) {
    const std::string text = json{{"error", why}}.dump();
    stream_.reply_error(request.head, error,
                        {reinterpret_cast<const std::uint8_t*>(text.c_str()), text.size() + 1});
    stream_.flush();
    throw protocol_error(why);
}

std::string vfio_user_session::mismatch(const json& expected) const {
    if (!expected.is_object()) return "the client's \"trnvp\" is not an object";
    const auto differs = [&](const char* key, const std::string& mine) -> std::string {
        if (!expected.contains(key)) return {};
        const json& theirs = expected[key];
        if (theirs.is_string() && theirs.get_ref<const std::string&>() == mine) return {};
        return fmt::format("the client expects {} {}, this platform has \"{}\"", key, theirs.dump(),
                           mine);
    };
    for (const auto& [key, mine] : {std::pair<const char*, std::string>{"endian", "little"},
                                    {"board", cfg_.board},
                                    {"digest", cfg_.digest}}) {
        if (auto why = differs(key, mine); !why.empty()) return why;
    }
    return {};
}

// --- host memory ---

int vfio_user_session::map_dma(message& request) {
    const auto asked = leading<dma_map>(request);
    if (!asked || request.descriptors.size() > 1) return EINVAL;
    if (ranges_.size() >= max_dma_maps) return ENOSPC;
    const bool writable = (asked->flags & dma_map_write) != 0;
    client_range range{.size = asked->size, .mapping = nullptr};
    if (!request.descriptors.empty()) {
        try {
            range.mapping = std::make_unique<host_mapping>(request.descriptors[0].get(),
                                                           asked->offset, asked->size, writable);
        } catch (const std::system_error& failed) {
            why_ =
                fmt::format("{} bytes at {:#x} of the file it sent: {}", asked->size, asked->offset,
                            failed.code().value() == EINVAL ? "the file has not so many"
                                                            : failed.code().message());
            return failed.code().value();
        }
    }
    const bool mapped =
        function_.map_host({.iova = asked->iova,
                            .size = asked->size,
                            .bytes = range.mapping == nullptr ? nullptr : range.mapping->bytes(),
                            .readable = (asked->flags & dma_map_read) != 0,
                            .writable = writable});
    if (!mapped) {
        why_ = fmt::format("{} bytes at {:#x}: empty, wrapping, or overlapping a mapped range",
                           asked->size, asked->iova);
        return EEXIST;
    }
    ranges_.emplace(asked->iova, std::move(range));
    stream_.reply(request.head, 0);
    return 0;
}

int vfio_user_session::unmap_dma(const message& request) {
    const auto asked = leading<vfio_user::dma_unmap>(request);
    if (!asked) return EINVAL;
    if ((asked->flags & dma_unmap_all) != 0) {
        while (!ranges_.empty()) unmap(ranges_.begin()->first, ranges_.begin()->second.size);
    } else if (!unmap(asked->iova, asked->size)) {
        why_ = fmt::format("{} bytes at {:#x} would cut a range that is mapped", asked->size,
                           asked->iova);
        return EINVAL;
    }
    put(stream_.reply(request.head, sizeof *asked), *asked);
    return 0;
}

bool vfio_user_session::unmap(std::uint64_t iova, std::uint64_t size) {
    return function_.unmap_host(
        iova, size, [this](const function_port::host_range& gone) { ranges_.erase(gone.iova); });
}

// --- device description ---

int vfio_user_session::send_device_info(const message& request) {
    constexpr std::uint32_t size = 16;  // the fixed part: no capabilities
    const std::array<std::uint32_t, 4> info{size, VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
                                            regions, interrupt_kinds};
    put(stream_.reply(request.head, sizeof info), info);
    return 0;
}

int vfio_user_session::send_region_info(const message& request) {
    const auto asked = leading<vfio_region_info>(request);
    if (!asked || asked->index >= regions) return EINVAL;
    vfio_region_info info{};
    info.argsz = sizeof info;
    info.index = asked->index;
    info.size = region_sizes_[asked->index];
    if (info.size != 0) info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;

    function_port::bar_info bar;
    if (cfg_.offer_mapping) bar = function_.bar(asked->index);
    if (bar.areas.empty()) {
        put(stream_.reply(request.head, sizeof info), info);
        return 0;
    }
    const std::size_t areas_at = sizeof info + sizeof(vfio_region_info_cap_sparse_mmap);
    info.argsz = static_cast<std::uint32_t>(areas_at + bar.areas.size() *
                                                           sizeof(vfio_region_sparse_mmap_area));
    info.flags |= VFIO_REGION_INFO_FLAG_MMAP | VFIO_REGION_INFO_FLAG_CAPS;
    info.offset = bar.descriptor_offset;
    info.cap_offset = sizeof info;    // also when they do not fit: QEMU refuses 0 there
    if (asked->argsz < info.argsz) {  // the client asks again with more room
        put(stream_.reply(request.head, sizeof info), info);
        return 0;
    }
    vfio_region_info_cap_sparse_mmap sparse{};
    sparse.header.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP;
    sparse.header.version = 1;
    sparse.nr_areas = static_cast<std::uint32_t>(bar.areas.size());
    const auto room = stream_.reply(request.head, info.argsz);
    put(room, info);
    put(room, sparse, sizeof info);
    for (std::size_t i = 0; i < bar.areas.size(); ++i) {
        put(room, vfio_region_sparse_mmap_area{bar.areas[i].offset, bar.areas[i].size},
            areas_at + i * sizeof(vfio_region_sparse_mmap_area));
    }
    stream_.attach(bar.descriptor);
    return 0;
}

int vfio_user_session::send_interrupt_info(const message& request) {
    const auto asked = leading<vfio_irq_info>(request);
    if (!asked || asked->index >= interrupt_kinds) return EINVAL;
    vfio_irq_info info{.argsz = sizeof info, .flags = 0, .index = asked->index, .count = 0};
    info.count = vectors(asked->index);
    if (info.count != 0) info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
    put(stream_.reply(request.head, sizeof info), info);
    return 0;
}

// --- interrupts ---

/// MSI-X, and the line that would report a fatal bus error: QEMU requires it of every function
/// with AER. Nothing raises it yet.
std::uint32_t vfio_user_session::vectors(std::uint32_t kind) const {
    if (kind == VFIO_PCI_MSIX_IRQ_INDEX) return function_.interrupt_vectors();
    return kind == VFIO_PCI_ERR_IRQ_INDEX ? 1 : 0;
}

int vfio_user_session::set_interrupts(message& request) {
    const auto asked = leading<irq_set>(request);
    if (!asked || asked->index >= interrupt_kinds) return EINVAL;
    const bool msix = asked->index == VFIO_PCI_MSIX_IRQ_INDEX;
    const std::uint32_t known = vectors(asked->index);
    if ((asked->flags & VFIO_IRQ_SET_ACTION_TRIGGER) == 0) return ENOTSUP;  // we mask nothing
    if (asked->start > known || asked->count > known - asked->start) return EINVAL;
    auto& fds = request.descriptors;

    switch (asked->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
    case VFIO_IRQ_SET_DATA_NONE:
        if (asked->count != 0) return ENOTSUP;  // loopback triggers
        for (std::uint32_t i = 0; msix && i < known; ++i) function_.on_interrupt(i, {});
        break;
    case VFIO_IRQ_SET_DATA_EVENTFD:
        // All of them or, to disable, none (QEMU cuts its list accordingly).
        if (!fds.empty() && fds.size() != asked->count) return EINVAL;
        for (const auto& fd : fds) {
            if (!is_eventfd(fd.get())) return EINVAL;
        }
        for (std::uint32_t i = 0; msix && i < asked->count; ++i) {
            if (fds.empty()) {
                function_.on_interrupt(asked->start + i, {});
                continue;
            }
            const auto fd = std::make_shared<unique_fd>(std::move(fds[i]));
            function_.on_interrupt(asked->start + i, [fd] { signal_eventfd(fd->get()); });
        }
        break;
    default:
        return ENOTSUP;
    }
    stream_.reply(request.head, 0);
    return 0;
}

// --- accesses ---

template <typename Make>
int vfio_user_session::access(const region_access& at, const Make& make) {
    const std::uint64_t region_size = region_sizes_[at.region];
    if (at.count > max_data_transfer || at.offset > region_size ||
        at.count > region_size - at.offset) {
        return EINVAL;
    }
    if (hooks_.before_access) hooks_.before_access();
    sc_time delay = sc_core::SC_ZERO_TIME;
    make(delay);
    if (hooks_.after_access) hooks_.after_access(delay);
    return 0;
}

int vfio_user_session::read_region(const message& request) {
    const auto at = leading<region_access>(request);
    if (!at || at->region >= regions) return EINVAL;
    return access(*at, [&](sc_time& delay) {
        const auto room = stream_.reply(request.head, sizeof *at + at->count);
        put(room, *at);
        const auto data = room.subspan(sizeof *at);
        if (at->region == VFIO_PCI_CONFIG_REGION_INDEX) {
            function_.config_read(static_cast<std::uint32_t>(at->offset), data);
            if (cfg_.behind_bridge) show_large_bars(at->offset, data);
        } else {
            function_.bar_read(at->region, at->offset, data, delay);
        }
    });
}

/// A bridge reaches addresses above 4 GiB by its prefetchable window only, and has no room for 1
/// GiB below. The whole path is PCI Express, where such a BAR may have the bit (PCI
/// Express 7.5.1.2.1).
void vfio_user_session::show_large_bars(std::uint64_t offset, std::span<std::uint8_t> data) const {
    constexpr std::uint64_t large = std::uint64_t{256} << 20;
    for (unsigned bar = 0; bar < function_port::bar_count; ++bar) {
        const std::uint64_t at = PCI_BASE_ADDRESS_0 + 4 * bar;
        if (region_sizes_[VFIO_PCI_BAR0_REGION_INDEX + bar] < large) continue;
        if (at >= offset && at - offset < data.size())
            data[at - offset] |= PCI_BASE_ADDRESS_MEM_PREFETCH;
    }
}

int vfio_user_session::write_region(const message& request) {
    const auto at = leading<region_access>(request);
    if (!at || at->region >= regions || request.payload.size() - sizeof *at < at->count)
        return EINVAL;
    const auto data = request.payload.subspan(sizeof *at, at->count);
    started_work work;
    const int error = access(*at, [&](sc_time& delay) {
        started_work::collector started;
        if (at->region == VFIO_PCI_CONFIG_REGION_INDEX) {
            function_.config_write(static_cast<std::uint32_t>(at->offset), data);
        } else {
            function_.bar_write(at->region, at->offset, data, delay);
        }
        work = started.collected();
        put(stream_.reply(request.head, sizeof *at), *at);
    });
    const bool answers = (request.head.flags & flag_no_reply) == 0;
    if (answers && !work.finished() && hooks_.may_answer)
        held_ = !hooks_.may_answer(work, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->release();
        });
    return error;
}

int vfio_user_session::reset(const message& request) {
    function_.reset();
    stream_.reply(request.head, 0);
    return 0;
}

// --- simulated time, for clients of trnvp ---

int vfio_user_session::send_time(const message& request) {
    put(stream_.reply(request.head, sizeof(trn_time)), trn_time{simulated_nanoseconds()});
    return 0;
}

/// The reply is sent when the time has passed; other requests are answered meanwhile.
int vfio_user_session::wait(const message& request) {
    const auto asked = leading<trn_time>(request);
    if (!asked || asked->nanoseconds > LLONG_MAX / 1000) return EINVAL;
    if (!hooks_.wait) return ENOTSUP;
    if (std::exchange(waiting_, true)) return EBUSY;
    const auto done = [weak = weak_from_this(), head = request.head] {
        const auto self = weak.lock();
        if (self == nullptr || self->closed_) return;
        self->waiting_ = false;
        auto reply = head;
        reply.size = sizeof(header) + sizeof(trn_time);
        reply.flags = flag_reply;
        put(self->stream_.post(reply), trn_time{simulated_nanoseconds()});
        self->flush();
    };
    hooks_.wait(sc_time::from_value(asked->nanoseconds * (sc_time(1, sc_core::SC_NS).value())),
                done);
    return 0;
}

}  // namespace trn
