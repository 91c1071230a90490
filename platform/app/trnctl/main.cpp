// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <new>
#include <systemc>
#include <tuple>

#include "platform/app/host_options/collective_firmware.h"
#include "platform/app/host_options/collective_rules.h"
#include "platform/app/host_options/host_choices.h"
#include "platform/app/host_options/location_text.h"
#include "platform/app/host_options/program_file.h"
#include "platform/app/report_file.h"
#include "platform/app/trnctl/completion.h"
#include "platform/app/trnctl/profile.h"
#include "platform/app/trnctl/sessions.h"
#include "platform/framework/attach/control/hex.h"
#include "platform/framework/command_line/command_line.h"
#include "platform/framework/command_line/completion.h"
#include "platform/framework/command_line/program.h"
#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/file.h"
#include "platform/framework/config/refusal_text.h"
#include "platform/framework/config/units.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/output.h"
#include "sw-stubs/trnctl/commands.h"
#include "sw-stubs/trnctl/programs.h"

namespace trn {

namespace {

/// A size or offset on the command line; CLI11 prints the exception with the option's name.
std::uint64_t size_of(const std::string& text) {
    const auto parsed = config::parse_bytes(text);
    if (const auto* good = std::get_if<bytes>(&parsed)) return good->value;
    const auto& wrong = std::get<config::refusal>(parsed);
    throw user_error(fmt::format("size {}", config::refusal_text(wrong)));
}

location place_of(const std::string& text) {
    const auto parsed = parse_location(text);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) throw user_error(*wrong);
    return std::get<location>(parsed);
}

/// "chip0.udma0.M2S_STATE", or "chip0.hbm0.in@0x1000". Nothing without a dot, which all names of
/// registers and spaces inside a chip have.
std::optional<spot> named_spot(const std::string& text) {
    const auto sign = text.find('@');
    const auto name = text.substr(0, sign);
    if (name.find('.') == name.npos) return std::nullopt;
    if (sign == text.npos) return spot{.text = text, .named = {{{"register", text}}}};
    const auto address = config::parse_unsigned(std::string_view(text).substr(sign + 1));
    if (const auto* wrong = std::get_if<config::refusal>(&address))
        throw user_error(fmt::format("'{}': {}", text, wrong->message));
    return spot{.text = text,
                .named = {{{"space", name}, {"address", std::get<std::uint64_t>(address)}}}};
}

/// A register, memory of the chip, or an address of a space.
spot spot_of(const std::string& text) {
    if (const auto named = named_spot(text)) return *named;
    if (text.starts_with("bar0@")) {
        const auto offset = config::parse_unsigned(std::string_view(text).substr(5));
        if (const auto* wrong = std::get_if<config::refusal>(&offset))
            throw user_error(fmt::format("'{}': {}", text, wrong->message));
        return {text, std::get<std::uint64_t>(offset)};
    }
    const auto memory = parse_location(text);
    if (const auto* wrong = std::get_if<std::string>(&memory))
        throw user_error(*wrong + ", bar0@OFFSET, a register, or SPACE@ADDRESS");
    if (std::get<location>(memory).space == location::kind::host)
        throw user_error("host memory is not the chip's");
    return {text, std::nullopt, std::get<location>(memory)};
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
        end = std::min(text.find(',', begin), text.size());
        words.push_back(text.substr(begin, end - begin));
    }
    return words;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_of(const std::string& text) try {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    if (text == "none") return pairs;
    for (const auto& word : words_of(text)) pairs.push_back(collective_pair(word));
    return pairs;
} catch (const std::runtime_error& wrong) {
    throw user_error(fmt::format("--pairs: {}", wrong.what()));
}

std::vector<std::uint64_t> counts_of(const std::string& text) {
    std::vector<std::uint64_t> counts;
    for (const auto& word : words_of(text)) {
        if (word.empty()) throw user_error(fmt::format("--counts: an empty value in {}", text));
        const auto count = config::parse_unsigned(word);
        if (const auto* wrong = std::get_if<config::refusal>(&count))
            throw user_error(fmt::format("--counts: {}", wrong->message));
        counts.push_back(std::get<std::uint64_t>(count));
    }
    return counts;
}

std::vector<std::uint8_t> program_of(const std::string& file, const program_constants& constants) {
    try {
        return read_program_file(file, constants);
    } catch (const file_error& wrong) {
        throw user_error(fmt::format("{}: {}", file, wrong.what()));
    }
}

program_collective collective_of(const std::string& text) {
    try {
        return program_collective::read(text);
    } catch (const std::runtime_error& wrong) {
        throw user_error(fmt::format("--collective: {}", wrong.what()));
    }
}

/// Parses the command line. Each command sets `chosen_`, which runs after parsing.
class command_line {
public:
    command_line() {
        app_.require_subcommand(1);
        app_.add_option("--connect", session_.connect,
                        "folder of a running platform's sockets, or its control address");
        app_.add_option("--board", session_.board, "start this board here, and end with it");
        app_.add_option("--firmware", session_.firmware, "firmware for --board")->needs("--board");
        app_.add_option("--set", session_.set, "NAME=VALUE for a parameter of --board")
            ->allow_extra_args(false)
            ->needs("--board");
        app_.add_option_function<std::string>(
                "--timing",
                [this](const std::string& how) { session_.functional = how == "functional"; },
                "whether resources of --board are contended")
            ->transform(cli::one_of({"contended", "functional"}))
            ->needs("--board");
        app_.add_option("--seed", session_.seed, "of --board's random streams")->needs("--board");
        add_hart_option(app_, session_.hart);
        app_.add_option("--misuse", session_.misuse,
                        "log or count when software breaks a rule of doc/rules.md; "
                        "log:tile-race,... also checks rules that are checked on demand")
            ->allow_extra_args(false)
            ->needs("--board");
        app_.add_option("--trace", session_.trace,
                        "write --board's event trace; .perfetto-trace for Perfetto")
            ->needs("--board");
        app_.add_option("--chip", session_.chip, "function to use (default: the only one)");
        app_.add_option("--token-file", session_.token_file, "token for a remote control address");
        app_.add_flag("--json", out_.json, "one JSON object per line");
        add_transfers();
        add_coll();
        add_registers();
        add_cores();
        add_programs();
        add_profile();
        add_sync("sem", "semaphores of a core or TOP_SP", {"read", "set", "inc", "dec"}, semaphore);
        add_sync("event", "events of a core or TOP_SP", {"get", "set"}, event);
        add_status();
        add_completion();
        app_.group_options("A board of its own",
                           {"--board", "--firmware", "--set", "--timing", "--seed", "--hart",
                            "--perf-map", "--misuse", "--trace"});
        app_.group_options("A running platform", {"--connect", "--token-file"});
        app_.group_subcommands("Transfer commands", {"copy", "memset", "bench", "demo", "coll"});
        app_.group_subcommands("Memory and register commands",
                               {"peek", "poke", "deposit", "registers"});
        app_.group_subcommands("Program commands", {"program", "profile", "cc", "sem", "event"});
        app_.group_subcommands("Status commands", {"list", "info", "status", "topology", "power",
                                                   "misuse", "monitor"});
        app_.group_subcommands("Platform commands",
                               {"pause", "step", "continue", "inject", "snapshot", "restore",
                                "snapshots", "reset", "completion"});
        app_.examples(
            {{"trnctl --board trn3-chip copy host hbm0@16MiB 1MiB --verify",
              "starts a board for it"},
             {"trnctl --connect sockets info", "of a platform that runs with --listen sockets"}});
    }

    int run(int argc, char** argv) {
        try {
            const int status = execute(argc, argv);
            finish_standard_output();
            return status;
        } catch (const user_error& wrong) {
            print_to(stderr, "trnctl: {}\n", printable_lines(wrong.what()));
            return 2;
        } catch (const config_error& wrong) {
            print_to(stderr, "{}\n", wrong.what());
            return 2;
        } catch (const device_error& wrong) {
            print_to(stderr, "trnctl: {}: {}\n", trn_status_text(wrong.status), wrong.what());
            return wrong.status == TRN_INVALID_ARGUMENT ? 2 : 1;
        } catch (const std::bad_alloc&) {
            print_to(stderr, "trnctl: {}\n", out_of_memory);
            return 1;
        } catch (const std::exception& wrong) {
            print_to(stderr, "trnctl: {}\n", printable_lines(wrong.what()));
            return 1;
        }
    }

private:
    using command = std::function<void(session&)>;

    int execute(int argc, char** argv) {
        if (const int mistaken = parse_command_line(app_, argc, argv)) return mistaken;
        if (!chosen_) return 0;  // --help
        {
            const auto where = open_session(session_);
            chosen_(*where);
        }
        return trace::failure().empty() ? 0 : 1;
    }

    cli::command* add(const std::string& name, const std::string& help, command does) {
        auto* sub = app_.add_subcommand(name, help);
        sub->fallthrough();
        sub->callback([this, does = std::move(does)] { chosen_ = does; });
        return sub;
    }

    /// Locations and sizes are parsed with the command line, before a board is built.
    static void add_place(cli::command* to, const std::string& name, location& place,
                          const std::string& help) {
        to->add_option_function<std::string>(
              name, [&place](const std::string& text) { place = place_of(text); }, help)
            ->required();
    }
    /// Adds an option for a memory that holds buffers of a collective.
    static void add_memory(cli::command* to, const std::string& name, location& place,
                           const std::string& help) {
        const auto read = [name, &place](const std::string& text) {
            place = place_of(text);
            const auto fault = collective_place_fault(place);
            if (!fault.empty()) throw user_error(name + ": " + fault);
        };
        to->add_option_function<std::string>(name, read, help);
    }
    static cli::option* add_size(cli::command* to, const std::string& name, std::uint64_t& size,
                                 const std::string& help) {
        return to->add_option_function<std::string>(
            name, [&size](const std::string& text) { size = size_of(text); }, help);
    }

    void add_transfers() {
        auto* copies = add("copy", "copy by DMA between host, hbmN@OFFSET, sbufN@OFFSET",
                           [this](session& s) { copy(s, copy_, out_); });
        add_place(copies, "from", copy_.from, "host, hbm0@16MiB, sbuf3, axi@ADDRESS");
        add_place(copies, "to", copy_.to, "as from");
        add_size(copies, "size", copy_.size, "64MiB, 4097B")->required();
        copies->add_option("--core", copy_.core, "core whose copy queue is used");
        copies->add_option("--seed", copy_.seed, "of the pattern that is sent from the host");
        copies->add_flag("--verify", copy_.verify, "compare both ends afterwards");

        copies->examples(
            {{"trnctl --board trn3-chip copy host hbm0@16MiB 1MiB --verify",
              "from the host, and back"},
             {"trnctl --connect sockets copy hbm0 hbm1@64KiB 4097B", "between stacks"}});

        auto* fills = add("memset", "fill memory of the chip by DMA", [this](session& s) {
            fill(s, copy_.to, copy_.size, static_cast<std::uint8_t>(value_), out_);
        });
        add_place(fills, "at", copy_.to, "hbm0@16MiB, sbuf3");
        add_size(fills, "size", copy_.size, "64MiB")->required();
        fills->add_option("value", value_, "0..255")->required()->check(cli::in_range(0, 255));

        fills->examples(
            {{"trnctl --connect sockets memset hbm0@16MiB 1MiB 0", "clears it"},
             {"trnctl --connect sockets memset sbuf0 4KiB 255", "fills the beginning of an SBUF"}});

        auto* rates =
            add("bench", "copy speed by size and direction, or between chips", [this](session& s) {
                if (between_chips_) return matrix(s, matrix_, out_);
                bench(s, run_size_, out_);
            });
        add_size(rates, "--largest", run_size_, "largest copy (64MiB)");
        add_matrix(rates);
        rates->examples(
            {{"trnctl --connect sockets bench --largest 1MiB", "copies up to this size"},
             {"trnctl --board trn3-sled bench --matrix --bytes 64KiB --summary",
              "between the chips of a sled"}});
        auto* show = add("demo", "boot stages, then verified copies host - HBM - HBM - host",
                         [this](session& s) { demo(s, run_size_, out_); });
        add_size(show, "--size", run_size_, "of each copy (64MiB)");
        show->examples({{"trnctl --board trn3-chip demo", "boots a chip and copies"},
                        {"trnctl --connect sockets demo --size 1MiB", "on a running platform"}});
    }

    void add_matrix(cli::command* rates) {
        auto* between = rates->add_flag("--matrix", between_chips_,
                                        "bandwidth and latency between the chips, HBM to HBM");
        add_choice<traffic_pattern>(rates, "--pattern", matrix_.pattern,
                                    "all chips at once; without it pairs, one by one")
            ->needs(between);
        add_size(rates, "--bytes", matrix_.load.bytes, "of each copy (1MiB)")->needs(between);
        rates->add_option("--engines", matrix_.load.engines, "that share a copy")
            ->capture_default_str()
            ->needs(between);
        rates
            ->add_option_function<std::string>(
                "--descriptor",
                [this](const std::string& text) {
                    const auto most = size_of(text);
                    if (most == 0 || most > TRN_DESCRIPTOR_BYTES)
                        throw user_error("a descriptor carries 1 B to 64 KiB");
                    matrix_.load.descriptor = static_cast<std::uint32_t>(most);
                },
                "most bytes of one (64KiB)")
            ->needs(between);
        rates->add_option("--sample", matrix_.sample, "about so many pairs (all)")->needs(between);
        rates->add_flag("--summary", matrix_.summary, "only the table by distance")->needs(between);
        rates->add_flag("--verify", matrix_.verify, "verify the data (pairs)")->needs(between);
    }

    void add_coll() {
        auto& asked = coll_.request;
        std::vector<config::choice<trn_coll_algorithm>> algorithms{{"auto", TRN_COLL_AUTO}};
        std::ranges::copy(config::choices<trn_coll_algorithm>::list,
                          std::back_inserter(algorithms));
        std::vector<config::choice<trn_element>> types;
        for (const auto& each : config::choices<trn_element>::list)
            if (trn_coll_type_bytes(each.value) != 0) types.push_back(each);
        asked.bytes = std::uint64_t{1} << 20;
        auto* sub = add("coll", "a collective over the chips, by the firmware of their cores",
                        [this](session& s) { run_coll(s); });
        add_choice<trn_coll_op>(sub, "--op", asked.op, "which")->required();
        auto* bytes =
            add_size(sub, "--bytes", asked.bytes, "of the larger buffer of a rank (1MiB)");
        const auto set_counts = [&asked](const std::string& text) {
            asked.counts = counts_of(text);
        };
        sub->add_option_function<std::string>(
               "--counts", set_counts,
               "elements of each rank's block, such as 8,0,5 (-v operations)")
            ->type_name("N,N,...")
            ->excludes(bytes);
        const auto set_pairs = [&asked](const std::string& text) { asked.pairs = pairs_of(text); };
        sub->add_option_function<std::string>(
               "--pairs", set_pairs,
               "senders and receivers of a permute, such as 0-1,1-3 (to the next of the ring)")
            ->type_name("A-B,C-D,...");
        sub->add_flag("--in-place", asked.in_place, "the input is in the memory of the output");
        add_memory(sub, "--in", asked.places.send,
                   "memory of each rank's input, such as sbuf3 (hbm0)");
        add_memory(sub, "--out", asked.places.receive, "memory of its output (hbm0)");
        add_memory(sub, "--scratch", asked.places.scratch, "memory of intermediate results (hbm0)");
        add_choice<trn_element>(sub, "--dtype", asked.type, "of an element (bf16)", types);
        add_choice<trn_coll_operator>(sub, "--operator", asked.with, "of a reduction (sum)");
        add_choice<trn_coll_algorithm>(sub, "--algo", asked.algorithm, "algorithm (auto)",
                                       algorithms);
        sub->add_option("--table", table_, "file with a table of algorithms")
            ->check(cli::existing_file());
        sub->add_option("--ranks", coll_.ranks, "chips that take part, such as 0-3,7 (all)");
        sub->add_option("--root", asked.root, "of a broadcast")->capture_default_str();
        sub->add_option("--channels", asked.channels, "cores of a rank (by size)");
        sub->add_option("--lanes", asked.lanes, "DMA engines of a core (by size)");
        sub->add_option("--iterations", asked.iterations, "the time is their mean")
            ->capture_default_str()
            ->check(cli::in_range(1, 1000));
        sub->add_option("--limit", asked.limit_ns, "ns that a rank waits for another")
            ->capture_default_str();
        sub->add_option("--image", image_, "firmware of the CC-Cores")->capture_default_str();
        sub->examples({{"trnctl --board trn3-sled coll --op all_reduce --bytes 64KiB --check",
                        "the result is compared"},
                       {"trnctl --board trn3-sled coll --op permute --pairs 0-1,1-0",
                        "two chips exchange their data"}});
        sub->add_flag("--check", asked.check, "compare with a reference; exit status 1 when wrong");
        sub->add_flag("--steps{12}", coll_.steps,
                      "when each step of each rank began and ended: at most so many of as many "
                      "ranks, the slowest (12); --json has all")
            ->check(cli::in_range(1, 1'000'000));
    }

    void run_coll(session& where) {
        if (!table_.empty()) coll_.request.rules = read_collective_rules(table_);
        coll_.image = read_collective_firmware(image_);
        coll(where, coll_, out_);
    }

    void add_programs() {
        auto* programs = app_.add_subcommand("program", "programs of NeuronCores");
        programs->require_subcommand(1);
        programs->examples(
            {{"trnctl --connect sockets program run program.trn --in x=index", "with an input"},
             {"trnctl --connect sockets program dump --core 1", "state of the engines"}});
        programs->fallthrough();
        const auto add_verb = [&](const std::string& name, const std::string& help, command does) {
            auto* verb = programs->add_subcommand(name, help);
            verb->fallthrough();
            verb->callback([this, does = std::move(does)] { chosen_ = does; });
            verb->add_option("--core", program_.request.loading.core,
                             "core of the chip, or the first")
                ->capture_default_str();
            return verb;
        };
        auto* run = add_verb("run", "load a program, run it, compare its tensors", {});
        run->callback([this] {
            program_.request.set = program_of(program_file_, constants_);
            chosen_ = [this](session& s) { run_engines(s); };
        });
        add_run(*run);
        run->examples({{"trnctl --board trn3-chip program run program.trn --counters",
                        "on a board of its own"},
                       {"trnctl --connect sockets program run program.trn --core 1 --limit 1000000",
                        "on core 1, for at most 1 ms"}});
        add_verb("dump", "state of the engines of a core, and its semaphores that are not 0",
                 [this](session& s) { dump_core(running(s), program_.request.loading.core, out_); })
            ->examples({{"trnctl --connect sockets program dump", "of core 0"},
                        {"trnctl --connect sockets --json program dump --core 1", "as JSON"}});
        add_verb(
            "counters", "counters of the engines of a core",
            [this](session& s) { core_counters(running(s), program_.request.loading.core, out_); })
            ->examples({{"trnctl --connect sockets program counters", "of core 0"},
                        {"trnctl --connect sockets --json program counters --core 1", "as JSON"}});
    }

    void run_engines(session& where) {
        const auto& program = program_.request;
        if (!program.collectives.empty()) {
            if (!program.all_chips) throw user_error("--collective needs --all-chips");
            if (where.chips().size() < 2)
                throw user_error("a collective needs two chips: a board such as trn3-sled");
            program_.image = read_collective_firmware(image_);
        }
        run_program(where, program_, out_);
    }

    void add_profile() {
        auto* profiles =
            app_.add_subcommand("profile", "where the time of programs of NeuronCores goes");
        profiles->require_subcommand(1);
        profiles->examples(
            {{"trnctl --connect sockets profile start", "records what runs from now on"},
             {"trnctl --connect sockets profile stop --out profile.html", "writes a page of it"}});
        profiles->fallthrough();
        auto* start = profiles->add_subcommand("start", "record events from now on");
        start->fallthrough();
        start->callback([this] { chosen_ = [this](session& s) { start_profile(running(s)); }; });
        start->examples({{"trnctl --connect sockets profile start", "then run programs, and stop"},
                         {"trnctl --connect sockets --chip chip0 profile start", "of one chip"}});
        auto* stop = profiles->add_subcommand("stop", "stop, and write the profile of what ran");
        stop->fallthrough();
        stop->callback([this] {
            chosen_ = [this](session& s) { write_profile(running(s), session_, profile_); };
        });
        stop->add_option("--out", profile_.out,
                         "a folder, or a file that ends in .html, .json or .perfetto-trace")
            ->required()
            ->allow_extra_args(false);
        stop->examples(
            {{"trnctl --connect sockets profile stop --out profile.html", "of the last execution"},
             {"trnctl --connect sockets profile stop --out profile --execution 1",
              "of the first, into a folder"}});
        stop->add_option("--execution", profile_.execution, "of several, from 1 (the last)");
    }

    /// Adds NAME=TEXT options to the command `program run`.
    static void add_tensors(cli::command& run, const std::string& name, tensor_texts& texts,
                            const std::string& help, const std::string& key = "TENSOR") {
        run.add_option_function<std::vector<std::string>>(
               name,
               [name, key, &texts](const std::vector<std::string>& given) {
                   for (const auto& one : given) {
                       const auto sign = one.find('=');
                       if (sign == 0 || sign == one.npos || sign + 1 == one.size())
                           throw user_error(
                               fmt::format("{} {}: expected {}=VALUE", name, one, key));
                       texts.emplace_back(one.substr(0, sign), one.substr(sign + 1));
                   }
               },
               help)
            ->type_name(key.substr(0, 1) + "=VALUE")
            ->allow_extra_args(false)
            ->take_all();
    }

    void add_run(cli::command& run) {
        run.add_option_function<std::string>(
               "file", [this](const std::string& file) { program_file_ = file; },
               "a program set, or its text form")
            ->required();
        add_tensors(run, "--define", constants_, "another value for a .set of the text", "NAME");
        run.add_flag("--all-chips", program_.request.all_chips, "on every chip; {chip} in values");
        run.add_option_function<std::vector<std::string>>(
               "--collective",
               [this](const std::vector<std::string>& texts) {
                   for (const auto& text : texts)
                       program_.request.collectives.push_back(collective_of(text));
               },
               "over all chips, which the program starts: 'all_reduce product -> sum S[30]'")
            ->type_name("TEXT")
            ->allow_extra_args(false)
            ->take_all();
        run.add_option("--image", image_, "firmware of the CC-Cores")->capture_default_str();
        add_tensors(run, "--in", program_.request.in,
                    "input: a number, index, random(LOW,HIGH), or a file (.npy or its bytes)");
        add_tensors(run, "--out", program_.out, "file for an output (.npy or its bytes)");
        add_tensors(run, "--check", program_.expected.check,
                    "expected output, as --in; exit status 1 when it differs");
        run.add_option("--rtol", program_.expected.allowed.relative,
                       "relative tolerance of --check (0)")
            ->check(cli::non_negative_number());
        run.add_option("--atol", program_.expected.allowed.absolute,
                       "absolute tolerance of --check (0)")
            ->check(cli::non_negative_number());
        run.add_option("--limit", program_.expected.limit_ns, "ns of simulated time (100 ms)");
        run.add_flag("--counters", program_.counters, "print counters of the engines afterwards");
        run.add_option("--values", program_.seed, "seed of random inputs (1)");
        run.add_flag_callback(
            "--by-dma", [this] { program_.request.loading.control = TRN_CONTROL_BY_DMA; },
            "write control blocks and semaphores by DMA");
        run.add_flag_callback(
            "--poll", [this] { program_.request.loading.completion = TRN_WAIT_BY_POLLING; },
            "poll the engines instead of a notification queue");
    }

    void add_registers() {
        auto* peek_command = add("peek", "read memory or registers",
                                 [this](session& s) { peek(s, spot_of(spot_), count_, out_); });
        peek_command->add_option("at", spot_, spots)->required();
        peek_command->add_option("count", count_, "bytes")->capture_default_str();
        peek_command->examples(
            {{"trnctl --connect sockets peek hbm0@16MiB 16", "bytes of a memory"},
             {"trnctl --connect sockets peek bar0@0 4", "a register"}});
        add_write("poke", "write memory or a register as a host does: a doorbell rings", poke)
            ->examples({{"trnctl --connect sockets poke hbm0@16MiB 0x12345678", "four bytes"},
                        {"trnctl --connect sockets poke hbm0@16MiB --data 0102ff", "three bytes"},
                        {"trnctl --connect sockets poke chip0.udma0.M2S_PREFETCH_CFG_3.BURST 3",
                         "a field of a register, by the control socket"}});
        add_write("deposit", "write a named register or space without side effects", deposit)
            ->examples({{"trnctl --connect sockets deposit chip0.management.resets.RESET_COUNT 0",
                         "what software cannot write"},
                        {"trnctl --connect sockets deposit chip0.hbm0.in@0x1000000 --data 0102ff",
                         "bytes of a space"}});
    }

    cli::command* add_write(const std::string& name, const std::string& help,
                            void (*does)(session&, const spot&, const content&, const output&)) {
        auto* put = add(name, help, {});
        put->callback([this, does] {
            const auto at = spot_of(spot_);
            const auto what = content_of();
            chosen_ = [this, does, at, what](session& s) { does(s, at, what, out_); };
        });
        put->add_option("at", spot_, spots)->required();
        auto* value = put->add_option("value", value_given_, "the value");
        put->add_option("--width", width_, "bytes of the value")
            ->capture_default_str()
            ->check(cli::one_of_numbers({1, 2, 4, 8}));
        auto* data = put->add_option("--data", data_, "bytes in hexadecimal, such as 0102ff");
        auto* file = put->add_option("--file", file_, "write a file's bytes, at most 1 MiB");
        data->excludes(value)->excludes(file);
        file->excludes(value);
        return put;
    }

    content content_of() const {
        if (value_given_) return {.value = value_given_, .width = width_};
        if (!file_.empty()) try {
                return {.bytes = read_file(file_, 1 << 20)};
            } catch (const file_error& wrong) {
                throw user_error(fmt::format("{}: {}", file_, wrong.what()));
            }
        const auto bytes = from_hex(data_);
        if (!bytes || bytes->empty())
            throw user_error(data_.empty()
                                 ? "give a value, --data or --file"
                                 : fmt::format("--data {}: not bytes in hexadecimal", data_));
        content what;
        for (const auto each : *bytes) what.bytes.push_back(std::to_integer<std::uint8_t>(each));
        return what;
    }

    static constexpr auto spots =
        "hbm0@OFFSET, sbuf0@OFFSET, bar0@OFFSET; a register by its name, such as "
        "chip0.udma0.M2S_STATE.DATA; SPACE@ADDRESS of `list spaces`";

    void add_sync(const std::string& name, const std::string& help,
                  const std::vector<std::string>& verbs,
                  void (*does)(session&, const sync_options&, const output&)) {
        auto* sub = add(name, help, [this, does](session& s) { does(s, sync_, out_); });
        sub->examples(
            {{fmt::format("trnctl --connect sockets {} {} 3 --core 1", name, verbs.front()),
              "number 3 of core 1"},
             {fmt::format("trnctl --connect sockets {} set 3 1 --top-sp 0", name),
              "number 3 of TOP_SP 0"}});
        sub->add_option("verb", sync_.verb, "operation")->required()->transform(cli::one_of(verbs));
        sub->add_option("index", sync_.index, "0..255")->required();
        sub->add_option("value", sync_.value, "for set, inc and dec");
        sub->add_option("--core", sync_.core, "0..7");
        sub->add_option("--top-sp", sync_.top_sp, "0..15");
    }

    /// For commands whose effect must last after this process: requires a running platform.
    session& running(session& where) const {
        if (session_.connect.empty())
            throw user_error("this command needs a running platform: --connect DIR");
        return where;
    }

    void add_status() {
        auto* lists =
            add("list", "modules, consoles and faults of the platform, or one of its lists",
                [this](session& s) { list(s, what_, out_); });
        lists->examples({{"trnctl --connect sockets list faults", "faults with their arguments"},
                         {"trnctl --board trn3-chip list", "of a board"}});
        lists
            ->add_option("what", what_,
                         "modules, consoles, faults, functions, harts, engines, spaces, memories, "
                         "registers or misuse")
            ->transform(cli::one_of({"modules", "consoles", "faults", "functions", "harts",
                                     "engines", "spaces", "memories", "registers", "misuse"}));
        auto* fault = add("inject", "inject a fault into a module, or into all that match",
                          [this](session& s) { inject(running(s), fault_, out_); });
        fault->examples(
            {{"trnctl --connect sockets inject chip0.hbm0 hbm_corrected offset=32MiB",
              "one module"},
             {"trnctl --connect sockets inject 'chip*.hbm*' hbm_repair_fails", "all that match"}});
        fault->add_option("module", fault_.module, "chip0.hbm0, or a pattern: 'chip*.hbm0'")
            ->required();
        fault->add_option("fault", fault_.fault, "of `list faults`")->required();
        fault->add_option("arguments", fault_.arguments, "NAME=VALUE, as in `list faults`")
            ->type_name("NAME=VALUE");
        for (const auto& [name, method, help] :
             {std::tuple("pause", "pause", "stop simulated time"),
              std::tuple("step", "step", "execute the events of the next simulated time"),
              std::tuple("continue", "run", "resume simulated time"),
              std::tuple("status", "status", "simulated time, and whether it is paused")})
            add(name, help,
                [this, method = std::string(method)](session& s) {
                    run_state(running(s), method, out_);
                })
                ->examples({{fmt::format("trnctl --connect sockets {}", name), "of a platform"},
                            {fmt::format("trnctl --connect sockets --json {}", name), "as JSON"}});
        add("info", "properties of the chip", [this](session& s) { info(s, out_); })
            ->examples({{"trnctl --connect sockets info", "of the only chip"},
                        {"trnctl --connect sockets --json info", "as JSON"}});
        add("topology", "chips, the partners of their links, and faults",
            [this](session& s) { topology(s, session_.chip, out_); })
            ->examples({{"trnctl --board trn3-sled topology", "of a sled"},
                        {"trnctl --connect sockets topology", "of a running platform"}});
        add("power", "power samples and error counts", [this](session& s) { power(s, out_); })
            ->examples({{"trnctl --connect sockets power", "of the only chip"},
                        {"trnctl --connect sockets --json power", "as JSON"}});
        auto* show = add("registers", "registers of a module: value, fields, source",
                         [this](session& s) { registers(s, register_, out_); });
        show->add_option("module", register_.module,
                         "full name; without: the modules that have registers");
        show->examples({{"trnctl --connect sockets registers", "modules that have registers"},
                        {"trnctl --connect sockets registers chip0.management.uart LSR",
                         "one register with its fields"}});
        show->add_option("name", register_.name, "only this one, with its fields");
        show->add_option("--index", register_.index, "of an array");
        show->add_option("--instance", register_.instance, "of a block with several");
        auto* rules = add("misuse", "misuse rules that software broke",
                          [this](session& s) { misuse_rules(s, policy_, clear_, out_); });
        rules->add_option("--policy", policy_, "set first: log, count or fail, or fail:RULE,...");
        rules->examples({{"trnctl --connect sockets misuse", "what was broken, and how often"},
                         {"trnctl --connect sockets misuse --policy log --clear",
                          "from now on, with a line for each"}});
        rules->add_flag("--clear", clear_, "clear the counts");
        for (const auto& [verb, help] :
             {std::pair("snapshot", "keep the state of the platform in memory, by this name"),
              std::pair("restore", "restore it; the platform is paused")})
            add(verb, help,
                [this, verb = std::string(verb)](session& s) {
                    snapshot(running(s), verb, name_, out_);
                })
                ->examples({{fmt::format("trnctl --connect sockets {} booted", verb), help},
                            {fmt::format("trnctl --connect sockets --json {} booted", verb),
                             "the same, with the result as JSON"}})
                ->add_option("name", name_, "of the state")
                ->required();
        add("snapshots", "kept states and their simulated times",
            [this](session& s) { snapshot(running(s), "", "", out_); })
            ->examples({{"trnctl --connect sockets snapshots", "names and times"},
                        {"trnctl --connect sockets --json snapshots", "as JSON"}});
        auto* resets = add("reset", "reset the device or some cores",
                           [this](session& s) { reset(s, cores_, out_); });
        resets->examples({{"trnctl --connect sockets reset --cores 0x3", "cores 0 and 1"},
                          {"trnctl --connect sockets reset", "the device"}});
        resets->add_option("--cores", cores_, "map of cores, such as 0x3");
        auto* watch = add("monitor", "UART, power and DMA counters, until the platform ends",
                          [this](session& s) { monitor(s, seconds_, out_); });
        watch->examples(
            {{"trnctl --connect sockets monitor --for 0.2", "for a moment"},
             {"trnctl --connect sockets --json monitor --for 0.2", "as lines of JSON"}});
        watch->add_option("--for", seconds_, "seconds")->check(cli::non_negative_number());
    }

    void add_cores() {
        auto* cores = app_.add_subcommand("cc", "firmware of the CC-Cores");
        cores->require_subcommand(1);
        cores->fallthrough();
        cores->examples({{"trnctl --connect sockets cc load 3 cc_example.elf", "into core 3"},
                         {"trnctl --connect sockets cc log 3", "what it has logged"}});
        auto* load = cores->add_subcommand("load", "reset the device, load and start a firmware");
        load->examples({{"trnctl --connect sockets cc load 3 cc_example.elf", "into core 3"},
                        {"trnctl --board trn3-chip cc load 0 cc_core.img", "a packed image"}});
        load->fallthrough();
        load->callback([this] {
            if (core_ >= 32) throw user_error(fmt::format("no CC-Core {}", core_));
            chosen_ = [this, image = read_collective_firmware(image_)](session& s) {
                load_cores(s, 1u << core_, image, out_);
            };
        });
        load->add_option("core", core_, "number of the core")->required();
        load->add_option("file", image_, "an ELF file, or a packed image")->required();
        auto* log = cores->add_subcommand("log", "what its firmware has logged");
        log->examples({{"trnctl --connect sockets cc log 3", "of core 3"},
                       {"trnctl --connect sockets --json cc log 3", "as JSON"}});
        log->fallthrough();
        log->callback(
            [this] { chosen_ = [this](session& s) { print_core_log(running(s), core_, out_); }; });
        log->add_option("core", core_, "number of the core")->required();
    }

    /// The script that a shell reads; with a line, what its last word can be.
    void add_completion() {
        auto* sub = app_.add_subcommand("completion", "a script that lets bash complete words");
        sub->add_option("shell", shell_, "bash")->required()->transform(cli::one_of({"bash"}));
        sub->examples({{"trnctl completion bash", "prints it"},
                       {"trnctl completion bash > trnctl.bash", "for `source trnctl.bash`"}});
        sub->add_option("--line", line_, "used by the script: print what the last word can be");
        sub->callback([this] {
            if (line_.empty()) return print("{}", cli::bash_completion("trnctl"));
            for (const auto& one : completions(app_, line_)) print("{}\n", one);
        });
    }

    cli::command app_{"works on a trnvp platform as a host would", "trnctl"};
    session_options session_;
    output out_;
    command chosen_;
    copy_options copy_;
    sync_options sync_;
    register_choice register_;
    fault_choice fault_;
    std::string shell_, line_;
    std::string what_, spot_, policy_, name_, table_, image_ = collective_firmware;
    matrix_options matrix_;
    coll_options coll_;
    program_options program_;
    profile_options profile_;
    std::string program_file_;
    program_constants constants_;
    bool clear_ = false, between_chips_ = false;
    std::uint64_t value_ = 0, count_ = 64, run_size_ = std::uint64_t{64} << 20;
    unsigned width_ = 4, core_ = 0;
    std::optional<std::uint64_t> value_given_;
    std::string data_, file_;
    std::optional<std::uint32_t> cores_;
    std::optional<double> seconds_;
};

}  // namespace

}  // namespace trn

int sc_main(int argc, char** argv) {
    return trn::command_line().run(argc, argv);
}

int main(int argc, char** argv) {
    return trn::run_program(argc, argv);
}
