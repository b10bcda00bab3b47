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
    Path->path.now_ns = WmNs(CxPlatTimeUs64());
    Path->path.mtu = WmMtu(Connection);
    Path->connection = Connection->Stats.CorrelationId;
    Path->initial_window_packets = Connection->Settings.InitialWindowPackets;
    Path->is_server = QuicConnIsServer(Connection) ? 1 : 0;
    Path->reports = (Connection->Settings.EcnEnabled ? WINDLASS_MSQUIC_ECN : 0) |
                    (Connection->Settings.OneWayDelayEnabled ? WINDLASS_MSQUIC_ONE_WAY : 0) | WmPackets;
    uint8_t *Address = Path->path.peer_address;
    if (QuicAddrGetFamily(Peer) == QUIC_ADDRESS_FAMILY_INET6) {
        memcpy(Address, &Peer->Ipv6.sin6_addr, 16);
    } else {
        Address[10] = Address[11] = 0xff;
        memcpy(Address + 12, &Peer->Ipv4.sin_addr, 4);
    }
    Path->path.peer_port = QuicAddrGetPort(Peer);
    Path->path.server_name = Connection->RemoteServerName;
    const QUIC_REGISTRATION *Registration = Connection->Registration;
    if (Registration != NULL && Registration->AppNameLength != 0) {
        /* Some writers count the NUL in the length, others do not. */
        snprintf(AppName, WM_APP_NAME_SIZE, "%.*s", (int)Registration->AppNameLength, Registration->AppName);
        Path->app_name = AppName;
    }
}

/* Field by field: a structure that is made elsewhere and copied costs as much as all the rest. */
static inline void WmWritePacket(windlass_packet *Out, const QUIC_SENT_PACKET_METADATA *Packet)
{
    const LAST_ACKED_PACKET_INFO *Last = &Packet->LastAckedPacketInfo;
    const BOOLEAN Known = Packet->Flags.HasLastAckedPacketInfo;
    Out->number = Packet->PacketNumber;
    Out->sent_ns = WmNs(Packet->SentTime);
    Out->bytes = Packet->PacketLength;
    Out->count = 1;
    Out->flags = (Packet->Flags.IsAppLimited ? WINDLASS_PACKET_APP_LIMITED : 0) |
                 (Packet->Flags.EcnEctSet ? WINDLASS_MSQUIC_PACKET_ECT : 0) |
                 (Known ? WINDLASS_MSQUIC_PACKET_DELIVERED : 0);
    Out->delivered = Known ? Last->TotalBytesAcked : 0;
    Out->delivered_ns = Known ? WmNs(Last->AckTime) : 0;
    Out->delivered_sent_ns = Known ? WmNs(Last->SentTime) : 0;
    Out->lost = 0;
    Out->in_flight = 0;
}

/* Makes room for `Most` packets where the list has as many as fit without; FALSE without memory. */
static BOOLEAN WmListGrow(WmList *List, uint32_t Most)
{
    windlass_packet *Heap = malloc((size_t)Most * sizeof(*Heap));
    if (Heap == NULL) {
        return FALSE;
    }
    memcpy(Heap, List->Inline, sizeof(List->Inline));
    List->Packets = Heap;
    return TRUE;
}

/* Adds one of at most `Most` packets. Without memory the last of the list stands for all that follow. */
static inline void WmListAdd(WmList *List, const QUIC_SENT_PACKET_METADATA *Packet, uint32_t Most)
{
    if (List->Count == WM_PACKETS && List->Packets == List->Inline && !WmListGrow(List, Most)) {
        windlass_packet *Last = &List->Packets[WM_PACKETS - 1];
        const uint64_t Bytes = Last->bytes;
        const uint32_t Count = Last->count;
        WmWritePacket(Last, Packet);
        Last->bytes += Bytes;
        Last->count += Count;
        return;
    }
    WmWritePacket(&List->Packets[List->Count++], Packet);
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

void WmListLost(WmList *List, const QUIC_LOSS_DETECTION *LossDetection, const QUIC_LOSS_EVENT *Event)
{
    uint64_t Total = 0;
    uint32_t Count = 0;
    for (const QUIC_SENT_PACKET_METADATA *Packet = LossDetection->LostPackets; Packet != NULL;
         Packet = Packet->Next) {
        Total += Packet->Flags.IsAckEliciting ? Packet->PacketLength : 0;
        Count += Packet->Flags.IsAckEliciting;
    }
    const QUIC_SENT_PACKET_METADATA *Packet = LossDetection->LostPackets;
    for (; Packet != NULL && Total > Event->NumRetransmittableBytes; Packet = Packet->Next) {
        Total -= Packet->Flags.IsAckEliciting ? Packet->PacketLength : 0;
        Count -= Packet->Flags.IsAckEliciting;
    }
    List->Count = 0;
    List->Packets = List->Inline;
    for (; Packet != NULL; Packet = Packet->Next) {
        if (Packet->Flags.IsAckEliciting) {
            WmListAdd(List, Packet, Count);
        }
    }
    if (List->Count == 0) {
        List->Packets[List->Count++] = (windlass_packet){
            .number = Event->LargestPacketNumberLost,
            .sent_ns = WmNs(CxPlatTimeUs64()),
            .bytes = Event->NumRetransmittableBytes,
            .count = 1,
        };
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
