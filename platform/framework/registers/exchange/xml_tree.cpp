// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/exchange/xml_tree.h"

#include <expat.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace trn::registers {

namespace {

constexpr std::size_t max_levels = 64;
constexpr std::size_t max_xml_elements = 400'000;

/// From 1 and from 0. Expat 2.9 has other functions for both.
std::pair<int, int> line_and_column(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
    const auto line = XML_GetCurrentLineNumber64(parser);
    const auto column = XML_GetCurrentColumnNumber64(parser);
#else
    const auto line = XML_GetCurrentLineNumber(parser);
    const auto column = XML_GetCurrentColumnNumber(parser);
#endif
    return {static_cast<int>(line), static_cast<int>(column)};
}

/// Builds the tree from expat's calls. Nothing is thrown through expat: a mistake stops it.
class tree_builder {
public:
    explicit tree_builder(const foreign_reader& reader)
        : reader_(reader), parser_(XML_ParserCreateNS(nullptr, ' ')) {
        if (parser_ == nullptr) throw std::bad_alloc();
        XML_SetUserData(parser_.get(), this);
        XML_SetStartDoctypeDeclHandler(
            parser_.get(), [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
                as(self).stop(
                    mistake::alias_refused,
                    "a document type (DTD) is not supported: entities could be files, or grow");
            });
        XML_SetElementHandler(
            parser_.get(),
            [](void* self, const XML_Char* name, const XML_Char** attributes) {
                as(self).begin(name, attributes);
            },
            [](void* self, const XML_Char*) { as(self).end(); });
        XML_SetCharacterDataHandler(
            parser_.get(), [](void* self, const XML_Char* text, int length) {
                as(self).characters({text, static_cast<std::size_t>(length)});
            });
    }

    xml_element read() {
        const auto& text = reader_.file().text;
        const auto status =
            XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
        if (!message_.empty()) reader_.refuse(place_, code_, message_);
        if (status != XML_STATUS_OK)
            reader_.refuse(here(), mistake::not_yaml,
                           fmt::format("this is no XML: {}",
                                       XML_ErrorString(XML_GetErrorCode(parser_.get()))));
        return std::move(root_.children.front());
    }

private:
    static tree_builder& as(void* self) { return *static_cast<tree_builder*>(self); }

    config::place here() const {
        const auto [line, column] = line_and_column(parser_.get());
        return {line, column + 1, 1};
    }

    void stop(mistake code, std::string message) {
        if (!message_.empty()) return;
        code_ = code;
        message_ = std::move(message);
        place_ = here();
        XML_StopParser(parser_.get(), XML_FALSE);
    }

    static std::pair<std::string, std::string> split(std::string_view name) {
        const auto space = name.rfind(' ');
        if (space == name.npos) return {"", std::string(name)};
        return {std::string(name.substr(0, space)), std::string(name.substr(space + 1))};
    }

    void begin(std::string_view name, const XML_Char** attributes) {
        if (open_.size() > max_levels)
            return stop(mistake::nested_too_deep, "elements nested deeper than 64");
        if (++count_ > max_xml_elements)
            return stop(mistake::too_many_values, "more than 400,000 elements");
        auto [name_space, local] = split(name);
        auto& element = open_.back()->children.emplace_back(xml_element{
            .name = std::move(local), .name_space = std::move(name_space), .place = here()});
        element.place.length = static_cast<int>(element.name.size()) + 1;
        for (; *attributes != nullptr; attributes += 2)
            element.attributes[split(attributes[0]).second] = attributes[1];
        open_.push_back(&element);
    }

    void characters(std::string_view text) { open_.back()->text += text; }

    void end() {
        auto& text = open_.back()->text;
        static constexpr std::string_view spaces = " \t\r\n";
        text.erase(std::min(text.find_last_not_of(spaces) + 1, text.size()));
        text.erase(0, text.find_first_not_of(spaces));
        open_.pop_back();
    }

    struct free_parser {
        void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
    };

    const foreign_reader& reader_;
    std::unique_ptr<std::remove_pointer_t<XML_Parser>, free_parser> parser_;
    xml_element root_{.name = "", .name_space = ""};
    std::vector<xml_element*> open_{&root_};
    std::size_t count_ = 0;
    mistake code_{};
    std::string message_;
    config::place place_;
};

}  // namespace

const xml_element* xml_element::find(std::string_view child_name) const {
    const auto found = std::ranges::find(children, child_name, &xml_element::name);
    return found == children.end() ? nullptr : &*found;
}

xml_element read_xml(const foreign_reader& reader) {
    return tree_builder(reader).read();
}

}  // namespace trn::registers
