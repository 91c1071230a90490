# SPDX-License-Identifier: Apache-2.0
"""Checks an EFA card by verbs: two queue pairs of one card, which addresses itself by its own GID.
"""
import pyverbs.enums as e
from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.wr import SGE, RecvWR
from queue_pairs import QKEY, queue_pair

SIZE, COUNTERS = 4096, "/sys/class/infiniband/efa_0/ports/1/hw_counters/"

context = Context(name="efa_0")
domain = PD(context)
queue = CQ(context, 64)
memory = MR(domain, 2 * SIZE, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_WRITE)
card = AH(domain, attr=AHAttr(gr=GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0), is_global=1, port_num=1))


def completions(count):
    found = []
    while len(found) < count:
        found += queue.poll(16)[1]
    return found


def post(operation, *words, address=None, length=SIZE, qkey=QKEY):
    """Posts one work request from the first queue pair to the second."""
    first.wr_start()
    first.wr_id = 7
    first.wr_flags = e.IBV_SEND_SIGNALED
    getattr(first, "wr_" + operation)(*words)
    first.wr_set_sge(SGE(memory.buf if address is None else address, length, memory.lkey))
    first.wr_set_ud_addr(card, second.qp_num, qkey)
    first.wr_complete()


def status_of(operation, *words, **settings):
    post(operation, *words, **settings)
    return completions(1)[0].status


def counter(name):
    with open(COUNTERS + name) as file:
        return int(file.read())


begun = {name: counter(name) for name in ("rdma_write_wrs", "rdma_write_wr_err", "rdma_read_wr_err")}
every = e.IBV_QP_EX_WITH_SEND | e.IBV_QP_EX_WITH_RDMA_READ | e.IBV_QP_EX_WITH_RDMA_WRITE
first, second = (queue_pair(context, queue, domain, e.IBV_QPT_DRIVER, every) for _ in range(2))
far = memory.buf + SIZE

memory.write("a" * SIZE, SIZE)
second.post_recv(RecvWR(wr_id=9, num_sge=1, sg=[SGE(far, SIZE, memory.lkey)]))
post("send")
both = {each.wr_id: each for each in completions(2)}
assert all(each.status == e.IBV_WC_SUCCESS for each in both.values()), both
assert both[9].byte_len == SIZE and both[9].src_qp == first.qp_num, both[9]
assert memory.read(SIZE, SIZE) == b"a" * SIZE
print("send: received")

memory.write("b" * SIZE, SIZE)
assert status_of("rdma_write", memory.rkey, far) == e.IBV_WC_SUCCESS
assert memory.read(SIZE, SIZE) == b"b" * SIZE
memory.write("c" * SIZE, SIZE, SIZE)
assert status_of("rdma_read", memory.rkey, far) == e.IBV_WC_SUCCESS
assert memory.read(SIZE, 0) == b"c" * SIZE
print("write and read: verified")

print("send without a receive:", e.ibv_wc_status(status_of("send")).name)
print("write with a key that does not exist:", e.ibv_wc_status(status_of("rdma_write", memory.rkey + 1, far)).name)
print("write beyond the region:", e.ibv_wc_status(status_of("rdma_write", memory.rkey, far + 1)).name)
print("read into memory that is not registered:", e.ibv_wc_status(status_of("rdma_read", memory.rkey, far, address=far + SIZE)).name)
print("send with another qkey:", e.ibv_wc_status(status_of("send", qkey=QKEY + 1)).name)
assert status_of("rdma_write", memory.rkey, far) == e.IBV_WC_SUCCESS
print("after errors: write {} errors {} {}".format(*(counter(name) - begun[name] for name in begun)))

reliable = first, second
first, second = (queue_pair(context, queue, domain, e.IBV_QPT_UD, e.IBV_QP_EX_WITH_SEND) for _ in range(2))
memory.write("d" * SIZE, SIZE)
second.post_recv(RecvWR(wr_id=9, num_sge=1, sg=[SGE(far, SIZE, memory.lkey)]))
post("send", length=1000)
both = {each.wr_id: each for each in completions(2)}
assert all(each.status == e.IBV_WC_SUCCESS for each in both.values()), both
assert both[9].byte_len == 40 + 1000 and memory.read(1000, SIZE + 40) == b"d" * 1000
drops = counter("rx_drops")
# Completes when sent; no receive is posted.
assert status_of("send", length=1000) == e.IBV_WC_SUCCESS
while counter("rx_drops") == drops:
    pass
print("datagram: received; the next dropped:", counter("rx_drops") - drops)

for each in (first, second, *reliable, card, memory, queue, domain, context):
    each.close()
