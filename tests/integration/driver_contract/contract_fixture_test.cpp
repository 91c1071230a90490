// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/driver_contract/contract_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "models/kinds.h"
#include "platform/app/in_process/in_process.h"
#include "platform/app/platform.h"
#include "platform/framework/log.h"
#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/vfio_user_peer.h"

namespace trn::test {

namespace {

/// The host runs inside the simulation.
class chip_in_process final : public attached_chip {
public:
    explicit chip_in_process(const contract_board& which)
        : quiet_(log::replace_sink(
              [this](const log::record& one) { log_ += log::to_line(one) + "\n"; })),
          platform_(kinds(), {.board = which.board, .set = which.set}) {
        cpu_ = std::make_unique<host_cpu>(*platform_.functions().at(0).port, host_cpu::config{});
        const auto how = platform_.boot(sc_core::sc_time(1, sc_core::SC_SEC));
        if (how.cause != stop_reason::kind::condition) throw std::runtime_error(how.text);
    }

    void run(const trn_options& options, const std::function<void(device&)>& work) override {
        cpu_->run([&] {
            device host(cpu_->transport(), options);
            work(host);
        });
        run_loop::goal goal{"the test", "its host program"};
        goal.condition = [&] { return cpu_->idle(); };
        const auto how = platform_.loop().run(std::move(goal));
        cpu_->rethrow();
        if (!cpu_->idle()) throw std::runtime_error(how.text);
    }
    std::string log() const override { return log_; }

private:
    std::string log_;
    log::sink quiet_;
    platform platform_;
    std::unique_ptr<host_cpu> cpu_;
};

/// `trnvp run BOARD --listen FOLDER` in another process; the host runs in this process.
class chip_behind_socket final : public attached_chip {
public:
    explicit chip_behind_socket(const contract_board& which)
        : socket_(folder_ / "sockets/chip0.sock"), output_(folder_ / "output") {
        const std::string sockets = folder_ / "sockets";
        pid_ = fork();
        if (pid_ == 0) {
            if (freopen(output_.c_str(), "w", stdout) == nullptr || dup2(1, 2) < 0) _exit(126);
            std::vector<const char*> words{"trnvp",    "run",           which.board.c_str(),
                                           "--listen", sockets.c_str(), "--time-policy",
                                           "lockstep"};  // the host controls the advance of time
            for (const auto& each : which.set) words.insert(words.end(), {"--set", each.c_str()});
            words.push_back(nullptr);
            execv(TRNVP_PROGRAM, const_cast<char* const*>(words.data()));
            _exit(127);
        }
        for (int tries = 0; !raw_peer(socket_).connected; ++tries) {
            if (tries == 30000 || waitpid(pid_, nullptr, WNOHANG) != 0)
                throw std::runtime_error("trnvp does not serve: " + log());
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    ~chip_behind_socket() override {
        kill(pid_, SIGTERM);
        waitpid(pid_, nullptr, 0);
    }

    void run(const trn_options& options, const std::function<void(device&)>& work) override {
        std::array<char, 256> why{};
        trn_transport transport{};
        if (trn_vfio_user_transport(socket_.c_str(), nullptr, &transport, why.data(), why.size()))
            throw std::runtime_error(why.data());
        device host(transport, options);
        work(host);
    }
    std::string log() const override {
        std::ostringstream text;
        text << std::ifstream(output_).rdbuf();
        return text.str();
    }

private:
    const scratch_folder folder_;
    const std::string socket_, output_;
    pid_t pid_ = 0;
};

}  // namespace

std::unique_ptr<attached_chip> attach(const contract_board& which, door how) {
    if (how == door::in_process) return std::make_unique<chip_in_process>(which);
    return std::make_unique<chip_behind_socket>(which);
}

void DriverContract::drive_unprobed(const std::function<void(device&)>& work) {
    chip_->run(options_, work);
}

void DriverContract::drive(const std::function<void(device&)>& work) {
    chip_->run(options_, [&](device& chip) {
        chip.check(trn_probe(chip));
        chip.check(trn_reset_device(chip));
        work(chip);
    });
}

void DriverContract::TearDown() {
    const std::string log = chip_->log();
    for (const auto& rule : misuses_) EXPECT_THAT(log, testing::HasSubstr(rule));
    if (misuses_.empty()) {
        EXPECT_THAT(log, testing::Not(testing::HasSubstr("misuse")));
    }
    if (HasFailure()) std::cerr << log;
}

void fill(device& chip, std::uint64_t address, std::uint64_t size, std::uint64_t seed,
          std::uint32_t core) {
    std::vector<std::uint8_t> bytes(size);
    pattern(seed).fill(bytes);
    chip.check(trn_write(chip, core, address, bytes.data(), size));
}

void expect_holds(device& chip, std::uint64_t address, std::uint64_t size, std::uint64_t seed,
                  std::uint32_t core) {
    std::vector<std::uint8_t> bytes(size);
    chip.check(trn_read(chip, core, bytes.data(), address, size));
    const auto wrong = pattern(seed).check(bytes);
    EXPECT_FALSE(wrong) << size << " bytes at 0x" << std::hex << address << ": "
                        << to_string(*wrong);
}

bool eventually(device& chip, const std::function<bool()>& condition) {
    constexpr std::uint64_t step = 10'000, limit = 100'000'000;
    for (std::uint64_t spent = 0; spent < limit; spent += step) {
        if (condition()) return true;
        chip.check(trn_sleep(chip, step));
    }
    return false;
}

std::ostream& operator<<(std::ostream& out, const setting& which) {
    return out << which.board.name << (which.how == door::in_process ? "InProcess" : "OverSocket");
}

namespace {

std::vector<setting> all_settings() {
    std::vector<setting> all;
    for (const auto& board : contract_boards)
        for (const auto how : {door::in_process, door::socket}) all.push_back({board, how});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Over, DriverContract, testing::ValuesIn(all_settings()),
                         testing::PrintToStringParamName());

}  // namespace

}  // namespace trn::test
