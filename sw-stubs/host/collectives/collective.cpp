// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/collectives/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <stdexcept>

#include "sw-stubs/host/collectives/reference.h"

namespace trn {

namespace {

constexpr std::uint64_t queues_bytes = std::uint64_t{256} << 10;  // rings of EFA cards
static_assert(queues_bytes >= TRN_COLL_RING_CHANNELS * TRN_COLL_QUEUE_BYTES);
constexpr auto guard_bytes = collective_memories::guard_bytes;
constexpr std::uint8_t guard_value = 0xa5;
constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20;

[[noreturn]] void refuse(const collective_request& request, const std::string& why) {
    refuse_argument("{}: {}", trn_coll_op_text(request.op), why);
}

location before(location place, std::uint64_t bytes) {
    place.offset -= bytes;
    return place;
}

std::uint64_t rounded(const collective_request& request) {
    const std::uint64_t unit = trn_coll_type_bytes(request.type);
    if (request.op == TRN_COLL_BARRIER || unit == 0) return 0;
    if (request.bytes > 0 && request.bytes < unit)
        refuse_argument("{} of {} bytes: an element has {}", trn_coll_op_text(request.op),
                        request.bytes, unit);
    return request.bytes / unit * unit;
}

/// Whether the operation gives all ranks the same output.
bool gives_all_the_same(trn_coll_op op) {
    return op == TRN_COLL_ALL_REDUCE || op == TRN_COLL_ALL_GATHER || op == TRN_COLL_ALL_GATHER_V ||
           op == TRN_COLL_BROADCAST;
}

/// Timeout of the host: a rank's failure by its own timeout comes first.
std::uint64_t wait_limit(const collective_request& request) {
    constexpr auto none = std::numeric_limits<std::uint64_t>::max();
    const auto limit = request.limit_ns;
    return limit == 0 || limit > none / 2 ? none : 2 * limit;
}

bool scatters(trn_coll_op op) {
    return op == TRN_COLL_REDUCE_SCATTER || op == TRN_COLL_REDUCE_SCATTER_V;
}

template <typename Work>
void in_chunks(std::uint64_t bytes, Work&& work) {
    for (std::uint64_t done = 0; done < bytes; done += chunk_bytes)
        work(done, std::min(chunk_bytes, bytes - done));
}

}  // namespace

std::vector<std::uint64_t> collective_counts(const collective_request& request, std::size_t ranks) {
    auto counts = request.counts;
    if (!trn_coll_has_counts(request.op)) {
        if (!counts.empty()) refuse(request, "its blocks are equal, so it takes no counts");
        return counts;
    }
    const auto needed = trn_coll_count_entries(request.op, static_cast<std::uint32_t>(ranks));
    const bool square = needed > ranks;
    if (square && counts.size() == ranks)
        for (std::size_t n = 1; n < ranks; ++n)
            counts.insert(counts.end(), request.counts.begin(), request.counts.end());
    if (counts.size() != needed)
        refuse(request,
               fmt::format("over {} ranks it takes {}{} counts, not {}", ranks,
                           square ? fmt::format("{} or ", ranks) : "", needed, counts.size()));
    for (std::size_t n = 0; n < counts.size(); ++n)
        if (counts[n] > TRN_COLL_MAX_COUNT)
            refuse(request, fmt::format("count {}: {} elements are too many", n, counts[n]));
    return counts;
}

std::vector<std::uint32_t> collective_targets(const collective_request& request,
                                              std::size_t ranks) {
    std::vector<std::uint32_t> targets;
    if (!request.pairs) return targets;
    if (request.op != TRN_COLL_PERMUTE) refuse(request, "only a permute takes pairs");
    targets.assign(ranks, TRN_COLL_NO_RANK);
    for (const auto& [sender, receiver] : *request.pairs) {
        if (sender >= ranks || receiver >= ranks)
            refuse(request,
                   fmt::format("pair {}-{}: there are ranks 0 to {}", sender, receiver, ranks - 1));
        if (targets[sender] != TRN_COLL_NO_RANK)
            refuse(request, fmt::format("rank {} sends twice", sender));
        if (std::ranges::find(targets, receiver) != targets.end())
            refuse(request, fmt::format("rank {} receives twice", receiver));
        targets[sender] = receiver;
    }
    return targets;
}

std::pair<std::uint32_t, std::uint32_t> collective_pair(const std::string& text) {
    constexpr std::size_t max_digits = 9;
    const auto dash = text.find('-');
    const auto is_number = [](std::string_view digits) {
        return !digits.empty() && digits.size() <= max_digits &&
               digits.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const auto sender = text.substr(0, dash),
               receiver = dash == text.npos ? "" : text.substr(dash + 1);
    if (!is_number(sender) || !is_number(receiver))
        throw std::runtime_error(
            fmt::format("'{}' is not a pair of ranks, sender and receiver, such as 0-1", text));
    return {static_cast<std::uint32_t>(std::stoul(sender)),
            static_cast<std::uint32_t>(std::stoul(receiver))};
}

collective_group::collective_group(host_set& hosts, const std::vector<std::size_t>& chips,
                                   std::span<const std::uint8_t> image)
    : hosts_(hosts),
      chips_(chips),
      places_(chips.size()),
      image_(image.begin(), image.end()),
      loaded_(chips.size()) {
    rank_of_.resize(hosts.chips().size());
    for (std::uint32_t rank = 0; rank < chips.size(); ++rank) {
        if (chips[rank] >= rank_of_.size())
            throw std::invalid_argument(
                fmt::format("rank {}: the machine has {} chips", chips[rank], rank_of_.size()));
        rank_of_[chips[rank]] = rank;
    }
    trn_topology machine{};
    each_rank(chips_, [&](std::uint32_t rank, device& chip) {
        bring_up(chip);
        trn_topology found{};
        chip.check(trn_get_topology(chip, &found));
        places_[rank] = found.own;
        if (rank == 0) {
            machine = found;
            info_ = chip.info();
            memories_.emplace(chip);
        }
    });
    topology_ = machine.kind;
    network_.emplace(hosts, chips_);
    find_rings(machine);
    need_cores(0, ring_.size() > ranks() ? TRN_COLL_CHANNELS : TRN_COLL_RING_CHANNELS);
    each_rank(chips_, [&](std::uint32_t rank, device& chip) { load_missing(rank, chip); });
}

collective_group::~collective_group() {
    for (auto& slot : armed_)
        for (auto& made : slot) trn_coll_free(made.release());
}

/// Runs `work` on the hosts of these chips.
void collective_group::each_rank(
    const std::vector<std::size_t>& chips,
    const std::function<void(std::uint32_t rank, device& chip)>& work) const {
    hosts_.run_each(chips, [&](std::size_t index, device& chip) { work(rank_of_[index], chip); });
}

/// The first CC-Core of a NeuronCore.
std::uint32_t collective_group::collective_core(std::uint32_t core) const {
    return core * (info_.sync_blocks / info_.cores);
}

/// Adds `count` NeuronCores from `first` on to those whose first CC-Core is used.
void collective_group::need_cores(std::uint32_t first, std::uint32_t count) {
    for (auto n = first; n < std::min(first + count, info_.cores); ++n) needed_cores_ |= 1u << n;
}

/// Loads the image into the needed CC-Cores of a rank, except those that already run it.
void collective_group::load_missing(std::uint32_t rank, device& chip) {
    auto& loaded = loaded_[rank];
    std::uint32_t missing = 0;
    for (std::uint32_t core = 0; core < info_.cores; ++core) {
        if ((needed_cores_ >> core & 1) == 0) continue;
        const auto found = loaded.find(core);
        if (found == loaded.end() || found->second != trn_core_resets(chip, core))
            missing |= 1u << collective_core(core);
    }
    if (missing == 0) return;
    chip.check(trn_cc_load(chip, missing, image_.data(), image_.size()));
    for (std::uint32_t core = 0; core < info_.cores; ++core)
        if ((missing >> collective_core(core) & 1) != 0) loaded[core] = trn_core_resets(chip, core);
}

void collective_group::use_image(std::span<const std::uint8_t> image) {
    if (std::ranges::equal(image, image_)) return;
    if (std::ranges::any_of(armed_, [](const handles& slot) { return !slot.empty(); }))
        throw device_error(TRN_BUSY, "collectives that programs start use another image");
    image_.assign(image.begin(), image.end());
    for (auto& rank : loaded_) rank.clear();
}

/// Concatenates the rings of the domains; uses the smallest number of rings of any domain.
void collective_group::find_rings(const trn_topology& machine) {
    const auto each = static_cast<std::uint32_t>(ranks()) / domains();
    std::vector<std::uint32_t> of_domain(std::size_t{TRN_COLL_RINGS} * each);
    auto rings = TRN_COLL_RINGS;
    ring_.resize(rings * ranks());
    for (std::uint32_t first = 0; first < ranks(); first += each) {
        rings = std::min(rings, trn_coll_rings(&places_[first], &machine, each, of_domain.data()));
        for (std::size_t ring = 0; ring < rings; ++ring)
            std::ranges::transform(std::span(of_domain).subspan(ring * each, each),
                                   &ring_[ring * ranks() + first],
                                   [&](std::uint32_t rank) { return first + rank; });
    }
    ring_.resize(rings * ranks());
}

void collective_group::fill(device& chip, std::uint32_t rank, const trn_coll_config& config,
                            const rank_data& data) {
    const collective_reference reference(config);
    const std::vector<std::uint8_t> guard(guard_bytes, guard_value);
    for (const auto& each : apart(data.buffers[rank], config.in_place)) {
        if (each.bytes == 0) continue;
        write_memory(chip, before(each.place, guard_bytes), guard);
        write_memory(chip, each.place.plus(each.bytes), guard);
        if (!data.checks) continue;
        in_chunks(each.bytes, [&](std::uint64_t offset, std::uint64_t size) {
            write_memory(chip, each.place.plus(offset),
                         std::vector<std::uint8_t>(size, guard_value));
        });
    }
    const auto& send = data.buffers[rank].front();
    in_chunks(send.bytes, [&](std::uint64_t offset, std::uint64_t size) {
        std::vector<std::uint8_t> bytes(size);
        reference.input(rank, offset / trn_coll_type_bytes(config.type), bytes);
        write_memory(chip, send.place.plus(offset), bytes);
    });
}

/// Checks outputs, inputs (which must be unchanged) and the memory around both.
void collective_group::check(const trn_coll_config& config, const rank_data& data,
                             collective_result& found) {
    const collective_reference reference(config);
    const auto size = trn_coll_type_bytes(config.type);
    std::vector<std::uint8_t> shared;  // the output, where it is equal on all ranks
    each_rank(chips_, [&](std::uint32_t rank, device& chip) {
        const auto& all = data.buffers[rank];
        const auto differs = [&](const std::string& place_name, std::uint64_t element) {
            if (found.wrong++ == 0)
                found.first_wrong = fmt::format("rank {}: {} {}", rank, place_name, element);
        };
        std::vector<std::uint8_t> expected;
        const auto compare = [&](const location& place, std::uint64_t total, const char* place_name,
                                 auto&& want) {
            in_chunks(total, [&](std::uint64_t offset, std::uint64_t length) {
                expected.resize(length);
                const auto bytes = read_memory(chip, place.plus(offset), length);
                want(offset, std::span(expected));
                if (bytes == expected) return;
                for (std::size_t n = 0; n < length; n += size)
                    if (!std::equal(&bytes[n], &bytes[n] + size, &expected[n]))
                        differs(place_name, (offset + n) / size);
            });
        };
        // in place, the output replaces it
        const auto compare_input = [&](std::uint64_t begin, std::uint64_t end) {
            compare(all[0].place.plus(begin), end - begin, "input element",
                    [&](std::uint64_t offset, std::span<std::uint8_t> want) {
                        reference.input(rank, (begin + offset) / size, want);
                    });
        };
        const auto own = all[1].place.offset - all[0].place.offset;
        if (!config.in_place) compare_input(0, all[0].bytes);
        if (config.in_place && scatters(config.op)) {
            compare_input(0, own);
            compare_input(own + all[1].bytes, all[0].bytes);
        }
        compare(all[1].place, all[1].bytes, "element",
                [&](std::uint64_t offset, std::span<std::uint8_t> want) {
                    if (config.op == TRN_COLL_PERMUTE) {  // a rank may receive nothing
                        std::ranges::fill(want, guard_value);
                        if (config.in_place) reference.input(rank, offset / size, want);
                    }
                    if (!gives_all_the_same(config.op))
                        return reference.output(rank, offset / size, want);
                    if (shared.size() < offset + want.size()) {
                        shared.resize(offset + want.size());
                        reference.output(rank, offset / size, std::span(shared).subspan(offset));
                    }
                    std::copy_n(&shared[offset], want.size(), want.begin());
                });
        for (const auto& each : apart(all, config.in_place)) {
            if (each.bytes == 0) continue;
            const auto around = [](std::uint64_t, std::span<std::uint8_t> want) {
                std::ranges::fill(want, guard_value);
            };
            compare(before(each.place, guard_bytes), guard_bytes, "byte before a buffer,", around);
            compare(each.place.plus(each.bytes), guard_bytes / size * size, "byte after a buffer,",
                    around);
        }
    });
}

trn_coll_config collective_group::config_for(const collective_request& request,
                                             rank_data& data) const {
    auto& members = data.members;
    members.resize(ranks());
    data.done = request.done;
    trn_coll_config config{};
    config.op = request.op;
    config.algorithm = request.algorithm;
    config.rules = request.rules.data();
    config.rule_count = static_cast<std::uint32_t>(request.rules.size());
    config.topology = topology_;
    config.bytes = rounded(request);
    config.root = request.root;
    config.type = request.type;
    config.with = request.with;
    config.ranks = static_cast<std::uint32_t>(ranks());
    config.members = members.data();
    config.ring = ring_.data();
    config.rings = static_cast<std::uint32_t>(ring_.size() / ranks());
    config.domains = domains();
    config.channels = request.channels;
    config.lanes = request.lanes;
    data.counts = collective_counts(request, ranks());
    if (!data.counts.empty()) {
        config.counts = data.counts.data();
        config.bytes = trn_coll_counted_bytes(&config);
    }
    data.targets = collective_targets(request, ranks());
    if (!data.targets.empty()) config.targets = data.targets.data();
    config.in_place = request.in_place;
    data.checks = request.check;
    config.algorithm = trn_coll_choose(&config);
    config.slot = request.slot;
    config.core = collective_core(request.core);
    config.workspace =
        collective_memories::workspace_at + request.slot * collective_memories::workspace_bytes;
    config.workspace_bytes = collective_memories::workspace_bytes - queues_bytes;
    config.queues = config.workspace + config.workspace_bytes;
    config.limit = request.limit_ns;
    config.notify = true;
    config.steps = request.steps;
    data.buffers.resize(ranks());
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) members[rank].place = places_[rank];
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
        config.rank = rank;
        const auto& all = data.buffers[rank] = memories_->place(config, request.places);
        members[rank] = {places_[rank], all[0].address, all[1].address, all[2].address};
    }
    config.rank = 0;
    return config;
}

void collective_group::create(const trn_coll_config& config, const rank_data& data, handles& made) {
    if (config.slot < armed_.size() && !armed_[config.slot].empty())
        throw device_error(
            TRN_BUSY, fmt::format("slot {} holds a collective that programs start", config.slot));
    made.resize(ranks());
    network_->open(config);
    each_rank(chips_, [&](std::uint32_t rank, device& chip) {
        trn_coll_config mine = config;
        mine.rank = rank;
        reopen(chip);
        load_missing(mine.rank, chip);
        network_->describe(mine);
        if (const auto& done = data.done) {
            mine.done_semaphore = trn_semaphore_address(chip, done->core, done->index);
            if (mine.done_semaphore == 0)
                refuse_argument("there is no semaphore {} of core {}", done->index, done->core);
        }
        trn_coll* handle = nullptr;
        chip.check(trn_coll_create(chip, &mine, &handle));  // refuses an invalid configuration
        made[mine.rank].reset(handle);
        if (data.fills) fill(chip, mine.rank, config, data);
    });
}

/// Destroys collectives where calls of the driver stub are allowed.
void collective_group::take_down(handles& made, std::uint32_t slot) {
    if (made.empty()) return;
    network_->close(slot);
    each_rank(chips_, [&](std::uint32_t rank, device&) { made[rank].reset(); });
}

struct collective_group::one_run {
    collective_group* group;
    const collective_request& request;
    rank_data data = {};
    trn_coll_config config = {};
    handles made = {};
    collective_result result = {};
    std::uint64_t operation = 0;  // in a trace
};

void collective_group::start_rank(const collective_request& request, std::uint32_t rank,
                                  device& chip, trn_coll* made) {
    if (!request.start_by) return chip.check(trn_coll_start(made));
    std::array<trn_coll_trigger, TRN_COLL_CHANNELS> triggers{};
    const auto count = trn_coll_triggers(made, triggers.data());
    chip.check(trn_coll_expect(made, 1));
    request.start_by(rank, chip, std::span(triggers).first(count));
}

/// Replaces the output of a run in place by the input.
void collective_group::fill_again(const one_run& run) {
    each_rank(chips_,
              [&](std::uint32_t rank, device& chip) { fill(chip, rank, run.config, run.data); });
}

void collective_group::start(one_run& run) {
    run.operation = 0;
    each_rank(chips_, [&](std::uint32_t rank, device& chip) {
        start_rank(run.request, rank, chip, run.made[rank].get());
    });
}

namespace {

collective_result::rank_steps steps_of(trn_coll* made, device& chip) {
    collective_result::rank_steps steps;
    std::uint32_t count = 0;
    chip.check(trn_coll_times(made, &steps.begin_ns, &steps.end_ns));
    chip.check(trn_coll_steps(made, nullptr, &count));
    steps.ends_ns.resize(count);
    chip.check(trn_coll_steps(made, steps.ends_ns.data(), &count));
    for (auto& end : steps.ends_ns) end += steps.begin_ns;
    return steps;
}

void count_from_the_first(std::vector<collective_result::rank_steps>& steps) {
    if (steps.empty()) return;
    const auto first =
        std::ranges::min(steps, {}, &collective_result::rank_steps::begin_ns).begin_ns;
    for (auto& rank : steps) {
        rank.begin_ns -= first;
        rank.end_ns -= first;
        for (auto& end : rank.ends_ns) end -= first;
    }
}

}  // namespace

void collective_group::finish(one_run& run) {
    const auto& request = run.request;
    if (request.steps) run.result.steps.assign(ranks(), {});
    run.result.started_ns = run.result.ended_ns = 0;
    each_rank(chips_, [&](std::uint32_t rank, device& chip) {
        std::uint64_t first = 0, last = 0;
        if (request.meanwhile) request.meanwhile(rank, chip);
        chip.check(trn_coll_wait(run.made[rank].get(), wait_limit(request)));
        chip.check(trn_coll_times(run.made[rank].get(), &first, &last));
        run.result.started_ns = std::max(run.result.started_ns, first);
        run.result.ended_ns = std::max(run.result.ended_ns, last);
        if (request.steps) run.result.steps[rank] = steps_of(run.made[rank].get(), chip);
    });
    count_from_the_first(run.result.steps);
    run.result.ns +=
        static_cast<double>(run.result.ended_ns - run.result.started_ns) / request.iterations;
}

/// \throws std::invalid_argument when two jobs use the same slot of a chip, or a slot's buffers
/// overlap another slot's share
void collective_group::check_apart(std::span<const collective_job> jobs) {
    if (jobs.size() < 2) return;
    for (auto a = jobs.begin(); a != jobs.end(); ++a)
        for (auto b = a + 1; b != jobs.end(); ++b)
            for (const auto chip : a->group.chips_)
                if (a->request.slot == b->request.slot &&
                    std::ranges::find(b->group.chips_, chip) != b->group.chips_.end())
                    throw std::invalid_argument(fmt::format("two collectives in slot {} of chip {}",
                                                            a->request.slot, chip));
    for (const auto& job : jobs) {
        rank_data data;
        job.group.config_for(job.request, data);
        const auto fits = [&](const collective_memories::buffers& all) {
            return job.group.memories_->in_share(all, job.request.slot);
        };
        if (!std::ranges::all_of(data.buffers, fits))
            throw std::invalid_argument(
                fmt::format("slot {}: the buffers of a collective beside others have 1 GiB of a "
                            "stack or a quarter of an SBUF",
                            job.request.slot));
    }
}

std::vector<collective_result> collective_group::run_together(
    std::span<const collective_job> jobs) {
    check_apart(jobs);
    std::vector<one_run> runs;
    std::uint32_t iterations = 0;
    for (const auto& job : jobs) {
        auto& run = runs.emplace_back(one_run{&job.group, job.request});
        run.config = job.group.config_for(job.request, run.data);
        run.result = {
            .bytes = run.config.bytes,
            .elements = run.config.bytes / std::max(1u, trn_coll_type_bytes(job.request.type)),
            .algorithm = run.config.algorithm};
        iterations = std::max(iterations, job.request.iterations);
    }
    const auto take_all_down = [&] {
        for (auto& run : runs) run.group->take_down(run.made, run.request.slot);
    };
    try {
        for (auto& run : runs) {
            run.config.operation = &run.operation;
            run.group->create(run.config, run.data, run.made);
            run.config.channels = trn_coll_channels(run.made.front().get());
            run.config.rings = trn_coll_rings_used(run.made.front().get());
        }
        for (std::uint32_t n = 0; n < iterations; ++n) {
            for (auto& run : runs)
                if (n > 0 && n < run.request.iterations && run.request.in_place)
                    run.group->fill_again(run);
            const auto begin = std::chrono::steady_clock::now();
            for (auto& run : runs)
                if (n < run.request.iterations) run.group->start(run);
            for (auto& run : runs) {
                if (n >= run.request.iterations) continue;
                run.group->finish(run);
                const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
                run.result.wall_s = took.count();
            }
        }
        for (auto& run : runs)
            if (run.request.check) run.group->check(run.config, run.data, run.result);
    } catch (...) {
        take_all_down();
        throw;
    }
    take_all_down();
    std::vector<collective_result> results;
    for (auto& run : runs) results.push_back(std::move(run.result));
    return results;
}

collective_result collective_group::run(const collective_request& request) {
    const collective_job only[] = {{*this, request}};
    return run_together(only).front();
}

std::vector<rank_outcome> collective_group::run_without(std::optional<std::uint32_t> absent,
                                                        const collective_request& request) {
    auto started = chips_;
    if (absent) started.erase(started.begin() + *absent);
    rank_data data;
    std::vector<rank_outcome> outcomes(ranks());
    handles made;
    create(config_for(request, data), data, made);
    each_rank(started, [&](std::uint32_t rank, device& chip) {
        start_rank(request, rank, chip, made[rank].get());
    });
    each_rank(started, [&](std::uint32_t rank, device& chip) {
        if (request.meanwhile) request.meanwhile(rank, chip);
        outcomes[rank].status = trn_coll_wait(made[rank].get(), wait_limit(request));
        outcomes[rank].sentence = trn_last_error(chip);
        outcomes[rank].failure = trn_coll_failure(made[rank].get());
    });
    take_down(made, request.slot);
    return outcomes;
}

std::vector<trn_coll_trigger> collective_group::arm(const collective_request& request,
                                                    std::span<const own_buffers> of_ranks) {
    rank_data data;
    data.fills = false;
    trn_coll_config config = config_for(request, data);
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
        const own_buffers& own = of_ranks[rank];
        const auto& parts = data.buffers[rank];
        if (own.send_bytes != parts[0].bytes || own.receive_bytes != parts[1].bytes)
            refuse_argument(
                "{} over {} ranks, with a larger buffer of {} bytes, reads {} bytes and "
                "writes {}, not {} and {}",
                trn_coll_op_text(request.op), ranks(), config.bytes, parts[0].bytes, parts[1].bytes,
                own.send_bytes, own.receive_bytes);
    }
    const auto in_share = [&](const collective_memories::buffers& parts) {
        return memories_->in_share(parts, request.slot);
    };
    if (!std::ranges::all_of(data.buffers, in_share))
        refuse_argument(
            "{} of {} bytes: the buffers of a collective that programs "
            "start have 1 GiB together",
            trn_coll_op_text(request.op), config.bytes);
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
        data.members[rank].send = of_ranks[rank].send;
        data.members[rank].receive = of_ranks[rank].receive;
    }
    need_cores(request.core, std::max(1u, request.channels));
    handles made;
    try {
        create(config, data, made);
    } catch (...) {
        take_down(made, request.slot);
        throw;
    }
    std::array<trn_coll_trigger, TRN_COLL_CHANNELS> triggers{};
    const auto count = trn_coll_triggers(made.front().get(), triggers.data());
    armed_[request.slot] = std::move(made);
    return {triggers.begin(), triggers.begin() + count};
}

std::string collective_group::failure(std::uint32_t slot) {
    std::string found;
    each_rank(chips_, [&](std::uint32_t rank, device& chip) {
        trn_coll* const made = armed_[slot][rank].get();
        if (trn_coll_check(made) == TRN_ABORTED && found.empty()) found = trn_last_error(chip);
    });
    return found;
}

void collective_group::disarm(std::uint32_t slot) {
    take_down(armed_[slot], slot);
    armed_[slot].clear();
}

}  // namespace trn
