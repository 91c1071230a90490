// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "sw-stubs/transports/vfio_user/vfio_user.h"
#include "sw-stubs/trnctl/control_client.h"
#include "sw-stubs/trnctl/session.h"

namespace trn {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds start_limit{2000};

bool is_missing(const fs::path& path) {
    std::error_code none;
    return !fs::exists(fs::is_directory(path, none) ? path / "control.sock" : path, none);
}

/// `address` if it is a folder of sockets; "": it is a socket or HOST:PORT. A platform that was
/// started a moment ago, as by `trnvp run ... &`, has not made its sockets yet.
fs::path folder_at(const std::string& address, std::chrono::milliseconds limit) {
    const bool is_port = address.find('/') == address.npos && address.find(':') != address.npos;
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!is_port && is_missing(address) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return fs::is_directory(address) ? address : "";
}

/// A platform in another process: control socket and one vfio-user socket per function.
class connected : public session {
public:
    connected(const std::string& address, const std::string& chip, const std::string& token,
              std::optional<std::chrono::milliseconds> limit)
        : folder_(folder_at(address, limit.value_or(start_limit))),
          chip_(chip),
          control_(folder_.empty() ? address : (folder_ / "control.sock").string(), token, limit) {}

    void run(const std::function<void(device&)>& work) override {
        work(host(choose_chip(chip_, chips(), folder_.string())));
    }

    std::vector<std::string> chips() override {
        find_functions();
        std::vector<std::string> known;
        for (const auto& chip : chips_) known.push_back(chip.name);
        return known;
    }

    void run_each(const std::vector<std::size_t>& chips, const host_set::work& does) override {
        find_functions();
        for (const auto chip : chips) does(chip, host(chips_.at(chip).name));
    }

    std::vector<host_set::card> cards() override {
        find_functions();
        return share_cards(chips_, cards_);
    }

    void run_each_card(const std::vector<std::size_t>& cards,
                       const host_set::card_work& does) override {
        find_functions();
        for (const auto number : cards) {
            auto& endpoint = endpoints_[cards_.at(number).name];
            if (!endpoint) endpoint.reset(new trn_transport(attach(cards_[number].name)));
            does(number, *endpoint);
        }
    }

    json call(std::string_view method, const json& params) override {
        return control_.call(method, params);
    }

    void wait_ready(std::chrono::milliseconds limit) override {
        const json wanted{{"condition", "ready"},
                          {"wall_limit", static_cast<double>(limit.count()) / 1000}};
        const auto outcome = control_.call("wait", wanted, limit + std::chrono::seconds(5));
        if (outcome.value("reason", "") != "condition")
            throw control_error(fmt::format("the platform is not ready: {}",
                                            outcome.value("text", outcome.value("reason", ""))));
    }

    bool watch(std::chrono::milliseconds span, const uart_listener& listener) override {
        if (!subscribed_) control_.call("subscribe", {{"topics", {"uart"}}});
        subscribed_ = true;
        control_.on_notification([&](const std::string& topic, const json& params) {
            if (topic == "uart") listener(params.value("module", ""), params.value("text", ""));
        });
        const bool there = control_.listen(span);
        control_.on_notification({});
        return there;
    }

private:
    using bus_addresses = std::array<std::uint64_t, 6>;
    struct closing {
        void operator()(trn_transport* transport) const {
            transport->close(transport->context);
            delete transport;
        }
    };

    /// Queries the platform's functions (chips and EFA cards), once.
    void find_functions() {
        if (folder_.empty())
            throw user_error(
                "this needs the device itself: --connect the folder that 'trnvp run --listen' "
                "made");
        if (!addresses_.empty()) return;
        for (const auto& function : control_.call("list", {{"what", "functions"}})) {
            const placed_function placed{function.at("name"), function.at("server")};
            if (function.at("chip").get<bool>())
                chips_.push_back(placed);
            else if (function.at("efa").get<bool>())
                cards_.push_back(placed);
            products_[placed.name] = function.at("product");
            auto& bars = addresses_[placed.name];
            for (const auto& bar : function.at("bars"))
                bars.at(bar.at("bar").get<std::size_t>()) = bar.at("bus_address");
        }
    }

    trn_transport attach(const std::string& name) {
        const auto socket = folder_ / (name + ".sock");
        trn_vfio_user_options options{};
        options.bus_addresses = addresses_.at(name).data();
        std::array<char, 256> why{};
        trn_transport transport{};
        if (trn_vfio_user_transport(socket.c_str(), &options, &transport, why.data(), why.size()))
            throw control_error(fmt::format("cannot attach to {}: {}", name, why.data()));
        return transport;
    }

    device& host(const std::string& chip) {
        auto& attached = hosts_[chip];
        if (!attached) attached.emplace(attach(chip), options_on(products_[chip]));
        return *attached;
    }

    const fs::path folder_;
    const std::string chip_;
    control_client control_;
    std::vector<placed_function> chips_, cards_;  // in the board's order, after find_functions()
    std::map<std::string, bus_addresses> addresses_;
    std::map<std::string, std::string> products_;         // of the hosts, by function
    std::map<std::string, std::optional<device>> hosts_;  // by chip, once attached
    std::map<std::string, std::unique_ptr<trn_transport, closing>> endpoints_;  // by card
    bool subscribed_ = false;
};

}  // namespace

std::string choose_chip(const std::string& chip, const std::vector<std::string>& known,
                        const std::string& place) {
    if (chip.empty() && known.size() == 1) return known.front();
    if (chip.empty())
        throw user_error(
            fmt::format("choose a --chip of {}  (known: {})", place, fmt::join(known, ", ")));
    if (std::ranges::find(known, chip) == known.end())
        throw user_error(fmt::format("there is no '{}' in {}  (known: {})", chip, place,
                                     fmt::join(known, ", ")));
    return chip;
}

std::unique_ptr<session> connect_session(const std::string& address, const std::string& chip,
                                         const std::string& token,
                                         std::optional<std::chrono::milliseconds> limit) {
    return std::make_unique<connected>(address, chip, token, limit);
}

}  // namespace trn
