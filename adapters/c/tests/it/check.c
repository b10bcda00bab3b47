/* Calls every function of windlass.h: with nonsense, with every controller, in groups. */
#include <windlass.h>

#include "../../../testkit/check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000u
#define MTU 1200u

static const windlass_stack EVERYTHING = {
    "check", WINDLASS_SIGNAL_ECN | WINDLASS_SIGNAL_CE_COUNT | WINDLASS_SIGNAL_PACKET_NUMBERS |
                 WINDLASS_SIGNAL_SPURIOUS_LOSS | WINDLASS_SIGNAL_SENT | WINDLASS_SIGNAL_PACING |
                 WINDLASS_SIGNAL_TIMER | WINDLASS_SIGNAL_ONE_WAY_DELAY, 0};

static windlass_path path_to(uint8_t host) {
    windlass_path path;
    memset(&path, 0, sizeof path);
    memcpy(path.peer_address, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\2", 15);
    path.peer_address[15] = host;
    path.peer_port = 443;
    path.mtu = MTU;
    path.seed = 7;
    return path;
}

static void names_and_errors(const char *file, const char *broken) {
    char error[200], tiny[8];
    CHECK(windlass_abi() == WINDLASS_ABI);
    CHECK(windlass_new("renno", &EVERYTHING, error, sizeof error) == NULL);
    CHECK(strstr(error, "unknown controller \"renno\"") != NULL);
    CHECK(windlass_new("renno", &EVERYTHING, tiny, sizeof tiny) == NULL);
    CHECK(strlen(tiny) == sizeof tiny - 1);
    CHECK(windlass_new("renno", &EVERYTHING, NULL, 0) == NULL);
    CHECK(windlass_new("tcp-k:k=lots", &EVERYTHING, error, sizeof error) == NULL);
    CHECK(strstr(error, "lots") != NULL);
    CHECK(windlass_new(NULL, &EVERYTHING, error, sizeof error) == NULL);
    CHECK(strcmp(error, "name is NULL; expected a text") == 0);
    CHECK(windlass_new("\xff", &EVERYTHING, error, sizeof error) == NULL);
    CHECK(strstr(error, "UTF-8") != NULL);
    CHECK(windlass_new("reno", NULL, error, sizeof error) == NULL);
    CHECK(strstr(error, "stack is NULL") != NULL);
    windlass_stack stack = {NULL, 1u << 30, 0};
    CHECK(windlass_new("reno", &stack, error, sizeof error) == NULL);
    CHECK(strstr(error, "0x40000000") != NULL);
    stack.signals = 0;
    stack.name = "small";
    CHECK(windlass_new("prague", &stack, error, sizeof error) == NULL);
    CHECK(strstr(error, "small does not report") != NULL);
    CHECK(windlass_read("/nowhere/cc.toml", &EVERYTHING, error, sizeof error) == NULL);
    CHECK(strstr(error, "/nowhere/cc.toml") != NULL);
    CHECK(windlass_read(broken, &EVERYTHING, error, sizeof error) == NULL);
    CHECK(strstr(error, "broken.toml:1:14: ") != NULL);
    CHECK(windlass_start(NULL, NULL, error, sizeof error) == NULL);

    windlass_controller *controller = windlass_read(file, &EVERYTHING, error, sizeof error);
    CHECK(controller != NULL);
    windlass_path path = path_to(1), other = path_to(1);
    other.peer_address[12] = 198;
    windlass_flow *flow = windlass_start(controller, &path, error, sizeof error);
    windlass_flow *second = windlass_start(controller, &other, error, sizeof error);
    CHECK(strcmp(windlass_name(flow), "tcp-p") == 0 && strcmp(windlass_name(second), "cubic") == 0);
    /* Migration: the rule of the new path's peer. */
    CHECK(windlass_on_path_change(second, &path) == WINDLASS_OK);
    CHECK(strcmp(windlass_name(second), "tcp-p") == 0);
    windlass_free(controller);
    CHECK(windlass_on_timer(flow, MS) == WINDLASS_OK); /* flows outlive it */
    windlass_stop(flow);
    windlass_stop(second);
}

static void nonsense(void) {
    windlass_decision decision;
    windlass_controller *controller = windlass_new("reno", &EVERYTHING, NULL, 0);
    windlass_path path = path_to(1);
    path.mtu = 0;
    CHECK(windlass_start(controller, &path, NULL, 0) == NULL);
    path.mtu = MTU;
    windlass_flow *flow = windlass_start(controller, &path, NULL, 0);
    CHECK(flow != NULL);
    windlass_acked acked;
    windlass_lost lost;
    memset(&acked, 0, sizeof acked);
    memset(&lost, 0, sizeof lost);
    acked.packet_count = lost.packet_count = 3;
    windlass_sent sent = {0, 0, 0, 0, 0};
    windlass_rtt rtt = {0, 0, 0, 0, 0};
    CHECK(windlass_decide(NULL, &decision) == WINDLASS_INVALID);
    CHECK(windlass_decide(flow, NULL) == WINDLASS_INVALID);
    windlass_send_rate_estimate estimate;
    CHECK(windlass_send_rate(NULL, &estimate) == WINDLASS_INVALID);
    CHECK(windlass_send_rate(flow, NULL) == WINDLASS_INVALID);
    CHECK(windlass_send_rate(flow, &estimate) == WINDLASS_OK && estimate.bits_per_s == 0 && estimate.confidence == 0);
    CHECK(windlass_on_sent(NULL, &sent) == WINDLASS_INVALID);
    CHECK(windlass_on_sent(flow, NULL) == WINDLASS_INVALID);
    CHECK(windlass_on_sent(flow, &sent) == WINDLASS_INVALID);
    CHECK(windlass_on_rtt(flow, 0, NULL) == WINDLASS_INVALID);
    CHECK(windlass_on_rtt(flow, 0, &rtt) == WINDLASS_INVALID);
    rtt.latest_ns = UINT64_MAX;
    CHECK(windlass_on_rtt(flow, 0, &rtt) == WINDLASS_INVALID);
    windlass_packet much;
    memset(&much, 0, sizeof much);
    much.bytes = 1u << 30;
    windlass_acked more = {MS, 10 * MTU, 0, 0, 0, &much, 1, 0};
    CHECK(windlass_on_acked(flow, &more) == WINDLASS_INVALID);
    CHECK(windlass_on_ecn_ce(flow, 0, 0, 0, 0, 0) == WINDLASS_INVALID);
    CHECK(windlass_on_acked(flow, NULL) == WINDLASS_INVALID);
    CHECK(windlass_on_acked(flow, &acked) == WINDLASS_INVALID);
    CHECK(windlass_on_lost(flow, NULL) == WINDLASS_INVALID);
    CHECK(windlass_on_lost(flow, &lost) == WINDLASS_INVALID);
    CHECK(windlass_on_mtu(flow, 0, 0) == WINDLASS_INVALID);
    CHECK(windlass_on_timer(NULL, 0) == WINDLASS_INVALID);
    CHECK(windlass_on_path_change(flow, NULL) == WINDLASS_INVALID);
    CHECK(windlass_name(NULL) == NULL);
    CHECK(windlass_decide(flow, &decision) == WINDLASS_OK);
    CHECK(decision.cwnd == 10 * MTU && decision.ssthresh == UINT64_MAX && decision.flags == 0);
    windlass_stop(flow);
    windlass_stop(NULL);
    windlass_free(controller);
    windlass_free(NULL);
}

static uint64_t dice(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Sends what the window allows over a path that delays, marks and loses at random, and returns a
 * number made of all decisions. */
static uint64_t drive(windlass_flow *flow, uint64_t seed) {
    enum { RING = 1u << 12 };
    static windlass_packet ring[RING];
    uint64_t first = 0, next = 0, in_flight = 0, now = 1, made = 0;
    windlass_decision decision;
    for (int step = 0; step < 3000; step++) {
        CHECK(windlass_decide(flow, &decision) == WINDLASS_OK);
        CHECK(decision.cwnd >= MTU && decision.send_quantum >= 2 * MTU);
        made = made * 31 + decision.cwnd + decision.pacing_rate + decision.phase;
        now += dice(&seed) % MS;
        if (decision.wake_ns <= now)
            CHECK(windlass_on_timer(flow, now) == WINDLASS_OK);
        while (in_flight + MTU <= decision.cwnd && next - first < RING && dice(&seed) % 8 != 0) {
            windlass_packet packet;
            memset(&packet, 0, sizeof packet);
            packet.number = next;
            packet.sent_ns = now;
            packet.bytes = MTU;
            ring[next++ % RING] = packet;
            in_flight += MTU;
            windlass_sent sent = {now, packet.number, in_flight, MTU, 0};
            CHECK(windlass_on_sent(flow, &sent) == WINDLASS_OK);
        }
        if (first == next || dice(&seed) % 3 != 0)
            continue;
        uint64_t end = first + 1 + dice(&seed) % (next - first);
        const uint32_t losses = dice(&seed) % 16 == 0 ? (uint32_t)(end - first) / 2 : 0;
        windlass_packet list[RING];
        uint32_t count = 0;
        const uint64_t before = in_flight;
        now += 20 * MS;
        windlass_rtt rtt = {now - ring[(end - 1) % RING].sent_ns, 0, 0, 0, dice(&seed) % MS};
        CHECK(windlass_on_rtt(flow, now, &rtt) == WINDLASS_OK);
        if (dice(&seed) % 16 == 0)
            CHECK(windlass_on_ecn_ce(flow, now, 1, ring[(end - 1) % RING].sent_ns, end - 1, before) ==
                  WINDLASS_OK);
        for (; count < losses; count++)
            list[count] = ring[first++ % RING];
        if (losses > 0) {
            in_flight -= (uint64_t)losses * MTU;
            windlass_lost lost = {now, before, in_flight, list, losses, 0};
            CHECK(windlass_on_lost(flow, &lost) == WINDLASS_OK);
            if (dice(&seed) % 4 == 0)
                CHECK(windlass_on_spurious_loss(flow, now, list[losses - 1].sent_ns) == WINDLASS_OK);
        }
        for (count = 0; first < end; count++)
            list[count] = ring[first++ % RING];
        const uint64_t left = in_flight - (uint64_t)count * MTU;
        windlass_acked acked = {now, in_flight, left, (int64_t)dice(&seed), 0, list, count,
                                WINDLASS_ACKED_ONE_WAY};
        in_flight = left;
        CHECK(windlass_on_acked(flow, &acked) == WINDLASS_OK);
        if (dice(&seed) % 64 == 0)
            CHECK(windlass_on_mtu(flow, now, MTU) == WINDLASS_OK);
        if (dice(&seed) % 256 == 0) {
            first = next;
            in_flight = 0;
            CHECK(windlass_on_discarded(flow, now, 0) == WINDLASS_OK);
        }
    }
    return made;
}

/* Returns how many controllers there are. */
static int every_controller(void) {
    int count = 0, refused = 0;
    for (const char *const *name = windlass_names(); *name != NULL; name++, count++) {
        char error[400];
        windlass_controller *controller = windlass_new(*name, &EVERYTHING, error, sizeof error);
        if (controller == NULL) {
            /* Router feedback and probe trains, which no stack in C has. */
            CHECK(strstr(error, "check does not report") != NULL);
            refused++;
            continue;
        }
        uint64_t made[2];
        for (int run = 0; run < 2; run++) {
            windlass_path path = path_to(1);
            windlass_flow *flow = windlass_start(controller, &path, error, sizeof error);
            CHECK(flow != NULL && strcmp(windlass_name(flow), *name) == 0);
            made[run] = drive(flow, 11);
            windlass_stop(flow);
        }
        CHECK(made[0] == made[1]);
        printf("%s %016" PRIx64 "\n", *name, made[0]);
        windlass_free(controller);
    }
    CHECK(refused < 10);
    return count;
}

static void groups(void) {
    windlass_controller *controller = windlass_new("tcp-p", &EVERYTHING, NULL, 0);
    windlass_path path = path_to(1), keyed = path_to(2), other = path_to(3);
    windlass_decision decision;
    keyed.group = other.group = "uplink";
    keyed.group_size = other.group_size = strlen("uplink");
    windlass_flow *flows[3] = {windlass_start(controller, &path, NULL, 0), windlass_start(controller, &keyed, NULL, 0),
                               windlass_start(controller, &other, NULL, 0)};
    for (int flow = 0; flow < 3; flow++) {
        CHECK(windlass_decide(flows[flow], &decision) == WINDLASS_OK);
        CHECK(decision.flags & WINDLASS_SHARED);
    }
    /* A loss of one member changes the window of the other, and of no flow of another group. */
    uint64_t before[3];
    for (int flow = 0; flow < 3; flow++) {
        for (uint64_t number = 0; number < 40; number++) {
            windlass_packet packet;
            memset(&packet, 0, sizeof packet);
            packet.number = number;
            packet.sent_ns = number * MS;
            packet.bytes = MTU;
            windlass_rtt rtt = {30 * MS, 0, 0, 0, 0};
            CHECK(windlass_on_rtt(flows[flow], packet.sent_ns + 30 * MS, &rtt) == WINDLASS_OK);
            windlass_acked acked = {packet.sent_ns + 30 * MS, 20 * MTU, 19 * MTU, 0, 0, &packet, 1, 0};
            CHECK(windlass_on_acked(flows[flow], &acked) == WINDLASS_OK);
        }
    }
    for (int flow = 0; flow < 3; flow++) {
        CHECK(windlass_decide(flows[flow], &decision) == WINDLASS_OK);
        before[flow] = decision.cwnd;
    }
    windlass_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.number = 41;
    packet.sent_ns = 41 * MS;
    packet.bytes = MTU;
    windlass_lost lost = {80 * MS, 20 * MTU, 19 * MTU, &packet, 1, 0};
    CHECK(windlass_on_lost(flows[1], &lost) == WINDLASS_OK);
    CHECK(windlass_decide(flows[1], &decision) == WINDLASS_OK && decision.cwnd < before[1]);
    CHECK(windlass_decide(flows[0], &decision) == WINDLASS_OK && decision.cwnd == before[0]);
    for (int flow = 0; flow < 3; flow++)
        windlass_stop(flows[flow]);
    windlass_free(controller);
}

static void *in_thread(void *controller) {
    for (int turn = 0; turn < 20; turn++) {
        windlass_path path = path_to(1);
        windlass_flow *flow = windlass_start(controller, &path, NULL, 0);
        windlass_decision decision;
        CHECK(flow != NULL);
        for (uint64_t now = 1; now < 200; now++) {
            CHECK(windlass_on_timer(flow, now * MS) == WINDLASS_OK);
            CHECK(windlass_decide(flow, &decision) == WINDLASS_OK);
        }
        windlass_stop(flow);
    }
    return NULL;
}

/* Threads share a controller and a group; each flow is used by one of them. */
static void threads(void) {
    windlass_controller *controller = windlass_new("a-tcp-p", &EVERYTHING, NULL, 0);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, in_thread, controller) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    windlass_free(controller);
}

static void *acknowledge(void *flow) {
    windlass_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.bytes = MTU;
    windlass_acked acked = {MS, 10 * MTU, 9 * MTU, 0, 0, &packet, 1, 0};
    for (int i = 0; i < 1000; i++)
        CHECK(windlass_on_acked(flow, &acked) == WINDLASS_OK);
    return NULL;
}

/* Threads share a flow: in slow start every acknowledgement counts. */
static void threads_of_one_flow(void) {
    windlass_controller *controller = windlass_new("reno:iw=10", &EVERYTHING, NULL, 0);
    windlass_path path = path_to(1);
    windlass_flow *flow = windlass_start(controller, &path, NULL, 0);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&thread[i], NULL, acknowledge, flow) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    windlass_decision decision;
    CHECK(windlass_decide(flow, &decision) == WINDLASS_OK && decision.cwnd == 4010u * MTU);
    windlass_stop(flow);
    windlass_free(controller);
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    names_and_errors(arguments[1], arguments[2]);
    nonsense();
    groups();
    threads();
    threads_of_one_flow();
    printf("%d controllers\n", every_controller());
    return 0;
}
