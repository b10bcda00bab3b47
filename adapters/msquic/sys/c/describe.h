/* MsQuic's connections and packets as structures of the plugin interface. Include it after MsQuic's
 * precomp.h. */
#ifndef WINDLASS_MSQUIC_DESCRIBE_H
#define WINDLASS_MSQUIC_DESCRIBE_H

#include "windlass_msquic.h"

enum {
    WM_LEAST_MTU = 1200,
    WM_APP_NAME_SIZE = UINT8_MAX + 1,
    WM_PACKETS = 128, /* packets listed without an allocation */
};

/* MsQuic's times as those of the interface. */
static inline uint64_t WmNs(uint64_t Us)
{
    return Us > UINT64_MAX / 1000 ? UINT64_MAX : Us * 1000;
}

/* UDP payload of a full datagram. The path has no MTU until settings are applied. */
static inline uint32_t WmMtu(const QUIC_CONNECTION *Connection)
{
    const QUIC_PATH *Path = &Connection->Paths[0];
    return Path->Mtu != 0 ? QuicPathGetDatagramPayloadSize(Path) : WM_LEAST_MTU;
}

/* The path of a connection with nothing in flight. `AppName` has WM_APP_NAME_SIZE bytes. */
void WmDescribe(const QUIC_CONNECTION *Connection, windlass_msquic_path *Path, char *AppName);

/* Packets of one frame or timer; usually few enough for the stack. */
typedef struct WmList {
    uint32_t Count;
    windlass_packet *Packets;
    windlass_packet Inline[WM_PACKETS];
} WmList;

/* Lists the packets of an ACK frame that were in flight until now. */
void WmListAcked(WmList *List, const QUIC_SENT_PACKET_METADATA *First);

/* Lists the packets just declared lost: the last of MsQuic's list that make up the event's bytes. */
void WmListLost(WmList *List, const QUIC_LOSS_DETECTION *LossDetection, const QUIC_LOSS_EVENT *Event);

void WmListFree(WmList *List);

/* The packet whose acknowledgement brings an RTT sample, by MsQuic's rule; NULL: none. */
const QUIC_SENT_PACKET_METADATA *WmSampled(const QUIC_CONNECTION *Connection, const QUIC_ACK_EVENT *Event);

/* What the sender may do, and in `*InFlight` the bytes in flight; NULL if one of MsQuic's own congestion
 * controls runs the connection. */
const windlass_decision *WmDecision(const QUIC_CONGESTION_CONTROL *Cc, uint64_t *InFlight);

#endif
