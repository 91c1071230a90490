// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"
#include "sw-stubs/host/collectives/buffers.h"
#include "sw-stubs/host/collectives/network.h"
#include "sw-stubs/host/machine/host_set.h"
#include "sw-stubs/host/values/elements.h"

template <>
struct trn::names_of<trn_coll_op> {
    static constexpr std::array list{
        named<trn_coll_op>{"all_reduce", TRN_COLL_ALL_REDUCE},
        named<trn_coll_op>{"all_gather", TRN_COLL_ALL_GATHER},
        named<trn_coll_op>{"reduce_scatter", TRN_COLL_REDUCE_SCATTER},
        named<trn_coll_op>{"all_to_all", TRN_COLL_ALL_TO_ALL},
        named<trn_coll_op>{"permute", TRN_COLL_PERMUTE},
        named<trn_coll_op>{"broadcast", TRN_COLL_BROADCAST},
        named<trn_coll_op>{"barrier", TRN_COLL_BARRIER},
        named<trn_coll_op>{"all_gather_v", TRN_COLL_ALL_GATHER_V},
        named<trn_coll_op>{"reduce_scatter_v", TRN_COLL_REDUCE_SCATTER_V},
        named<trn_coll_op>{"all_to_all_v", TRN_COLL_ALL_TO_ALL_V},
    };
};
template <>
struct trn::names_of<trn_coll_algorithm> {
    static constexpr std::array list{
        named<trn_coll_algorithm>{"ring", TRN_COLL_RING},
        named<trn_coll_algorithm>{"mesh", TRN_COLL_MESH},
        named<trn_coll_algorithm>{"doubling", TRN_COLL_DOUBLING},
        named<trn_coll_algorithm>{"halving", TRN_COLL_HALVING},
        named<trn_coll_algorithm>{"kangaring", TRN_COLL_KANGARING},
    };
};
template <>
struct trn::names_of<trn_topology_kind> {
    static constexpr std::array list{
        named<trn_topology_kind>{"ring", TRN_TOPOLOGY_RING},
        named<trn_topology_kind>{"torus", TRN_TOPOLOGY_TORUS},
        named<trn_topology_kind>{"switched", TRN_TOPOLOGY_SWITCHED},
    };
};
template <>
struct trn::names_of<trn_coll_operator> {
    static constexpr std::array list{
        named<trn_coll_operator>{"sum", TRN_COLL_SUM},
        named<trn_coll_operator>{"min", TRN_COLL_MIN},
        named<trn_coll_operator>{"max", TRN_COLL_MAX},
    };
};

namespace trn {

/// A collective that frees itself.
struct collective_deleter {
    void operator()(trn_coll* made) const { trn_coll_destroy(made); }
};
using collective_handle = std::unique_ptr<trn_coll, collective_deleter>;

/// A collective, as the user requests it.
struct collective_request {
    trn_coll_op op = TRN_COLL_ALL_GATHER;
    trn_coll_algorithm algorithm = TRN_COLL_AUTO;
    std::vector<trn_coll_rule> rules = {};  ///< take precedence over the library's
    trn_element type = TRN_BF16;
    trn_coll_operator with = TRN_COLL_SUM;
    std::uint64_t bytes = 0;                 ///< rounded down to whole elements
    std::vector<std::uint64_t> counts = {};  ///< instead of bytes: collective_counts
    /// Permute: pairs of a sending and a receiving rank (collective_targets); without: each rank
    /// sends to the next one of the ring.
    std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> pairs = {};
    bool in_place = false;  ///< the input is in the memory of the output
    collective_places places = {};
    std::uint32_t root = 0;
    std::uint32_t channels = 0, lanes = 0;  ///< 0: chosen by the size
    std::uint32_t slot = 0;                 ///< of the cores: one per concurrent collective
    std::uint32_t core = 0;                 ///< NeuronCore of channel 0; others follow
    std::uint32_t iterations = 1;
    std::uint64_t limit_ns = 1'000'000'000;  ///< timeout of a wait for another rank; 0: none
    bool check = false;
    bool steps = false;  ///< record the end times of each rank's steps
    /// Semaphore of a NeuronCore to which each channel adds 1 at the end of a run.
    struct core_semaphore {
        std::uint32_t core = 0, index = 0;
    };
    std::optional<core_semaphore> done = {};
    /// Called on each rank's host instead of the trigger: passes the writes that start the run to
    /// the agent that makes them, such as a program of the chip's engines.
    std::function<void(std::uint32_t rank, device&, std::span<const trn_coll_trigger>)> start_by =
        {};
    /// Called on each rank's host between its trigger and its wait.
    std::function<void(std::uint32_t rank, device&)> meanwhile = {};
};

/// trn_coll_config.counts of a request over `ranks` ranks: the request's counts; for all-to-all-v a
/// table of one count per receiver is repeated for every sender. Empty for operations with equal
/// blocks. \throws device_error for a table of another length
std::vector<std::uint64_t> collective_counts(const collective_request& request, std::size_t ranks);

/// trn_coll_config.targets of a request over `ranks` ranks; empty: none are given. \throws
/// device_error for an operation without pairs, and for ranks that do not exist or occur twice
std::vector<std::uint32_t> collective_targets(const collective_request& request, std::size_t ranks);
/// A pair of ranks, "0-1". \throws std::runtime_error
std::pair<std::uint32_t, std::uint32_t> collective_pair(const std::string& text);

struct collective_result {
    std::uint64_t bytes = 0, elements = 0;
    std::uint64_t started_ns = 0, ended_ns = 0;  ///< of the last iteration
    double ns = 0;      ///< simulated, of one iteration: from the latest start to the latest end
    double wall_s = 0;  ///< wall clock of the last iteration, which reuses memory
    std::uint64_t wrong = 0;       ///< number of wrong elements
    std::string first_wrong = {};  ///< place of the first wrong element
    trn_coll_algorithm algorithm = TRN_COLL_AUTO;
    /// Begin and end of a rank's last run, and the ends of its steps (trn_coll_steps), in ns since
    /// the first rank began.
    struct rank_steps {
        std::uint64_t begin_ns = 0, end_ns = 0;
        std::vector<std::uint64_t> ends_ns = {};
    };
    std::vector<rank_steps> steps = {};  ///< by rank, if requested
    double algorithm_gb_per_s() const { return ns > 0 ? static_cast<double>(bytes) / ns : 0; }
};

/// Result of a rank's run.
struct rank_outcome {
    trn_status status = TRN_OK;
    std::string sentence = {};
    trn_cc_failure failure = {};  ///< notified by its firmware
};

class collective_group;
struct collective_job {
    collective_group& group;
    collective_request request;
};

/// Chips of a machine that execute collectives together, one rank each.
class collective_group {
public:
    /// Resets the chips, reads their places and loads `image` into their CC-Cores. \throws
    /// device_error, std::invalid_argument for an unknown chip number, and for ranks of several
    /// domains that collective_network refuses
    collective_group(host_set& hosts, const std::vector<std::size_t>& chips,
                     std::span<const std::uint8_t> image);
    /// Does not access devices.
    ~collective_group();
    collective_group(const collective_group&) = delete;
    collective_group& operator=(const collective_group&) = delete;

    /// Loads this image instead, before the next collective. \throws device_error while collectives
    /// of the present one are armed
    void use_image(std::span<const std::uint8_t> image);

    std::size_t ranks() const { return chips_.size(); }
    /// Number of domains: groups of ranks joined by links; EFA joins the domains.
    std::uint32_t domains() const { return network_->domains(); }
    /// \throws device_error when a rank fails, with the most specific failure
    collective_result run(const collective_request& request);
    /// Runs several collectives concurrently: of groups without a common chip, or in different
    /// slots. \throws device_error, std::invalid_argument when they conflict
    static std::vector<collective_result> run_together(std::span<const collective_job> jobs);
    /// Runs once, with rank `absent` (if any) never started, and returns the result of each rank,
    /// without exceptions for failures.
    std::vector<rank_outcome> run_without(std::optional<std::uint32_t> absent,
                                          const collective_request& request);

    /// Buffers of a rank that the caller provides.
    struct own_buffers {
        std::uint64_t send = 0, send_bytes = 0, receive = 0, receive_bytes = 0;  ///< AXI
    };
    /// Loads a collective into slot request.slot, to be started by agents of the chips, such as
    /// programs of their engines (doc/collectives.md). It stays until disarm(). Buffers are neither
    /// filled nor compared. Returns a rank's triggers. \throws device_error, also when the buffers
    /// (by rank) do not have the collective's sizes
    std::vector<trn_coll_trigger> arm(const collective_request& request,
                                      std::span<const own_buffers> of_ranks);
    /// Most specific failure of an armed collective's run; "": none.
    std::string failure(std::uint32_t slot);
    void disarm(std::uint32_t slot);

private:
    using handles = std::vector<collective_handle>;  // by rank
    /// Memory that a configuration points to, and other data by rank.
    struct rank_data {
        std::vector<trn_coll_member> members;
        std::vector<std::uint64_t> counts;
        std::vector<std::uint32_t> targets;
        std::vector<collective_memories::buffers> buffers;
        std::optional<collective_request::core_semaphore> done;
        bool fills = true;   // fill buffers with inputs, and guards around them
        bool checks = true;  // fill also the output, so that no earlier result is taken for it
    };
    void each_rank(const std::vector<std::size_t>& chips,
                   const std::function<void(std::uint32_t rank, device& chip)>& work) const;
    void find_rings(const trn_topology& machine);
    std::uint32_t collective_core(std::uint32_t core) const;
    void need_cores(std::uint32_t first, std::uint32_t count);
    void load_missing(std::uint32_t rank, device& chip);
    trn_coll_config config_for(const collective_request& request, rank_data& data) const;
    void create(const trn_coll_config& config, const rank_data& data, handles& made);
    void take_down(handles& made, std::uint32_t slot);
    struct one_run;
    static void check_apart(std::span<const collective_job> jobs);
    static void start_rank(const collective_request& request, std::uint32_t rank, device& chip,
                           trn_coll* made);
    void fill_again(const one_run& run);
    void start(one_run& run);
    void finish(one_run& run);
    static void fill(device& chip, std::uint32_t rank, const trn_coll_config& config,
                     const rank_data& data);
    void check(const trn_coll_config& config, const rank_data& data, collective_result& found);

    host_set& hosts_;
    const std::vector<std::size_t> chips_;  // chip number, by rank
    trn_topology_kind topology_ = TRN_TOPOLOGY_NONE;
    std::vector<trn_place> places_;
    std::vector<std::uint32_t> ring_;     // orders of the ranks, concatenated
    std::vector<std::uint32_t> rank_of_;  // rank, by chip number
    std::vector<std::uint8_t> image_;
    trn_device_info info_{};          // the same for all chips
    std::uint32_t needed_cores_ = 0;  // a map of NeuronCores whose first CC-Core is used
    /// By rank and NeuronCore: its number of resets when the image was loaded.
    std::vector<std::map<std::uint32_t, std::uint32_t>> loaded_;
    std::array<handles, TRN_CC_SLOTS> armed_;
    std::optional<collective_memories> memories_;
    std::optional<collective_network> network_;
};

}  // namespace trn
