// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/registers/register_bank.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <map>
#include <tuple>

#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/registers/misuse_rules.h"

namespace trn {

static_assert(std::endian::native == std::endian::little, "register values are little endian");

namespace {

/// The module under construction; nullptr: none. It is the parent of new objects (IEEE 1666-2011,
/// 5.16.4), so that of this one.
sc_core::sc_module* module_under_construction() {
    struct child final : sc_core::sc_object {
        child() : sc_object("register_bank_of_module") {}
    };
    return dynamic_cast<sc_core::sc_module*>(child().get_parent_object());
}

std::string default_name(const register_table& table) {
    const auto* const module = module_under_construction();
    return module != nullptr ? module->name() : std::string(table.block);
}

/// Shift for division by the stride; 63 if it is not a power of two: then only the first instance
/// takes the fast path.
unsigned shift_of(std::uint64_t stride) {
    return std::has_single_bit(stride) ? static_cast<unsigned>(std::countr_zero(stride)) : 63;
}

/// Number of enabled bytes among `count` bytes from `first`.
unsigned enabled_bytes(const tlm::tlm_generic_payload& payload, unsigned first, unsigned count) {
    const unsigned char* enables = payload.get_byte_enable_ptr();
    if (enables == nullptr) return count;
    const unsigned length = payload.get_byte_enable_length();
    unsigned enabled = 0;
    for (unsigned i = first; i < first + count; ++i)
        if (enables[i % length] == TLM_BYTE_ENABLED) ++enabled;
    return enabled;
}

}  // namespace

bool register_use::any() const {
    return std::ranges::any_of(by_initiator, &counts::any);
}

/// Attaches the bank to the module under construction, so that tools find it in the hierarchy.
class register_bank::listing : public sc_core::sc_attr_base {
public:
    listing(register_bank& bank, sc_core::sc_object& owner)
        : sc_attr_base("registers" + std::to_string(owner.num_attributes())),
          bank_(bank),
          owner_(owner) {
        owner_.add_attribute(*this);
    }
    ~listing() override { owner_.remove_attribute(name()); }
    register_bank& bank() const { return bank_; }

    static void visit(
        sc_core::sc_object& owner,
        const std::function<void(const sc_core::sc_object&, register_bank&)>& visitor) {
        if (owner.num_attributes() > 0)  // the call that returns the collection creates it
            for (auto* attribute : owner.attr_cltn())
                if (auto* listed = dynamic_cast<listing*>(attribute))
                    visitor(owner, listed->bank());
        for (auto* child : owner.get_child_objects()) visit(*child, visitor);
    }

private:
    register_bank& bank_;
    sc_core::sc_object& owner_;
};

const register_index& register_index::for_table(const register_table& table) {
    // Tables are constant, so an index built from one is too.
    static std::map<const register_table*, register_index> known;
    return known.try_emplace(&table, table).first->second;
}

register_index::register_index(const register_table& table)
    : width_shift_(static_cast<unsigned>(std::countr_zero(table.width))),
      rows_(table.rows.size() + 1) {
    holes_.fill({hole, static_cast<std::uint32_t>(table.rows.size())});
    pages_.assign((table.size >> width_shift_ >> page_shift) + 1, holes_.data());
    for (std::uint32_t r = 0; r < table.rows.size(); ++r) {
        const register_row& row = table.rows[r];
        rows_[r] = {row.bits, row.reset, row.slot};
        for (std::uint32_t i = 0; i < row.count; ++i)
            writable(row.element(i) >> width_shift_) = {row.slot + i, r};
    }
}

/// The entry of a word, writable: replaces the shared page of holes by a page of its own.
register_index::entry& register_index::writable(std::uint64_t number) {
    const entry*& begin = pages_[number >> page_shift];
    if (begin == holes_.data())
        begin = own_pages_.emplace_back(std::make_unique<page>(holes_))->data();
    return const_cast<entry&>(begin[number & page_mask]);
}

register_bank::register_bank(const register_table& table, options opts)
    : table_(table),
      index_(register_index::for_table(table)),
      pages_(index_.pages()),
      name_(opts.name.empty() ? default_name(table) : std::move(opts.name)),
      stride_(opts.stride != 0 ? opts.stride : table.size),
      stride_shift_(shift_of(stride_)),
      offset_mask_((std::uint64_t{1} << stride_shift_) - 1),
      size_(table.size),
      instances_(opts.instances),
      width_(table.width),
      latency_(opts.latency),
      values_(opts.instances),
      ram_(table.holes == hole_policy::ram ? opts.instances : 0) {
    if (auto* const owner = module_under_construction())
        listing_ = std::make_unique<listing>(*this, *owner);
    assert(opts.instances > 0 && stride_ >= table.size && stride_ % width_ == 0);
}

register_bank::~register_bank() = default;

register_bank::hooks& register_bank::hooks_of(std::size_t row) {
    if (hook_numbers_.empty()) hook_numbers_.resize(table_.rows.size());
    prepared_ = false;
    words_ = 0;
    std::uint16_t& number = hook_numbers_[row];
    if (number == 0) {
        hooks_.emplace_back();
        number = static_cast<std::uint16_t>(hooks_.size());
    }
    return hooks_[number - 1];
}

/// Without latency, skips the store to `delay`, which would slow down most accesses.
inline void register_bank::add_latency(sc_core::sc_time& delay) const {
    if (latency_.value() != 0) delay += latency_;
}

/// Called before the first access, and the first after a change of hooks.
void register_bank::prepare() {
    const std::size_t count = table_.rows.size();
    if (rows_ == nullptr) rows_ = std::make_unique<prepared_row[]>(count + 1);
    for (std::size_t r = 0; r < count; ++r) {
        const auto& [bits, reset, slot] = index_.row(r);
        const hooks* const own = find_hooks(r);
        prepared_row& row = rows_[r];
        row.on_write = own != nullptr && own->on_write ? &own->on_write : nullptr;
        row.readable = static_cast<std::uint32_t>(bits.readable);
        row.stored = static_cast<std::uint32_t>(bits.stored);
        row.reset = static_cast<std::uint32_t>(reset);
        row.slot = slot;
        row.plain[tlm::TLM_READ_COMMAND] = bits.readable != 0 &&
                                           (bits.drained | bits.filled) == 0 &&
                                           (own == nullptr || !(own->view || own->on_read));
        row.plain[tlm::TLM_WRITE_COMMAND] =
            bits.stored != 0 && bits.writable() == bits.stored && bits.once == 0;
    }
    words_ = width_ == word && observers_ == nullptr ? size_ / word : 0;
    prepared_ = true;
}

/// Stores the value of a plain write. Precondition: the instance has stored values.
[[gnu::always_inline]] inline register_bank::plain_write register_bank::write_plainly(
    tlm::tlm_generic_payload& payload, sc_core::sc_time& delay, prepared_row& row, stored& own,
    std::uint32_t slot) {
    ++count(row).writes;
    add_latency(delay);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    std::uint32_t written;
    std::memcpy(&written, payload.get_data_ptr(), word);
    auto* const values = reinterpret_cast<std::uint32_t*>(own.bytes.get());
    const std::uint32_t old = values[slot], value = old ^ ((old ^ written) & row.stored);
    if (value != old) {
        values[slot] = value;
        ++own.changes;
    }
    return {old, written, value};
}

/// A function of its own, so that accesses without a hook need no stack frame.
[[gnu::noinline]] void register_bank::write_with_hook(tlm::tlm_generic_payload& payload,
                                                      sc_core::sc_time& delay, prepared_row& row,
                                                      unsigned instance, std::uint32_t slot) {
    const auto [old, written, value] = write_plainly(payload, delay, row, values_[instance], slot);
    register_access a{instance, slot - row.slot, old, written, value, delay};
    (*row.on_write)(a);
    if (a.response == tlm::TLM_OK_RESPONSE) [[likely]]
        return;
    payload.set_response_status(a.response);
    refuse(a.response, true, payload.get_address(), word);
}

/// Handles plain accesses inline, which takes less time than a call; passes on all others.
void register_bank::access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address(), instance = address >> stride_shift_;
    // After the rotation, an unaligned offset exceeds all word numbers.
    const std::uint64_t number = std::rotr(address & offset_mask_, 2);
    if (payload.get_data_length() != word || payload.get_streaming_width() < word ||
        payload.get_byte_enable_ptr() != nullptr || number >= words_ || instance >= instances_)
        [[unlikely]]
        return access_any(payload, delay);
    const register_index::entry& entry = register_index::at(pages_, number);
    prepared_row& row = rows_[entry.row];
    stored& own = values_[instance];
    auto* const values = reinterpret_cast<std::uint32_t*>(own.bytes.get());  // may be null
    if (payload.get_command() > tlm::TLM_WRITE_COMMAND || !row.plain[payload.get_command()])
        return access_by_rules(payload, delay, static_cast<unsigned>(instance), entry);
    if (payload.is_read()) {
        const std::uint32_t read =
            (values != nullptr ? values[entry.slot] : row.reset) & row.readable;
        std::memcpy(payload.get_data_ptr(), &read, word);
        ++count(row).reads;
        add_latency(delay);
        return payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    if (values == nullptr) [[unlikely]]
        return access_by_rules(payload, delay, static_cast<unsigned>(instance), entry);
    if (row.on_write != nullptr)
        return write_with_hook(payload, delay, row, static_cast<unsigned>(instance), entry.slot);
    write_plainly(payload, delay, row, own, entry.slot);
}

/// An access to one register or a hole, with all checks.
void register_bank::access_by_rules(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay,
                                    unsigned instance, const register_index::entry& entry) {
    if (entry.slot == register_index::hole || payload.get_command() > tlm::TLM_WRITE_COMMAND)
        return access_any(payload, delay);
    const auto status = beat(payload.is_write(), instance, entry, payload.get_data_ptr(), delay);
    payload.set_response_status(status);
    if (status != tlm::TLM_OK_RESPONSE) [[unlikely]]
        refuse(status, payload.is_write(), payload.get_address(), width_);
}

/// An access with any payload: several registers, byte enables, or a wrong width.
void register_bank::access_any(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = payload.get_data_length();
    const bool write = payload.is_write();
    auto status = tlm::TLM_OK_RESPONSE;
    if (payload.get_command() > tlm::TLM_WRITE_COMMAND)
        return payload.set_response_status(payload.get_command() == tlm::TLM_IGNORE_COMMAND
                                               ? status
                                               : tlm::TLM_COMMAND_ERROR_RESPONSE);
    if (length == 0 || payload.get_streaming_width() < length)
        status = refuse(tlm::TLM_BURST_ERROR_RESPONSE, write, address, length);
    else if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
        status = refuse(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, write, address, length);
    for (unsigned done = 0; done < length && status == tlm::TLM_OK_RESPONSE;) {
        location place{};
        if (!locate(address + done, place)) {
            status = refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE, write, address + done, length);
            break;
        }
        const register_index::entry& entry = index_.find(place.offset);
        const unsigned first_byte = static_cast<unsigned>(place.offset & (width_ - 1));
        const unsigned size = std::min(width_ - first_byte, length - done);
        unsigned char* data = payload.get_data_ptr() + done;
        const unsigned enabled = enabled_bytes(payload, done, size);
        if (enabled == 0) {
            // no byte of this register is enabled
        } else if (enabled < size) {
            status = refuse(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, write, address + done, size);
        } else if (entry.slot == register_index::hole) {
            status = hole(write, place, data, size);
        } else if (size < width_) {
            status = refuse(tlm::TLM_BURST_ERROR_RESPONSE, write, address + done, size);
        } else {
            status = beat(write, static_cast<unsigned>(place.instance), entry, data, delay);
            if (status != tlm::TLM_OK_RESPONSE) refuse(status, write, address + done, size);
        }
        done += size;
    }
    payload.set_response_status(status);
    notify_observers();
}

bool register_bank::locate(std::uint64_t address, location& place) const {
    place = {address / stride_, address % stride_};
    return place.instance < instances_ && place.offset < size_;
}

/// Accesses one register.
[[gnu::always_inline]] inline tlm::tlm_response_status register_bank::beat(
    bool is_write, unsigned instance, const register_index::entry& entry, unsigned char* data,
    sc_core::sc_time& delay) {
    if (!prepared_) [[unlikely]]
        prepare();
    add_latency(delay);
    return is_write ? write(instance, entry, fetch(data), delay)
                    : read(instance, entry, data, delay);
}

inline register_use::counts& register_bank::count(prepared_row& row) {
    return row.use.by_initiator[static_cast<std::size_t>(initiator::current_kind())];
}

tlm::tlm_response_status register_bank::read(unsigned instance, const register_index::entry& entry,
                                             unsigned char* data, sc_core::sc_time& delay) {
    const auto& row = index_.row(entry.row);
    if (row.bits.readable == 0) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    ++count(rows_[entry.row]).reads;
    const unsigned index = entry.slot - row.slot;
    const hooks* const own = find_hooks(entry.row);
    const std::uint64_t old = own != nullptr && own->view ? own->view(instance, index, delay)
                                                          : load(instance, entry.slot, row);
    std::uint64_t value = old & row.bits.readable;
    // The effect of the read comes before the hook's own changes.
    const std::uint64_t left = row.bits.after_read(old);
    const std::uint64_t before = left == old ? 0 : load(instance, entry.slot, row);
    if (left != old) store(instance, entry.slot, left);
    if (own != nullptr && own->on_read) {
        register_access a{instance, index, old, 0, value, delay};
        own->on_read(a);
        if (a.response != tlm::TLM_OK_RESPONSE) {  // a refused read has no effect
            if (left != old && load(instance, entry.slot, row) == left)
                store(instance, entry.slot, before);
            return a.response;
        }
        value = a.value;
    }
    put(data, value);
    return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status register_bank::write(unsigned instance, const register_index::entry& entry,
                                              std::uint64_t written, sc_core::sc_time& delay) {
    const auto& row = index_.row(entry.row);
    if (row.bits.writable() == 0) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    ++count(rows_[entry.row]).writes;
    const std::uint64_t old = load(instance, entry.slot, row);
    std::uint64_t value = row.bits.after_write(old, written);
    if (row.bits.once != 0) value = protect(value, old, row.bits.once, instance, entry.slot);
    if (value != old) store(instance, entry.slot, value);
    const hooks* const own = find_hooks(entry.row);
    if (own == nullptr || !own->on_write) return tlm::TLM_OK_RESPONSE;
    register_access a{instance, entry.slot - row.slot, old, written, value, delay};
    own->on_write(a);
    return a.response;
}

/// `value` with the bits of `once` that were written before as they were.
std::uint64_t register_bank::protect(std::uint64_t value, std::uint64_t old, std::uint64_t once,
                                     unsigned instance, std::uint32_t slot) {
    const std::uint64_t earlier = std::exchange(written_once_[{instance, slot}], once);
    return (value & ~earlier) | (old & earlier);
}

tlm::tlm_response_status register_bank::hole(bool is_write, const location& place,
                                             unsigned char* data, unsigned length) {
    const bool inside = length <= table_.size - place.offset;
    if (table_.holes == hole_policy::error || !inside)
        return refuse(tlm::TLM_ADDRESS_ERROR_RESPONSE, is_write,
                      place.instance * stride_ + place.offset, length);
    if (table_.holes == hole_policy::ram && is_write)
        std::memcpy(ram(place.instance) + place.offset, data, length);
    else if (table_.holes == hole_policy::ram && ram_[place.instance])
        std::memcpy(data, ram_[place.instance].get() + place.offset, length);
    else if (!is_write)
        std::memset(data, 0, length);
    return tlm::TLM_OK_RESPONSE;
}

unsigned char* register_bank::ram(std::uint64_t instance) {
    if (!ram_[instance]) ram_[instance] = std::make_unique<unsigned char[]>(table_.size);
    return ram_[instance].get();
}

tlm::tlm_response_status register_bank::refuse(tlm::tlm_response_status status, bool is_write,
                                               std::uint64_t address, unsigned length) const {
    const auto text = fmt::format("{} of {} bytes at {} offset {:#x}", is_write ? "write" : "read",
                                  length, table_.block, address);
    switch (status) {
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
        misuse::report(is_write ? misuse::write_to_read_only : misuse::read_of_write_only, name_,
                       text);
        break;
    case tlm::TLM_BURST_ERROR_RESPONSE:
    case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE:
        misuse::report(misuse::wrong_width, name_, text);
        break;
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
        misuse::report(misuse::no_such_register, name_, text);
        break;
    default:
        log::guest_warn(name_, "{}: refused", text);
    }
    return status;
}

unsigned register_bank::debug_access(tlm::tlm_generic_payload& payload) {
    if (payload.get_command() > tlm::TLM_WRITE_COMMAND) return 0;
    const bool is_write = payload.is_write();
    unsigned done = 0;
    location place;
    while (done < payload.get_data_length() && locate(payload.get_address() + done, place)) {
        const register_index::entry& entry = index_.find(place.offset);
        const unsigned first_byte = static_cast<unsigned>(place.offset & (width_ - 1));
        const unsigned size = std::min(width_ - first_byte, payload.get_data_length() - done);
        unsigned char* data = payload.get_data_ptr() + done;
        const auto instance = static_cast<unsigned>(place.instance);
        if (entry.slot == register_index::hole) {
            if (table_.holes == hole_policy::error) break;
            hole(is_write, place, data, size);
        } else {
            if (size < width_) break;
            const unsigned index = entry.slot - index_.row(entry.row).slot;
            if (is_write)
                poke(entry.row, fetch(data), index, instance);
            else
                put(data, peek(entry.row, index, instance));
        }
        done += size;
    }
    return done;
}

std::uint64_t register_bank::peek(std::size_t r, unsigned index, unsigned instance) const {
    const auto& row = index_.row(r);
    assert(index < table_.rows[r].count && instance < instances_);
    const hooks* const own = find_hooks(r);
    return own != nullptr && own->view ? own->view(instance, index, sc_core::SC_ZERO_TIME)
                                       : load(instance, row.slot + index, row);
}

void register_bank::poke(std::size_t r, std::uint64_t value, unsigned index, unsigned instance) {
    assert(index < table_.rows[r].count && instance < instances_);
    store(instance, index_.row(r).slot + index, value);
}

/// The register's bytes as a number; nearly all blocks use 4 bytes.
inline std::uint64_t register_bank::fetch(const unsigned char* bytes) const {
    std::uint32_t word;
    if (width_ == 4) return std::memcpy(&word, bytes, 4), word;
    std::uint64_t value = 0;
    std::memcpy(&value, bytes, width_);
    return value;
}

inline void register_bank::put(unsigned char* bytes, std::uint64_t value) const {
    if (width_ == 4)
        std::memcpy(bytes, &value, 4);
    else
        std::memcpy(bytes, &value, width_);
}

inline std::uint64_t register_bank::load(unsigned instance, std::uint32_t slot,
                                         const register_index::constants& row) const {
    const unsigned char* values = values_[instance].bytes.get();
    return values != nullptr ? fetch(values + std::size_t{slot} * width_) : row.reset;
}

inline void register_bank::store(unsigned instance, std::uint32_t slot, std::uint64_t value) {
    stored& own = values_[instance];
    if (own.bytes == nullptr) allocate(own);
    put(own.bytes.get() + std::size_t{slot} * width_, value);
    ++own.changes;
    notify_observers();
}

void register_bank::allocate(stored& own) {
    own.bytes = std::make_unique<unsigned char[]>(std::size_t{table_.slots} * width_);
    unsigned char* out = own.bytes.get();
    for (const register_row& row : table_.rows)
        for (std::uint32_t i = 0; i < row.count; ++i, out += width_) put(out, row.reset);
}

void register_bank::reset() {
    for (unsigned instance = 0; instance < instances(); ++instance) reset(instance);
}

void register_bank::reset(unsigned instance) {
    std::erase_if(written_once_, [&](const auto& each) { return each.first.first == instance; });
    values_[instance].bytes.reset();
    ++values_[instance].changes;
    notify_observers();
}

void register_bank::observe(std::function<void()> changed) {
    if (observers_ == nullptr) observers_ = std::make_unique<std::vector<std::function<void()>>>();
    observers_->push_back(std::move(changed));
    prepared_ = false;
    words_ = 0;
}

void for_each_bank(
    const std::function<void(const sc_core::sc_object& owner, register_bank&)>& visit) {
    for (auto* top : sc_core::sc_get_top_level_objects())
        register_bank::listing::visit(*top, visit);
}

std::vector<touched_register> touched_registers() {
    std::vector<touched_register> list;
    for_each_bank([&](const sc_core::sc_object& owner, register_bank& bank) {
        const auto& table = bank.table();
        for (std::size_t r = 0; r < table.rows.size(); ++r)
            if (bank.touched(r))
                list.push_back({owner.name(), table.block, table.rows[r].name,
                                table.rows[r].known_by, table.rows[r].fidelity, bank.use(r)});
    });
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return std::tie(b.fidelity, b.known_by) < std::tie(a.fidelity, a.known_by);
    });
    return list;
}

}  // namespace trn
