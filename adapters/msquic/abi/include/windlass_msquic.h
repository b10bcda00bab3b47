/*
 * Congestion controllers for MsQuic as plugins: the stable C interface.
 *
 * A plugin is a shared library that exports windlass_msquic_plugin_v1. MsQuic with the
 * adapter loads it (MSQUIC_CC_PLUGIN, or windlass_msquic_load) and calls the functions of
 * its table. The interface depends on no header and no version of MsQuic.
 *
 * Version. WINDLASS_MSQUIC_ABI grows whenever a structure, a meaning or a function changes.
 * A plugin of another version is refused with a message. The adapter's compiler and the tests
 * of the Rust side check the sizes and offsets below.
 *
 * Units. Times are microseconds of one monotonic clock, sizes are bytes of UDP payload,
 * rates are bit/s. Texts are UTF-8 and end with NUL; NULL means unknown.
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

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WINDLASS_MSQUIC_ABI 4u

/* Registered controllers have values of QUIC_SETTINGS.CongestionControlAlgorithm from here to
 * 0x7fff. */
#define WINDLASS_MSQUIC_FIRST_ID 0x4000u

/* windlass_msquic_path.reports: signals of this connection besides those of every connection. */
#define WINDLASS_MSQUIC_ECN 1u     /* ECT(0) is set and CE marks are counted */
#define WINDLASS_MSQUIC_ONE_WAY 2u /* one-way delays, if the peer agrees */
#define WINDLASS_MSQUIC_PACKETS 4u /* every packet, by `trace` */

/* The path a flow starts on. */
typedef struct windlass_msquic_path {
    uint64_t now_us;
    uint8_t peer_address[16]; /* IPv6; IPv4 as ::ffff:a.b.c.d */
    uint32_t mtu;             /* a full datagram */
    uint32_t initial_window_packets;
    uint16_t peer_port; /* host byte order */
    uint8_t is_server;
    uint8_t reports;
    uint32_t in_flight;      /* not 0 after a migration */
    const char *app_name;    /* QUIC_REGISTRATION_CONFIG.AppName */
    const char *server_name; /* the name a client connects to */
    uint64_t connection;     /* QUIC_STATISTICS_V2.CorrelationId, unique in the process */
} windlass_msquic_path;

/* windlass_msquic_packet.flags */
#define WINDLASS_MSQUIC_PACKET_APP_LIMITED 1u
#define WINDLASS_MSQUIC_PACKET_ECT 2u
#define WINDLASS_MSQUIC_PACKET_DELIVERY 4u /* the three delivered fields are known */

/* A packet that was in flight. */
typedef struct windlass_msquic_packet {
    uint64_t number;
    uint64_t sent_us;
    uint64_t total_sent;        /* bytes sent on the connection, this packet included */
    uint64_t delivered;         /* bytes acknowledged when the packet was sent */
    uint64_t delivered_us;      /* when the last of those bytes were acknowledged */
    uint64_t delivered_sent_us; /* when the last of those bytes were sent */
    uint32_t bytes;
    uint32_t flags;
} windlass_msquic_packet;

/* An RTT sample with MsQuic's estimates, the sample included. */
typedef struct windlass_msquic_rtt {
    uint64_t latest_us; /* includes the acknowledgement delay */
    uint64_t smoothed_us;
    uint64_t variation_us;
    uint64_t min_us;
    uint64_t ack_delay_us;
} windlass_msquic_rtt;

/* windlass_msquic_sent.flags */
#define WINDLASS_MSQUIC_SENT_APP_LIMITED 1u

/* A packet was sent. */
typedef struct windlass_msquic_sent {
    uint64_t now_us;
    uint64_t number;
    uint32_t bytes;
    uint32_t in_flight; /* this packet included */
    uint32_t mtu;
    uint32_t flags;
} windlass_msquic_sent;

/* windlass_msquic_acked.flags */
#define WINDLASS_MSQUIC_ACKED_RTT 1u     /* rtt is a new sample, not only the estimates */
#define WINDLASS_MSQUIC_ACKED_ONE_WAY 2u /* one_way_us is known */
#define WINDLASS_MSQUIC_ACKED_APP_LIMITED 4u
#define WINDLASS_MSQUIC_ACKED_IMPLICIT 8u /* keys were discarded (RFC 9002 section 6.4); no packet list */

/* One ACK frame acknowledged packets. */
typedef struct windlass_msquic_acked {
    uint64_t now_us;
    uint64_t largest_sent;
    windlass_msquic_rtt rtt;
    int64_t one_way_us; /* peer's clock when the ACK was sent less ours when the packet was sent */
    uint64_t posted;    /* bytes of the application not acknowledged yet */
    uint32_t bytes;     /* newly acknowledged */
    uint32_t in_flight_before; /* of the first frame, if several came before MsQuic could send */
    uint32_t in_flight;
    uint32_t mtu;
    uint32_t flags;
    uint32_t packet_count;
    const windlass_msquic_packet *packets; /* ascending; none that was lost before */
} windlass_msquic_acked;

/* The peer reported CE marks. Precedes the losses and acknowledgements of the same frame. */
typedef struct windlass_msquic_ecn_ce {
    uint64_t now_us;
    uint64_t newest_number; /* largest acknowledged by the frame */
    uint64_t newest_sent_us;
    uint32_t packets; /* new marks */
    uint32_t in_flight;
    uint32_t mtu;
    uint32_t reserved;
} windlass_msquic_ecn_ce;

/* windlass_msquic_lost.flags */
#define WINDLASS_MSQUIC_LOST_PERSISTENT 1u /* persistent congestion */

/* Packets were declared lost. */
typedef struct windlass_msquic_lost {
    uint64_t now_us;
    uint32_t bytes;
    uint32_t in_flight_before;
    uint32_t in_flight;
    uint32_t mtu;
    uint32_t flags;
    uint32_t packet_count;
    const windlass_msquic_packet *packets; /* in the order they were sent */
} windlass_msquic_lost;

/* The peer acknowledged all packets of the last losses: the losses were spurious. */
typedef struct windlass_msquic_spurious_loss {
    uint64_t now_us;
    uint64_t newest_sent_us; /* of those packets */
    uint32_t in_flight;
    uint32_t mtu;
} windlass_msquic_spurious_loss;

/* windlass_msquic_control.flags */
#define WINDLASS_MSQUIC_SHARED 1u  /* flows share state that may change the control: `refresh` before sending */
#define WINDLASS_MSQUIC_DECIDED 2u /* the controller decided pacing_rate; it is not derived from the window */
#define WINDLASS_MSQUIC_EVERY_SENT 4u /* call `sent` for every packet, not only while nothing is in flight */
#define WINDLASS_MSQUIC_ENDED 8u /* the plugin gives the flow up: `stop` follows, and MsQuic's CUBIC takes over */

/* What the sender may do. MsQuic keeps one per flow; functions of the plugin update it. */
typedef struct windlass_msquic_control {
    uint64_t pacing_rate; /* bit/s; 0: none */
    uint32_t cwnd;        /* bytes */
    uint32_t ssthresh;    /* bytes; UINT32_MAX: infinite */
    uint32_t flags;
    uint32_t phase; /* 0 slow start, 1 congestion avoidance, 2 recovery; for logs */
} windlass_msquic_control;

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

/* windlass_msquic_trace.phase, after those of windlass_msquic_control.phase */
#define WINDLASS_MSQUIC_STARTUP 3u
#define WINDLASS_MSQUIC_DRAIN 4u
#define WINDLASS_MSQUIC_PROBE_BW 5u
#define WINDLASS_MSQUIC_PROBE_RTT 6u

/* An event of a connection's log, for any congestion control. */
typedef struct windlass_msquic_trace {
    uint64_t connection;
    uint64_t now_us;
    const windlass_msquic_path *path;
    uint64_t number;
    const uint8_t *frames; /* `bytes` of them, unencrypted */
    const char *controller; /* MsQuic's name of the congestion control */
    windlass_msquic_rtt rtt; /* zero before the first sample; ack_delay_us is always zero */
    uint32_t bytes;         /* of the packet, with header and authentication tag */
    uint32_t cwnd;
    uint32_t in_flight;
    uint32_t ssthresh; /* UINT32_MAX: infinite or none */
    uint8_t kind;
    uint8_t packet_type;
    uint8_t phase;
    uint8_t by_threshold;       /* 1: lost by the packet threshold; 0: by the time threshold */
    uint8_t ack_delay_exponent; /* of the ACK frames in `frames` */
    uint8_t reserved[3];
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
    /* Returns a flow and writes its first window; NULL after an error, and with an empty text to leave the
     * connection to MsQuic's CUBIC. */
    void *(*start)(void *definition, const windlass_msquic_path *path,
                   windlass_msquic_control *control, char *error, size_t size);
    void (*stop)(void *flow);
    void (*sent)(void *flow, const windlass_msquic_sent *sent, windlass_msquic_control *control);
    void (*acked)(void *flow, const windlass_msquic_acked *acked,
                  windlass_msquic_control *control);
    void (*ecn_ce)(void *flow, const windlass_msquic_ecn_ce *ecn_ce,
                   windlass_msquic_control *control);
    void (*lost)(void *flow, const windlass_msquic_lost *lost, windlass_msquic_control *control);
    void (*spurious_loss)(void *flow, const windlass_msquic_spurious_loss *spurious_loss,
                     windlass_msquic_control *control);
    /* Packets in flight were discarded without acknowledgement or loss (RFC 9002 section 6.4);
     * `in_flight` bytes remain. */
    void (*discarded)(void *flow, uint64_t now_us, uint32_t in_flight,
                      windlass_msquic_control *control);
    /* Called before sending while WINDLASS_MSQUIC_SHARED is set. */
    void (*refresh)(void *flow, windlass_msquic_control *control);
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
#define WINDLASS_SIZE(type, bytes)                                                             \
    _Static_assert(sizeof(windlass_msquic_##type) == (bytes), #type " has another size")
#define WINDLASS_AT(type, field, bytes)                                                        \
    _Static_assert(offsetof(windlass_msquic_##type, field) == (bytes), #type "." #field " moved")
WINDLASS_SIZE(path, 64);
WINDLASS_AT(path, peer_address, 8);
WINDLASS_AT(path, mtu, 24);
WINDLASS_AT(path, peer_port, 32);
WINDLASS_AT(path, reports, 35);
WINDLASS_AT(path, in_flight, 36);
WINDLASS_AT(path, app_name, 40);
WINDLASS_AT(path, server_name, 48);
WINDLASS_AT(path, connection, 56);
WINDLASS_SIZE(packet, 56);
WINDLASS_AT(packet, sent_us, 8);
WINDLASS_AT(packet, delivered_sent_us, 40);
WINDLASS_AT(packet, bytes, 48);
WINDLASS_AT(packet, flags, 52);
WINDLASS_SIZE(rtt, 40);
WINDLASS_AT(rtt, ack_delay_us, 32);
WINDLASS_SIZE(sent, 32);
WINDLASS_AT(sent, bytes, 16);
WINDLASS_AT(sent, flags, 28);
WINDLASS_SIZE(acked, 104);
WINDLASS_AT(acked, rtt, 16);
WINDLASS_AT(acked, one_way_us, 56);
WINDLASS_AT(acked, bytes, 72);
WINDLASS_AT(acked, flags, 88);
WINDLASS_AT(acked, packet_count, 92);
WINDLASS_AT(acked, packets, 96);
WINDLASS_SIZE(ecn_ce, 40);
WINDLASS_AT(ecn_ce, newest_sent_us, 16);
WINDLASS_AT(ecn_ce, packets, 24);
WINDLASS_SIZE(lost, 40);
WINDLASS_AT(lost, bytes, 8);
WINDLASS_AT(lost, flags, 24);
WINDLASS_AT(lost, packets, 32);
WINDLASS_SIZE(spurious_loss, 24);
WINDLASS_AT(spurious_loss, in_flight, 16);
WINDLASS_SIZE(control, 24);
WINDLASS_AT(control, cwnd, 8);
WINDLASS_AT(control, flags, 16);
WINDLASS_AT(control, phase, 20);
WINDLASS_SIZE(trace, 112);
WINDLASS_AT(trace, path, 16);
WINDLASS_AT(trace, controller, 40);
WINDLASS_AT(trace, rtt, 48);
WINDLASS_AT(trace, bytes, 88);
WINDLASS_AT(trace, ssthresh, 100);
WINDLASS_AT(trace, kind, 104);
WINDLASS_AT(trace, ack_delay_exponent, 108);
WINDLASS_SIZE(plugin, 120);
WINDLASS_AT(plugin, name, 8);
WINDLASS_AT(plugin, define, 16);
WINDLASS_AT(plugin, start, 32);
WINDLASS_AT(plugin, sent, 48);
WINDLASS_AT(plugin, refresh, 96);
WINDLASS_AT(plugin, tracing, 112);
#undef WINDLASS_SIZE
#undef WINDLASS_AT
#endif

#ifdef __cplusplus
}
#endif

#endif
