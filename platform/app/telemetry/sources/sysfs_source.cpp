// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "platform/app/telemetry/process_names.h"
#include "platform/app/telemetry/small_file.h"
#include "platform/app/telemetry/sources/state_source.h"
#include "platform/framework/unique_fd.h"

namespace trn::telemetry {

namespace {

namespace fs = std::filesystem;

constexpr unsigned max_devices = 256, max_cores = 64;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n\r";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

template <class T>
std::optional<T> number_in(std::string_view text, int base = 10) {
    text = trimmed(text);
    T value{};
    const auto* const end = text.data() + text.size();
    std::from_chars_result read{};
    if constexpr (std::is_floating_point_v<T>)
        read = std::from_chars(text.data(), end, value);
    else
        read = std::from_chars(text.data(), end, value, base);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return value;
}

/// "neuron12" with the prefix "neuron" is 12.
std::optional<unsigned> number_after(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return std::nullopt;
    return number_in<unsigned>(name.substr(prefix.size()));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find(separator);
        parts.push_back(trimmed(text.substr(0, end)));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// A folder of sysfs. What is missing, not readable or not what it should be is not known.
class folder {
public:
    explicit folder(std::string path) : path_(std::move(path)) {}

    folder operator/(std::string_view name) const {
        return folder(fmt::format("{}/{}", path_, name));
    }
    const std::string& path() const { return path_; }

    std::optional<std::string> text(std::string_view name) const {
        const auto content = small_file(fmt::format("{}/{}", path_, name));
        if (!content) return std::nullopt;
        const auto text = trimmed(*content);
        // A word of a device that does not answer is printed by some drivers.
        if (text.empty() || text == "(null)") return std::nullopt;
        return std::string(text);
    }
    known<std::uint64_t> number(std::string_view name) const {
        const auto content = text(name);
        return content ? number_in<std::uint64_t>(*content) : std::nullopt;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        std::error_code unreadable;
        for (fs::directory_iterator entry(path_, unreadable), end; !unreadable && entry != end;
             entry.increment(unreadable))
            all.push_back(entry->path().filename().string());
        std::ranges::sort(all);
        return all;
    }
    /// The counters in this folder: a folder each, with the file `total`.
    named_values totals() const {
        named_values all;
        for (const auto& name : names())
            if (const auto value = (*this / name).number("total")) all[name] = *value;
        return all;
    }

private:
    const std::string path_;
};

/// A counter of errors: all ones or 0xdeadbeef are words of a device that does not answer.
known<std::uint64_t> error_count(const folder& in, std::string_view name) {
    const auto value = in.number(name);
    constexpr std::uint64_t no_answer = 0xffff'ffff, not_published = 0xdead'beef;
    return value && *value != no_answer && *value != not_published ? value : std::nullopt;
}

known<std::uint64_t> sum(const named_values& values) {
    if (values.empty()) return std::nullopt;
    std::uint64_t all = 0;
    for (const auto& [name, value] : values) all += value;
    return all;
}

/// "POWER_STATUS_VALID,1764518400,10.00,30.00,20.00": status, time, smallest, largest and mean
/// percent of the last minute.
void read_power(device& d, const folder& power) {
    const auto content = power.text("utilization");
    if (!content) return;
    const auto parts = split(*content, ',');
    d.power_status = std::string(parts[0]);
    if (parts.size() != 5 || parts[0] != "POWER_STATUS_VALID") return;
    if (const auto mean = number_in<double>(parts[4]);
        mean && std::isfinite(*mean) && *mean >= 0 && *mean <= 100)
        d.power_percent = mean;
}

core read_core(unsigned number, const folder& in) {
    core c;
    c.number = number;
    const auto stats = in / "stats";
    c.status = (stats / "status").totals();
    const auto memory = stats / "memory_usage";
    c.device_memory = (memory / "device_mem").totals();
    c.host_memory = (memory / "host_mem").totals();
    c.device_memory_bytes = (memory / "device_mem").number("total");
    c.host_memory_bytes = (memory / "host_mem").number("total");
    if (!c.device_memory_bytes) c.device_memory_bytes = sum(c.device_memory);
    if (!c.host_memory_bytes) c.host_memory_bytes = sum(c.host_memory);
    c.info = (stats / "other_info").totals();
    // The driver's own metrics treat the counter as picoseconds.
    if (const auto used = c.info.find("nc_time_in_use"); used != c.info.end())
        c.busy_ns = used->second / 1000;
    return c;
}

/// As the driver classifies products; memory of HBM of a device, in bytes.
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 5> memories{
    {{"Trainium1", std::uint64_t{32} << 30},
     {"Inferentia2", std::uint64_t{32} << 30},
     {"Trainium2", std::uint64_t{96} << 30},
     {"Trainium3", std::uint64_t{144} << 30},
     {"Inferentia", std::uint64_t{8} << 30}}};

/// The driver's request NEURON_IOCTL_DEVICE_BDF_EXT (contract 13.2).
struct function_address {
    std::uint32_t device = 0, domain = 0, bus = 0;
    std::uint8_t slot = 0, function = 0;
};
constexpr unsigned long function_address_request = 0x80084e6a;

/// The PCI address of a device, by its node in /dev; "": not known.
std::string address_of(const std::string& node) {
    struct stat is {};
    if (stat(node.c_str(), &is) != 0 || !S_ISCHR(is.st_mode)) return {};
    const unique_fd file(open(node.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    function_address address;
    if (!file || ioctl(file.get(), function_address_request, &address) != 0) return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.slot,
                       address.function);
}

class sysfs final : public state_source {
public:
    explicit sysfs(std::string root) : root_(root == "/" ? "" : std::move(root)) {
        std::error_code unreadable;
        if (!fs::is_directory(classes().path(), unreadable))
            throw source_error(fmt::format("{} is missing: the Neuron driver is not loaded there",
                                           classes().path()));
    }

    machine_state read(detail wanted) override {
        machine_state state;
        state.wall_ms = wall_ms_now();
        state.clock_ns = state.wall_ms * 1'000'000;
        state.source = "sysfs " + (root_.empty() ? "/" : root_);
        instance machine;
        std::vector<unsigned> found;
        for (const auto& name : classes().names())
            if (const auto index = number_after(name, "neuron"); index && *index < max_devices)
                found.push_back(*index);
        if (found.empty()) throw source_error(fmt::format("{} has no device", classes().path()));
        std::ranges::sort(found);
        for (const auto index : found) machine.devices.push_back(read_device(index, wanted));
        read_instance(machine);
        read_processes(machine);
        state.instances.push_back(std::move(machine));
        return state;
    }

    std::string proc() const override { return root_ + "/proc"; }

private:
    folder classes() const { return folder(root_ + "/sys/class/neuron_device"); }

    device read_device(unsigned index, detail wanted) {
        device d;
        const auto in = classes() / fmt::format("neuron{}", index);
        d.index = index;
        d.bdf = address(index);
        constexpr unsigned in_reset = 0, ready = 1;
        if (const auto state = in.number("reset"))
            d.status = *state == ready      ? device_status::ready
                       : *state == in_reset ? device_status::resetting
                                            : device_status::gone;
        const auto architecture = in / "info/architecture";
        d.architecture = architecture.text("arch_type").value_or("");
        d.product = architecture.text("device_name").value_or("");
        if (const auto serial = (in / "info").text("serial_number")) {
            // The driver reads it from the device: all ones come from none.
            if (*serial == "ffffffffffffffff")
                d.status = device_status::gone;
            else if (number_in<std::uint64_t>(*serial, 16))
                d.serial = *serial;
        }
        for (const auto& [product, bytes] : memories)
            if (d.product == product) d.memory_bytes = bytes;
        read_connections(d, in);

        const auto stats = in / "stats";
        if (d.status != device_status::gone) read_errors(d, stats / "hardware");
        read_power(d, stats / "power");
        d.host_memory = (stats / "memory_usage/host_mem").totals();

        std::vector<unsigned> cores;
        for (const auto& name : in.names())
            if (const auto number = number_after(name, "neuron_core");
                number && *number < max_cores)
                cores.push_back(*number);
        std::ranges::sort(cores);
        // Older drivers let only root read core_count.
        const auto count = in.number("core_count");
        d.core_count = count && *count <= max_cores ? static_cast<unsigned>(*count)
                                                    : static_cast<unsigned>(cores.size());
        if (wanted == detail::all)
            for (const auto number : cores)
                d.cores.push_back(read_core(number, in / fmt::format("neuron_core{}", number)));
        for (const auto& c : d.cores)
            for (const auto& [name, total] : c.info) {
                if (name == "reset_req_count")
                    d.reset_requests = d.reset_requests.value_or(0) + total;
                if (name == "reset_fail_count")
                    d.reset_failures = d.reset_failures.value_or(0) + total;
            }
        read_place(d);
        return d;
    }

    static void read_errors(device& d, const folder& hardware) {
        d.sram_corrected = error_count(hardware, "sram_ecc_corrected");
        d.sram_uncorrected = error_count(hardware, "sram_ecc_uncorrected");
        d.hbm_corrected = error_count(hardware, "mem_ecc_corrected");
        d.hbm_uncorrected = error_count(hardware, "mem_ecc_uncorrected");
        d.hbm_repairable = error_count(hardware, "mem_ecc_repairable_uncorrected");
        const auto list = small_file(hardware.path() + "/health_status/unhealthy_components");
        if (!list) return;
        d.faulty.emplace();
        for (const auto& name : split(trimmed(*list), ','))
            if (!name.empty()) d.faulty->emplace_back(name);
    }

    static void read_connections(device& d, const folder& in) {
        const auto list = small_file(in.path() + "/connected_devices");
        if (!list) return;
        std::vector<unsigned> neighbours;
        for (const auto& part : split(trimmed(*list), ',')) {
            if (part.empty()) continue;
            const auto index = number_in<unsigned>(part);
            if (!index || *index >= max_devices) return;
            neighbours.push_back(*index);
        }
        d.connected = std::move(neighbours);
    }

    const std::string& address(unsigned index) {
        auto& known = addresses_[index];
        if (known.empty()) known = address_of(fmt::format("{}/dev/neuron{}", root_, index));
        return known;
    }

    void read_place(device& d) const {
        if (d.bdf.empty()) return;
        const folder function(fmt::format("{}/sys/bus/pci/devices/{}", root_, d.bdf));
        d.cpu_affinity = function.text("local_cpulist");
        d.numa_node = function.text("numa_node");
        if (d.numa_node == "-1") d.numa_node.reset();
    }

    void read_instance(instance& machine) const {
        const folder dmi(root_ + "/sys/devices/virtual/dmi/id");
        machine.type = dmi.text("product_name").value_or("");
        if (const auto tag = dmi.text("board_asset_tag"); tag && tag->starts_with("i-"))
            machine.id = *tag;
        machine.driver_version = folder(root_ + "/sys/module/neuron").text("version").value_or("");
        const auto id = classes().text("server_id_4");
        if (id && id->find_first_not_of('0') != std::string::npos && *id != "busy")
            machine.ultraserver = *id;
    }

    /// Processes with an open device, by the links in PROC/PID/fd.
    void read_processes(instance& machine) const {
        const folder processes(proc());
        bool refused = false, any = false;
        const auto self = static_cast<std::uint64_t>(getpid());
        for (const auto& name : processes.names()) {
            const auto pid = number_in<std::uint64_t>(name);
            if (!pid || (*pid == self && root_.empty())) continue;
            any = true;
            std::error_code wrong;
            fs::directory_iterator files(fmt::format("{}/{}/fd", proc(), name), wrong);
            if (wrong == std::errc::permission_denied) refused = true;
            process p;
            for (const fs::directory_iterator end; !wrong && files != end; files.increment(wrong)) {
                std::error_code unreadable;
                const auto target = fs::read_symlink(files->path(), unreadable).string();
                if (unreadable || !target.starts_with("/dev/neuron")) continue;
                const auto index = number_after(target, "/dev/neuron");
                if (index && std::ranges::count(p.devices, *index) == 0)
                    p.devices.push_back(*index);
            }
            if (p.devices.empty()) continue;
            p.pid = *pid;
            std::ranges::sort(p.devices);
            p.name = name_of_process(proc(), *pid);
            p.command = command_of_process(proc(), *pid);
            machine.processes.push_back(std::move(p));
        }
        std::ranges::sort(machine.processes, {}, &process::pid);
        if (!any)
            machine.process_error = proc() + " has no processes";
        else if (refused)
            machine.process_error = "processes of other users are not visible without root";
    }

    const std::string root_;
    std::map<unsigned, std::string> addresses_;
};

}  // namespace

std::unique_ptr<state_source> sysfs_source(const std::string& root) {
    return std::make_unique<sysfs>(root);
}

}  // namespace trn::telemetry
