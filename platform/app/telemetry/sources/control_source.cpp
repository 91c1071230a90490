// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "platform/app/telemetry/sources/state_source.h"
#include "platform/app/telemetry/state_json.h"
#include "platform/framework/config/file.h"
#include "sw-stubs/trnctl/control_client.h"
#include "sw-stubs/trnctl/session.h"

namespace trn::telemetry {

namespace {

namespace fs = std::filesystem;

/// A platform that was started a moment ago has not made its sockets yet.
constexpr std::chrono::milliseconds start_limit{2000};

bool is_port(const std::string& address) {
    return address.find('/') == std::string::npos && address.find(':') != std::string::npos;
}

std::string socket_at(const std::string& address) {
    if (is_port(address)) return address;
    const auto end = std::chrono::steady_clock::now() + start_limit;
    std::error_code none;
    for (;;) {
        const auto socket = fs::is_directory(address, none) ? fs::path(address) / "control.sock"
                                                            : fs::path(address);
        if (fs::exists(socket, none) || std::chrono::steady_clock::now() >= end)
            return socket.string();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

/// The first line of the file; "" when no file is given.
std::string token_in(const std::string& file) try {
    constexpr std::uint64_t largest_token = 4096;
    if (file.empty()) return {};
    const auto text = read_file(file, largest_token);
    return {text.begin(), std::find(text.begin(), text.end(), '\n')};
} catch (const file_error& why) {
    throw source_usage(fmt::format("cannot read the token in {}: {}", file, why.what()));
}

/// A running platform, by its control method `devices`.
class control final : public state_source {
public:
    control(const std::string& address, const std::string& token_file) try
        : client_(socket_at(address), token_in(token_file)) {
        const auto has = [&](const char* host) { return address.starts_with(host); };
        is_here_ = !is_port(address) || has("127.") || has("localhost:") || has("[::1]:");
    } catch (const control_error& why) {
        throw source_error(why.what());
    }

    std::string proc() const override { return is_here_ ? "/proc" : ""; }
    machine_state read(detail wanted) override try {
        auto state = state_of(client_.call("devices", {{"cores", wanted == detail::all}}));
        if (state.instances.empty()) throw source_error("the platform has no Neuron device");
        return state;
    } catch (const control_error& why) {
        throw source_error(why.what());
    } catch (const user_error& why) {
        throw source_error(fmt::format("the platform is older than this program: {}", why.what()));
    } catch (const state_error& why) {
        throw source_error(fmt::format("the platform sent an invalid state: {}", why.what()));
    }

private:
    control_client client_;
    bool is_here_ = true;
};

}  // namespace

std::unique_ptr<state_source> control_source(const std::string& address,
                                             const std::string& token_file) {
    return std::make_unique<control>(address, token_file);
}

}  // namespace trn::telemetry
