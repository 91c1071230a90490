// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/admin/queue_pair_commands.h"

#include <bit>

namespace trn {

using namespace efa_objects;
using nitro::answered;
using nitro::done;
using nitro::refuse;
using nitro::status;
using nitro::step;
namespace regs = efa_admin_regs;
using regs::reg;

namespace {

/// Whether the change of state is legal (contract 8).
bool may_move(qp_state present, qp_state next) {
    switch (next) {
    case qp_state::reset:
        return true;
    case qp_state::error:
        return present != qp_state::reset;
    case qp_state::init:
        return present == qp_state::reset || present == qp_state::init;
    case qp_state::rtr:
        return present == qp_state::init;
    case qp_state::rts:
        return present == qp_state::rtr || present == qp_state::rts || present == qp_state::sqd ||
               present == qp_state::sqe;
    case qp_state::sqd:
        return present == qp_state::rts || present == qp_state::sqd;
    case qp_state::sqe:
        break;
    }
    return false;
}

}  // namespace

/// Packets for queue pairs from before the reset may still arrive: numbers of later queue pairs
/// differ in the upper bits.
void queue_pair_commands::reset() {
    created_ = (created_ + limits::max_qp - 1) / limits::max_qp * limits::max_qp;
}

step queue_pair_commands::create(const entry& command) {
    const auto pd = command.get(regs::create_qp::pd);
    const auto type = command.get(regs::create_qp::type);
    const auto uar = command.get(regs::create_qp_uar::uar);
    const auto send_cq = command.get(reg::create_qp_send_cq);
    const auto receive_cq = command.get(reg::create_qp_receive_cq);
    const auto send_depth = command.get(reg::create_qp_sq_depth);
    const auto send_bytes = command.get(reg::create_qp_sq_bytes);
    const auto receive_bytes = command.get(reg::create_qp_rq_bytes);
    const std::uint32_t receive_depth = receive_bytes / limits::receive_bytes;
    domain* const owner = objects_.domains.find(pd);
    unsigned* const uar_users = objects_.uars.find(uar);
    completion_queue* const sends = objects_.completion_queues.find(send_cq);
    completion_queue* const receives = objects_.completion_queues.find(receive_cq);
    const auto is_ring = [](std::uint32_t depth, std::uint32_t max) {
        return std::has_single_bit(depth) && depth <= max;
    };
    // The size of a work request is the ring's bytes divided by its depth.
    const bool is_long = send_bytes == send_depth * limits::long_work_request_bytes;
    const std::uint32_t entry_bytes =
        is_long ? limits::long_work_request_bytes : limits::work_request_bytes;
    const bool rings = is_ring(send_depth, limits::send_ring_bytes / entry_bytes) &&
                       send_bytes == send_depth * entry_bytes &&
                       receive_bytes % limits::receive_bytes == 0 &&
                       (receive_bytes == 0 || is_ring(receive_depth, limits::max_rq_depth));
    const bool is_virtual = command.get(regs::create_qp::sq_virtual) != 0 ||
                            command.get(regs::create_qp::rq_virtual) != 0;
    if (owner == nullptr || uar_users == nullptr || sends == nullptr || receives == nullptr ||
        !rings || is_virtual ||
        (type != regs::create_qp::type_ud && type != regs::create_qp::type_srd))
        return refuse(status::illegal_parameter);

    const auto handle = objects_.queue_pairs.add({});
    if (!handle) return refuse(status::no_resources);
    const auto bell = [&](doorbells::purpose purpose) {
        return objects_.bells.add(static_cast<std::uint16_t>(uar), {purpose, *handle});
    };
    const auto send_bell = bell(doorbells::purpose::send);
    const auto receive_bell = bell(doorbells::purpose::receive);
    if (!send_bell || !receive_bell) {
        if (send_bell) objects_.bells.remove(*send_bell);
        objects_.queue_pairs.remove(*handle);
        return refuse(status::no_resources);
    }
    queue_pair& made = *objects_.queue_pairs.find(*handle);
    const std::uint32_t generation = ++created_ / limits::max_qp + 1;
    made.number = static_cast<std::uint16_t>(generation * limits::max_qp + *handle);
    made.domain = static_cast<std::uint16_t>(pd);
    made.type = static_cast<transport>(type);
    made.unsolicited = command.get(regs::create_qp::unsolicited_write_receive) != 0;
    made.send_cq = static_cast<std::uint16_t>(send_cq);
    made.receive_cq = static_cast<std::uint16_t>(receive_cq);
    made.uar = static_cast<std::uint16_t>(uar);
    made.send_ring = *handle * limits::send_ring_bytes;
    made.send_depth = send_depth;
    made.work_request_bytes = entry_bytes;
    made.receive_ring = command.get_wide(reg::create_qp_rq_lo);
    made.receive_depth = receive_depth;
    made.send_doorbell = *send_bell;
    made.receive_doorbell = *receive_bell;
    ++owner->users;
    ++*uar_users;
    ++sends->users;
    ++receives->users;
    entry words;
    words.set(reg::qp_handle, *handle);
    words.set(regs::qp_number::number, made.number);
    words.set(reg::qp_sq_doorbell, made.send_doorbell);
    words.set(reg::qp_rq_doorbell, made.receive_doorbell);
    words.set(reg::qp_sq_ring, made.send_ring);
    return answered(words);
}

step queue_pair_commands::modify(const entry& command) {
    const auto handle = command.get(reg::modify_qp_handle);
    queue_pair* const qp = objects_.queue_pairs.find(handle);
    const auto asked = command.get(regs::modify_qp_state::state);
    const bool moves = command.get(regs::modify_qp_mask::state) != 0;
    const bool expects = command.get(regs::modify_qp_mask::current_state) != 0;
    if (qp == nullptr || (moves && asked > static_cast<unsigned>(qp_state::error)) ||
        (expects &&
         command.get(reg::modify_qp_current_state) != static_cast<std::uint32_t>(qp->state)))
        return refuse(status::illegal_parameter);
    const auto next = static_cast<qp_state>(asked);
    const auto retries = command.get(regs::modify_qp_details::rnr_retry);
    const bool sets_retries = command.get(regs::modify_qp_mask::rnr_retry) != 0;
    if ((moves && !may_move(qp->state, next)) ||
        (sets_retries && retries > queue_pair::rnr_for_ever))
        return refuse(status::illegal_parameter);
    if (command.get(regs::modify_qp_mask::qkey) != 0) qp->qkey = command.get(reg::modify_qp_qkey);
    if (command.get(regs::modify_qp_mask::psn) != 0) qp->psn = command.get(reg::modify_qp_psn);
    if (sets_retries) qp->rnr_retry = static_cast<std::uint8_t>(retries);
    if (!moves) return done();
    qp->state = next;
    if (next == qp_state::reset || next == qp_state::error)
        engine_.queue_pair_stopped(handle, next == qp_state::error);
    if (next == qp_state::rts) engine_.queue_pair_started(handle);
    if (next == qp_state::reset)
        qp->sends_posted = qp->sends_fetched = qp->receives_posted = qp->receives_taken = 0;
    return done();
}

step queue_pair_commands::query(const entry& command) const {
    const queue_pair* const qp = objects_.queue_pairs.find(command.get(reg::query_qp_handle));
    if (qp == nullptr) return refuse(status::illegal_parameter);
    entry words;
    words.set(reg::qp_state, static_cast<std::uint64_t>(qp->state));
    words.set(reg::qp_qkey, qp->qkey);
    words.set(reg::qp_psn, qp->psn);
    words.set(regs::qp_details::rnr_retry, qp->rnr_retry);
    return answered(words);
}

step queue_pair_commands::destroy(const entry& command) {
    const auto handle = command.get(reg::destroy_qp_handle);
    const queue_pair* const qp = objects_.queue_pairs.find(handle);
    if (qp == nullptr) return refuse(status::illegal_parameter);
    engine_.queue_pair_stopped(handle, false);
    objects_.bells.remove(qp->send_doorbell);
    objects_.bells.remove(qp->receive_doorbell);
    --objects_.domains.find(qp->domain)->users;
    --*objects_.uars.find(qp->uar);
    --objects_.completion_queues.find(qp->send_cq)->users;
    --objects_.completion_queues.find(qp->receive_cq)->users;
    objects_.queue_pairs.remove(handle);
    return done();
}

}  // namespace trn
