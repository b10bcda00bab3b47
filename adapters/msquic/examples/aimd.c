/*
 * A congestion controller for MsQuic in C: RFC 9002's NewReno (section 7 and appendix B), with the decrease factor as
 * a parameter. It is a plugin that needs windlass_msquic.h and nothing else:
 *
 *   cc -std=c11 -O2 -shared -fPIC -I adapters/msquic/abi/include -o aimd.so adapters/msquic/examples/aimd.c
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
    uint64_t recovery_start_us; /* losses of packets sent before are of the same congestion event */
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
static void decide(const Flow *flow, const windlass_msquic_rtt *rtt, windlass_msquic_control *control)
{
    control->cwnd = (uint32_t)(flow->cwnd < UINT32_MAX ? flow->cwnd : UINT32_MAX);
    control->ssthresh = (uint32_t)(flow->ssthresh < UINT32_MAX ? flow->ssthresh : UINT32_MAX);
    control->phase = flow->cwnd < flow->ssthresh ? 0 : 1;
    if (rtt != NULL && rtt->smoothed_us != 0) {
        /* RFC 9002 section 7.7: 1.25 windows a round trip, so that pacing does not limit the window. */
        control->pacing_rate = (uint64_t)(1.25 * flow->cwnd * 8e6 / (double)rtt->smoothed_us);
    }
}

static void *start(void *definition, const windlass_msquic_path *path, windlass_msquic_control *control, char *error,
                   size_t size)
{
    Flow *flow = calloc(1, sizeof(*flow));
    if (flow == NULL) {
        snprintf(error, size, "aimd: out of memory");
        return NULL;
    }
    flow->beta = ((const Definition *)definition)->beta;
    flow->cwnd = (double)path->initial_window_packets * path->mtu;
    flow->ssthresh = 1e18;
    *control = (windlass_msquic_control){0};
    decide(flow, NULL, control);
    return flow;
}

static void stop(void *flow)
{
    free(flow);
}

/* Called while nothing is in flight only, since the control has no WINDLASS_MSQUIC_EVERY_SENT. */
static void sent(void *flow, const windlass_msquic_sent *event, windlass_msquic_control *control)
{
    (void)flow;
    (void)event;
    (void)control;
}

/* Slow start grows by what is acknowledged, congestion avoidance by a packet each round trip; neither in recovery, nor
 * while the application leaves the window unused (RFC 9002 sections 7.3 and 7.8). */
static void acked(void *of, const windlass_msquic_acked *event, windlass_msquic_control *control)
{
    Flow *flow = of;
    double bytes = 0;
    for (uint32_t i = 0; i < event->packet_count; ++i) {
        const windlass_msquic_packet *packet = &event->packets[i];
        if (packet->sent_us > flow->recovery_start_us && (packet->flags & WINDLASS_MSQUIC_PACKET_APP_LIMITED) == 0) {
            bytes += packet->bytes;
        }
    }
    if (flow->cwnd < flow->ssthresh) {
        flow->cwnd += bytes;
    } else {
        flow->cwnd += bytes * event->mtu / flow->cwnd;
    }
    decide(flow, &event->rtt, control);
}

/* A congestion event: once for all losses and marks of packets sent before it began (RFC 9002 section 7.3.2). */
static void reduce(Flow *flow, uint64_t now_us, uint64_t newest_sent_us, uint32_t mtu)
{
    if (newest_sent_us <= flow->recovery_start_us) {
        return;
    }
    const double least = (double)MINIMUM_PACKETS * mtu;
    flow->recovery_start_us = now_us;
    flow->ssthresh = flow->cwnd * flow->beta > least ? flow->cwnd * flow->beta : least;
    flow->cwnd = flow->ssthresh;
}

static void lost(void *of, const windlass_msquic_lost *event, windlass_msquic_control *control)
{
    Flow *flow = of;
    if (event->packet_count > 0) {
        reduce(flow, event->now_us, event->packets[event->packet_count - 1].sent_us, event->mtu);
    }
    if (event->flags & WINDLASS_MSQUIC_LOST_PERSISTENT) {
        flow->cwnd = (double)MINIMUM_PACKETS * event->mtu;
        flow->recovery_start_us = 0;
    }
    decide(flow, NULL, control);
}

static void ecn_ce(void *of, const windlass_msquic_ecn_ce *event, windlass_msquic_control *control)
{
    reduce(of, event->now_us, event->newest_sent_us, event->mtu);
    decide(of, NULL, control);
}

/* This controller takes nothing back. */
static void spurious_loss(void *flow, const windlass_msquic_spurious_loss *event, windlass_msquic_control *control)
{
    (void)flow;
    (void)event;
    (void)control;
}

static void discarded(void *flow, uint64_t now_us, uint32_t in_flight, windlass_msquic_control *control)
{
    (void)flow;
    (void)now_us;
    (void)in_flight;
    (void)control;
}

/* Flows share nothing: never called, since the control has no WINDLASS_MSQUIC_SHARED. */
static void refresh(void *flow, windlass_msquic_control *control)
{
    (void)flow;
    (void)control;
}

static const windlass_msquic_plugin plugin = {
    .abi = WINDLASS_MSQUIC_ABI,
    .size = sizeof(windlass_msquic_plugin),
    .name = "aimd",
    .define = define,
    .start = start,
    .stop = stop,
    .sent = sent,
    .acked = acked,
    .ecn_ce = ecn_ce,
    .lost = lost,
    .spurious_loss = spurious_loss,
    .discarded = discarded,
    .refresh = refresh,
};

__attribute__((visibility("default"))) const windlass_msquic_plugin *windlass_msquic_plugin_v1(void);
const windlass_msquic_plugin *windlass_msquic_plugin_v1(void)
{
    return &plugin;
}
