/* MsQuic's connections and packets as structures of the plugin interface. */
#include "precomp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"

#if WINDLASS_PACKETS
static const uint8_t WmPackets = WINDLASS_MSQUIC_PACKETS;
#else
static const uint8_t WmPackets = 0;
#endif

void WmDescribe(const QUIC_CONNECTION *Connection, windlass_msquic_path *Path, char *AppName)
{
    const QUIC_ADDR *Peer = &Connection->Paths[0].Route.RemoteAddress;
    CxPlatZeroMemory(Path, sizeof(*Path));
    Path->now_us = CxPlatTimeUs64();
    Path->connection = Connection->Stats.CorrelationId;
    Path->mtu = WmMtu(Connection);
    Path->initial_window_packets = Connection->Settings.InitialWindowPackets;
    Path->is_server = QuicConnIsServer(Connection) ? 1 : 0;
    Path->reports = (Connection->Settings.EcnEnabled ? WINDLASS_MSQUIC_ECN : 0) |
                    (Connection->Settings.OneWayDelayEnabled ? WINDLASS_MSQUIC_ONE_WAY : 0) | WmPackets;
    if (QuicAddrGetFamily(Peer) == QUIC_ADDRESS_FAMILY_INET6) {
        memcpy(Path->peer_address, &Peer->Ipv6.sin6_addr, 16);
    } else {
        Path->peer_address[10] = Path->peer_address[11] = 0xff;
        memcpy(Path->peer_address + 12, &Peer->Ipv4.sin_addr, 4);
    }
    Path->peer_port = QuicAddrGetPort(Peer);
    Path->server_name = Connection->RemoteServerName;
    const QUIC_REGISTRATION *Registration = Connection->Registration;
    if (Registration != NULL && Registration->AppNameLength != 0) {
        /* Some writers count the NUL in the length, others do not. */
        snprintf(AppName, WM_APP_NAME_SIZE, "%.*s", (int)Registration->AppNameLength, Registration->AppName);
        Path->app_name = AppName;
    }
}

static windlass_msquic_packet WmPacket(const QUIC_SENT_PACKET_METADATA *Packet)
{
    const LAST_ACKED_PACKET_INFO *Last = &Packet->LastAckedPacketInfo;
    const BOOLEAN Known = Packet->Flags.HasLastAckedPacketInfo;
    return (windlass_msquic_packet){
        .number = Packet->PacketNumber,
        .sent_us = Packet->SentTime,
        .total_sent = Packet->TotalBytesSent,
        .delivered = Known ? Last->TotalBytesAcked : 0,
        .delivered_us = Known ? Last->AckTime : 0,
        .delivered_sent_us = Known ? Last->SentTime : 0,
        .bytes = Packet->PacketLength,
        .flags = (Packet->Flags.IsAppLimited ? WINDLASS_MSQUIC_PACKET_APP_LIMITED : 0) |
                 (Packet->Flags.EcnEctSet ? WINDLASS_MSQUIC_PACKET_ECT : 0) |
                 (Known ? WINDLASS_MSQUIC_PACKET_DELIVERY : 0),
    };
}

/* Adds one of at most `Most` packets. Without memory only the first WM_PACKETS are listed. */
static inline void WmListAdd(WmList *List, const QUIC_SENT_PACKET_METADATA *Packet, uint32_t Most)
{
    if (List->Count == WM_PACKETS && List->Packets == List->Inline) {
        windlass_msquic_packet *Heap = malloc((size_t)Most * sizeof(*Heap));
        if (Heap == NULL) {
            return;
        }
        memcpy(Heap, List->Inline, sizeof(List->Inline));
        List->Packets = Heap;
    }
    List->Packets[List->Count++] = WmPacket(Packet);
}

void WmListFree(WmList *List)
{
    if (List->Packets != List->Inline) {
        free(List->Packets);
    }
}

/* Whether an acknowledged packet was in flight until now. */
static BOOLEAN WmWasInFlight(const QUIC_SENT_PACKET_METADATA *Packet)
{
    return Packet->Flags.IsAckEliciting && !Packet->Flags.SuspectedLost;
}

void WmListAcked(WmList *List, const QUIC_SENT_PACKET_METADATA *First)
{
    List->Count = 0;
    List->Packets = List->Inline;
    const QUIC_SENT_PACKET_METADATA *Packet = First;
    for (; Packet != NULL && List->Count < WM_PACKETS; Packet = Packet->Next) {
        if (WmWasInFlight(Packet)) {
            WmListAdd(List, Packet, WM_PACKETS);
        }
    }
    uint32_t Most = WM_PACKETS;
    for (const QUIC_SENT_PACKET_METADATA *More = Packet; More != NULL; More = More->Next) {
        Most += WmWasInFlight(More);
    }
    for (; Packet != NULL; Packet = Packet->Next) {
        if (WmWasInFlight(Packet)) {
            WmListAdd(List, Packet, Most);
        }
    }
}

void WmListLost(WmList *List, const QUIC_LOSS_DETECTION *LossDetection, uint32_t Bytes)
{
    uint64_t Total = 0;
    uint32_t Count = 0;
    for (const QUIC_SENT_PACKET_METADATA *Packet = LossDetection->LostPackets; Packet != NULL;
         Packet = Packet->Next) {
        Total += Packet->Flags.IsAckEliciting ? Packet->PacketLength : 0;
        Count += Packet->Flags.IsAckEliciting;
    }
    const QUIC_SENT_PACKET_METADATA *Packet = LossDetection->LostPackets;
    for (; Packet != NULL && Total > Bytes; Packet = Packet->Next) {
        Total -= Packet->Flags.IsAckEliciting ? Packet->PacketLength : 0;
        Count -= Packet->Flags.IsAckEliciting;
    }
    List->Count = 0;
    List->Packets = List->Inline;
    for (; Packet != NULL && List->Count < Count; Packet = Packet->Next) {
        if (Packet->Flags.IsAckEliciting) {
            WmListAdd(List, Packet, Count);
        }
    }
}

const QUIC_SENT_PACKET_METADATA *WmSampled(const QUIC_CONNECTION *Connection, const QUIC_ACK_EVENT *Event)
{
    const QUIC_PATH *Path = &Connection->Paths[0];
    for (const QUIC_SENT_PACKET_METADATA *Packet = Event->AckedPackets; Packet != NULL;
         Packet = Packet->Next) {
        if (Packet->PacketNumber == Event->LargestAck) {
            const BOOLEAN Counts =
                Path->GotFirstRttSample && Packet->Flags.IsAckEliciting && Packet->PathId == Path->ID;
            return Counts ? Packet : NULL;
        }
    }
    return NULL;
}
