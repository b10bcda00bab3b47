/*
 * Congestion controllers for MsQuic as plugins: the stable C interface.
 *
 * A plugin is a shared library that exports windlass_msquic_plugin_v1. MsQuic with the
 * adapter loads it (MSQUIC_CC_PLUGIN, or windlass_msquic_load) and calls the functions of
 * its table. The interface is that of windlass.h, whose structures and units it has, with what
 * only MsQuic needs; it depends on no header and no version of MsQuic.
 *
 * Version. WINDLASS_MSQUIC_ABI grows whenever a structure, a meaning or a function changes, in
 * windlass.h too. A plugin of another version is refused with a message. The adapter's compiler
 * and the tests of the Rust side check the sizes and offsets below.
 *
 * Threads. Calls for one flow never overlap; calls for different flows do. Except for
 * definitions and flows, pointers are valid during the call only. No function may unwind (a
 * panic or an exception) into the caller.
 *
 * A plugin's functions and constructors may call the exports below. One that the environment names
 * must not wait, while it is loaded, for another thread that calls them: that thread waits until
 * the environment is read.
 */
#ifndef WINDLASS_MSQUIC_H
#define WINDLASS_MSQUIC_H

#include "windlass.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WINDLASS_MSQUIC_ABI 5u

/* Registered controllers have values of QUIC_SETTINGS.CongestionControlAlgorithm from here to
 * 0x7fff. */
#define WINDLASS_MSQUIC_FIRST_ID 0x4000u

/* windlass_msquic_path.reports: signals of this connection besides those of every connection. */
#define WINDLASS_MSQUIC_ECN 1u     /* ECT(0) is set and CE marks are counted */
#define WINDLASS_MSQUIC_ONE_WAY 2u /* one-way delays, if the peer agrees */
#define WINDLASS_MSQUIC_PACKETS 4u /* every packet, by `trace` */

/* The path a flow starts on. */
typedef struct windlass_msquic_path {
    windlass_path path;  /* with neither group nor seed */
    uint64_t connection; /* QUIC_STATISTICS_V2.CorrelationId, unique in the process */
    const char *app_name; /* QUIC_REGISTRATION_CONFIG.AppName */
    uint64_t in_flight;   /* not 0 after a migration */
    uint32_t initial_window_packets;
    uint8_t is_server;
    uint8_t reports;
    uint8_t reserved[2];
} windlass_msquic_path;

/* windlass_packet.flags. MsQuic sets WINDLASS_PACKET_APP_LIMITED but never WINDLASS_PACKET_DELIVERY, as it knows only
 * three of those fields. */
#define WINDLASS_MSQUIC_PACKET_ECT 0x10000u       /* it carried ECT(0) */
#define WINDLASS_MSQUIC_PACKET_DELIVERED 0x20000u /* delivered, delivered_ns and delivered_sent_ns are known */

/* windlass_acked.flags */
#define WINDLASS_MSQUIC_ACKED_IMPLICIT 0x10000u /* keys were discarded (RFC 9002 section 6.4); no packet list */

/* windlass_decision.flags. After WINDLASS_ENDED `stop` follows, and MsQuic's CUBIC takes over. MsQuic has no timer
 * for wake_ns and leaves ecn, dscp and send_quantum aside. */
#define WINDLASS_MSQUIC_EVERY_SENT 0x10000u /* call on_sent for every packet, not only while nothing is in flight */

/* windlass_msquic_trace.kind */
#define WINDLASS_MSQUIC_TRACE_FRAMES 0u   /* the frames of packet `number`, whose own event follows */
#define WINDLASS_MSQUIC_TRACE_SENT 1u     /* packet `number` was sent */
#define WINDLASS_MSQUIC_TRACE_RECEIVED 2u /* packet `number` was received and authenticated */
#define WINDLASS_MSQUIC_TRACE_LOST 3u     /* packet `number` was declared lost */
#define WINDLASS_MSQUIC_TRACE_STATE 4u    /* the state of congestion control and loss detection */
#define WINDLASS_MSQUIC_TRACE_ECN 5u      /* congestion control processed CE marks */
#define WINDLASS_MSQUIC_TRACE_CLOSED 6u   /* the last event of the connection; path is NULL */

/* windlass_msquic_trace.packet_type */
#define WINDLASS_MSQUIC_INITIAL 0u
#define WINDLASS_MSQUIC_ZERO_RTT 1u
#define WINDLASS_MSQUIC_HANDSHAKE 2u
#define WINDLASS_MSQUIC_ONE_RTT 3u

/* windlass_msquic_trace.phase, after those of windlass_decision.phase */
#define WINDLASS_MSQUIC_STARTUP 3u
#define WINDLASS_MSQUIC_DRAIN 4u
#define WINDLASS_MSQUIC_PROBE_BW 5u
#define WINDLASS_MSQUIC_PROBE_RTT 6u

/* An event of a connection's log, for any congestion control. */
typedef struct windlass_msquic_trace {
    uint64_t connection;
    uint64_t now_ns;
    const windlass_msquic_path *path;
    uint64_t number;
    const uint8_t *frames;  /* `bytes` of them, unencrypted */
    const char *controller; /* MsQuic's name of the congestion control */
    windlass_rtt rtt;       /* zero before the first sample; ack_delay_ns is always zero */
    uint64_t cwnd;
    uint64_t in_flight;
    uint64_t ssthresh; /* UINT64_MAX: infinite or none */
    uint32_t bytes;    /* of the packet, with header and authentication tag */
    uint8_t kind;
    uint8_t packet_type;
    uint8_t phase;
    uint8_t by_threshold;       /* 1: lost by the packet threshold; 0: by the time threshold */
    uint8_t ack_delay_exponent; /* of the ACK frames in `frames` */
    uint8_t reserved[7];
} windlass_msquic_trace;

/* The functions of a plugin. A definition is a controller with its parameters, or a settings
 * file; a flow is the controller of one connection's path. Errors are written to `error`, at
 * most `size` bytes with the NUL. */
typedef struct windlass_msquic_plugin {
    uint32_t abi;     /* WINDLASS_MSQUIC_ABI */
    uint32_t size;    /* sizeof(windlass_msquic_plugin) */
    const char *name; /* for messages */
    /* Returns the definition of a controller as a user types it; NULL after an error.
     * Definitions are never freed. */
    void *(*define)(const char *controller, char *error, size_t size);
    /* Returns the definition of the settings file `path`; NULL after an error. The member may be
     * NULL. */
    void *(*configure)(const char *path, char *error, size_t size);
    /* Returns a flow and writes what it may send; NULL after an error, and with an empty text to leave the
     * connection to MsQuic's CUBIC. */
    void *(*start)(void *definition, const windlass_msquic_path *path, windlass_decision *decision,
                   char *error, size_t size);
    void (*stop)(void *flow);
    /* The functions windlass_on_... of windlass.h, which also write what the sender may do afterwards. A frame
     * is reported in MsQuic's order: CE marks, losses, the RTT sample, acknowledgements. */
    void (*on_sent)(void *flow, const windlass_sent *sent, windlass_decision *decision);
    /* on_acked of the same frame follows. */
    void (*on_rtt)(void *flow, uint64_t now_ns, const windlass_rtt *rtt);
    /* in_flight_before is of the first frame, if several came before MsQuic could send. */
    void (*on_acked)(void *flow, const windlass_acked *acked, windlass_decision *decision);
    void (*on_ecn_ce)(void *flow, uint64_t now_ns, uint32_t packets, uint64_t newest_sent_ns,
                      uint64_t newest_number, uint64_t in_flight, windlass_decision *decision);
    /* MsQuic finds persistent congestion itself. */
    void (*on_lost)(void *flow, const windlass_lost *lost, windlass_decision *decision);
    void (*on_spurious_loss)(void *flow, uint64_t now_ns, uint64_t newest_sent_ns,
                             windlass_decision *decision);
    void (*on_discarded)(void *flow, uint64_t now_ns, uint64_t in_flight,
                         windlass_decision *decision);
    void (*on_mtu)(void *flow, uint64_t now_ns, uint32_t mtu, windlass_decision *decision);
    /* Called before sending while WINDLASS_SHARED is set. */
    void (*refresh)(void *flow, windlass_decision *decision);
    /* Called while `*tracing` is not 0 if MsQuic was built with packets. Calls for one connection
     * never overlap. Both members may be NULL. */
    void (*trace)(const windlass_msquic_trace *trace);
    const uint32_t *tracing; /* atomic */
} windlass_msquic_plugin;

/* The type of the export "windlass_msquic_plugin_v1". The table is valid until the process ends. */
typedef const windlass_msquic_plugin *(*windlass_msquic_plugin_entry)(void);

/*
 * Exports of MsQuic with the adapter. Unless stated, they return 0, or -1 after an error, whose
 * text is windlass_msquic_error. The environment is read before the first of them takes effect,
 * so that code takes precedence over it.
 */
#ifndef WINDLASS_MSQUIC_API
#define WINDLASS_MSQUIC_API __attribute__((visibility("default")))
#endif

/* Adds a plugin that is part of the program. */
WINDLASS_MSQUIC_API int windlass_msquic_add_plugin(const windlass_msquic_plugin *plugin);
/* Loads a plugin from a shared library. */
WINDLASS_MSQUIC_API int windlass_msquic_load(const char *path);
/* Registers a controller and writes its id for QUIC_SETTINGS.CongestionControlAlgorithm to
 * `id`. The id depends on the text alone. */
WINDLASS_MSQUIC_API int windlass_msquic_register(const char *controller, uint16_t *id);
/* Sets the controller of connections that select none; NULL: MsQuic's own default. */
WINDLASS_MSQUIC_API int windlass_msquic_set_default(const char *controller);
/* Has a settings file select the controller of connections that select none. */
WINDLASS_MSQUIC_API int windlass_msquic_configure(const char *path);
/* Returns the error of this thread's last failed call. */
WINDLASS_MSQUIC_API const char *windlass_msquic_error(void);

/* Sizes and offsets on 64-bit machines. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && UINTPTR_MAX == UINT64_MAX
#define WINDLASS_MSQUIC_SIZE(type, bytes)                                                      \
    _Static_assert(sizeof(windlass_msquic_##type) == (bytes), #type " has another size")
#define WINDLASS_MSQUIC_AT(type, field, bytes)                                                 \
    _Static_assert(offsetof(windlass_msquic_##type, field) == (bytes), #type "." #field " moved")
WINDLASS_MSQUIC_SIZE(path, 96);
WINDLASS_MSQUIC_AT(path, connection, 64);
WINDLASS_MSQUIC_AT(path, app_name, 72);
WINDLASS_MSQUIC_AT(path, in_flight, 80);
WINDLASS_MSQUIC_AT(path, initial_window_packets, 88);
WINDLASS_MSQUIC_AT(path, reports, 93);
WINDLASS_MSQUIC_SIZE(trace, 128);
WINDLASS_MSQUIC_AT(trace, path, 16);
WINDLASS_MSQUIC_AT(trace, controller, 40);
WINDLASS_MSQUIC_AT(trace, rtt, 48);
WINDLASS_MSQUIC_AT(trace, cwnd, 88);
WINDLASS_MSQUIC_AT(trace, ssthresh, 104);
WINDLASS_MSQUIC_AT(trace, bytes, 112);
WINDLASS_MSQUIC_AT(trace, kind, 116);
WINDLASS_MSQUIC_AT(trace, ack_delay_exponent, 120);
WINDLASS_MSQUIC_SIZE(plugin, 136);
WINDLASS_MSQUIC_AT(plugin, name, 8);
WINDLASS_MSQUIC_AT(plugin, define, 16);
WINDLASS_MSQUIC_AT(plugin, start, 32);
WINDLASS_MSQUIC_AT(plugin, on_sent, 48);
WINDLASS_MSQUIC_AT(plugin, on_acked, 64);
WINDLASS_MSQUIC_AT(plugin, refresh, 112);
WINDLASS_MSQUIC_AT(plugin, tracing, 128);
#undef WINDLASS_MSQUIC_SIZE
#undef WINDLASS_MSQUIC_AT
#endif

#ifdef __cplusplus
}
#endif

#endif
