/*
 * Turns MsQuic's trace points of packets into calls of trace.c. In builds with packets the files of
 * MsQuic's core that have them include this before everything else (`-include`). All other trace
 * points stay as MsQuic's build defines them.
 *
 * A trace point is written QuicTraceEvent(Name, Format, arguments…). For a name listed below,
 * WM_TRACED_name contains a comma, which makes the macro after it the second argument of WM_SECOND.
 */
#ifndef WINDLASS_MSQUIC_TRACE_H
#define WINDLASS_MSQUIC_TRACE_H

/* Copied from precomp.h, which cannot be included twice. */
#define QUIC_API_ENABLE_INSECURE_FEATURES 1
#define QUIC_API_ENABLE_PREVIEW_FEATURES 1
#include "quic_platform.h"
#include "quic_trace.h"

struct QUIC_CONNECTION;
void WmTraceSent(const struct QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint16_t Bytes);
void WmTraceReceived(const struct QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint16_t Bytes);
void WmTraceLost(const struct QUIC_CONNECTION *Connection, uint64_t Number, uint8_t Type, uint8_t Reason);
void WmTraceCongestion(const struct QUIC_CONNECTION *Connection, BOOLEAN Ecn);
void WmTraceState(const struct QUIC_CONNECTION *Connection);
void WmTraceClosed(const struct QUIC_CONNECTION *Connection);

#define WM_TRACED_ConnPacketSent ~, WM_ON_SENT
#define WM_TRACED_ConnPacketRecv ~, WM_ON_RECEIVED
#define WM_TRACED_ConnPacketLost ~, WM_ON_LOST
#define WM_TRACED_ConnCongestionV2 ~, WM_ON_CONGESTION
#define WM_TRACED_ConnOutFlowStatsV2 ~, WM_ON_STATE
#define WM_TRACED_ConnDestroyed ~, WM_ON_CLOSED

#define WM_ON_SENT(Name, Format, ...) WmTraceSent(__VA_ARGS__)
#define WM_ON_RECEIVED(Name, Format, ...) WmTraceReceived(__VA_ARGS__)
#define WM_ON_LOST(Name, Format, ...) WmTraceLost(__VA_ARGS__)
#define WM_ON_CONGESTION(Name, Format, ...) WmTraceCongestion(__VA_ARGS__)
/* The other arguments are fields of the connection. */
#define WM_ON_STATE(Name, Format, Connection, ...) WmTraceState(Connection)
#define WM_ON_CLOSED(Name, Format, Connection) WmTraceClosed(Connection)

#define WM_SECOND(First, Second, ...) Second
#define WM_PICK(...) WM_SECOND(__VA_ARGS__)

#undef QuicTraceEvent
#define QuicTraceEvent(Name, Format, ...) \
    WM_PICK(WM_TRACED_##Name, QuicTrace, ~)(Name, Format, ##__VA_ARGS__)

#endif
