# SPDX-License-Identifier: Apache-2.0
"""Creates queue pairs of an EFA card."""
import pyverbs.enums as e
from pyverbs.providers.efa.efadv import EfaQPInitAttr, SRDQPEx
from pyverbs.providers.efa.efa_enums import EFADV_QP_DRIVER_TYPE_SRD
from pyverbs.qp import QPAttr, QPCap, QPEx, QPInitAttrEx

QKEY = 0x11111111


def queue_pair(context, queue, domain, kind, operations):
    """Returns a queue pair ready to send; `queue` gets send and receive completions. A send without
    a posted receive fails."""
    attributes = QPInitAttrEx(
        cap=QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=1, max_recv_sge=1),
        qp_type=kind,
        scq=queue,
        rcq=queue,
        pd=domain,
        send_ops_flags=operations,
        comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
    )
    state = QPAttr(port_num=1)
    state.qkey, state.rnr_retry = QKEY, 0
    if kind == e.IBV_QPT_UD:
        made = QPEx(context, attributes)
    else:
        efa = EfaQPInitAttr()
        efa.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD
        made = SRDQPEx(context, attributes, efa)
    made.to_rts(state)
    return made
