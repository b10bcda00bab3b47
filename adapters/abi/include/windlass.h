/*
 * Congestion controllers for QUIC stacks in C and in languages that can call C.
 *
 * A windlass_controller is what a name (windlass_new) or a configuration file (windlass_read)
 * stands for, with the groups of its flows. A windlass_flow is the congestion control of one
 * path of one connection: the stack reports what happens (windlass_on_...) and asks before it
 * sends what it may do (windlass_decide).
 *
 * Version. WINDLASS_ABI grows whenever a structure, a meaning or a function changes;
 * windlass_abi() returns that of the library.
 *
 * Units. Times are nanoseconds of one monotonic clock of the caller, sizes are bytes of UDP
 * payload, rates are bit/s. Texts are UTF-8 and end with NUL. Structures are to be zeroed before
 * they are filled in: 0, NULL and a flag that is not set mean unknown.
 *
 * Threads. A controller may be used by several threads at once, and so may a flow, whose calls wait
 * for each other. Only windlass_free and windlass_stop must be the last call for their pointer, and
 * the only one: a second is as fatal as a second free(). Flows of one group share state behind a lock.
 *
 * Mistakes of the stack. A time before that of an earlier call of the flow counts as that one, but when a packet
 * was sent is believed, for clocks are read apart. The
 * library does not remember packets: one that is acknowledged twice counts twice, but an ACK of more
 * bytes than are in flight, as windlass_acked.in_flight_before or the packets reported as sent have
 * it, is refused with WINDLASS_INVALID, as is an RTT of more than a day.
 *
 * One-way delays that do not come. A controller that needs them (WINDLASS_SIGNAL_ONE_WAY_DELAY) starts
 * anew with its documented fallback after eight round trips without WINDLASS_ACKED_ONE_WAY: a line on
 * standard error says so, windlass_name() is another, and the flow's recording ends. A flow in a group
 * and a controller without a fallback go on, with the line.
 *
 * Pacing. A controller that decides no pacing rate gets that of its window: two windows per smoothed
 * RTT in slow start, 1.25 after (RFC 9002 section 7.7), as in the simulator.
 *
 * Idle. A sender is idle that lets more than a probe timeout pass with nothing in flight, beyond what
 * its pacer may have held a packet (ten datagrams at the pacing rate). The controller hears of it with
 * the first packet, so report that one before it leaves, and decide anew.
 *
 * Errors. Functions that return a pointer return NULL after an error and write its text to
 * `error`, at most `size` bytes with the NUL. Functions that return int return WINDLASS_OK or one
 * of the negative values below. Pointers are valid during the call only, except for those to
 * controllers and flows. Nothing unwinds into the caller.
 */
#ifndef WINDLASS_H
#define WINDLASS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef WINDLASS_API
#if defined(__GNUC__)
#define WINDLASS_API __attribute__((visibility("default")))
#else
#define WINDLASS_API
#endif
#endif

#define WINDLASS_ABI 1u

#define WINDLASS_OK 0
#define WINDLASS_INVALID (-1)  /* an argument is NULL or out of its range; nothing changed */
#define WINDLASS_PANICKED (-2) /* the controller failed and decides no more: see WINDLASS_ENDED */

/* windlass_stack.signals: what the stack reports besides acknowledgements, losses and RTTs. A
 * controller that needs another is refused, with the reason. */
#define WINDLASS_SIGNAL_ECN 1u             /* CE marks (RFC 9000 section 13.4) */
#define WINDLASS_SIGNAL_CE_COUNT 2u        /* how many packets were marked */
#define WINDLASS_SIGNAL_PACKET_NUMBERS 4u  /* in acknowledgements and losses */
#define WINDLASS_SIGNAL_SPURIOUS_LOSS 8u   /* windlass_on_spurious_loss */
#define WINDLASS_SIGNAL_SENT 16u           /* windlass_on_sent for every packet in flight */
#define WINDLASS_SIGNAL_DELIVERY 32u       /* WINDLASS_PACKET_DELIVERY; not needed with SENT */
#define WINDLASS_SIGNAL_PACING 64u         /* packets leave at the decided rate */
#define WINDLASS_SIGNAL_TIMER 128u         /* windlass_on_timer at windlass_decision.wake_ns */
#define WINDLASS_SIGNAL_ONE_WAY_DELAY 256u /* WINDLASS_ACKED_ONE_WAY */

/* The stack that calls. */
typedef struct windlass_stack {
    const char *name; /* for errors and logs; NULL: "the stack" */
    uint32_t signals;
    uint32_t reserved; /* 0 */
} windlass_stack;

/* The path a flow starts on. */
typedef struct windlass_path {
    uint64_t now_ns;
    uint8_t peer_address[16]; /* IPv6; IPv4 as ::ffff:a.b.c.d */
    uint32_t mtu;             /* a full datagram; at least 1 */
    uint16_t peer_port;       /* host byte order */
    uint16_t reserved;        /* 0 */
    const char *server_name;  /* the name a client connects to; may be NULL */
    /* The key of the flow's group, any `group_size` bytes. NULL: flows of a controller that needs
     * groups form one for each peer's address, or as the configuration file says. */
    const void *group;
    size_t group_size;
    /* Of controllers that use randomness; 0: one of the library's own. */
    uint64_t seed;
} windlass_path;

/* windlass_packet.flags */
#define WINDLASS_PACKET_DELIVERY 1u    /* the five fields from `delivered` on are known */
#define WINDLASS_PACKET_APP_LIMITED 2u /* with DELIVERY: the application had nothing to send before it */

/* A packet that was in flight, or several that the stack sums up. */
typedef struct windlass_packet {
    uint64_t number;  /* the largest */
    uint64_t sent_ns; /* of the newest */
    uint64_t bytes;   /* all of them */
    uint32_t count;   /* how many; 0: one */
    uint32_t flags;
    uint64_t delivered;         /* bytes acknowledged on the path when the newest was sent */
    uint64_t delivered_ns;      /* when the last of those were acknowledged */
    uint64_t delivered_sent_ns; /* when the last of those were sent */
    uint64_t lost;              /* bytes declared lost since the newest was sent */
    uint64_t in_flight;         /* bytes in flight just after it was sent */
} windlass_packet;

/* An RTT sample with the stack's estimates, the sample included. Estimates that are 0 are worked
 * out by the library (RFC 9002 section 5). */
typedef struct windlass_rtt {
    uint64_t latest_ns; /* includes the acknowledgement delay; 1 to a day, as the others at most */
    uint64_t smoothed_ns;
    uint64_t variation_ns;
    uint64_t min_ns;
    uint64_t ack_delay_ns;
} windlass_rtt;

/* windlass_sent.flags */
#define WINDLASS_SENT_APP_LIMITED 1u /* the application has nothing more to send */

/* A packet that counts as in flight was sent. */
typedef struct windlass_sent {
    uint64_t now_ns;
    uint64_t number;
    uint64_t in_flight; /* this packet included */
    uint32_t bytes;
    uint32_t flags;
} windlass_sent;

/* windlass_acked.flags */
#define WINDLASS_ACKED_ONE_WAY 1u     /* one_way_ns is known */
#define WINDLASS_ACKED_APP_LIMITED 2u /* the window was not used (RFC 9002 section 7.8) */

/* An ACK frame acknowledged packets. */
typedef struct windlass_acked {
    uint64_t now_ns;
    uint64_t in_flight_before;
    uint64_t in_flight;
    int64_t one_way_ns; /* peer's clock when the ACK was sent less ours when the packet was sent */
    uint64_t delivered; /* with WINDLASS_PACKET_DELIVERY: bytes acknowledged on the path so far */
    /* Ascending; none that was acknowledged or declared lost before. No more bytes than were in flight. */
    const windlass_packet *packets;
    uint32_t packet_count;
    uint32_t flags;
} windlass_acked;

/* windlass_lost.flags */
#define WINDLASS_LOST_PERSISTENT 1u /* persistent congestion (RFC 9002 section 7.6) */

/* Packets were declared lost. Persistent congestion is reported by the flag, or found by the
 * library in packets of one call whose numbers follow each other (WINDLASS_SIGNAL_PACKET_NUMBERS). */
typedef struct windlass_lost {
    uint64_t now_ns;
    uint64_t in_flight_before;
    uint64_t in_flight;
    const windlass_packet *packets; /* in the order they were sent */
    uint32_t packet_count;
    uint32_t flags;
} windlass_lost;

/* windlass_decision.flags */
#define WINDLASS_SHARED 1u  /* other flows of the group may change it: decide again before sending */
#define WINDLASS_DECIDED 2u /* the controller decided pacing_rate; it is not derived from the window */
/* Nobody decides any more: the controller failed. The rest of the decision is the last one and
 * stays so; the stack had better take a controller of its own. */
#define WINDLASS_ENDED 4u

/* windlass_decision.ecn */
#define WINDLASS_ECN_ANY 0u /* whatever the stack does by itself */
#define WINDLASS_ECN_NOT_ECT 1u
#define WINDLASS_ECN_ECT0 2u
#define WINDLASS_ECN_ECT1 3u

/* windlass_decision.phase */
#define WINDLASS_SLOW_START 0u
#define WINDLASS_CONGESTION_AVOIDANCE 1u
#define WINDLASS_RECOVERY 2u

/* What the sender may do until the next event. */
typedef struct windlass_decision {
    uint64_t cwnd;         /* bytes */
    uint64_t ssthresh;     /* bytes; UINT64_MAX: infinite */
    uint64_t pacing_rate;  /* bit/s; 0: none before the first RTT sample */
    uint64_t send_quantum; /* bytes that may leave at once (draft-ietf-ccwg-bbr) */
    uint64_t wake_ns;      /* call windlass_on_timer at this time; UINT64_MAX: never */
    uint32_t flags;
    uint8_t phase; /* for logs */
    uint8_t ecn;   /* codepoint of data packets */
    uint8_t dscp;  /* of data packets, 6 bits */
    uint8_t reserved;
} windlass_decision;

/* windlass_send_rate_estimate.confidence */
#define WINDLASS_CONFIDENCE_LOW 1u    /* the window and the RTT alone, or measured more than ten seconds ago */
#define WINDLASS_CONFIDENCE_MEDIUM 2u /* measured earlier; since then the application sent too little to repeat it */
#define WINDLASS_CONFIDENCE_HIGH 3u   /* delivered in the latest round trips */

/* windlass_send_rate_estimate.limited_by */
#define WINDLASS_LIMITED_BY_APPLICATION 1u
#define WINDLASS_LIMITED_BY_START_UP 2u /* the rate is about to rise */
#define WINDLASS_LIMITED_BY_WINDOW 3u
#define WINDLASS_LIMITED_BY_PACING 4u

/* The estimated send rate: the rate at which the next data leave and arrive, of packets as a window counts
 * them. All fields are 0 before the first RTT sample and after a failure. */
typedef struct windlass_send_rate_estimate {
    uint64_t bits_per_s;
    uint8_t confidence;
    uint8_t limited_by;
    uint8_t reserved[6];
} windlass_send_rate_estimate;

typedef struct windlass_controller windlass_controller;
typedef struct windlass_flow windlass_flow;

/* Returns the version of the library: WINDLASS_ABI of its header. */
WINDLASS_API uint32_t windlass_abi(void);
/* Returns the names of all controllers, in the catalogue's order, and a NULL after them. They are
 * valid until the process ends. */
WINDLASS_API const char *const *windlass_names(void);

/* Returns the controller that a user types as NAME or NAME:parameter=value,... */
WINDLASS_API windlass_controller *windlass_new(const char *name, const windlass_stack *stack,
                                               char *error, size_t size);
/* Returns the controllers that the configuration file `path` selects for each peer, with its
 * groups and recordings. A file that changed is read by calling this again; flows that run stay
 * as they are. */
WINDLASS_API windlass_controller *windlass_read(const char *path, const windlass_stack *stack,
                                                char *error, size_t size);
/* Frees a controller; its flows run on. NULL is ignored. */
WINDLASS_API void windlass_free(windlass_controller *controller);

/* Starts a flow on a path. */
WINDLASS_API windlass_flow *windlass_start(windlass_controller *controller,
                                           const windlass_path *path, char *error, size_t size);
/* Ends a flow, and must be its last call: a second windlass_stop, or any call for it that follows or is under way, is as
 * fatal as one that uses memory after free(). The flow leaves its group. NULL is ignored. */
WINDLASS_API void windlass_stop(windlass_flow *flow);
/* Returns the flow's controller as a user types it; NULL for NULL. It is valid until the flow ends or its
 * path changes. */
WINDLASS_API const char *windlass_name(const windlass_flow *flow);
/* Writes what the flow may do now. */
WINDLASS_API int windlass_decide(windlass_flow *flow, windlass_decision *decision);
/* Writes the estimated send rate, as of the latest event. */
WINDLASS_API int windlass_send_rate(windlass_flow *flow, windlass_send_rate_estimate *estimate);

/* For each packet in flight if the stack has WINDLASS_SIGNAL_SENT; otherwise, if it can, for
 * each that is sent while nothing is in flight. */
WINDLASS_API int windlass_on_sent(windlass_flow *flow, const windlass_sent *sent);

/* What one ACK frame brings, in this order: the RTT sample, CE marks, losses, acknowledgements. A
 * timer that declares packets lost brings losses alone. */
WINDLASS_API int windlass_on_rtt(windlass_flow *flow, uint64_t now_ns, const windlass_rtt *rtt);
/* `packets` new CE marks (1 if only that there are some is known), reported by a frame whose
 * newest packet was sent at `newest_sent_ns` with this number. */
WINDLASS_API int windlass_on_ecn_ce(windlass_flow *flow, uint64_t now_ns, uint32_t packets,
                                    uint64_t newest_sent_ns, uint64_t newest_number,
                                    uint64_t in_flight);
WINDLASS_API int windlass_on_lost(windlass_flow *flow, const windlass_lost *lost);
WINDLASS_API int windlass_on_acked(windlass_flow *flow, const windlass_acked *acked);

/* The peer acknowledged all packets of the last losses, the newest sent at `newest_sent_ns`: the
 * losses were spurious. */
WINDLASS_API int windlass_on_spurious_loss(windlass_flow *flow, uint64_t now_ns,
                                           uint64_t newest_sent_ns);
/* Packets in flight were discarded with their keys (RFC 9002 section 6.4); `in_flight` bytes
 * remain. */
WINDLASS_API int windlass_on_discarded(windlass_flow *flow, uint64_t now_ns, uint64_t in_flight);
/* Datagrams have up to `mtu` bytes from here on; at least 1. */
WINDLASS_API int windlass_on_mtu(windlass_flow *flow, uint64_t now_ns, uint32_t mtu);
/* The time windlass_decision.wake_ns has come. */
WINDLASS_API int windlass_on_timer(windlass_flow *flow, uint64_t now_ns);
/* The connection moved to another path: the flow starts anew, as windlass_start does, in the group
 * of the new path (RFC 9000 section 9.4). A change of the peer's port alone is no reason. After
 * WINDLASS_INVALID the flow is as it was. */
WINDLASS_API int windlass_on_path_change(windlass_flow *flow, const windlass_path *path);

/* Sizes and offsets on 64-bit machines. */
#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && UINTPTR_MAX == UINT64_MAX
#define WINDLASS_SIZE(type, bytes)                                                             \
    _Static_assert(sizeof(windlass_##type) == (bytes), #type " has another size")
#define WINDLASS_AT(type, field, bytes)                                                        \
    _Static_assert(offsetof(windlass_##type, field) == (bytes), #type "." #field " moved")
WINDLASS_SIZE(stack, 16);
WINDLASS_AT(stack, signals, 8);
WINDLASS_SIZE(path, 64);
WINDLASS_AT(path, mtu, 24);
WINDLASS_AT(path, server_name, 32);
WINDLASS_AT(path, group, 40);
WINDLASS_AT(path, group_size, 48);
WINDLASS_AT(path, seed, 56);
WINDLASS_SIZE(packet, 72);
WINDLASS_AT(packet, bytes, 16);
WINDLASS_AT(packet, count, 24);
WINDLASS_AT(packet, delivered, 32);
WINDLASS_AT(packet, in_flight, 64);
WINDLASS_SIZE(rtt, 40);
WINDLASS_AT(rtt, ack_delay_ns, 32);
WINDLASS_SIZE(sent, 32);
WINDLASS_AT(sent, bytes, 24);
WINDLASS_SIZE(acked, 56);
WINDLASS_AT(acked, one_way_ns, 24);
WINDLASS_AT(acked, packets, 40);
WINDLASS_AT(acked, flags, 52);
WINDLASS_SIZE(lost, 40);
WINDLASS_AT(lost, packets, 24);
WINDLASS_AT(lost, flags, 36);
WINDLASS_SIZE(decision, 48);
WINDLASS_AT(decision, wake_ns, 32);
WINDLASS_AT(decision, flags, 40);
WINDLASS_AT(decision, dscp, 46);
WINDLASS_SIZE(send_rate_estimate, 16);
WINDLASS_AT(send_rate_estimate, limited_by, 9);
#undef WINDLASS_SIZE
#undef WINDLASS_AT
#endif

#ifdef __cplusplus
}
#endif

#endif
