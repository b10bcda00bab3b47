/* A sender of one's own on libwindlass, by RFC 9002 and windlass.h alone, with its link and receiver: a bottleneck with
 * a drop-tail queue, an ACK for every packet.
 *
 * Arguments: controller, seed, rate in bit/s, delay of each way in ns, packets the queue holds, duration in ns, by what a
 * rate is multiplied that the controller did not decide, and 1 if ACKs say when packets arrived, which the stack promises.
 * Prints what left, was taken for lost, was dropped and arrived, and a hash (FNV-1a) of when each packet left; in a second
 * line the controller at the end. */
#include <windlass.h>

#include "../../../../adapters/testkit/check.h"

#include <inttypes.h>
#include <string.h>

#define NEVER UINT64_MAX
#define MTU 1200u
#define ON_THE_WIRE 1228u
#define MS 1000000u
#define MOST (1u << 17) /* packets of a run */
#define FINE 1024u      /* ends of transmissions are kept in 1/1024 ns */

static struct {
    uint64_t sent_ns, start_ns, arrives_ns, acked_ns;
    int dropped, over;
} packets[MOST];
static uint64_t in_order[MOST]; /* packets on the link, as they were accepted */

static struct {
    double fine_per_byte;
    uint64_t delay, room, busy_until, accepted, started, arrived, acked, dropped;
} network;

static struct {
    windlass_flow *flow;
    windlass_decision decision;
    double factor;
    int one_way;
    uint64_t now, next, oldest, in_flight, lost, hash;
    uint64_t due, woken_for;            /* the pacer and the controller's timer */
    uint64_t pace_at, wake_at;          /* when they go off */
    uint64_t loss_time, probes, last_sent;
    int64_t largest;                    /* acknowledged; -1: none */
    uint64_t latest, smoothed, variation, min, first_sample; /* RFC 9002 section 5.3 */
    uint64_t run_since, run_next;       /* losses without a gap */
} sender;

static uint64_t larger(uint64_t one, uint64_t other) { return one > other ? one : other; }
static uint64_t smaller(uint64_t one, uint64_t other) { return one < other ? one : other; }

static void put_on_link(uint64_t number) {
    uint64_t now = sender.now, start = larger(network.busy_until, now * FINE);
    uint64_t start_ns = (start + FINE - 1) / FINE;
    while (network.started < network.accepted && packets[in_order[network.started]].start_ns <= now) network.started++;
    if (start_ns > now && network.accepted - network.started >= network.room) {
        packets[number].dropped = 1;
        network.dropped++;
        return;
    }
    network.busy_until = start + (uint64_t)(ON_THE_WIRE * network.fine_per_byte + 0.5);
    packets[number].start_ns = start_ns;
    packets[number].arrives_ns = (network.busy_until + FINE - 1) / FINE + network.delay;
    packets[number].acked_ns = packets[number].arrives_ns + network.delay;
    in_order[network.accepted++] = number;
}

static void decide(void) {
    CHECK(windlass_decide(sender.flow, &sender.decision) == WINDLASS_OK);
    uint64_t at = sender.decision.wake_ns;
    sender.wake_at = at == NEVER || at == sender.woken_for ? NEVER : larger(at, sender.now + 1);
}

static void hash(uint64_t value) {
    for (int byte = 0; byte < 8; byte++) sender.hash = (sender.hash ^ (value >> 8 * byte & 0xff)) * 0x100000001b3u;
}

static void leave(void) {
    uint64_t number = sender.next++, rate = sender.decision.pacing_rate;
    CHECK(number < MOST);
    if (!(sender.decision.flags & WINDLASS_DECIDED)) rate = (uint64_t)(sender.factor * (double)rate);
    packets[number].sent_ns = sender.last_sent = sender.now;
    sender.in_flight += MTU;
    double gap = rate == 0 ? 0 : MTU * (8e9 / (double)rate);
    sender.due = larger(sender.due, sender.now) + (uint64_t)gap;
    windlass_sent sent = {sender.now, number, sender.in_flight, MTU, 0};
    CHECK(windlass_on_sent(sender.flow, &sent) == WINDLASS_OK);
    decide();
    hash(sender.now);
    put_on_link(number);
}

static void send_all(void) {
    while (sender.in_flight + MTU <= sender.decision.cwnd || sender.in_flight == 0) {
        if (sender.now < sender.due) {
            sender.pace_at = sender.due;
            return;
        }
        leave();
    }
}

/* RFC 9002 section 6.2.1, of a receiver that holds no ACK. */
static uint64_t probe_timeout(void) { return sender.smoothed + larger(4 * sender.variation, MS); }

static uint64_t recovery_due(void) {
    if (sender.loss_time != NEVER) return sender.loss_time;
    if (sender.in_flight == 0) return NEVER;
    return sender.last_sent + (probe_timeout() << smaller(sender.probes, 20));
}

static void sample(uint64_t latest) {
    sender.latest = latest;
    if (sender.first_sample == NEVER) {
        sender.first_sample = sender.now;
        sender.min = sender.smoothed = latest;
        sender.variation = latest / 2;
    } else {
        uint64_t off = latest > sender.smoothed ? latest - sender.smoothed : sender.smoothed - latest;
        sender.min = smaller(sender.min, latest);
        sender.variation = (3 * sender.variation + off) / 4;
        sender.smoothed = (7 * sender.smoothed + latest) / 8;
    }
    windlass_rtt rtt = {latest, sender.smoothed, sender.variation, sender.min, 0};
    CHECK(windlass_on_rtt(sender.flow, sender.now, &rtt) == WINDLASS_OK);
}

/* RFC 9002 section 6.1; `acked` bytes of the same frame are out of flight already. */
static void detect(uint64_t acked) {
    static windlass_packet gone[MOST];
    uint32_t count = 0, flags = 0;
    uint64_t rtt = larger(sender.latest, sender.smoothed), delay = larger(rtt + rtt / 8, MS);
    sender.loss_time = NEVER;
    for (; sender.largest >= 0 && sender.oldest < (uint64_t)sender.largest; sender.oldest++) {
        uint64_t number = sender.oldest, sent_ns = packets[number].sent_ns;
        if (packets[number].over) continue;
        if ((uint64_t)sender.largest - number < 3 && sent_ns + delay > sender.now) {
            sender.loss_time = sent_ns + delay;
            break;
        }
        packets[number].over = 1;
        sender.in_flight -= MTU;
        gone[count++] = (windlass_packet){.number = number, .sent_ns = sent_ns, .bytes = MTU};
        /* RFC 9002 section 7.6.2 */
        if (sent_ns <= sender.first_sample) {
            sender.run_since = NEVER;
        } else {
            if (sender.run_next != number || sender.run_since == NEVER) sender.run_since = sent_ns;
            if (sent_ns - sender.run_since > 3 * probe_timeout()) {
                flags = WINDLASS_LOST_PERSISTENT;
                sender.run_since = NEVER;
            }
        }
        sender.run_next = number + 1;
    }
    if (count == 0) return;
    sender.lost += count;
    uint64_t after = sender.in_flight + acked;
    windlass_lost lost = {sender.now, after + count * (uint64_t)MTU, after, gone, count, flags};
    if (flags) sender.min = sender.latest;
    CHECK(windlass_on_lost(sender.flow, &lost) == WINDLASS_OK);
}

static void ack(uint64_t number) {
    uint64_t before = sender.in_flight, lost = sender.lost;
    packets[number].over = 1;
    sender.in_flight -= MTU;
    sender.largest = (int64_t)number;
    sender.probes = 0;
    sample(sender.now - packets[number].sent_ns);
    detect(MTU);
    before -= (sender.lost - lost) * MTU;
    windlass_packet packet = {.number = number, .sent_ns = packets[number].sent_ns, .bytes = MTU};
    windlass_acked acked = {.now_ns = sender.now,
                            .in_flight_before = before,
                            .in_flight = sender.in_flight,
                            .one_way_ns = (int64_t)(packets[number].arrives_ns - packets[number].sent_ns),
                            .packets = &packet,
                            .packet_count = 1,
                            .flags = sender.one_way ? WINDLASS_ACKED_ONE_WAY : 0};
    CHECK(windlass_on_acked(sender.flow, &acked) == WINDLASS_OK);
    decide();
    send_all();
}

static void recover(void) {
    if (sender.loss_time != NEVER) {
        detect(0);
        decide();
    } else {
        sender.probes++;
        leave();
    }
    send_all();
}

static uint64_t next_of(uint64_t done, int acks) {
    if (done == network.accepted) return NEVER;
    return acks ? packets[in_order[done]].acked_ns : packets[in_order[done]].arrives_ns;
}

static void run_until(uint64_t end) {
    for (;;) {
        uint64_t arrives = next_of(network.arrived, 0), acked = next_of(network.acked, 1);
        uint64_t recovers = recovery_due(), of_network = smaller(arrives, acked);
        uint64_t of_sender = smaller(recovers, smaller(sender.wake_at, sender.pace_at));
        sender.now = smaller(of_network, of_sender);
        if (sender.now >= end) return;
        if (arrives == sender.now) {
            network.arrived++;
        } else if (acked == sender.now) {
            ack(in_order[network.acked++]);
        } else if (recovers == sender.now) {
            recover();
        } else if (sender.wake_at == sender.now) {
            sender.woken_for = sender.decision.wake_ns;
            CHECK(windlass_on_timer(sender.flow, sender.now) == WINDLASS_OK);
            decide();
            send_all();
        } else {
            sender.pace_at = NEVER;
            send_all();
        }
    }
}

int main(int count, char **arguments) {
    CHECK(count == 9);
    const windlass_stack stack = {"a sender of one's own",
                                  WINDLASS_SIGNAL_PACKET_NUMBERS | WINDLASS_SIGNAL_SPURIOUS_LOSS |
                                      WINDLASS_SIGNAL_SENT | WINDLASS_SIGNAL_PACING | WINDLASS_SIGNAL_TIMER |
                                      WINDLASS_SIGNAL_ONE_WAY_DELAY,
                                  0};
    char error[300] = "";
    windlass_controller *controller = windlass_new(arguments[1], &stack, error, sizeof error);
    fputs(error, stderr);
    CHECK(controller != NULL);
    windlass_path path;
    memset(&path, 0, sizeof path);
    path.mtu = MTU;
    path.seed = strtoull(arguments[2], NULL, 10);
    sender.flow = windlass_start(controller, &path, error, sizeof error);
    CHECK(sender.flow != NULL);
    network.fine_per_byte = 8e9 * FINE / strtod(arguments[3], NULL);
    network.delay = strtoull(arguments[4], NULL, 10);
    network.room = strtoull(arguments[5], NULL, 10);
    sender.factor = strtod(arguments[7], NULL);
    sender.one_way = strcmp(arguments[8], "1") == 0;
    sender.hash = 0xcbf29ce484222325u;
    sender.largest = -1;
    sender.smoothed = 333 * MS;
    sender.variation = sender.smoothed / 2;
    sender.first_sample = sender.loss_time = sender.run_since = sender.woken_for = sender.pace_at = NEVER;
    decide();
    send_all();
    run_until(strtoull(arguments[6], NULL, 10));
    printf("sent %" PRIu64 " lost %" PRIu64 " dropped %" PRIu64 " arrived %" PRIu64 " departures %016" PRIx64 "\n",
           sender.next, sender.lost, network.dropped, network.arrived, sender.hash);
    puts(windlass_name(sender.flow));
    windlass_stop(sender.flow);
    windlass_free(controller);
    return 0;
}
