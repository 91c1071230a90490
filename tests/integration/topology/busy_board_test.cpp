// SPDX-License-Identifier: Apache-2.0
// Doorbells at one chip's socket of an UltraServer whose 63 other chips copy at the same time.
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "models/kinds.h"
#include "platform/app/endpoints/endpoints.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "sw-stubs/host/machine/device.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/scratch_folder.h"

namespace trn::test {
namespace {

/// A board whose sockets are served by this thread, with a client in another thread.
class BusyBoard : public testing::Test {
protected:
    BusyBoard() {
        log::replace_sink({});
        platform_options options{.board = "trn2-ultraserver"};
        options.time.policy = {time_policy::kind::free, 1};
        board_.emplace(kinds(), options);
        endpoints_.emplace(*board_);
        endpoints_->open_folder(folder_.text());
    }
    void serve_while(const std::function<void()>& client) {
        std::thread thread([&] {
            try {
                client();
            } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
            }
            in_loop([](run_loop& loop) { loop.quit("the client has ended"); });
        });
        board_->loop().serve();
        thread.join();
    }
    /// Called from the client's thread: runs `call` in the platform's loop.
    template <typename Call>
    void in_loop(const Call& call) {
        std::promise<void> done;
        boost::asio::post(board_->loop().io(), [&] {
            call(board_->loop());
            done.set_value();
        });
        done.get_future().wait();
    }
    /// `waits`: the client waits for replies to its writes, as QEMU does.
    std::unique_ptr<device> open(const std::string& chip, bool waits) {
        trn_vfio_user_options options{};
        options.without_posted_writes = waits;
        trn_transport transport{};
        char why[200] = "";
        if (trn_vfio_user_transport((folder_ / (chip + ".sock")).c_str(), &options, &transport, why,
                                    sizeof why) != 0)
            throw std::runtime_error(why);
        auto one = std::make_unique<device>(transport);
        one->check(trn_probe(*one));
        one->check(trn_reset_device(*one));
        return one;
    }
    std::vector<std::string> chips() const { return board_->chips(); }

private:
    const scratch_folder folder_;
    std::optional<platform> board_;
    std::optional<endpoints> endpoints_;
};

TEST_F(BusyBoard, DoorbellIsAnsweredAfterItsDescriptorsWhile63ChipsCopy) {
    ASSERT_EQ(chips().size(), 64u);
    serve_while([&] {
        std::vector<std::unique_ptr<device>> devices;
        for (const auto& name : chips()) devices.push_back(open(name, devices.empty()));
        const device& one = *devices[0];
        const host_buffer buffer(one, 1 << 16);
        const auto hbm = [](const device& on, std::uint64_t offset) {
            return trn_hbm_address(on, 0, TRN_HBM_RESERVED_BYTES + offset);
        };

        // No copy starts before all doorbells are written.
        in_loop([](run_loop& loop) { loop.pause("the test"); });
        std::vector<std::pair<const device*, trn_job>> jobs;
        for (std::size_t n = 1; n < devices.size(); ++n)
            for (unsigned core = 0; core < 8; ++core) {
                trn_job job = 0;
                devices[n]->check(trn_submit(*devices[n], core, hbm(*devices[n], 1 << 30),
                                             hbm(*devices[n], 0), TRN_JOB_BYTES, &job));
                jobs.emplace_back(devices[n].get(), job);
            }
        in_loop([](run_loop& loop) { loop.resume(); });

        for (unsigned turn = 0; turn < 20; ++turn) {
            std::ranges::fill(buffer.bytes(), static_cast<std::uint8_t>(turn + 1));
            trn_job job = 0;
            one.check(trn_submit(one, 0, hbm(one, 0), buffer.address(), 1 << 16, &job));
            bool done = false;
            one.check(trn_poll(one, job, &done));
            EXPECT_TRUE(done) << "turn " << turn;
            one.check(trn_wait(one, job));
        }
        for (const auto& [on, job] : jobs) {
            bool done = true;
            on->check(trn_poll(*on, job, &done));
            ASSERT_FALSE(done) << "the others were not busy to the end";
        }
        in_loop([](run_loop& loop) { loop.pause("the end"); });
    });
}

}  // namespace
}  // namespace trn::test
