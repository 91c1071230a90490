// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/framework/attach/vfio_user/host_mapping.h"
#include "platform/framework/attach/vfio_user/settings.h"
#include "platform/framework/attach/vfio_user/stream.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/tlm/function_port.h"
#include "platform/framework/unique_fd.h"

namespace trn {

/// A PCIe function as a vfio-user device: its regions and interrupts, and the host memory that the
/// client offers.
class vfio_user_device final : private access_waiter {
public:
    /// `access_ended`: called when an access that waits has ended, inside a process or a call of
    /// the function; finish_access() must follow between two slices.
    vfio_user_device(function_port& function, const vfio_user_config& cfg,
                     const vfio_user_hooks& hooks, vfio_user::stream& replies,
                     std::function<void()> access_ended);

    /// Executes a request. Returns 0 when the reply has been built, else the errno of the reply;
    /// ENOTSUP for messages that do not concern the device.
    int answer(vfio_user::message& request);
    /// Explains the errno of the last request; "" without an explanation.
    std::string take_why() { return std::exchange(why_, {}); }
    /// Whether an access waits for its target. If it is that of the last request, the reply has
    /// been built without its result, and must stay where it is.
    bool waits() const { return !waits_for_.empty(); }
    /// The access that waits: "the answer to a read of 4 bytes at BAR0 0x10".
    const std::string& waits_for() const { return waits_for_; }
    /// Lets the rest of the time of the access pass that has ended.
    void finish_access();
    /// Whether the client waits for accesses that are deferred.
    void await_accesses(bool now) { function_.await_accesses(now ? this : nullptr); }
    /// The work that the last write started; see started_work.
    started_work take_started() { return std::exchange(started_, {}); }
    /// Unmaps all memory of the client.
    void unmap_all();
    /// Readable when a mapped range is lost; -1 until the first mapping.
    int lost_event() const { return lost_event_.get(); }
    /// Unmaps lost ranges. Returns a line for the log for each.
    std::vector<std::string> unmap_lost();

private:
    using message = vfio_user::message;
    struct client_range {
        std::uint64_t size;                     // in bytes
        std::unique_ptr<host_mapping> mapping;  // null: accessed by messages
    };

    int map_dma(message& request);
    /// Both note the reason and return the error.
    int refuse_flags(std::uint32_t flags, int error);
    int refuse_file(const vfio_user::dma_map& asked, std::string_view why, int error);
    int unmap_dma(const message& request);
    bool unmap(std::uint64_t iova, std::uint64_t size);
    int send_device_info(const message& request);
    int send_region_info(const message& request);
    int send_interrupt_info(const message& request);
    std::uint32_t vectors(std::uint32_t kind) const;
    int set_interrupts(message& request);
    int read_region(const message& request);
    int write_region(const message& request);
    void show_large_bars(std::uint64_t offset, std::span<std::uint8_t> data) const;
    int reset(const message& request);
    /// Checks an access against its region, then calls make(delay) between the platform's hooks.
    template <typename Make>
    int access(const vfio_user::region_access& asked, std::string_view kind, const Make& make);
    // access_waiter
    void deferred() override { deferred_ = true; }
    void ended(const sc_core::sc_time& delay) override;

    function_port& function_;
    const vfio_user_config& cfg_;
    const vfio_user_hooks& hooks_;
    vfio_user::stream& stream_;
    const std::function<void()> access_ended_;
    bool deferred_ = false;  // the access that is being executed
    std::string waits_for_;
    sc_core::sc_time rest_;  // of the duration of the access that has ended
    std::string why_;
    started_work started_;
    unique_fd lost_event_;                          // before the mappings that signal it
    std::map<std::uint64_t, client_range> ranges_;  // by iova
    std::array<std::uint64_t, 10> region_sizes_{};  // constant; read once from the function
};

}  // namespace trn
