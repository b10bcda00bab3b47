/*
 * Loads the plugin as MsQuic does and drives a connection through its table: load PLUGIN. On Windows by
 * LoadLibrary, elsewhere by dlopen.
 */
#include <windlass_msquic.h>

#include "../../../testkit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

static windlass_msquic_plugin_entry entry_of(const char *path) {
    windlass_msquic_plugin_entry entry = NULL;
#ifdef _WIN32
    HMODULE library = LoadLibraryA(path);
    CHECK(library != NULL);
    FARPROC symbol = GetProcAddress(library, "windlass_msquic_plugin_v1");
#else
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library != NULL);
    void *symbol = dlsym(library, "windlass_msquic_plugin_v1");
#endif
    CHECK(symbol != NULL && sizeof entry == sizeof symbol);
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    const windlass_msquic_plugin *plugin = entry_of(arguments[1])();
    CHECK(plugin->abi == WINDLASS_MSQUIC_ABI && plugin->size == sizeof *plugin);
    CHECK(strcmp(plugin->name, "windlass") == 0);

    char error[200] = "";
    CHECK(plugin->define("cubicc", error, sizeof error) == NULL && strstr(error, "cubicc") != NULL);
    void *definition = plugin->define("reno:iw=10", error, sizeof error);
    CHECK(definition != NULL);
    const windlass_msquic_path path = {
        .path = {.now_ns = 1000000, .peer_address = {[10] = 0xff, 0xff, 192, 0, 2, 1}, .mtu = 1200, .peer_port = 443},
        .initial_window_packets = 10};
    windlass_decision decision = {0};
    void *flow = plugin->start(definition, &path, &decision, error, sizeof error);
    CHECK(flow != NULL && decision.cwnd == 12000 && decision.ssthresh == UINT64_MAX && decision.phase == WINDLASS_SLOW_START);

    /* One packet of slow start: the window grows by what is acknowledged (RFC 9002 section 7.3.1). */
    windlass_packet packet = {.number = 1, .sent_ns = 1000000, .bytes = 1200};
    for (uint64_t number = 1; number <= 10; number++) {
        const windlass_sent sent = {.now_ns = 1000000, .number = number, .in_flight = number * 1200, .bytes = 1200};
        plugin->on_sent(flow, &sent, &decision);
    }
    const windlass_rtt rtt = {.latest_ns = 40000000, .smoothed_ns = 40000000, .variation_ns = 20000000, .min_ns = 40000000};
    const windlass_acked acked = {.now_ns = 41000000, .in_flight_before = 12000, .in_flight = 10800, .packets = &packet, .packet_count = 1};
    plugin->on_rtt(flow, acked.now_ns, &rtt);
    plugin->on_acked(flow, &acked, &decision);
    CHECK(decision.cwnd == 13200 && decision.phase == WINDLASS_SLOW_START);

    /* A loss halves it (section 7.3.2). */
    packet.number = 2;
    const windlass_lost lost = {.now_ns = 42000000, .in_flight_before = 10800, .in_flight = 9600, .packets = &packet, .packet_count = 1};
    plugin->on_lost(flow, &lost, &decision);
    CHECK(decision.cwnd == 6600 && decision.ssthresh == 6600);
    plugin->stop(flow);

#ifdef _WIN32
    CHECK(plugin->configure("cc.toml", error, sizeof error) == NULL && strstr(error, "MSQUIC_CC") != NULL);
#endif
    printf("%s: ABI %u, %u bytes: window %u after a loss\n", plugin->name, plugin->abi, plugin->size, (unsigned)decision.cwnd);
    return 0;
}
