// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "platform/app/drawing/layout.h"

namespace trn::drawing {

namespace {

constexpr int character = 6;  // width of a character of the small text
constexpr int heading = 56, legend_row = 18;

struct look {
    const char *fill, *line;
};
look look_of(symbol shape) {
    switch (shape) {
    case symbol::chip:
        return {"#fdebd0", "#b9770e"};
    case symbol::host:
        return {"#d6e4f5", "#2e6da4"};
    case symbol::crossing:
        return {"#d8efdc", "#2e7d43"};
    case symbol::card:
        return {"#ecdff4", "#76489c"};
    default:
        return {"#ffffff", "#b5bcc4"};
    }
}
constexpr const char* colours[] = {"#2e7d43", "#c0392b", "#6c3fa0", "#b9770e",
                                   "#1a8a8a", "#555555", "#a02e6d"};
constexpr const char* of_hosts = "#2e6da4";

std::string_view word(symbol shape) {
    switch (shape) {
    case symbol::chip:
        return "chip";
    case symbol::host:
        return "host";
    case symbol::crossing:
        return "switch";
    case symbol::card:
        return "card";
    default:
        return "part";
    }
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else
            out += c;
    }
    return out;
}

std::string described(const cable& c) {
    if (c.text.empty()) return "";
    return c.bytes_per_second != 0
               ? fmt::format("{}, {} each way", c.text, rate_text(c.bytes_per_second))
               : c.text;
}

/// A style of line, and its text in the legend.
struct sort_of_line {
    std::string text;
    const char* colour = "";
    bool dashed = false;
    cable made_of;
    unsigned count = 0;
};

class picture {
public:
    picture(const plan& board, const topology& t) : board_(board), t_(t), places_(t) {
        sort_lines();
    }

    std::string text() {
        const auto& whole = places_.box_of(0);
        const int legend = legend_row * static_cast<int>(sorts_.size()) + 16;
        const int width = std::max(whole.w, 560) + 2 * layout::padding;
        const int height = heading + whole.h + legend;
        out_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
            "height=\"{1}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n"
            "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
            width, height);
        write(20, 24, board_.name, "font-size=\"18\" font-weight=\"bold\"");
        write(20, 42, summary(), "fill=\"#555555\"");
        out_ += fmt::format("<g transform=\"translate({},{})\">\n", layout::padding,
                            heading - layout::title);
        groups(0);
        devices();
        for (const auto& [x, y, label] : labels_) write_on_white(x, y, label);
        out_ += "</g>\n";
        explain(heading + whole.h + 8);
        return out_ + "</svg>\n";
    }

private:
    void write(int x, int y, std::string_view text, std::string_view attributes = "") {
        out_ += fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", x, y,
                            attributes.empty() ? "" : " ", attributes, escaped(text));
    }
    void write_on_white(int x, int y, const std::string& text) {
        const int w = character * static_cast<int>(text.size()) + 6;
        out_ +=
            fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"15\" fill=\"#ffffff\"/>\n",
                        x - w / 2, y - 11, w);
        write(x, y, text, "text-anchor=\"middle\"");
    }

    std::string summary() const {
        std::string all;
        for (const auto shape : {symbol::chip, symbol::host, symbol::crossing, symbol::card})
            if (const auto n = t_.count(shape); n > 0)
                all += fmt::format("{}{} {}{}", all.empty() ? "" : " · ", n, word(shape),
                                   n == 1                      ? ""
                                   : shape == symbol::crossing ? "es"
                                                               : "s");
        return all;
    }

    void sort_lines() {
        std::map<std::string, std::size_t> known;
        std::size_t next = 0;
        for (const auto& b : places_.bundles()) {
            const auto& group = t_.parts[b.group];
            const bool hosts = b.end_a == symbol::host || b.end_b == symbol::host;
            auto ends = std::pair{word(b.end_a), word(b.end_b)};
            if (ends.first > ends.second) std::swap(ends.first, ends.second);
            auto text = fmt::format("{} to {}", ends.first, ends.second);
            const bool across =
                t_.parts[b.a].shape == symbol::group && t_.parts[b.b].shape == symbol::group;
            if (across) text += fmt::format(" of another {}", without_number(t_.parts[b.a].name));
            if (b.group != 0 && !hosts)
                text += fmt::format(", in a {}", without_number(group.name));
            const auto key = text + "\n" + b.made_of.text;
            const auto [place, fresh] = known.try_emplace(key, sorts_.size());
            if (fresh)
                sorts_.push_back({text, hosts ? of_hosts : colours[next++ % std::size(colours)],
                                  hosts, b.made_of, 0});
            sorts_[place->second].count += b.count;
            sort_of_.push_back(place->second);
        }
    }
    static std::string without_number(std::string name) {
        while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
        return name;
    }

    void groups(std::uint32_t index) {
        const auto& p = t_.parts[index];
        if (index != 0) {
            const auto& b = places_.box_of(index);
            out_ += fmt::format(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" "
                "fill=\"{}\" stroke=\"{}\"><title>{} ({})</title></rect>\n",
                b.x, b.y, b.w, b.h, t_.depth(index) % 2 == 1 ? "#f4f6f8" : "#ffffff",
                look_of(symbol::group).line, escaped(p.path), escaped(p.type));
            write(b.x + 8, b.y + 13, p.name, "fill=\"#555555\" font-size=\"10\"");
        }
        // Draw lines first, so that they pass below the group's members.
        for (std::size_t i = 0; i < places_.bundles().size(); ++i)
            if (places_.bundles()[i].group == index)
                line(places_.bundles()[i], sorts_[sort_of_[i]]);
        for (const auto m : p.members)
            if (t_.parts[m].shape == symbol::group) groups(m);
    }

    void devices() {
        for (std::uint32_t i = 1; i < t_.parts.size(); ++i) {
            const auto& p = t_.parts[i];
            if (p.shape == symbol::group) continue;
            const auto& b = places_.box_of(i);
            const auto [fill, stroke] = look_of(p.shape);
            out_ += fmt::format(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" "
                "stroke=\"{}\"><title>{} ({}){}{}</title></rect>\n",
                b.x, b.y, b.w, b.h, fill, stroke, escaped(p.path), escaped(p.type),
                p.note.empty() ? "" : ": ", escaped(p.note));
            name(p, b, places_.upright(i));
        }
    }
    void name(const topology::part& p, const box& b, bool upright) {
        auto text = p.name;
        const auto whole = fmt::format("{}: {}", p.name, p.note);
        const auto room = static_cast<std::size_t>((upright ? b.h : b.w) / character);
        if (!p.note.empty() && whole.size() <= room) text = whole;
        const auto [x, y] = b.middle();
        if (upright)
            write(x, y, text,
                  fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 {} {}) "
                              "translate(0 4)\"",
                              x, y));
        else
            write(x, y + 4, text, "text-anchor=\"middle\"");
    }

    // --- Lines.

    void draw(const std::string& path, const bundle& b, const sort_of_line& sort) {
        const double width = 1.4 + 0.5 * std::log2(static_cast<double>(b.count));
        out_ += fmt::format(
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"{}>"
            "<title>{} - {}: {} x {}</title></path>\n",
            path, sort.colour, width, sort.dashed ? " stroke-dasharray=\"4 3\"" : "",
            escaped(t_.parts[b.a].path), escaped(t_.parts[b.b].path), b.count,
            escaped(described(b.made_of)));
    }
    static std::string straight(point start, point end) {
        return fmt::format("M{},{} L{},{}", start.x, start.y, end.x, end.y);
    }

    void line(const bundle& b, const sort_of_line& sort) {
        const auto &first = places_.box_of(b.a), &second = places_.box_of(b.b);
        const auto shape_a = t_.parts[b.a].shape, shape_b = t_.parts[b.b].shape;
        if (is_cell(shape_a) && is_cell(shape_b)) return between_cells(first, second, b, sort);
        if (is_cell(shape_b) || shape_b == symbol::card)
            return from_bar(second, first, b, sort, places_.upright(b.a));
        from_bar(first, second, b, sort, places_.upright(b.b));
    }

    void from_bar(const box& cell, const box& bar, const bundle& b, const sort_of_line& sort,
                  bool upright) {
        if (upright) {
            const int y = cell.middle().y;
            const bool left = cell.x < bar.x;
            return draw(
                straight({left ? cell.right() : cell.x, y}, {left ? bar.x : bar.right(), y}), b,
                sort);
        }
        // Lines to hosts and switches that end at the same cell are drawn side by side.
        const auto spans = [](const box& edge, int x) { return x >= edge.x && x <= edge.right(); };
        const int aside = sort.dashed ? -8 : 8;
        const int at_cell = cell.middle().x + aside;
        const int at_bar = spans(bar, at_cell) ? at_cell : bar.middle().x + aside;
        const int x = spans(cell, at_bar) ? at_bar : at_cell;
        if (bar.y < cell.y)
            draw(straight({at_bar, bar.bottom()}, {x, cell.y}), b, sort);
        else
            draw(straight({x, cell.bottom()}, {at_bar, bar.y}), b, sort);
    }

    void between_cells(const box& a_box, const box& b_box, const bundle& b,
                       const sort_of_line& sort) {
        const auto [low, high] = std::pair{&a_box, &b_box};
        const bool same_row = a_box.y == b_box.y, same_column = a_box.x == b_box.x;
        const box& first = (same_row ? a_box.x < b_box.x : a_box.y < b_box.y) ? *low : *high;
        const box& last = &first == low ? *high : *low;
        const bool groups = t_.parts[b.a].shape == symbol::group;
        const int reach = groups ? 150 : 26;
        if (same_row && last.x - first.right() <= reach) {
            const int y = first.middle().y;
            draw(straight({first.right(), y}, {last.x, y}), b, sort);
            if (groups) label((first.right() + last.x) / 2, y, b);
        } else if (same_column && last.y - first.bottom() <= reach) {
            const int x = first.middle().x;
            draw(straight({x, first.bottom()}, {x, last.y}), b, sort);
            if (groups) label(x, (first.bottom() + last.y) / 2, b);
        } else if (same_row) {  // a wrap-around link of a row: draw an arc
            const int y = first.y;
            draw(fmt::format("M{0},{1} C{0},{2} {3},{2} {3},{1}", first.middle().x - 8, y, y - 24,
                             last.middle().x + 8),
                 b, sort);
        } else if (same_column) {
            const int x = first.x;
            draw(fmt::format("M{0},{1} C{2},{1} {2},{3} {0},{3}", x, first.middle().y - 6, x - 24,
                             last.middle().y + 6),
                 b, sort);
        } else {
            draw(straight(first.middle(), last.middle()), b, sort);
        }
    }
    void label(int x, int y, const bundle& b) {
        labels_.emplace_back(x, y + 4, fmt::format("{} cables", b.count));
    }

    void explain(int y) {
        for (const auto& s : sorts_) {
            out_ += fmt::format(
                "<path d=\"M20,{0} L54,{0}\" stroke=\"{1}\" stroke-width=\"2.5\"{2}/>\n", y + 8,
                s.colour, s.dashed ? " stroke-dasharray=\"4 3\"" : "");
            const auto cable = described(s.made_of);
            write(64, y + 12,
                  fmt::format("{}: {}{}{}", s.text, s.count, cable.empty() ? "" : " of ", cable));
            y += legend_row;
        }
    }

    const plan& board_;
    const topology& t_;
    const layout places_;
    std::vector<sort_of_line> sorts_;
    std::vector<std::size_t> sort_of_;  // style of each bundle
    std::vector<std::tuple<int, int, std::string>> labels_;
    std::string out_;
};

}  // namespace

std::string to_svg(const plan& board, const topology& t) {
    return picture(board, t).text();
}

}  // namespace trn::drawing
