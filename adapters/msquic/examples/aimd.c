/*
 * A congestion controller for MsQuic in C: RFC 9002's NewReno (section 7 and appendix B), with the decrease factor as
 * a parameter. It is a plugin that needs windlass_msquic.h, with windlass.h beside it, and nothing else:
 *
 *   cc -std=c11 -O2 -shared -fPIC -I adapters/abi/include -o aimd.so adapters/msquic/examples/aimd.c
 *   MSQUIC_CC_PLUGIN=$PWD/aimd.so MSQUIC_CC=aimd:beta=0.7 LD_LIBRARY_PATH=out your-program
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "windlass_msquic.h"

enum { MINIMUM_PACKETS = 2 }; /* RFC 9002 section 7.2 */

/* What a user typed. MsQuic keeps a pointer to it for as long as the process runs. */
typedef struct Definition {
    double beta;
} Definition;

/* One connection's path. Its calls never overlap, so that it needs no lock. */
typedef struct Flow {
    double beta;
    double cwnd;     /* bytes; a fraction of a byte is not lost between acknowledgements */
    double ssthresh; /* bytes */
    double mtu;      /* bytes of a full datagram */
    uint64_t smoothed_rtt_ns;   /* 0 before the first sample */
    uint64_t recovery_start_ns; /* losses of packets sent before are of the same congestion event */
} Flow;

/* Reads `aimd` or `aimd:beta=B`. The error is what the user reads. */
static void *define(const char *controller, char *error, size_t size)
{
    double beta = 0.5;
    char *end = NULL;
    if (strncmp(controller, "aimd:beta=", 10) == 0) {
        beta = strtod(controller + 10, &end);
        if (end == controller + 10 || *end != 0 || !(beta > 0 && beta < 1)) {
            snprintf(error, size, "aimd: beta is \"%s\"; expected a number between 0 and 1", controller + 10);
            return NULL;
        }
    } else if (strcmp(controller, "aimd") != 0) {
        snprintf(error, size, "unknown controller \"%s\"; this plugin has aimd and aimd:beta=B", controller);
        return NULL;
    }
    Definition *made = malloc(sizeof(*made));
    if (made == NULL) {
        snprintf(error, size, "aimd: out of memory");
        return NULL;
    }
    made->beta = beta;
    return made;
}

/* What MsQuic may send from here on. */
static void decide(const Flow *flow, windlass_decision *decision)
{
    decision->cwnd = (uint64_t)flow->cwnd;
    decision->ssthresh = flow->ssthresh < 1e18 ? (uint64_t)flow->ssthresh : UINT64_MAX;
    decision->phase = flow->cwnd < flow->ssthresh ? WINDLASS_SLOW_START : WINDLASS_CONGESTION_AVOIDANCE;
    if (flow->smoothed_rtt_ns != 0) {
        /* RFC 9002 section 7.7: 1.25 windows a round trip, so that pacing does not limit the window. */
        decision->pacing_rate = (uint64_t)(1.25 * flow->cwnd * 8e9 / (double)flow->smoothed_rtt_ns);
    }
}

static void *start(void *definition, const windlass_msquic_path *path, windlass_decision *decision, char *error,
                   size_t size)
{
    Flow *flow = calloc(1, sizeof(*flow));
    if (flow == NULL) {
        snprintf(error, size, "aimd: out of memory");
        return NULL;
    }
    flow->beta = ((const Definition *)definition)->beta;
    flow->mtu = path->path.mtu;
    flow->cwnd = path->initial_window_packets * flow->mtu;
    flow->ssthresh = 1e18;
    *decision = (windlass_decision){0};
    decide(flow, decision);
    return flow;
}

static void stop(void *flow)
{
    free(flow);
}

/* Called while nothing is in flight only, since the decision has no WINDLASS_MSQUIC_EVERY_SENT. */
static void on_sent(void *flow, const windlass_sent *event, windlass_decision *decision)
{
    (void)flow;
    (void)event;
    (void)decision;
}

static void on_rtt(void *of, uint64_t now_ns, const windlass_rtt *rtt)
{
    Flow *flow = of;
    (void)now_ns;
    flow->smoothed_rtt_ns = rtt->smoothed_ns;
}

/* Slow start grows by what is acknowledged, congestion avoidance by a packet each round trip; neither in recovery, nor
 * while the application leaves the window unused (RFC 9002 sections 7.3 and 7.8). */
static void on_acked(void *of, const windlass_acked *event, windlass_decision *decision)
{
    Flow *flow = of;
    double bytes = 0;
    for (uint32_t i = 0; i < event->packet_count; ++i) {
        const windlass_packet *packet = &event->packets[i];
        if (packet->sent_ns > flow->recovery_start_ns && (packet->flags & WINDLASS_PACKET_APP_LIMITED) == 0) {
            bytes += (double)packet->bytes;
        }
    }
    if (flow->cwnd < flow->ssthresh) {
        flow->cwnd += bytes;
    } else {
        flow->cwnd += bytes * flow->mtu / flow->cwnd;
    }
    decide(flow, decision);
}

/* A congestion event: once for all losses and marks of packets sent before it began (RFC 9002 section 7.3.2). */
static void reduce(Flow *flow, uint64_t now_ns, uint64_t newest_sent_ns)
{
    if (newest_sent_ns <= flow->recovery_start_ns) {
        return;
    }
    const double least = MINIMUM_PACKETS * flow->mtu;
    flow->recovery_start_ns = now_ns;
    flow->ssthresh = flow->cwnd * flow->beta > least ? flow->cwnd * flow->beta : least;
    flow->cwnd = flow->ssthresh;
}

static void on_lost(void *of, const windlass_lost *event, windlass_decision *decision)
{
    Flow *flow = of;
    if (event->packet_count > 0) {
        reduce(flow, event->now_ns, event->packets[event->packet_count - 1].sent_ns);
    }
    if (event->flags & WINDLASS_LOST_PERSISTENT) {
        flow->cwnd = MINIMUM_PACKETS * flow->mtu;
        flow->recovery_start_ns = 0;
    }
    decide(flow, decision);
}

static void on_ecn_ce(void *of, uint64_t now_ns, uint32_t packets, uint64_t newest_sent_ns, uint64_t newest_number,
                      uint64_t in_flight, windlass_decision *decision)
{
    (void)packets;
    (void)newest_number;
    (void)in_flight;
    reduce(of, now_ns, newest_sent_ns);
    decide(of, decision);
}

/* This controller takes nothing back. */
static void on_spurious_loss(void *flow, uint64_t now_ns, uint64_t newest_sent_ns, windlass_decision *decision)
{
    (void)flow;
    (void)now_ns;
    (void)newest_sent_ns;
    (void)decision;
}

static void on_discarded(void *flow, uint64_t now_ns, uint64_t in_flight, windlass_decision *decision)
{
    (void)flow;
    (void)now_ns;
    (void)in_flight;
    (void)decision;
}

static void on_mtu(void *of, uint64_t now_ns, uint32_t mtu, windlass_decision *decision)
{
    Flow *flow = of;
    (void)now_ns;
    flow->mtu = mtu;
    decide(flow, decision);
}

/* Flows share nothing: never called, since the decision has no WINDLASS_SHARED. */
static void refresh(void *flow, windlass_decision *decision)
{
    (void)flow;
    (void)decision;
}

static const windlass_msquic_plugin plugin = {
    .abi = WINDLASS_MSQUIC_ABI,
    .size = sizeof(windlass_msquic_plugin),
    .name = "aimd",
    .define = define,
    .start = start,
    .stop = stop,
    .on_sent = on_sent,
    .on_rtt = on_rtt,
    .on_acked = on_acked,
    .on_ecn_ce = on_ecn_ce,
    .on_lost = on_lost,
    .on_spurious_loss = on_spurious_loss,
    .on_discarded = on_discarded,
    .on_mtu = on_mtu,
    .refresh = refresh,
};

__attribute__((visibility("default"))) const windlass_msquic_plugin *windlass_msquic_plugin_v1(void);
const windlass_msquic_plugin *windlass_msquic_plugin_v1(void)
{
    return &plugin;
}
