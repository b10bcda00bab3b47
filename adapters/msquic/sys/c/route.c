/*
 * The flag for QUIC over TCP (QTIP) of the route by which a datagram came. MsQuic's sockets on Linux leave it as the memory of the
 * datagram's block had it (CxPlatSocketContextRecvComplete of datapath_epoll.c in 2.5.1 to 2.6.0), and a server's path takes it
 * over. Where it happens to be set, CxPlatResolveRoute turns to XDP's datapath once CUBIC suspects the route after persistent
 * congestion, finds none, and QuicSendFlush never sends again: the peer waits until its idle timeout. What comes from a socket
 * of the system is UDP, so the flag is off here before MsQuic sees it.
 *
 * The function of MsQuic's own file is compiled with the prefix `Native`.
 */
#include "precomp.h"

#include "../platform/platform_internal.h"

CXPLAT_DATAPATH_RECEIVE_CALLBACK NativeQuicBindingReceive;

void QuicBindingReceive(CXPLAT_SOCKET *Socket, void *Context, CXPLAT_RECV_DATA *Chain)
{
    for (CXPLAT_RECV_DATA *Data = Chain; Data != NULL; Data = Data->Next) {
        if (Data->DatapathType == CXPLAT_DATAPATH_TYPE_NORMAL) {
            Data->Route->UseQTIP = FALSE;
        }
    }
    NativeQuicBindingReceive(Socket, Context, Chain);
}
