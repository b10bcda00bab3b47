/*
 * MsQuic's trace points as trace events of the plugin interface. Compiled in builds with packets.
 *
 * QuicFrameLogAll replaces MsQuic's, which formats the frames of every packet for its log. MsQuic
 * calls it just before the trace point of the packet itself.
 */
#include "trace.h"

#include "precomp.h"

#include <string.h>

#include "describe.h"
#include "host.h"

void NativeQuicFrameLogAll(QUIC_CONNECTION *Connection, BOOLEAN Rx, uint64_t PacketNumber, uint16_t PacketLength,
                           const uint8_t *const Packet, uint16_t Offset);

static void WmEmit(const QUIC_CONNECTION *Connection, windlass_msquic_trace *Trace)
{
    const windlass_msquic_plugin *Tracer = WmTracer();
    if (Tracer == NULL) {
        return;
    }
    windlass_msquic_path Path;
    char AppName[WM_APP_NAME_SIZE];
    Trace->connection = Connection->Stats.CorrelationId;
    if (Trace->kind != WINDLASS_MSQUIC_TRACE_CLOSED) {
        WmDescribe(Connection, &Path, AppName);
        Trace->path = &Path;
        Trace->now_ns = Path.path.now_ns;
    } else {
        Trace->now_ns = WmNs(CxPlatTimeUs64());
    }
    Tracer->trace(Trace);
}

/* The packet type of MsQuic's trace type, which for headers of QUIC version 2 is the type in the header. */
static uint8_t WmPacketType(const QUIC_CONNECTION *Connection, uint8_t Type, BOOLEAN FromHeader)
{
    if (Type == QUIC_TRACE_PACKET_ONE_RTT) {
        return WINDLASS_MSQUIC_ONE_RTT;
    }
    if (FromHeader && Connection->Stats.QuicVersion == QUIC_VERSION_2) {
        /* RFC 9369 section 3.2: Initial is 1, not 0. */
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
        windlass_msquic_trace Trace = {
            .kind = WINDLASS_MSQUIC_TRACE_FRAMES,
            .number = PacketNumber,
            .frames = Packet + Offset,
            .bytes = (uint32_t)(PacketLength - Offset),
            .ack_delay_exponent =
                (uint8_t)(Rx ? Connection->PeerTransportParams.AckDelayExponent : Connection->AckDelayExponent),
        };
        WmEmit(Connection, &Trace);
    }
}

void WmTraceSent(const QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint16_t Bytes)
{
    windlass_msquic_trace Trace = {
        .kind = WINDLASS_MSQUIC_TRACE_SENT,
        .number = Number,
        .packet_type = WmPacketType(Connection, Type, FALSE),
        .bytes = Bytes,
    };
    WmEmit(Connection, &Trace);
}

void WmTraceReceived(const QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint16_t Bytes)
{
    const uint8_t PacketType = WmPacketType(Connection, Type, TRUE);
    const BOOLEAN Plain = PacketType == WINDLASS_MSQUIC_ONE_RTT && Connection->State.Disable1RttEncrytion;
    windlass_msquic_trace Trace = {
        .kind = WINDLASS_MSQUIC_TRACE_RECEIVED,
        .number = Number,
        .packet_type = PacketType,
        /* MsQuic traces the length without the authentication tag. */
        .bytes = (uint32_t)Bytes + (Plain ? 0 : CXPLAT_ENCRYPTION_OVERHEAD),
    };
    WmEmit(Connection, &Trace);
}

void WmTraceLost(const QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint8_t Reason)
{
    if (Reason == QUIC_TRACE_PACKET_LOSS_PROBE) {
        /* A probe repeats the packet's frames; the packet stays in flight (RFC 9002 section 6.2.4). */
        return;
    }
    windlass_msquic_trace Trace = {
        .kind = WINDLASS_MSQUIC_TRACE_LOST,
        .number = Number,
        .packet_type = WmPacketType(Connection, Type, FALSE),
        .by_threshold = Reason == QUIC_TRACE_PACKET_LOSS_FACK,
    };
    WmEmit(Connection, &Trace);
}

void WmTraceCongestion(const QUIC_CONNECTION *Connection, BOOLEAN Ecn)
{
    if (Ecn) {
        windlass_msquic_trace Trace = {.kind = WINDLASS_MSQUIC_TRACE_ECN};
        WmEmit(Connection, &Trace);
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
    windlass_msquic_trace Trace = {
        .kind = WINDLASS_MSQUIC_TRACE_STATE,
        .controller = Cc->Name,
        .cwnd = QuicCongestionControlGetCongestionWindow(Cc),
        .ssthresh = UINT64_MAX,
    };
    const windlass_decision *Decision = WmDecision(Cc, &Trace.in_flight);
    if (Decision != NULL) {
        Trace.ssthresh = Decision->ssthresh;
        Trace.phase = Decision->phase;
    } else if (strcmp(Cc->Name, "BBR") == 0) {
        Trace.in_flight = Cc->Bbr.BytesInFlight;
        /* bbr.c alone names the states, in this order. */
        Trace.phase = (uint8_t)(WINDLASS_MSQUIC_STARTUP + Cc->Bbr.BbrState);
    } else {
        Trace.in_flight = Cc->Cubic.BytesInFlight;
        if (Cc->Cubic.SlowStartThreshold != UINT32_MAX) {
            Trace.ssthresh = Cc->Cubic.SlowStartThreshold;
        }
        Trace.phase = WmCubicPhase(&Cc->Cubic);
    }
    if (Path->GotFirstRttSample) {
        Trace.rtt = (windlass_rtt){
            .latest_ns = WmNs(Path->LatestRttSample),
            .smoothed_ns = WmNs(Path->SmoothedRtt),
            .variation_ns = WmNs(Path->RttVariance),
            .min_ns = WmNs(Path->MinRtt),
        };
    }
    WmEmit(Connection, &Trace);
}

void WmTraceClosed(const QUIC_CONNECTION *Connection)
{
    windlass_msquic_trace Trace = {.kind = WINDLASS_MSQUIC_TRACE_CLOSED};
    WmEmit(Connection, &Trace);
}
