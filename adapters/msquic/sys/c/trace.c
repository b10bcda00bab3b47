/*
 * What MsQuic's trace points tell, for the plugin that wants it. Compiled in builds with packets.
 *
 * QuicFrameLogAll stands in for MsQuic's, which formats the frames of every packet for its log;
 * it is called just before the trace point of the packet itself.
 */
#include "trace.h"

#include "precomp.h"

#include <string.h>

#include "describe.h"
#include "host.h"

void NativeQuicFrameLogAll(QUIC_CONNECTION *Connection, BOOLEAN Rx, uint64_t PacketNumber, uint16_t PacketLength,
                           const uint8_t *const Packet, uint16_t Offset);

static void WmTell(const QUIC_CONNECTION *Connection, windlass_msquic_traced *Traced)
{
    const windlass_msquic_plugin *Tracer = WmTracer();
    if (Tracer == NULL) {
        return;
    }
    windlass_msquic_path Path;
    char AppName[WM_APP_NAME_SIZE];
    Traced->connection = Connection->Stats.CorrelationId;
    if (Traced->what != WINDLASS_MSQUIC_TRACED_CLOSED) {
        WmDescribe(Connection, &Path, AppName);
        Traced->path = &Path;
        Traced->now_us = Path.now_us;
    } else {
        Traced->now_us = CxPlatTimeUs64();
    }
    Tracer->traced(Traced);
}

/* A packet's type from MsQuic's trace type, that of its version 2 apart. */
static uint8_t WmPacketType(const QUIC_CONNECTION *Connection, uint8_t Type, BOOLEAN FromHeader)
{
    if (Type == QUIC_TRACE_PACKET_ONE_RTT) {
        return WINDLASS_MSQUIC_ONE_RTT;
    }
    if (FromHeader && Connection->Stats.QuicVersion == QUIC_VERSION_2) {
        /* RFC 9369 section 3.2: counted from one further on. */
        Type = (uint8_t)(((Type - 1) + 3) % 4 + 1);
    }
    switch (Type) {
    case QUIC_TRACE_PACKET_INITIAL:
        return WINDLASS_MSQUIC_INITIAL;
    case QUIC_TRACE_PACKET_ZERO_RTT:
        return WINDLASS_MSQUIC_ZERO_RTT;
    default:
        return WINDLASS_MSQUIC_HANDSHAKE;
    }
}

void QuicFrameLogAll(QUIC_CONNECTION *Connection, BOOLEAN Rx, uint64_t PacketNumber, uint16_t PacketLength,
                     const uint8_t *const Packet, uint16_t Offset)
{
    NativeQuicFrameLogAll(Connection, Rx, PacketNumber, PacketLength, Packet, Offset);
    if (Connection != NULL && Offset <= PacketLength) {
        windlass_msquic_traced Traced = {
            .what = WINDLASS_MSQUIC_TRACED_FRAMES,
            .number = PacketNumber,
            .frames = Packet + Offset,
            .bytes = (uint32_t)(PacketLength - Offset),
            .ack_delay_exponent =
                (uint8_t)(Rx ? Connection->PeerTransportParams.AckDelayExponent : Connection->AckDelayExponent),
        };
        WmTell(Connection, &Traced);
    }
}

void WmTraceSent(const QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint16_t Bytes)
{
    windlass_msquic_traced Traced = {
        .what = WINDLASS_MSQUIC_TRACED_SENT,
        .number = Number,
        .packet_type = WmPacketType(Connection, Type, FALSE),
        .bytes = Bytes,
    };
    WmTell(Connection, &Traced);
}

void WmTraceReceived(const QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint16_t Bytes)
{
    const uint8_t PacketType = WmPacketType(Connection, Type, TRUE);
    const BOOLEAN Plain = PacketType == WINDLASS_MSQUIC_ONE_RTT && Connection->State.Disable1RttEncrytion;
    windlass_msquic_traced Traced = {
        .what = WINDLASS_MSQUIC_TRACED_RECEIVED,
        .number = Number,
        .packet_type = PacketType,
        /* MsQuic tells the length without the authentication tag, which it took off. */
        .bytes = (uint32_t)Bytes + (Plain ? 0 : CXPLAT_ENCRYPTION_OVERHEAD),
    };
    WmTell(Connection, &Traced);
}

void WmTraceLost(const QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint8_t Reason)
{
    if (Reason == QUIC_TRACE_PACKET_LOSS_PROBE) {
        /* A probe repeats what it held; it stays in flight (RFC 9002 section 6.2.4). */
        return;
    }
    windlass_msquic_traced Traced = {
        .what = WINDLASS_MSQUIC_TRACED_LOST,
        .number = Number,
        .packet_type = WmPacketType(Connection, Type, FALSE),
        .by_threshold = Reason == QUIC_TRACE_PACKET_LOSS_FACK,
    };
    WmTell(Connection, &Traced);
}

void WmTraceCongestion(const QUIC_CONNECTION *Connection, BOOLEAN Ecn)
{
    if (Ecn) {
        windlass_msquic_traced Traced = {.what = WINDLASS_MSQUIC_TRACED_ECN};
        WmTell(Connection, &Traced);
    }
}

static uint8_t WmCubicPhase(const QUIC_CONGESTION_CONTROL_CUBIC *Cubic)
{
    if (Cubic->IsInRecovery) {
        return 2;
    }
    return Cubic->CongestionWindow < Cubic->SlowStartThreshold ? 0 : 1;
}

void WmTraceState(const QUIC_CONNECTION *Connection)
{
    if (WmTracer() == NULL) {
        return;
    }
    const QUIC_CONGESTION_CONTROL *Cc = &Connection->CongestionControl;
    const QUIC_PATH *Path = &Connection->Paths[0];
    windlass_msquic_traced Traced = {
        .what = WINDLASS_MSQUIC_TRACED_STATE,
        .controller = Cc->Name,
        .cwnd = QuicCongestionControlGetCongestionWindow(Cc),
        .ssthresh = UINT32_MAX,
    };
    const windlass_msquic_control *Control = WmControl(Cc, &Traced.in_flight);
    if (Control != NULL) {
        Traced.ssthresh = Control->ssthresh;
        Traced.phase = (uint8_t)Control->phase;
    } else if (strcmp(Cc->Name, "BBR") == 0) {
        Traced.in_flight = Cc->Bbr.BytesInFlight;
        /* The states are named in bbr.c alone, in this order. */
        Traced.phase = (uint8_t)(WINDLASS_MSQUIC_STARTUP + Cc->Bbr.BbrState);
    } else {
        Traced.in_flight = Cc->Cubic.BytesInFlight;
        Traced.ssthresh = Cc->Cubic.SlowStartThreshold;
        Traced.phase = WmCubicPhase(&Cc->Cubic);
    }
    if (Path->GotFirstRttSample) {
        Traced.rtt = (windlass_msquic_rtt){
            .latest_us = Path->LatestRttSample,
            .smoothed_us = Path->SmoothedRtt,
            .variation_us = Path->RttVariance,
            .min_us = Path->MinRtt,
        };
    }
    WmTell(Connection, &Traced);
}

void WmTraceClosed(const QUIC_CONNECTION *Connection)
{
    windlass_msquic_traced Traced = {.what = WINDLASS_MSQUIC_TRACED_CLOSED};
    WmTell(Connection, &Traced);
}
