// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "models/kinds.h"
#include "platform/app/in_process/in_process_hosts.h"
#include "platform/app/platform.h"
#include "platform/framework/loader/firmware_file.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/host/collectives/collective.h"

namespace trn::test {

/// A board in this process whose chips run collectives.
class CollectiveTest : public testing::Test, public host_set {
public:
    std::vector<std::string> chips() override { return hosts_->chips(); }
    void run_each(const std::vector<std::size_t>& which, const work& does) override {
        hosts_->start(which, does);
        finish();
    }
    std::vector<card> cards() override { return hosts_->cards(); }
    void run_each_card(const std::vector<std::size_t>& which, const card_work& does) override {
        hosts_->start_cards(which, does);
        finish();
    }

protected:
    void finish() {
        run_loop::goal goal{"the test", "its hosts"};
        goal.condition = [this] { return hosts_->idle(); };
        const auto how = platform_->loop().run(std::move(goal));
        hosts_->rethrow();
        ASSERT_TRUE(hosts_->idle()) << how.text;
    }
    void boot(const std::string& board, timing_mode timing = timing_mode::contended) {
        log::replace_sink({});
        misuse::set_policy_of_all(misuse::policy::count);
        platform_ =
            std::make_unique<platform>(kinds(), platform_options{.board = board, .timing = timing});
        hosts_ = std::make_unique<in_process_hosts>(platform_->functions());
        for (std::size_t n = 0; n < hosts_->chips().size(); ++n) hosts_->attach(n);
        ASSERT_EQ(platform_->boot(sc_core::sc_time(1, sc_core::SC_SEC)).cause,
                  stop_reason::kind::condition);
    }
    std::vector<std::size_t> all() const {
        std::vector<std::size_t> numbers(hosts_->chips().size());
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
        return numbers;
    }
    void inject(const std::string& module, const std::string& fault) {
        platform_->methods().call("inject", {{"module", module}, {"fault", fault}});
    }
    static std::vector<std::uint8_t> image() { return read_firmware("cc_core.img", 1 << 20); }
    static void expect_right(const collective_result& result) {
        EXPECT_EQ(result.wrong, 0u) << result.first_wrong;
        EXPECT_GT(result.ns, 0);
    }
    /// The message of the exception; "" if none is thrown.
    static std::string sentence(collective_group& group, const collective_request& request) {
        try {
            group.run(request);
        } catch (const device_error& wrong) {
            return wrong.what();
        }
        return "it ran";
    }
    /// An all-gather of rank 0 of two, passed directly to the driver stub: without buffers or a
    /// size.
    static trn_coll_config bare_pair(const trn_coll_member* members, const std::uint32_t* ring) {
        trn_coll_config config{};
        config.op = TRN_COLL_ALL_GATHER;
        config.type = TRN_BF16;
        config.ranks = 2;
        config.members = members;
        config.ring = ring;
        return config;
    }

    std::unique_ptr<platform> platform_;
    std::unique_ptr<in_process_hosts> hosts_;
};

}  // namespace trn::test
