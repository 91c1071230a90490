// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/preprocessor.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace trn::isa {

namespace {

constexpr std::uint64_t max_lines = 1 << 20, max_bytes = 256 << 20;
constexpr unsigned max_depth = 16;  ///< of .repeat and .if, and of parentheses

using variables = std::map<std::string, std::int64_t, std::less<>>;

/// 64-bit whole numbers with the operators of C; they wrap.
class expression {
public:
    expression(cursor& input, const variables& known) : in_(input), known_(known) {}

    std::int64_t value() {
        deeper();
        const std::int64_t condition = binary(0);
        std::int64_t result = condition;
        if (in_.accept("?")) {
            const std::int64_t met = unless(condition == 0, [this] { return value(); });
            in_.expect(":");
            const std::int64_t otherwise = unless(condition != 0, [this] { return value(); });
            result = condition != 0 ? met : otherwise;
        }
        --depth_;
        return result;
    }

private:
    struct operation {
        std::string_view sign;
        unsigned level;
    };
    // Longer operators first: "<<" before "<".
    static constexpr operation operations[] = {
        {"||", 1}, {"&&", 2}, {"<<", 8}, {">>", 8}, {"==", 6}, {"!=", 6},
        {"<=", 7}, {">=", 7}, {"<", 7},  {">", 7},  {"|", 3},  {"^", 4},
        {"&", 5},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
    };

    void deeper() {
        if (++depth_ > 2 * max_depth)  // a parenthesis is two levels
            in_.fail(mistake::nested_too_deep, in_.position(), "the expression nests too deep");
    }
    /// Reads with `read`. Operands that C does not evaluate may divide by zero.
    template <typename Read>
    std::int64_t unless(bool skips, Read read) {
        const bool before = std::exchange(skips_, skips_ || skips);
        const std::int64_t value = read();
        skips_ = before;
        return value;
    }

    const operation* next(unsigned level) {
        for (const operation& o : operations) {
            const cursor before = in_;
            if (!in_.accept(o.sign)) continue;
            if (o.level >= level) return &o;
            in_ = before;
            return nullptr;
        }
        return nullptr;
    }

    std::int64_t binary(unsigned level) {
        std::int64_t left = unary();
        for (;;) {
            const std::size_t start = in_.position();
            const operation* o = next(level);
            if (o == nullptr) return left;
            const bool decided = (o->sign == "||" && left != 0) || (o->sign == "&&" && left == 0);
            const std::int64_t right = unless(decided, [&] { return binary(o->level + 1); });
            left = apply(*o, left, right, start);
        }
    }

    std::int64_t apply(const operation& o, std::int64_t a, std::int64_t b,
                       std::size_t start) const {
        const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
        const auto wrapped = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
        if (o.sign == "||") return a != 0 || b != 0;
        if (o.sign == "&&") return a != 0 && b != 0;
        if (o.sign == "==") return a == b;
        if (o.sign == "!=") return a != b;
        if (o.sign == "<=") return a <= b;
        if (o.sign == ">=") return a >= b;
        if (o.sign == "<") return a < b;
        if (o.sign == ">") return a > b;
        if (o.sign == "|") return a | b;
        if (o.sign == "^") return a ^ b;
        if (o.sign == "&") return a & b;
        if (o.sign == "+") return wrapped(ua + ub);
        if (o.sign == "-") return wrapped(ua - ub);
        if (o.sign == "*") return wrapped(ua * ub);
        if (o.sign == "<<" || o.sign == ">>") {
            if (skips_ && (b < 0 || b > 63)) return 0;
            if (b < 0 || b > 63) in_.fail(mistake::out_of_range, start, "a shift is by 0 to 63");
            return o.sign == "<<" ? wrapped(ua << b) : a >> b;
        }
        if (b == 0 && skips_) return 0;
        if (b == 0) in_.fail(mistake::out_of_range, start, "division by zero");
        if (b == -1) return o.sign == "/" ? wrapped(0 - ua) : 0;
        return o.sign == "/" ? a / b : a % b;
    }

    std::int64_t unary() {
        deeper();
        const std::int64_t value = operand();
        --depth_;
        return value;
    }

    std::int64_t operand() {
        if (in_.accept("(")) {
            const std::int64_t inner = value();
            in_.expect(")");
            return inner;
        }
        if (in_.accept("!")) return unary() == 0;
        if (in_.accept("~")) return ~unary();
        if (in_.accept("+")) return unary();
        if (in_.accept("-"))
            return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(unary()));
        if (in_.at_number()) return static_cast<std::int64_t>(in_.bits64());
        const std::size_t start = in_.position();
        const std::string_view name = in_.word("a number or a name");
        if (const auto found = known_.find(name); found != known_.end()) return found->second;
        std::vector<std::string_view> names;
        for (const auto& [other, value] : known_) names.push_back(other);
        in_.fail(mistake::unknown_variable, start, fmt::format("'{}' has no value here", name),
                 suggest(name, names));
    }

    cursor& in_;
    const variables& known_;
    unsigned depth_ = 0;
    bool skips_ = false;  ///< inside an operand that is not evaluated
};

class expander {
public:
    expander(std::string_view text, const line_reader& read, const error_reporter& report)
        : read_(read), report_(report) {
        for (std::size_t start = 0; start <= text.size();) {
            const std::size_t end = std::min(text.find('\n', start), text.size());
            lines_.push_back(text.substr(start, end - start));
            start = end + 1;
        }
    }

    void run() { block(0, lines_.size(), 0); }

private:
    static std::string_view first_word(std::string_view line) {
        const std::size_t start = line.find_first_not_of(" \t\r");
        if (start == std::string_view::npos || line[start] != '.') return {};
        const std::size_t end = line.find_first_of(" \t\r#;", start);
        return line.substr(start, end == std::string_view::npos ? end : end - start);
    }

    /// Lines of the `.else` and `.end` of the block that begins at `first`.
    struct extent {
        std::size_t otherwise, end;
    };
    std::optional<extent> extent_of(std::size_t first, std::size_t limit) const {
        unsigned open = 0;
        std::size_t otherwise = limit;
        for (std::size_t n = first; n < limit; ++n) {
            const std::string_view word = first_word(lines_[n]);
            if (word == ".repeat" || word == ".if") ++open;
            if (word == ".else" && open == 1 && otherwise == limit) otherwise = n;
            if (word == ".end" && --open == 0) return extent{std::min(otherwise, n), n};
        }
        return std::nullopt;
    }

    void block(std::size_t first, std::size_t end, unsigned depth) {
        for (std::size_t n = first; n < end && !stopped_; ++n) {
            const std::string_view word = first_word(lines_[n]);
            expanded_line line{.original = lines_[n], .number = static_cast<int>(n) + 1};
            try {
                if (word == ".repeat" || word == ".if") {
                    const auto inside = extent_of(n, end);
                    cursor input(lines_[n]);
                    const std::size_t start = input.position();
                    if (!inside)
                        input.fail(mistake::wrong_shape, start,
                                   fmt::format("{} without .end", word));
                    if (depth == max_depth)
                        input.fail(mistake::nested_too_deep, start, "the blocks nest too deep");
                    const std::size_t begin = std::exchange(n, inside->end) + 1;
                    input.word("");
                    word == ".if" ? choose(input, begin, *inside, depth)
                                  : repeat(input, begin, *inside, depth);
                } else {
                    plain(word, line);
                }
            } catch (const line_error& error) {
                report_(line, error);
            }
        }
    }

    void choose(cursor& input, std::size_t begin, const extent& inside, unsigned depth) {
        last_value(input) != 0 ? block(begin, inside.otherwise, depth + 1)
                               : block(inside.otherwise + 1, inside.end, depth + 1);
    }

    void repeat(cursor& input, std::size_t begin, const extent& inside, unsigned depth) {
        const std::size_t name_at = input.position();
        const std::string name(input.word("the name of the index"));
        if (values_.contains(name))
            input.fail(mistake::duplicate_name, name_at,
                       fmt::format("'{}' has a value already", name));
        const std::size_t start = input.position();
        const std::int64_t count = last_value(input);
        if (count < 0 || count > static_cast<std::int64_t>(max_lines))
            input.fail(mistake::out_of_range, start, fmt::format("repeated {} times", count));
        for (std::int64_t i = 0; i < count && !stopped_; ++i) {
            count_line(input, 1);
            values_[name] = i;
            block(begin, inside.end, depth + 1);
        }
        values_.erase(name);
    }

    void plain(std::string_view word, expanded_line& line) {
        cursor input(line.original);
        if (word == ".end" || word == ".else")
            input.fail(mistake::wrong_shape, input.position(),
                       fmt::format("{} without .repeat or .if", word));
        count_line(input, line.original.size());
        substitute(line);
        if (word != ".set") return read_(line);
        cursor set(line.content());
        set.word("");
        const std::string name(set.word("a name"));
        values_[name] = last_value(set);
    }

    /// Changes `result` only if the line has no error: columns of errors are those of the original.
    void substitute(expanded_line& result) const {
        expanded_line expanded = result;
        const std::string_view line = expanded.original;
        const std::size_t comment = std::min(line.find_first_of("#;"), line.size());
        std::size_t start = line.find('{');
        if (start >= comment) return;
        for (std::size_t done = 0;; start = line.find('{', done)) {
            const std::size_t end = std::min(start, comment);
            for (; done < end; ++done) add(expanded, line[done], done);
            if (done == comment) break;
            const std::size_t close = std::min(line.find('}', start), line.size());
            cursor input(line.substr(0, close));
            input.accept(line.substr(input.position(), start + 1 - input.position()));
            const std::int64_t value = expression(input, values_).value();
            if (!input.at_end() || close >= comment)
                input.fail(mistake::wrong_shape, input.position(), "expected '}'");
            for (const char c : fmt::format("{}", value)) add(expanded, c, start);
            done = close + 1;
        }
        result = std::move(expanded);
    }
    static void add(expanded_line& expanded, char c, std::size_t column) {
        expanded.text += c;
        expanded.columns.push_back(static_cast<std::uint32_t>(column));
    }

    std::int64_t last_value(cursor& input) const {
        const std::int64_t value = expression(input, values_).value();
        input.expect_end();
        return value;
    }

    void count_line(const cursor& input, std::size_t bytes) {
        bytes_ += bytes;
        if (++expanded_ < max_lines && bytes_ < max_bytes) return;
        stopped_ = true;
        input.fail(mistake::out_of_range, 0,
                   fmt::format("expanded, the text has more than {} lines or 256 MiB", max_lines));
    }

    const line_reader& read_;
    const error_reporter& report_;
    std::vector<std::string_view> lines_;
    variables values_;
    std::uint64_t expanded_ = 0, bytes_ = 0;
    bool stopped_ = false;
};

}  // namespace

std::size_t expanded_line::original_column(std::size_t position) const {
    if (columns.empty()) return position;
    return position < columns.size() ? columns[position] : columns.back() + 1;
}

void preprocess(std::string_view text, const line_reader& read, const error_reporter& report) {
    expander(text, read, report).run();
}

}  // namespace trn::isa
