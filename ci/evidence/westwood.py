"""TCP-Linux' Westwood packet by packet, beside ns-2: what each of three of its rules is worth.

Prints a table, which ci/evidence/oracle puts into docs/oracle.md. A model, since no option of ns-2 turns the third rule off:
100 Mbit/s, 50 ms, one of a hundred packets lost at random, an ACK with SACK and time stamps for every packet.
"""

import collections
import concurrent.futures
import math
import os
import random
import statistics

import oracle
from oracle import PAYLOAD, RTT, WARM_UP, theirs

LOSS = 0.01
SECONDS = oracle.SECONDS[LOSS]
NS_SEEDS, SEEDS = range(1, 6), range(1, 11)
# Seconds until a packet is at the bottleneck, and on its wire; from there to the receiver and back, with the ACK's wire.
ACCESS, WIRE, BACK = 0.001, 1500 * 8 / 100e6, 0.049 + 1540 * 8 / 10e9
# A packet is lost once one so many later has arrived: more than three (DupThresh, RFC 6675 §2).
THRESHOLD = 4

STAMPS, GROWTH, COUNT = "time stamps", "growth in recoveries", "a packet too many"
# The option of ns-2 that switches a rule off.
OPTIONS = {STAMPS: "sink.ts_echo_bugfix_=false", GROWTH: "linux.sysctl_tcp_abc=0"}
ROWS = [(), (STAMPS,), (GROWTH,), (STAMPS, GROWTH), (STAMPS, GROWTH, COUNT)]

FLYING, SACKED, LOST, RESENT = range(4)


class Estimate:
    """The module's estimate of bandwidth, with its integers (`tcp_westwood.c`). Times are in ms."""

    def __init__(self):
        self.since = self.bytes = self.first = self.second = 0
        # What duplicate ACKs have counted that a cumulative one will count again.
        self.counted = 0
        self.round_trip, self.smoothed, self.smallest = 20, 0, None
        self.edge = 0

    def sample(self, now, cumulative, latest):
        if self.smoothed:
            self.smoothed += latest - (self.smoothed >> 3)
        else:
            self.smoothed = latest << 3
        if cumulative > 0:
            self.round_trip = self.smoothed >> 3
        stretch = math.floor(now) - self.since
        if stretch > max(self.round_trip, 50):
            rate = self.bytes // stretch
            if self.first == self.second == 0:
                self.first = self.second = rate
            else:
                self.first = (7 * self.first + rate) // 8
                self.second = (7 * self.second + self.first) // 8
            self.bytes, self.since = 0, math.floor(now)

    def count(self, edge, arrived, is_fast, without):
        packets = edge - self.edge
        if COUNT in without:
            packets = arrived
        elif not is_fast:
            packets = self.beside_duplicates(packets)
        self.edge = edge
        self.bytes += packets * PAYLOAD
        self.smallest = min(self.smallest or self.round_trip, self.round_trip)

    def beside_duplicates(self, packets):
        """What an ACK of so many packets adds to what duplicate ACKs have counted."""
        if packets == 0:
            self.counted += 1
            return 1
        if packets == 1:
            return 1
        if self.counted >= packets:
            self.counted -= packets
            return 1
        packets, self.counted = packets - self.counted, 0
        return packets

    def window(self):
        return max(self.second * self.smallest // PAYLOAD, 2)


def model(seed, without):
    """Packets acknowledged per round trip, without some of the rules."""
    rng = random.Random(seed)
    estimate = Estimate()
    now = link_free = 0.0
    state, received, sent_at = bytearray(), bytearray(), []
    # Cumulative acknowledgement, next packet, and the highest that has arrived.
    una = next_packet = 0
    highest = -1
    lost = sacked = 0
    # What is to be sent again, what was and is not acknowledged, and by which retransmission, after which packet.
    to_resend, resent, resent_as = collections.deque(), [], {}
    resends, newest_resend = 0, -1
    judged = 0
    window, threshold, grown = 2, math.inf, 0
    in_recovery = after_timeout = False
    recover = -1
    acks = collections.deque()
    expected, stamp = 0, 0.0
    at_warm_up = None

    def leave(packet):
        nonlocal lost, newest_resend
        if state[packet] == LOST:
            lost -= 1
        elif state[packet] == RESENT:
            newest_resend = max(newest_resend, resent_as[packet][0])
            if packet in resent:
                resent.remove(packet)

    while True:
        while next_packet - una - lost - sacked < window:
            if to_resend:
                packet = to_resend.popleft()
                if packet < una or state[packet] != LOST:
                    continue
                state[packet] = RESENT
                resent_as[packet] = (resends, next_packet)
                resends += 1
                lost -= 1
                resent.append(packet)
                sent_at[packet] = now
            else:
                packet = next_packet
                next_packet += 1
                state.append(FLYING)
                received.append(0)
                sent_at.append(now)
            link_free = max(now + ACCESS, link_free) + WIRE
            if rng.random() >= LOSS:
                acks.append((packet, link_free + BACK, now))
        if not acks:
            now = sent_at[una] + 1
            threshold, window, grown = max(window // 2, 2), 1, 0
            in_recovery, after_timeout, recover = False, True, next_packet - 1
            for packet in range(una, next_packet):
                if state[packet] in (FLYING, RESENT):
                    state[packet] = LOST
                    lost += 1
                    to_resend.append(packet)
            resent.clear()
            continue
        packet, now, own_stamp = acks.popleft()
        if now > SECONDS:
            return (una - at_warm_up) / (SECONDS - WARM_UP) * RTT
        # The receiver: the stamp of the last packet in order is echoed (RFC 7323 §4.3).
        if packet == expected or own_stamp >= stamp and packet <= expected:
            stamp = own_stamp
        if packet >= expected:
            received[packet] = 1
        while expected < len(received) and received[expected]:
            expected += 1
        # The scoreboard.
        arrived, is_sack, is_lost = 0, False, False
        if packet >= una and packet >= expected:
            if state[packet] != SACKED:
                leave(packet)
                state[packet] = SACKED
                sacked += 1
                arrived, is_sack = 1, True
            highest = max(highest, packet)
        edge = una
        while una < expected:
            if state[una] == SACKED:
                sacked -= 1
            else:
                leave(una)
                arrived += 1
            una += 1
        cumulative = una - edge
        highest, judged = max(highest, una - 1), max(judged, una)
        if sacked:
            while judged <= highest - THRESHOLD:
                if state[judged] == FLYING:
                    state[judged] = LOST
                    lost, is_lost = lost + 1, True
                    to_resend.append(judged)
                judged += 1
            for again in list(resent):
                number, followed_by = resent_as[again]
                if followed_by <= highest or number + THRESHOLD < newest_resend:
                    resent.remove(again)
                    state[again] = LOST
                    lost, is_lost = lost + 1, True
                    to_resend.append(again)
        # Westwood.
        latest = max(int((now - (own_stamp if STAMPS in without else stamp)) * 1000 + 0.5), 1)
        estimate.sample(1000 * now, cumulative, latest)
        is_open = not in_recovery and not after_timeout
        estimate.count(una, arrived, is_open and cumulative > 0 and not is_sack, without)
        # Growth counts bytes in recoveries, too.
        if not in_recovery or GROWTH not in without:
            grown += cumulative
        if cumulative > 0 and not in_recovery:
            if window <= threshold:
                window, grown = window + (grown >= 1), 0
            elif grown >= window:
                grown -= window
                window += 1
        if not is_open and una - 1 >= recover:
            in_recovery = after_timeout = False
            if window < threshold:
                window = min(threshold, next_packet - una - lost - sacked + 3)
            # The board is cleared: the next SACK reports anew what has arrived.
            lost = 0
            resent.clear()
            to_resend.clear()
            for packet in range(una, next_packet):
                if state[packet] != SACKED:
                    state[packet] = FLYING
            judged = una
        elif not in_recovery and is_lost:
            in_recovery, recover = True, next_packet - 1
            threshold, grown = max(window // 2, 2), 0
            window = estimate.window()
        if at_warm_up is None and now > WARM_UP:
            at_warm_up = una


def ns2(seed, without):
    """Packets acknowledged per round trip."""
    return theirs("westwood", LOSS, seed, *(OPTIONS[rule] for rule in without))


def interval(values):
    """Mean and half of a 95 % interval, by Student's t."""
    student = {5: 2.776, 10: 2.262}[len(values)]
    return f"{statistics.mean(values):.0f} ± {student * statistics.stdev(values) / math.sqrt(len(values)):.0f}"


def main():
    print("| without | ns-2, packets | the model, packets |", "| --- | ---: | ---: |", sep="\n")
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = []
        for without in ROWS:
            can = all(rule in OPTIONS for rule in without)
            theirs = [pool.submit(ns2, seed, without) for seed in NS_SEEDS] if can else []
            jobs.append((without, theirs, [pool.submit(model, seed, without) for seed in SEEDS]))
        for without, theirs, models in jobs:
            theirs = interval([job.result() for job in theirs]) if theirs else "–"
            models = interval([job.result() for job in models])
            print(f"| {', '.join(without) or 'nothing'} | {theirs} | {models} |", flush=True)


if __name__ == "__main__":
    main()
