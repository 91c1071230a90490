# SPDX-License-Identifier: Apache-2.0
"""A card writes to itself until this process is killed; eight queue pairs, regions and address
handles then remain."""
import pyverbs.enums as e
from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.wr import SGE
from queue_pairs import QKEY, queue_pair

SIZE, COUNT = 1 << 20, 8

context = Context(name="efa_0")
domain = PD(context)
queue = CQ(context, 64)
pairs = [queue_pair(context, queue, domain, e.IBV_QPT_DRIVER, e.IBV_QP_EX_WITH_RDMA_WRITE) for _ in range(COUNT)]
regions = [MR(domain, SIZE, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE) for _ in range(COUNT)]
route = AHAttr(gr=GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0), is_global=1, port_num=1)
handles = [AH(domain, attr=route) for _ in range(COUNT)]


def post(n):
    pair, other, far = pairs[n], pairs[n - 1], regions[n - 1]
    pair.wr_start()
    pair.wr_id = n
    pair.wr_flags = e.IBV_SEND_SIGNALED
    pair.wr_rdma_write(far.rkey, far.buf)
    pair.wr_set_sge(SGE(regions[n].buf, SIZE, regions[n].lkey))
    pair.wr_set_ud_addr(handles[n], other.qp_num, QKEY)
    pair.wr_complete()


for n in range(COUNT):
    post(n)
written = 0
while True:
    for done in queue.poll(COUNT)[1]:
        assert done.status == e.IBV_WC_SUCCESS
        post(done.wr_id)
        written += 1
        if written == 2 * COUNT:
            print("writing", flush=True)
