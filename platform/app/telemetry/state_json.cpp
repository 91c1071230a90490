// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/state_json.h"

#include <fmt/format.h>

#include <array>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <utility>

namespace trn::telemetry {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<device_status, std::string_view>, 4> statuses{
    {{device_status::ready, "ready"},
     {device_status::booting, "booting"},
     {device_status::resetting, "resetting"},
     {device_status::gone, "gone"}}};

/// Elements of a list from outside: devices, cores, processes.
constexpr std::size_t largest_list = 1024;

// The fields of each structure, for both directions.

template <class Archive, class T>
requires std::same_as<std::remove_const_t<T>, engine_work>
void fields(Archive& a, T& engine) {
    a("busy_ns", engine.busy_ns);
    a("instructions", engine.instructions);
    a("flops", engine.flops);
}

template <class Archive, class T>
requires std::same_as<std::remove_const_t<T>, core>
void fields(Archive& a, T& c) {
    a("number", c.number);
    a("busy_ns", c.busy_ns);
    a("engines", c.engines);
    a("status", c.status);
    a("device_memory", c.device_memory);
    a("host_memory", c.host_memory);
    a("info", c.info);
    a("device_memory_bytes", c.device_memory_bytes);
    a("host_memory_bytes", c.host_memory_bytes);
    a("sram_corrected", c.sram_corrected);
    a("sram_uncorrected", c.sram_uncorrected);
}

template <class Archive, class T>
requires std::same_as<std::remove_const_t<T>, link>
void fields(Archive& a, T& l) {
    a("port", l.port);
    a("up", l.up);
    a("generation", l.generation);
    a("lanes", l.lanes);
    a("all_lanes", l.all_lanes);
    a("downs", l.downs);
    a("fault", l.fault);
    a("partner", l.partner);
    a("rack", l.rack);
    a("server", l.server);
    a("chip", l.chip);
    a("partner_port", l.partner_port);
}

template <class Archive, class T>
requires std::same_as<std::remove_const_t<T>, device>
void fields(Archive& a, T& d) {
    a("index", d.index);
    a("name", d.name);
    a("bdf", d.bdf);
    a("product", d.product);
    a("architecture", d.architecture);
    a("status", d.status);
    a("serial", d.serial);
    a("routing_id", d.routing_id);
    a("firmware_api", d.firmware_api);
    a("firmware_build", d.firmware_build);
    a("core_count", d.core_count);
    a("memory_bytes", d.memory_bytes);
    a("connected", d.connected);
    a("links", d.links);
    a("numa_node", d.numa_node);
    a("cpu_affinity", d.cpu_affinity);
    a("faulty", d.faulty);
    a("sram_corrected", d.sram_corrected);
    a("sram_uncorrected", d.sram_uncorrected);
    a("hbm_corrected", d.hbm_corrected);
    a("hbm_uncorrected", d.hbm_uncorrected);
    a("hbm_repairable", d.hbm_repairable);
    a("repair", d.repair);
    a("power_status", d.power_status);
    a("power_percent", d.power_percent);
    a("power_watts", d.power_watts);
    a("celsius", d.celsius);
    a("throttled", d.throttled);
    a("reset_requests", d.reset_requests);
    a("restarts", d.restarts);
    a("reset_failures", d.reset_failures);
    a("dma_bytes", d.dma_bytes);
    a("dma_descriptors", d.dma_descriptors);
    a("dma_aborts", d.dma_aborts);
    a("hbm_bytes", d.hbm_bytes);
    a("host_memory", d.host_memory);
    a("cores", d.cores);
}

template <class Archive, class T>
requires std::same_as<std::remove_const_t<T>, process>
void fields(Archive& a, T& p) {
    a("pid", p.pid);
    a("name", p.name);
    a("command", p.command);
    a("devices", p.devices);
    a("cores", p.cores);
    a("device_memory", p.device_memory);
    a("host_memory", p.host_memory);
    a("status", p.status);
    a("latency_ns", p.latency_ns);
}

template <class Archive, class T>
requires std::same_as<std::remove_const_t<T>, instance>
void fields(Archive& a, T& i) {
    a("name", i.name);
    a("type", i.type);
    a("id", i.id);
    a("driver_version", i.driver_version);
    a("ultraserver", i.ultraserver);
    a("server_id", i.server_id);
    a("rack_id", i.rack_id);
    a("devices", i.devices);
    a("processes", i.processes);
    a("process_error", i.process_error);
}

template <class Archive, class T>
requires std::same_as<std::remove_const_t<T>, machine_state>
void fields(Archive& a, T& s) {
    a("wall_ms", s.wall_ms);
    a("time_ps", s.time_ps);
    a("clock_ns", s.clock_ns);
    a("source", s.source);
    a("version", s.version);
    a("instances", s.instances);
}

class writer {
public:
    explicit writer(json& out) : out_(out) {}

    template <class T>
    void operator()(const char* name, const T& value) {
        auto written = value_of(value);
        if (!written.is_null()) out_[name] = std::move(written);
    }

    /// Null for what is not known.
    template <class T>
    static json value_of(const T& value) {
        if constexpr (std::is_arithmetic_v<T>) {
            return value;
        } else {
            json object = json::object();
            writer inside(object);
            fields(inside, value);
            return object;
        }
    }
    static json value_of(const std::string& text) { return text.empty() ? json() : json(text); }
    static json value_of(device_status status) {
        return statuses[static_cast<std::size_t>(status)].second;
    }
    template <class T>
    static json value_of(const std::vector<T>& list) {
        return list.empty() ? json() : array_of(list);
    }
    template <class T>
    static json value_of(const std::map<std::string, T>& values) {
        if (values.empty()) return {};
        json object = json::object();
        for (const auto& [name, value] : values) object[name] = value_of(value);
        return object;
    }
    template <class T>
    static json value_of(const known<T>& value) {
        return value ? value_of(*value) : json();
    }
    template <class T>
    static json value_of(const known<std::vector<T>>& list) {
        return list ? array_of(*list) : json();
    }

private:
    template <class T>
    static json array_of(const std::vector<T>& list) {
        json array = json::array();
        for (const auto& each : list) array.push_back(value_of(each));
        return array;
    }

    json& out_;
};

class reader {
public:
    reader(const json& in, std::string place) : in_(in), place_(std::move(place)) {}

    template <class T>
    void operator()(const char* name, T& value) {
        if (const auto found = in_.find(name); found != in_.end() && !found->is_null())
            read(*found, value, place_.empty() ? name : fmt::format("{}.{}", place_, name));
    }

    template <class T>
    static void read(const json& in, T& value, const std::string& place) {
        if constexpr (std::same_as<T, bool>) {
            if (!in.is_boolean()) wrong(place, "true or false");
            value = in.get<bool>();
        } else if constexpr (std::unsigned_integral<T>) {
            if (!in.is_number_unsigned() || in.get<std::uint64_t>() > std::numeric_limits<T>::max())
                wrong(place, "a number");
            value = in.get<T>();
        } else if constexpr (std::floating_point<T>) {
            if (!in.is_number()) wrong(place, "a number");
            value = in.get<T>();
        } else {
            if (!in.is_object()) wrong(place, "an object");
            reader inside(in, place);
            fields(inside, value);
            if constexpr (std::same_as<T, device>)
                if (value.core_count > largest_list)
                    wrong(place + ".core_count", "a number of cores");
        }
    }
    static void read(const json& in, std::string& text, const std::string& place) {
        if (!in.is_string()) wrong(place, "text");
        text = in.get<std::string>();
    }
    static void read(const json& in, device_status& status, const std::string& place) {
        for (const auto& [known, name] : statuses)
            if (in == name) {
                status = known;
                return;
            }
        wrong(place, "ready, booting, resetting or gone");
    }
    template <class T>
    static void read(const json& in, std::vector<T>& list, const std::string& place) {
        if (!in.is_array()) wrong(place, "a list");
        if (in.size() > largest_list) wrong(place, "a list of at most 1024 elements");
        list.resize(in.size());
        for (std::size_t n = 0; n < in.size(); ++n)
            read(in[n], list[n], fmt::format("{}[{}]", place, n));
    }
    template <class T>
    static void read(const json& in, std::map<std::string, T>& values, const std::string& place) {
        if (!in.is_object()) wrong(place, "an object");
        for (const auto& [name, value] : in.items())
            read(value, values[name], fmt::format("{}.{}", place, name));
    }
    template <class T>
    static void read(const json& in, known<T>& value, const std::string& place) {
        read(in, value.emplace(), place);
    }

private:
    [[noreturn]] static void wrong(const std::string& place, std::string_view expected) {
        throw state_error(fmt::format("{} is not {}", place, expected));
    }

    const json& in_;
    const std::string place_;
};

/// JSON schemas of types.
class describer {
public:
    explicit describer(json& properties) : properties_(properties) {}

    template <class T>
    void operator()(const char* name, const T& value) {
        properties_[name] = schema_of(value);
    }

    template <class T>
    static json schema_of(const T& value) {
        if constexpr (std::same_as<T, bool>) {
            return {{"type", "boolean"}};
        } else if constexpr (std::unsigned_integral<T>) {
            return {
                {"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<T>::max()}};
        } else if constexpr (std::floating_point<T>) {
            return {{"type", "number"}};
        } else {
            json properties = json::object();
            describer inside(properties);
            fields(inside, value);
            return {{"type", "object"}, {"properties", properties}};
        }
    }
    static json schema_of(const std::string&) { return {{"type", "string"}}; }
    static json schema_of(device_status) {
        json names = json::array();
        for (const auto& [known, name] : statuses) names.push_back(name);
        return {{"enum", names}};
    }
    template <class T>
    static json schema_of(const std::vector<T>&) {
        return {{"type", "array"}, {"maxItems", largest_list}, {"items", schema_of(T())}};
    }
    template <class T>
    static json schema_of(const std::map<std::string, T>&) {
        return {{"type", "object"}, {"additionalProperties", schema_of(T())}};
    }
    template <class T>
    static json schema_of(const known<T>&) {
        return schema_of(T());
    }

private:
    json& properties_;
};

}  // namespace

json state_schema() {
    json schema = describer::schema_of(machine_state());
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "State of a machine with Neuron devices";
    schema["required"] = {"wall_ms", "instances"};
    return schema;
}

json to_json(const machine_state& state) {
    json value = writer::value_of(state);
    if (state.instances.empty()) value["instances"] = json::array();  // which the schema requires
    return value;
}

machine_state state_of(const json& value) {
    machine_state state;
    reader::read(value, state, std::string("the state"));
    return state;
}

}  // namespace trn::telemetry
