// The dumbbell of the simulator's example `speed` in htsim: FLOWS long TCP flows over one drop-tail queue of MBPS with one BDP of
// buffer, 50 ms there and back, an ACK for every packet, for SECONDS. Prints the packets delivered.
#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp_transfer.h"
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: dumbbell FLOWS MBPS SECONDS\n");
        return 2;
    }
    const int flows = atoi(argv[1]);
    const double mbps = atof(argv[2]), seconds = atof(argv[3]);
    const int packet_bytes = 1500;
    EventList events;
    events.setEndtime(timeFromSec(seconds));
    Packet::set_packet_size(packet_bytes);
    Pipe forth(timeFromMs(25), events), back(timeFromMs(25), events);
    Queue bottleneck(speedFromMbps(uint64_t(mbps)), memFromPkt(int(mbps * 1e6 * 0.05 / 8 / packet_bytes)), events, NULL);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    std::vector<TcpSink*> sinks;
    for (int flow = 0; flow < flows; flow++) {
        TcpSrc* source = new TcpSrc(NULL, NULL, events);
        TcpSink* sink = new TcpSink();
        source->set_flowsize(1ULL << 50);
        source->setName("source");
        sink->setName("sink");
        timers.registerTcp(*source);
        route_t* there = new route_t();
        there->push_back(&bottleneck);
        there->push_back(&forth);
        there->push_back(sink);
        route_t* home = new route_t();
        home->push_back(&back);
        home->push_back(source);
        source->connect(*there, *home, *sink, drand() * timeFromSec(1));
        sinks.push_back(sink);
    }
    while (events.doNextEvent()) {
    }
    double bytes = 0;
    for (TcpSink* sink : sinks)
        bytes += sink->cumulative_ack();
    printf("packets %.0f\n", bytes / packet_bytes);
}
