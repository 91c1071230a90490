// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/binding_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace trn {

namespace {

/// One number per end, for hash tables. Kinds have fewer than 256 ports; indices are bounded below.
std::uint64_t key(const plan::endpoint& end) {
    return std::uint64_t{end.module} << 32 | std::uint64_t{end.port} << 24 | end.index;
}
constexpr std::uint64_t most_elements = 1u << 20;

bool is_output(port_role role) {
    return role == port_role::initiator || role == port_role::irq_out || role == port_role::uses;
}

std::string with_article(port_role role) {
    const auto word = to_string(role);
    return fmt::format("{} {}", word[0] == 'i' ? "an" : "a", word);
}

std::uint64_t elements(const port& p, const std::any& config) {
    return p.count ? std::min(p.count(config), most_elements) : 1;
}

std::string end_text(const bind_line::end& end) {
    return end.module + "." + end.port + (end.index ? fmt::format("[{}]", *end.index) : "");
}

}  // namespace

// --- Reading one entry.

void binding_planner::bind(const scope& here) {
    excuse_broken(here);
    const auto list = here.file->root().find("bind");
    if (!list) return;
    if (!list.is_list()) return all_.report(list, mistake::wrong_shape, "a list was expected");
    for (const auto& node : list.items()) {
        const auto e = read_entry(here, node);
        if (!e) excused_modules_.insert(here.container);
        for (std::uint64_t k = 0; e && k < e->count && !all_.full; ++k) {
            const auto before = all_.mistakes();
            const bool bound = bind_once(here, *e, k);
            if (bound && all_.mistakes() == before) continue;
            excuse(here, *e, k);
            if (!bound) break;
        }
    }
}

std::optional<binding_planner::entry> binding_planner::read_entry(const scope& here,
                                                                  const config::node& node) {
    entry e;
    if (!node.is_map()) {
        e.text = node;
        return e;
    }
    const auto before = all_.result.problems->list().size();
    node.only({"bind", "at", "stride", "size", "to", "to_stride", "line", "count", "first", "with"},
              "a bind entry");
    e.text = node.at("bind");
    e.size = node.find("size");
    const auto read_series = [&](series& s, const char* value, const char* stride) {
        s.value = node.find(value);
        if (s.is_list()) s.items = s.value.items();
        if (*stride != 0) s.stride = node.find(stride);
    };
    read_series(e.at, "at", "stride");
    read_series(e.to, "to", "to_stride");
    read_series(e.line, "line", "");
    const auto first = node.find("first"), with = node.find("with");
    if (all_.result.problems->list().size() != before) return std::nullopt;
    if (first) {
        const auto value = all_.number(first, here.values, 0, most_elements, mistake::bad_count);
        if (!value) return std::nullopt;
        e.first = *value;
    }
    if (with && !read_with(here, with, e)) return std::nullopt;
    const auto count = read_count(here, node, e);
    if (!count || !check_entry(node, e)) return std::nullopt;
    e.count = *count;
    e.repeated =
        node.find("count") || first || with || e.at.is_list() || e.to.is_list() || e.line.is_list();
    return e;
}

bool binding_planner::read_with(const scope& here, const config::node& with, entry& e) {
    for (const auto& one : with.entries()) {
        const std::string name = one.key_node.name();
        if (name.empty()) return false;
        const auto& known = here.values;
        if (name == "i" || name == "j" ||
            std::any_of(known.begin(), known.end(),
                        [&](const auto& v) { return v.first == name; })) {
            all_.report(one.key_node, mistake::bad_name,
                        fmt::format("${{{}}} is already defined here", name));
            return false;
        }
        auto values = all_.read_series(one.value);
        if (!values) return false;
        e.with.emplace_back(name, std::move(*values));
    }
    return true;
}

/// `count: 18`, or `count: [18, 4]` for two counters.
std::optional<std::uint64_t> binding_planner::read_counters(const scope& here,
                                                            const config::node& given, entry& e) {
    const auto number = [&](const config::node& one) {
        return all_.number(one, here.values, 1, planning::most_bindings, mistake::bad_count);
    };
    if (!given.is_list()) return number(given);
    const auto counters = given.items();
    if (counters.size() != 2) {
        all_.report(given, mistake::bad_count,
                    "a list has two counts: [count of ${i}, count of ${j}]");
        return std::nullopt;
    }
    const auto outer = number(counters[0]), inner = number(counters[1]);
    if (!outer || !inner) return std::nullopt;
    if (*outer > planning::most_bindings / *inner) {
        all_.too_many(given, "bindings", planning::most_bindings);
        return std::nullopt;
    }
    e.inner = *inner;
    return *outer * *inner;
}

/// `count`, or the length of the lists beside it; all must agree.
std::optional<std::uint64_t> binding_planner::read_count(const scope& here,
                                                         const config::node& node, entry& e) {
    std::optional<std::uint64_t> count;
    if (const auto given = node.find("count")) {
        count = read_counters(here, given, e);
        if (!count) return std::nullopt;
    }
    std::vector<const series*> lists{&e.at, &e.to, &e.line};
    for (const auto& [name, values] : e.with) lists.push_back(&values);
    for (const auto* list : lists) {
        if (!list->is_list()) continue;
        if (!count) count = list->items.size();
        if (list->items.size() == *count && *count > 0) continue;
        if (e.inner != 0 && list->items.size() == *count / e.inner) continue;  // one per ${i}
        all_.report(list->value, mistake::bad_count,
                    fmt::format("{} values for {} repetitions", list->items.size(), *count));
        return std::nullopt;
    }
    return count.value_or(1);
}

bool binding_planner::check_entry(const config::node& node, const entry& e) {
    const auto needs = [&](const config::node& key_value, std::string_view name,
                           const config::node& other, std::string_view other_name) {
        if (!key_value || other) return true;
        all_.report(node, mistake::missing_key,
                    fmt::format("'{}' has no effect without '{}'", name, other_name));
        return false;
    };
    const auto &at = e.at.value, &to = e.to.value;
    return needs(at, "at", e.size, "size") && needs(e.size, "size", at, "at") &&
           needs(e.at.stride, "stride", at, "at") && needs(to, "to", at, "at") &&
           needs(e.to.stride, "to_stride", to, "to");
}

/// Which item is the `k`th time's: lists have one per repetition, or one per ${i} of two counters.
std::uint64_t binding_planner::index_in(const series& s, const entry& e, std::uint64_t k) {
    return s.is_list() ? k * s.items.size() / e.count : k;
}

/// What ${...} means the `k`th time.
std::optional<variables> binding_planner::kth(const scope& here, const entry& e, std::uint64_t k) {
    const std::uint64_t inner = std::max<std::uint64_t>(e.inner, 1);
    auto known = with_i(here.values, e.repeated, e.first + k / inner);
    if (e.inner != 0) known.emplace_back("j", std::to_string(k % inner));
    for (const auto& [name, values] : e.with) {
        auto text = all_.nth_text(values, index_in(values, e, k), known);
        if (!text) return std::nullopt;
        known.emplace_back(name, std::move(*text));
    }
    return known;
}

bool binding_planner::bind_once(const scope& here, const entry& e, std::uint64_t k) {
    const auto counted = kth(here, e, k);
    if (!counted) return false;
    const variables& known = *counted;
    const auto text = all_.text(e.text, known);
    if (!text) return false;
    auto parsed = parse_bind_line(*text);
    if (const auto* why = std::get_if<config::refusal>(&parsed)) {
        all_.report(e.text, *why);
        return false;
    }
    auto& line = std::get<bind_line>(parsed);
    if (!place(e, k, known, line)) return false;
    const auto from = resolve(here, line.from, e.text);
    const auto to = line.to ? resolve(here, *line.to, e.text) : std::nullopt;
    if (!from || line.to.has_value() != to.has_value()) return false;
    if (!arrow_fits(*from, to, line.both_ways, e.text)) return false;
    if (to)
        add(*from, *to, line.window, e.text);
    else
        leave_unbound(*from, e.text);
    return true;
}

/// Adds what the keys beside `bind` say: the k-th window, the k-th interrupt line.
bool binding_planner::place(const entry& e, std::uint64_t k, const variables& known,
                            bind_line& line) {
    if (e.at) {
        if (line.window) {
            all_.report(e.text, mistake::range_expected,
                        "the range is given twice: here and by 'at'");
            return false;
        }
        const auto base = nth(e, e.at, k, known);
        const auto size = all_.size(e.size, known);
        const auto target = e.to ? nth(e, e.to, k, known) : 0;
        if (!base || !size || !target) return false;
        line.window = plan::range{*base, *size, *target};
    }
    if (!e.line) return true;
    const auto number = nth(e, e.line, k, known);
    if (!number) return false;
    if (!line.to || line.to->index) {
        all_.report(e.line.value, mistake::bad_bind_line,
                    "'line' numbers an interrupt input without [..]");
        return false;
    }
    line.to->index = e.line.is_list() ? *number : *number + k;
    return true;
}

std::optional<std::uint64_t> binding_planner::nth(const entry& e, const series& s, std::uint64_t k,
                                                  const variables& known) {
    if (s.is_list()) return all_.address(s.items[index_in(s, e, k)], known);
    const auto base = all_.address(s.value, known);
    if (!base || !s.stride) return base;
    const auto step = all_.address(s.stride, known);
    return step ? all_.nth(s.stride, *base, *step, k) : std::nullopt;
}

// --- What lines with mistakes would have bound.

/// The ends of the entry's line from the `k`th time on, which nobody may find unbound.
void binding_planner::excuse(const scope& here, const entry& e, std::uint64_t k) {
    constexpr std::uint64_t most = 10'000;  // more is not worth the time: nothing here is reported
    all_.quiet = true;
    for (const auto first = k; k < e.count; ++k) {
        const auto known = kth(here, e, k);
        const auto text = known ? all_.text(e.text, *known) : std::nullopt;
        auto parsed = text ? parse_bind_line(*text) : config::refusal{};
        auto* line = std::get_if<bind_line>(&parsed);
        if (line == nullptr || k - first == most) {
            excused_modules_.insert(here.container);
            break;
        }
        place(e, k, *known, *line);
        excuse_end(here, line->from, e.text);
        if (line->to) excuse_end(here, *line->to, e.text);
    }
    all_.quiet = false;
}

/// An end that cannot be found may have meant any port of the module, or of that name.
void binding_planner::excuse_end(const scope& here, const bind_line::end& end,
                                 const config::node& where) {
    const bool quiet = std::exchange(all_.quiet, true);
    if (const auto found = resolve(here, end, where))
        excused_.insert(key(*found));
    else if (const auto module = here.modules.find(end.module); module != here.modules.end())
        excused_modules_.insert(module->second);
    else
        misnamed_.emplace(here.container, end.port);
    all_.quiet = quiet;
}

/// How many plugs a module has whose parameters are wrong, nobody knows.
void binding_planner::excuse_broken(const scope& here) {
    for (const auto& [name, module] : here.modules)
        if (here.is_broken(name)) excused_modules_.insert(module);
}

bool binding_planner::excused(const plan::endpoint& end) const {
    if (excused_.contains(key(end)) || excused_modules_.contains(end.module)) return true;
    for (auto m = module_of(end).parent;; m = plan_.modules[m].parent) {
        if (excused_modules_.contains(m)) return true;
        if (m == plan::none) break;
    }
    if (misnamed_.contains({module_of(end).parent, port_of(end).name})) return true;
    const auto shown = outermost_.find(key(end));
    return shown != outermost_.end() &&
           misnamed_.contains({plan_.modules[shown->second.container].parent, shown->second.name});
}

// --- Finding an end.

std::optional<plan::endpoint> binding_planner::resolve(const scope& here, const bind_line::end& end,
                                                       const config::node& where) {
    const auto found = here.modules.find(end.module);
    if (found == here.modules.end()) {
        if (here.is_broken(end.module)) return std::nullopt;
        std::vector<std::string> names;
        for (const auto& [name, index] : here.modules) names.push_back(name);
        std::sort(names.begin(), names.end());
        all_.report(where, mistake::unknown_module, fmt::format("no module '{}' here", end.module),
                    suggest(end.module, names));
        return std::nullopt;
    }
    if (plan_.modules[found->second].built_as == nullptr)
        return resolve_shown(here, found->second, end, where);
    return resolve_port(found->second, end, where);
}

std::optional<plan::endpoint> binding_planner::resolve_port(std::uint32_t module,
                                                            const bind_line::end& end,
                                                            const config::node& where) {
    const kind& type = *plan_.modules[module].built_as;
    if (const auto index = type.find_port(end.port))
        return pick({module, static_cast<std::uint32_t>(*index), 0}, end, where);
    std::vector<std::string> names;
    for (const auto& p : type.ports) names.push_back(p.name);
    all_.report(where, mistake::unknown_port,
                fmt::format("{} '{}' has no '{}'", type.name, end.module, end.port),
                suggest(end.port, names));
    return std::nullopt;
}

std::optional<plan::endpoint> binding_planner::resolve_shown(const scope& here,
                                                             std::uint32_t module,
                                                             const bind_line::end& end,
                                                             const config::node& where) {
    const auto& shown = ports_[module];
    if (const auto found = shown.find(end.port); found != shown.end()) {
        if (!end.index) return found->second;
        return pick(found->second, end, where);
    }
    if (here.is_broken(end.module)) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& [name, inner] : shown) names.push_back(name);
    all_.report(
        where, mistake::unknown_port,
        fmt::format("{} '{}' has no port '{}'", plan_.modules[module].type, end.module, end.port),
        suggest(end.port, names));
    return std::nullopt;
}

/// The interrupt line or the element of a vector that `end` names.
std::optional<plan::endpoint> binding_planner::pick(plan::endpoint found, const bind_line::end& end,
                                                    const config::node& where) {
    const port& p = port_of(found);
    const auto& config = module_of(found).config;
    const bool lines = p.role == port_role::irq_in && !p.count;
    const auto size = lines && p.lines ? p.lines(config) : elements(p, config);
    const auto index = end.index.value_or(0);
    if (!end.index && p.count)
        all_.report(where, mistake::line_outside,
                    fmt::format("'{}' has {} sockets: give an index, '{}[0]'", end_text(end), size,
                                end_text(end)));
    else if (end.index && !p.count && !lines)
        all_.report(where, mistake::line_outside,
                    fmt::format("'{}.{}' is one {}, without [..]", end.module, end.port,
                                to_string(p.role)));
    else if (index >= std::min(size, most_elements))
        all_.report(where, mistake::line_outside,
                    fmt::format("'{}': there are {}, counted from 0", end_text(end), size));
    else {
        found.index = static_cast<std::uint32_t>(index);
        return found;
    }
    return std::nullopt;
}

std::string binding_planner::local_text(const plan::endpoint& end) const {
    const std::string full = plan_.text(end);
    return full.substr(module_of(end).path.size() - module_of(end).name.size());
}

// --- Binding two ends.

void binding_planner::add(const plan::endpoint& from, const plan::endpoint& to,
                          const std::optional<plan::range>& window, const config::node& where) {
    if (plan_.bindings.size() >= planning::most_bindings)
        return all_.too_many(where, "bindings", planning::most_bindings);
    if (!directions_fit(from, to, where) || !window_fits(from, to, window, where)) return;
    plan::binding made{from, to, window, 0, false, where};
    if (window) {
        const auto [pair, fresh] = pairs_.try_emplace({key(from), key(to)}, 0);
        if (fresh) pair->second = router_ports_[key(from)]++;
        made.router_port = pair->second;
        made.repeated = !fresh;
    }
    if (!made.repeated && !(may_bind(from, where) && may_bind(to, where))) return;
    bound_.try_emplace(key(from), where);
    bound_.try_emplace(key(to), where);
    plan_.bindings.push_back(made);
}

/// '<->' joins two plugs; everything else has a direction.
bool binding_planner::arrow_fits(const plan::endpoint& from,
                                 const std::optional<plan::endpoint>& to, bool both_ways,
                                 const config::node& where) {
    const auto is_plug = [&](const plan::endpoint& end) {
        return port_of(end).role == port_role::plug;
    };
    const auto refuse = [&](std::string message, std::string suggestion) {
        all_.report(where, mistake::not_two_plugs, std::move(message), std::move(suggestion));
        return false;
    };
    const bool plugs = is_plug(from) && (!to || is_plug(*to));
    if (plugs && !both_ways)
        return refuse(fmt::format("'{}' is a plug, which works both ways", local_text(from)),
                      fmt::format("write '{} <-> {}'", local_text(from),
                                  to ? local_text(*to) : std::string("none")));
    if (plugs && to && key(from) == key(*to))
        return refuse(fmt::format("'{}' is joined to itself", local_text(from)),
                      "a wire has two ends");
    if (plugs || (!both_ways && !is_plug(from) && !(to && is_plug(*to)))) return true;
    const plan::endpoint& other = is_plug(from) ? *to : from;
    return refuse(
        fmt::format("'{}' is {}, not a plug", local_text(other), with_article(port_of(other).role)),
        is_plug(from) || (to && is_plug(*to))
            ? "a plug meets a plug: 'chip0.port0 <-> wire0.a'"
            : "'->' leads from an initiator to a target, '<->' joins two plugs");
}

bool binding_planner::directions_fit(const plan::endpoint& from, const plan::endpoint& to,
                                     const config::node& where) {
    const port_role left = port_of(from).role, right = port_of(to).role;
    if (left == port_role::initiator && right == port_role::target) return true;
    if (left == port_role::irq_out && right == port_role::irq_in) return true;
    if (left == port_role::plug && right == port_role::plug) return true;
    if (left == port_role::uses && right == port_role::provides &&
        port_of(from).interface == port_of(to).interface)
        return true;
    const bool swapped = is_output(right) && !is_output(left);
    all_.report(
        where, mistake::wrong_direction,
        fmt::format("'{}' is {} and '{}' is {}", local_text(from), with_article(left),
                    local_text(to), with_article(right)),
        swapped ? "the arrow points from the initiator or interrupt output"
                : "an initiator goes to a target, an irq_out to an irq_in, a user to a provider "
                  "of what it uses");
    return false;
}

bool binding_planner::window_fits(const plan::endpoint& from, const plan::endpoint& to,
                                  const std::optional<plan::range>& window,
                                  const config::node& where) {
    const port& source = port_of(from);
    const auto refuse = [&](mistake code, std::string message) {
        all_.report(where, code, std::move(message));
        return false;
    };
    if (source.ranged && !window)
        return refuse(mistake::range_expected,
                      fmt::format("'{}' decodes addresses: add '@ base + size'", local_text(from)));
    if (!source.ranged && window)
        return refuse(mistake::range_expected,
                      fmt::format("'{}' sends every address: only a router's initiator has ranges",
                                  local_text(from)));
    if (!window) return true;
    constexpr auto last = std::numeric_limits<std::uint64_t>::max();
    if (window->size == 0) return refuse(mistake::out_of_range, "a range of 0 bytes");
    if (window->size - 1 > last - window->base || window->size - 1 > last - window->target_base)
        return refuse(mistake::out_of_range, "the range leaves 64 bits");
    const port& sink = port_of(to);
    const std::uint64_t room = sink.size ? sink.size(module_of(to).config) : 0;
    if (room == 0) return true;
    if (window->target_base < room && window->size <= room - window->target_base) return true;
    return refuse(
        mistake::range_too_large,
        fmt::format("'{}' is {}: 0x{:x} + {} reaches past it", local_text(to),
                    to_string(bytes{room}), window->target_base, to_string(bytes{window->size})));
}

bool binding_planner::may_bind(const plan::endpoint& end, const config::node& where) {
    const auto earlier = bound_.find(key(end));
    if (port_of(end).many || earlier == bound_.end()) return true;
    all_.report(where, mistake::bound_twice, fmt::format("'{}' is bound already", local_text(end)),
                "first at " + place_text(earlier->second));
    return false;
}

/// `udma0.irq -> none` says that nobody listens, `link.a <-> none` that nothing is plugged in, and
/// that this is meant.
void binding_planner::leave_unbound(const plan::endpoint& from, const config::node& where) {
    const port_role role = port_of(from).role;
    if (role != port_role::irq_out && role != port_role::plug && !port_of(from).may_stay)
        return all_.report(where, mistake::unbound,
                           fmt::format("'{}' cannot stay unbound", local_text(from)));
    if (may_bind(from, where)) bound_.try_emplace(key(from), where);
}

// --- Ports of assemblies.

void binding_planner::export_ports(const scope& here) {
    const auto list = here.file->root().find("ports");
    if (!list || here.container == plan::none) return;
    for (const auto& e : list.entries()) {
        const std::string name = e.key_node.name();
        if (!e.value.is_map()) {
            if (const auto inner = all_.text(e.value, here.values))
                export_one(here, name, *inner, e.value);
            continue;
        }
        e.value.only({"port", "count"}, "a repeated port");
        const auto port = e.value.find("port"), count = e.value.find("count");
        if (!port || !count) {
            all_.report(e.value, mistake::missing_key, "a repeated port has 'port' and 'count'");
            continue;
        }
        entry counted;
        counted.repeated = true;
        const auto times = read_counters(here, count, counted);
        for (std::uint64_t k = 0; times && k < *times; ++k) {
            const auto inner = all_.text(port, *kth(here, counted, k));
            if (!inner) break;
            export_one(here, fmt::format("{}{}", name, k), *inner, port);
        }
    }
}

void binding_planner::export_one(const scope& here, const std::string& name, std::string_view inner,
                                 const config::node& where) {
    const auto parsed = parse_end(inner);
    if (const auto* why = std::get_if<config::refusal>(&parsed)) return all_.report(where, *why);
    const auto end = resolve(here, std::get<bind_line::end>(parsed), where);
    if (!end) return excuse_end(here, std::get<bind_line::end>(parsed), where);
    if (!ports_[here.container].try_emplace(name, *end).second)
        return all_.report(where, mistake::module_twice, fmt::format("two ports '{}'", name));
    outermost_[key(*end)] = {here.container, name};
}

// --- The whole.

void binding_planner::check_whole() {
    check_overlaps();
    check_lanes();
    if (all_.full) return;  // nobody knows what the rest would have bound
    for (std::uint32_t m = 0; m < plan_.modules.size(); ++m) {
        const plan::module& module = plan_.modules[m];
        if (module.built_as == nullptr) continue;
        const auto& ports = module.built_as->ports;
        for (std::uint32_t p = 0; p < ports.size(); ++p) {
            if (ports[p].may_stay) continue;
            const auto count = static_cast<std::uint32_t>(elements(ports[p], module.config));
            for (std::uint32_t i = 0; i < count; ++i) check_unbound({m, p, i});
        }
    }
}

void binding_planner::check_overlaps() {
    std::map<std::uint64_t, std::vector<const plan::binding*>> routers;
    for (const auto& b : plan_.bindings)
        if (b.window) routers[key(b.from)].push_back(&b);
    for (auto& [router, list] : routers) {
        std::stable_sort(list.begin(), list.end(), [](const auto* a, const auto* b) {
            return a->window->base < b->window->base;
        });
        const plan::binding* reaches_furthest = nullptr;
        for (const auto* b : list) {
            const auto* before = reaches_furthest;
            const auto end = b->window->base + (b->window->size - 1);
            const auto end_before =
                before != nullptr ? before->window->base + (before->window->size - 1) : 0;
            if (before != nullptr && b->window->base <= end_before)
                all_.report(b->where, mistake::range_overlap,
                            fmt::format("0x{:x} + {} of '{}' is taken", b->window->base,
                                        to_string(bytes{b->window->size}), local_text(b->from)),
                            fmt::format("by '{}' at {}", local_text(before->to),
                                        place_text(before->where)));
            if (before == nullptr || end > end_before) reaches_furthest = b;
        }
    }
}

/// Both ends of a wire have as many lanes, and a device has lanes for all of its links.
void binding_planner::check_lanes() {
    const auto lanes_of = [&](const plan::endpoint& end) {
        const auto& lanes = port_of(end).lanes;
        return lanes ? lanes(module_of(end).config) : 0;
    };
    std::map<ends, std::uint64_t> used;  // by module and port
    for (const auto& b : plan_.bindings) {
        if (port_of(b.from).role != port_role::plug) continue;
        const auto left = lanes_of(b.from), right = lanes_of(b.to);
        if (left != 0 && right != 0 && left != right)
            all_.report(b.where, mistake::lane_mismatch,
                        fmt::format("'{}' has {} lanes and '{}' {}", local_text(b.from), left,
                                    local_text(b.to), right));
        for (const auto& [end, added] : {std::pair{b.from, right}, {b.to, left}}) {
            if (!port_of(end).room) continue;
            auto& sum = used[{end.module, end.port}];
            const auto room = port_of(end).room(module_of(end).config);
            if (sum <= room && sum + added > room)
                all_.report(b.where, mistake::too_many_lanes,
                            fmt::format("'{}' has {} lanes, '{}' makes it {}", module_of(end).name,
                                        room, local_text(end), sum + added));
            sum += added;
        }
    }
    check_blocks();
}

/// A link lies within one block of lanes. Blocks are filled in the order of the device's ports:
/// what is left over in several of them makes no link.
void binding_planner::check_blocks() {
    struct cable {
        const plan::binding* binding;
        const plan::endpoint* here;
        std::uint64_t links, width;
    };
    std::map<ends, std::vector<cable>> devices;  // by module and port
    for (const auto& b : plan_.bindings)
        for (const auto& [here, there] : {std::pair{&b.from, &b.to}, {&b.to, &b.from}}) {
            const port& far = port_of(*there);
            if (!port_of(*here).block || !far.lanes) continue;
            const auto& config = module_of(*there).config;
            const auto links = far.links ? far.links(config) : 1;
            if (links == 0 || far.lanes(config) < links) continue;  // the model says so (E54)
            devices[{here->module, here->port}].push_back(
                {&b, here, links, far.lanes(config) / links});
        }
    for (auto& [device, cables] : devices) {
        std::ranges::stable_sort(cables, {}, [](const cable& c) { return c.here->index; });
        const port& plug = port_of(*cables.front().here);
        const auto& config = module_of(*cables.front().here).config;
        const auto block = plug.block(config), room = plug.room(config);
        if (block == 0) continue;  // likewise
        std::uint64_t used = 0, sum = 0;
        for (const auto& [binding, here, links, width] : cables) {
            sum += links * width;
            if (sum > room) break;  // E57
            for (std::uint64_t n = 0; n < links; ++n) {
                const auto left = block - used % block;
                used += width <= left ? width : left + width;
            }
            if (used <= room && width <= block) continue;
            all_.report(binding->where, mistake::no_block_has_room,
                        fmt::format("'{}' is {} x{}, for which no block of {} lanes has room",
                                    local_text(*here), links, width, block));
            break;
        }
    }
}

void binding_planner::check_unbound(const plan::endpoint& end) {
    if (bound_.contains(key(end)) || excused(end)) return;
    const plan::module& module = module_of(end);
    const auto shown = outermost_.find(key(end));
    if (shown == outermost_.end())
        return all_.report(
            module.where, mistake::unbound,
            fmt::format("{} '{}' is not bound", to_string(port_of(end).role), local_text(end)),
            port_of(end).doc);
    const plan::module& container = plan_.modules[shown->second.container];
    all_.report(container.where, mistake::unbound,
                fmt::format("port '{}.{}' is not bound", container.name, shown->second.name),
                fmt::format("it is {} {}: {}", to_string(port_of(end).role), local_text(end),
                            port_of(end).doc));
}

}  // namespace trn
