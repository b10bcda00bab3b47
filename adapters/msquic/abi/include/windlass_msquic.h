/*
 * Congestion controllers for MsQuic as plugins: the stable C interface.
 *
 * A plugin is a shared library that exports windlass_msquic_plugin_v1. MsQuic with the
 * adapter loads it (MSQUIC_CC_PLUGIN, or windlass_msquic_load) and calls the functions of
 * its table. Nothing here depends on a header or a version of MsQuic.
 *
 * Version. WINDLASS_MSQUIC_ABI grows whenever a structure, a meaning or a function changes;
 * a plugin of another version is refused with a message. Sizes and offsets below are
 * checked when the adapter is compiled, and by the tests of the Rust side.
 *
 * Units. Times are microseconds of one monotonic clock, sizes are bytes of UDP payload,
 * rates are bit/s. Texts end with NUL and are UTF-8; NULL where nothing is known.
 *
 * Threads. The functions of one flow are never called at the same time; those of different
 * flows are. No pointer that is passed may be kept after the call, but for definitions and
 * flows. No function may unwind (a panic or an exception) into the caller.
 */
#ifndef WINDLASS_MSQUIC_H
#define WINDLASS_MSQUIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WINDLASS_MSQUIC_ABI 2u

/* Values of QUIC_SETTINGS.CongestionControlAlgorithm from here up to 0x7fff are ours. */
#define WINDLASS_MSQUIC_FIRST_ID 0x4000u

/* windlass_msquic_path.reports: what this connection reports besides what all report. */
#define WINDLASS_MSQUIC_ECN 1u     /* ECT(0) is set and CE marks are counted */
#define WINDLASS_MSQUIC_ONE_WAY 2u /* one-way delays, if the peer agrees */
#define WINDLASS_MSQUIC_PACKETS 4u /* every packet, to `traced` */

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
    uint64_t connection;     /* QUIC_STATISTICS_V2.CorrelationId: no other of this process has it */
} windlass_msquic_path;

/* windlass_msquic_packet.flags */
#define WINDLASS_MSQUIC_PACKET_APP_LIMITED 1u
#define WINDLASS_MSQUIC_PACKET_ECT 2u
#define WINDLASS_MSQUIC_PACKET_DELIVERY 4u /* the delivered_ fields and ..._sent_us are known */

/* A packet that was in flight. */
typedef struct windlass_msquic_packet {
    uint64_t number;
    uint64_t sent_us;
    uint64_t total_sent;        /* bytes sent on the connection, this packet included */
    uint64_t delivered;         /* bytes acknowledged by then */
    uint64_t delivered_us;      /* when the latest of them were acknowledged */
    uint64_t delivered_sent_us; /* when the latest of them were sent */
    uint32_t bytes;
    uint32_t flags;
} windlass_msquic_packet;

/* An RTT sample with MsQuic's estimates, the sample included. */
typedef struct windlass_msquic_rtt {
    uint64_t latest_us; /* the acknowledgement delay not taken out */
    uint64_t smoothed_us;
    uint64_t variation_us;
    uint64_t min_us;
    uint64_t ack_delay_us;
} windlass_msquic_rtt;

/* windlass_msquic_sent.flags */
#define WINDLASS_MSQUIC_SENT_APP_LIMITED 1u

/* A packet left. */
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
#define WINDLASS_MSQUIC_ACKED_IMPLICIT 8u /* keys were dropped; there is no packet list */

/* Packets were acknowledged: one ACK frame. */
typedef struct windlass_msquic_acked {
    uint64_t now_us;
    uint64_t largest_sent;
    windlass_msquic_rtt rtt;
    int64_t one_way_us; /* peer's clock when the ACK left less ours when the packet left */
    uint64_t posted;    /* bytes the application posted that are not acknowledged yet */
    uint32_t bytes;     /* newly acknowledged */
    uint32_t in_flight_before; /* of the first frame, if several came before MsQuic could send */
    uint32_t in_flight;
    uint32_t mtu;
    uint32_t flags;
    uint32_t packet_count;
    const windlass_msquic_packet *packets; /* ascending; none that was lost before */
} windlass_msquic_acked;

/* The peer reported CE marks. Comes before the losses and acknowledgements of the frame. */
typedef struct windlass_msquic_marked {
    uint64_t now_us;
    uint64_t newest_number; /* largest acknowledged by the frame */
    uint64_t newest_sent_us;
    uint32_t packets; /* new marks */
    uint32_t in_flight;
    uint32_t mtu;
    uint32_t reserved;
} windlass_msquic_marked;

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

/* All packets declared lost lately arrived after all. */
typedef struct windlass_msquic_spurious {
    uint64_t now_us;
    uint64_t newest_sent_us; /* of those packets */
    uint32_t in_flight;
    uint32_t mtu;
} windlass_msquic_spurious;

/* windlass_msquic_control.flags */
#define WINDLASS_MSQUIC_SHARED 1u  /* other flows may change it: refresh before sending */
#define WINDLASS_MSQUIC_DECIDED 2u /* pacing_rate was decided, not derived from the window */
#define WINDLASS_MSQUIC_EVERY_SENT 4u /* call `sent` for every packet, not only while nothing is in flight */

/* What the sender may do. Kept by MsQuic per flow; a function writes what changed. */
typedef struct windlass_msquic_control {
    uint64_t pacing_rate; /* bit/s; 0: none */
    uint32_t cwnd;        /* bytes */
    uint32_t ssthresh;    /* bytes; UINT32_MAX: infinite */
    uint32_t flags;
    uint32_t phase; /* 0 slow start, 1 congestion avoidance, 2 recovery; for logs */
} windlass_msquic_control;

/* windlass_msquic_traced.what */
#define WINDLASS_MSQUIC_TRACED_FRAMES 0u   /* what packet `number` holds; the packet comes next */
#define WINDLASS_MSQUIC_TRACED_SENT 1u     /* packet `number` left */
#define WINDLASS_MSQUIC_TRACED_RECEIVED 2u /* packet `number` arrived and is authentic */
#define WINDLASS_MSQUIC_TRACED_LOST 3u     /* packet `number` was declared lost */
#define WINDLASS_MSQUIC_TRACED_STATE 4u    /* what congestion control and loss detection know */
#define WINDLASS_MSQUIC_TRACED_ECN 5u      /* the controller was told of CE marks */
#define WINDLASS_MSQUIC_TRACED_CLOSED 6u   /* nothing more of this connection; path is NULL */

/* windlass_msquic_traced.packet_type */
#define WINDLASS_MSQUIC_INITIAL 0u
#define WINDLASS_MSQUIC_ZERO_RTT 1u
#define WINDLASS_MSQUIC_HANDSHAKE 2u
#define WINDLASS_MSQUIC_ONE_RTT 3u

/* windlass_msquic_traced.phase, after those of windlass_msquic_control.phase */
#define WINDLASS_MSQUIC_STARTUP 3u
#define WINDLASS_MSQUIC_DRAIN 4u
#define WINDLASS_MSQUIC_PROBE_BW 5u
#define WINDLASS_MSQUIC_PROBE_RTT 6u

/* Something that happened on a connection, whatever controls it. */
typedef struct windlass_msquic_traced {
    uint64_t connection;
    uint64_t now_us;
    const windlass_msquic_path *path;
    uint64_t number;
    const uint8_t *frames; /* `bytes` of them, unencrypted */
    const char *controller; /* as MsQuic calls it */
    windlass_msquic_rtt rtt; /* zeros before the first sample; no ack_delay_us */
    uint32_t bytes;         /* of the packet: header and authentication tag included */
    uint32_t cwnd;
    uint32_t in_flight;
    uint32_t ssthresh; /* UINT32_MAX: infinite, or the controller has none */
    uint8_t what;
    uint8_t packet_type;
    uint8_t phase;
    uint8_t by_threshold;       /* lost by the packet threshold, not by time */
    uint8_t ack_delay_exponent; /* of ACK frames in `frames` */
    uint8_t reserved[3];
} windlass_msquic_traced;

/* The functions of a plugin. A definition is a controller with its parameters, or a file of
 * rules; a flow is one connection's. Errors are written to `error`, at most `size` bytes
 * with the NUL. */
typedef struct windlass_msquic_plugin {
    uint32_t abi;     /* WINDLASS_MSQUIC_ABI */
    uint32_t size;    /* sizeof(windlass_msquic_plugin) */
    const char *name; /* for messages */
    /* A controller as a user types it; NULL after an error. Definitions are never freed. */
    void *(*define)(const char *controller, char *error, size_t size);
    /* What the settings file `path` says; NULL after an error. May be NULL itself. */
    void *(*configure)(const char *path, char *error, size_t size);
    /* A flow, and its first window; NULL after an error. */
    void *(*start)(void *definition, const windlass_msquic_path *path,
                   windlass_msquic_control *control, char *error, size_t size);
    void (*stop)(void *flow);
    void (*sent)(void *flow, const windlass_msquic_sent *sent, windlass_msquic_control *control);
    void (*acked)(void *flow, const windlass_msquic_acked *acked,
                  windlass_msquic_control *control);
    void (*marked)(void *flow, const windlass_msquic_marked *marked,
                   windlass_msquic_control *control);
    void (*lost)(void *flow, const windlass_msquic_lost *lost, windlass_msquic_control *control);
    void (*spurious)(void *flow, const windlass_msquic_spurious *spurious,
                     windlass_msquic_control *control);
    /* Packets left the network unheard of; `in_flight` bytes remain. */
    void (*forgotten)(void *flow, uint64_t now_us, uint32_t in_flight,
                      windlass_msquic_control *control);
    /* Called before sending while WINDLASS_MSQUIC_SHARED is set. */
    void (*refresh)(void *flow, windlass_msquic_control *control);
    /* Called where MsQuic was built with packets, while `*tracing` is not 0. Calls for one
     * connection are never made at the same time. Both may be NULL. */
    void (*traced)(const windlass_msquic_traced *traced);
    const uint32_t *tracing; /* atomic */
} windlass_msquic_plugin;

/* What a plugin exports as "windlass_msquic_plugin_v1". The table lives for ever. */
typedef const windlass_msquic_plugin *(*windlass_msquic_plugin_entry)(void);

/*
 * What MsQuic with the adapter exports. All return 0, or -1 after an error, which
 * windlass_msquic_error tells for the thread. The environment is read before the first of
 * them takes effect, so that what code says holds.
 */
#ifndef WINDLASS_MSQUIC_API
#define WINDLASS_MSQUIC_API __attribute__((visibility("default")))
#endif

/* Adds a plugin that is in the program already. */
WINDLASS_MSQUIC_API int windlass_msquic_plug(const windlass_msquic_plugin *plugin);
/* Loads a plugin from a shared library. */
WINDLASS_MSQUIC_API int windlass_msquic_load(const char *path);
/* Makes a controller available as *id for QUIC_SETTINGS.CongestionControlAlgorithm. The id
 * depends on the text alone. */
WINDLASS_MSQUIC_API int windlass_msquic_register(const char *controller, uint16_t *id);
/* The controller of connections that ask for none; NULL: MsQuic's own default. */
WINDLASS_MSQUIC_API int windlass_msquic_set_default(const char *controller);
/* The same, with what a settings file says. */
WINDLASS_MSQUIC_API int windlass_msquic_configure(const char *path);
/* What was wrong with this thread's latest call. */
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
WINDLASS_SIZE(marked, 40);
WINDLASS_AT(marked, newest_sent_us, 16);
WINDLASS_AT(marked, packets, 24);
WINDLASS_SIZE(lost, 40);
WINDLASS_AT(lost, bytes, 8);
WINDLASS_AT(lost, flags, 24);
WINDLASS_AT(lost, packets, 32);
WINDLASS_SIZE(spurious, 24);
WINDLASS_AT(spurious, in_flight, 16);
WINDLASS_SIZE(control, 24);
WINDLASS_AT(control, cwnd, 8);
WINDLASS_AT(control, flags, 16);
WINDLASS_AT(control, phase, 20);
WINDLASS_SIZE(traced, 112);
WINDLASS_AT(traced, path, 16);
WINDLASS_AT(traced, controller, 40);
WINDLASS_AT(traced, rtt, 48);
WINDLASS_AT(traced, bytes, 88);
WINDLASS_AT(traced, ssthresh, 100);
WINDLASS_AT(traced, what, 104);
WINDLASS_AT(traced, ack_delay_exponent, 108);
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
