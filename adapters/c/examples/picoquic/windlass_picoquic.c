/*
 * windlass' congestion controllers as picoquic takes them: picoquic's notifications become calls
 * of libwindlass, whose decision is written to the path.
 *
 * What picoquic does not report is not reported on: single packets sent (so that deliveries come
 * from picoquic's own counts), how many packets were marked, and when the last of several losses
 * turned out spurious. Nothing is asked before a packet is sent, so that what another flow of a
 * group changes takes effect with the flow's next notification.
 */
#include "windlass_picoquic.h"

#include "cc_common.h"
#include "picoquic_internal.h"

#include <stdlib.h>
#include <string.h>
#include <windlass.h>

#define NS_PER_US 1000u
/* Acknowledgements remembered, for the time of the delivery that preceded a packet. */
#define DELIVERIES 1024u

static const windlass_stack PICOQUIC = {"picoquic",
                                        WINDLASS_SIGNAL_ECN | WINDLASS_SIGNAL_PACKET_NUMBERS |
                                            WINDLASS_SIGNAL_DELIVERY | WINDLASS_SIGNAL_PACING,
                                        0};

/* picoquic's record comes first, so that a pointer to it is one to this. */
typedef struct algorithm {
    picoquic_congestion_algorithm_t picoquic;
    windlass_controller *controller;
} algorithm;

/* The state of one path. */
typedef struct path_state {
    windlass_flow *flow;
    windlass_decision decision;
    uint32_t mtu;
    uint64_t acknowledgements; /* so far */
    struct {
        uint64_t delivered, us;
    } deliveries[DELIVERIES];
} path_state;

static windlass_path describe(const picoquic_path_t *path, uint64_t now) {
    windlass_path described;
    memset(&described, 0, sizeof described);
    described.now_ns = now * NS_PER_US;
    described.mtu = (uint32_t)(path->send_mtu > 0 ? path->send_mtu : PICOQUIC_INITIAL_MTU_IPV6);
    described.server_name = path->cnx->client_mode ? path->cnx->sni : NULL;
    const struct sockaddr *peer = (const struct sockaddr *)&path->first_tuple->peer_addr;
    if (peer->sa_family == AF_INET) {
        const struct sockaddr_in *address = (const struct sockaddr_in *)peer;
        described.peer_address[10] = described.peer_address[11] = 0xff;
        memcpy(described.peer_address + 12, &address->sin_addr, 4);
        described.peer_port = ntohs(address->sin_port);
    } else if (peer->sa_family == AF_INET6) {
        const struct sockaddr_in6 *address = (const struct sockaddr_in6 *)peer;
        memcpy(described.peer_address, &address->sin6_addr, 16);
        described.peer_port = ntohs(address->sin6_port);
    }
    return described;
}

/* Has picoquic send as the flow decides. */
static void apply(picoquic_path_t *path, path_state *state) {
    if (windlass_decide(state->flow, &state->decision) == WINDLASS_INVALID)
        return;
    const windlass_decision *decision = &state->decision;
    const int slow_start = decision->phase == WINDLASS_SLOW_START;
    path->cwin = decision->cwnd;
    path->is_ssthresh_initialized = decision->ssthresh != UINT64_MAX;
    path->is_cc_data_updated = 1;
    if (decision->pacing_rate > 0)
        picoquic_update_pacing_rate(path, (double)decision->pacing_rate / 8, decision->send_quantum);
    else
        picoquic_update_pacing_data(path, slow_start);
}

static void start(picoquic_path_t *path, char const *options, uint64_t now) {
    (void)options;
    const algorithm *algorithm_of = (const algorithm *)path->cnx->congestion_alg;
    path_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return;
    const windlass_path described = describe(path, now);
    state->mtu = described.mtu;
    char error[300];
    state->flow = windlass_start(algorithm_of->controller, &described, error, sizeof error);
    if (state->flow == NULL) {
        DBG_PRINTF("windlass: %s", error);
        free(state);
        return;
    }
    path->congestion_alg_state = state;
    apply(path, state);
}

static void stop(picoquic_path_t *path) {
    path_state *state = path->congestion_alg_state;
    if (state != NULL) {
        windlass_stop(state->flow);
        free(state);
        path->congestion_alg_state = NULL;
    }
}

/* When the path had delivered so many bytes; `now` if that is not remembered. */
static uint64_t delivered_at(const path_state *state, uint64_t delivered, uint64_t now) {
    for (uint64_t back = 1; back <= DELIVERIES && back <= state->acknowledgements; back++) {
        const uint64_t index = (state->acknowledgements - back) % DELIVERIES;
        if (state->deliveries[index].delivered <= delivered)
            return state->deliveries[index].us;
    }
    return now;
}

static void on_acked(picoquic_path_t *path, path_state *state, const picoquic_per_ack_state_t *ack,
                     uint64_t now) {
    const uint64_t bytes = ack->nb_bytes_acknowledged;
    if (bytes == 0)
        return;
    windlass_packet packet;
    memset(&packet, 0, sizeof packet);
    const uint64_t sent = picoquic_cc_get_ack_sent_time(path->cnx, path);
    packet.number = picoquic_cc_get_ack_number(path->cnx, path);
    /* Of other number spaces the time is not known. */
    packet.sent_ns = (sent > 0 ? sent : now - ack->rtt_measurement) * NS_PER_US;
    packet.bytes = bytes;
    packet.count = (uint32_t)((bytes + state->mtu - 1) / state->mtu);
    if (sent > 0 && ack->send_delay <= sent && ack->nb_bytes_delivered_since_packet_sent <= path->delivered) {
        packet.delivered = path->delivered - ack->nb_bytes_delivered_since_packet_sent;
        packet.delivered_ns = delivered_at(state, packet.delivered, sent) * NS_PER_US;
        packet.delivered_sent_ns = (sent - ack->send_delay) * NS_PER_US;
        packet.lost = ack->nb_bytes_lost_since_packet_sent;
        packet.in_flight = ack->inflight_prior + state->mtu;
        packet.flags = WINDLASS_PACKET_DELIVERY | (ack->is_app_limited ? WINDLASS_PACKET_APP_LIMITED : 0);
    }
    windlass_acked acked;
    memset(&acked, 0, sizeof acked);
    acked.now_ns = now * NS_PER_US;
    acked.in_flight = path->bytes_in_transit;
    acked.in_flight_before = path->bytes_in_transit + bytes;
    acked.delivered = path->delivered;
    acked.packets = &packet;
    acked.packet_count = 1;
    acked.flags = ack->is_app_limited ? WINDLASS_ACKED_APP_LIMITED : 0;
    windlass_on_acked(state->flow, &acked);
    const uint64_t index = state->acknowledgements++ % DELIVERIES;
    state->deliveries[index].delivered = path->delivered;
    state->deliveries[index].us = now;
}

/* picoquic notifies of each lost packet before it takes it out of those in transit. */
static void on_lost(picoquic_path_t *path, path_state *state, const picoquic_per_ack_state_t *ack,
                    uint64_t now) {
    const uint64_t bytes = ack->nb_bytes_newly_lost;
    windlass_packet packet;
    memset(&packet, 0, sizeof packet);
    packet.number = ack->lost_packet_number;
    packet.sent_ns = ack->lost_packet_sent_time * NS_PER_US;
    packet.bytes = bytes;
    windlass_lost lost;
    memset(&lost, 0, sizeof lost);
    lost.now_ns = now * NS_PER_US;
    lost.in_flight_before = path->bytes_in_transit;
    lost.in_flight = path->bytes_in_transit > bytes ? path->bytes_in_transit - bytes : 0;
    lost.packets = &packet;
    lost.packet_count = 1;
    windlass_on_lost(state->flow, &lost);
}

static void notify(picoquic_cnx_t *cnx, picoquic_path_t *path,
                   picoquic_congestion_notification_t notification, picoquic_per_ack_state_t *ack,
                   uint64_t now) {
    path_state *state = path->congestion_alg_state;
    if (state == NULL)
        return;
    const uint64_t now_ns = now * NS_PER_US;
    if (path->send_mtu != state->mtu && path->send_mtu > 0) {
        state->mtu = (uint32_t)path->send_mtu;
        windlass_on_mtu(state->flow, now_ns, state->mtu);
    }
    switch (notification) {
    case picoquic_congestion_notification_rtt_measurement: {
        const windlass_rtt rtt = {ack->rtt_measurement * NS_PER_US, path->smoothed_rtt * NS_PER_US,
                                  path->rtt_variant * NS_PER_US, path->rtt_min * NS_PER_US, 0};
        windlass_on_rtt(state->flow, now_ns, &rtt);
        break;
    }
    case picoquic_congestion_notification_ecn_ec:
        windlass_on_ecn_ce(state->flow, now_ns, 1, picoquic_cc_get_ack_sent_time(cnx, path) * NS_PER_US,
                           ack->lost_packet_number, path->bytes_in_transit);
        break;
    case picoquic_congestion_notification_repeat:
    case picoquic_congestion_notification_timeout:
        on_lost(path, state, ack, now);
        break;
    case picoquic_congestion_notification_acknowledgement:
        on_acked(path, state, ack, now);
        break;
    case picoquic_congestion_notification_restart_from_idle: {
        const windlass_sent sent = {now_ns, picoquic_cc_get_sequence_number(cnx, path), state->mtu, state->mtu, 0};
        windlass_on_sent(state->flow, &sent);
        break;
    }
    case picoquic_congestion_notification_reset: {
        const windlass_path described = describe(path, now);
        windlass_on_path_change(state->flow, &described);
        break;
    }
    default:
        return;
    }
    apply(path, state);
}

static void observe(picoquic_path_t *path, uint64_t *phase, uint64_t *ssthresh) {
    const path_state *state = path->congestion_alg_state;
    *phase = state != NULL ? state->decision.phase : 0;
    *ssthresh = state != NULL && state->decision.ssthresh != UINT64_MAX ? state->decision.ssthresh : 0;
}

picoquic_congestion_algorithm_t const *windlass_picoquic_new(const char *name, char *error,
                                                             size_t size) {
    algorithm *made = calloc(1, sizeof *made);
    const size_t length = name != NULL ? strlen(name) : 0;
    const int is_file = length > 5 && strcmp(name + length - 5, ".toml") == 0;
    if (made == NULL)
        return NULL;
    made->controller = is_file ? windlass_read(name, &PICOQUIC, error, size)
                               : windlass_new(name, &PICOQUIC, error, size);
    if (made->controller == NULL) {
        free(made);
        return NULL;
    }
    made->picoquic.congestion_algorithm_id = "windlass";
    made->picoquic.ecn_mark = PICOQUIC_ECN_ECT_0;
    made->picoquic.alg_init = start;
    made->picoquic.alg_notify = notify;
    made->picoquic.alg_delete = stop;
    made->picoquic.alg_observe = observe;
    return &made->picoquic;
}

void windlass_picoquic_free(picoquic_congestion_algorithm_t const *algorithm_of) {
    algorithm *made = (algorithm *)algorithm_of;
    if (made != NULL) {
        windlass_free(made->controller);
        free(made);
    }
}
