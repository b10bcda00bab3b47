/*
 * A transfer from a picoquic server to a picoquic client with one of windlass' controllers on the server: in
 * virtual time over picoquic's own simulated link,
 *
 *   transfer CONTROLLER BYTES MBIT_S RTT_MS QUEUE_MS LOSS_PERMILLE PICOQUIC_SOURCE [QLOG_DIRECTORY]
 *
 * or over UDP sockets of 127.0.0.1, between which `windlass link` may stand:
 *
 *   transfer serve PORT CONTROLLER BYTES PICOQUIC_SOURCE [QLOG_DIRECTORY]
 *   transfer fetch PORT BYTES
 *
 * Prints what the client received, the time it took and, in virtual time, the packets that were dropped. A
 * CONTROLLER `picoquic:NAME` is one of picoquic's own, for comparison. A server ends with its first connection.
 */
#include "windlass_picoquic.h"

#include "picoquic_internal.h"
#include "picoquic_packet_loop.h"
#include "picoquic_qlog.h"
#include "picoquic_utils.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t wanted, received, damaged;
static int finished;
/* When, in microseconds of a real clock. */
static uint64_t finished_at;

/* The byte at a place of the stream. */
static uint8_t byte_at(uint64_t place) { return (uint8_t)((place * 2654435761u) >> 13); }

static int at_client(picoquic_cnx_t *cnx, uint64_t stream, uint8_t *bytes, size_t length,
                     picoquic_call_back_event_t event, void *context, void *stream_context) {
    (void)stream, (void)context, (void)stream_context;
    if (event == picoquic_callback_stream_data || event == picoquic_callback_stream_fin) {
        for (size_t i = 0; i < length; i++)
            damaged += bytes[i] != byte_at(received + i);
        received += length;
        if (event == picoquic_callback_stream_fin) {
            finished = 1;
            finished_at = picoquic_current_time();
            picoquic_close(cnx, 0);
        }
    }
    return 0;
}

static int at_server(picoquic_cnx_t *cnx, uint64_t stream, uint8_t *bytes, size_t length,
                     picoquic_call_back_event_t event, void *context, void *stream_context) {
    static uint64_t sent;
    (void)context, (void)stream_context;
    if (event == picoquic_callback_stream_fin)
        return picoquic_mark_active_stream(cnx, stream, 1, NULL);
    if (event == picoquic_callback_prepare_to_send) {
        const uint64_t left = wanted - sent;
        const size_t now = left < length ? (size_t)left : length;
        uint8_t *buffer = picoquic_provide_stream_data_buffer(bytes, now, now == left, now < left);
        for (size_t i = 0; buffer != NULL && i < now; i++)
            buffer[i] = byte_at(sent + i);
        sent += now;
    }
    return 0;
}

static double number(const char *text, const char *what) {
    char *end;
    const double value = strtod(text, &end);
    if (*text == 0 || *end != 0 || !(value >= 0)) {
        fprintf(stderr, "%s is \"%s\"; expected a number from 0\n", what, text);
        exit(2);
    }
    return value;
}

/* Sends what `quic` has for now over `link`; returns whether that was anything. */
static int send_all(picoquic_quic_t *quic, picoquictest_sim_link_t *link, uint64_t now) {
    int sent = 0;
    for (;;) {
        picoquictest_sim_packet_t *packet = picoquictest_sim_link_create_packet();
        if (packet == NULL)
            return sent;
        int interface = 0;
        const int failed = picoquic_prepare_next_packet(quic, now, packet->bytes, PICOQUIC_MAX_PACKET_SIZE,
                                                        &packet->length, &packet->addr_to, &packet->addr_from,
                                                        &interface, NULL, NULL);
        if (failed != 0 || packet->length == 0) {
            free(packet);
            return sent;
        }
        picoquictest_sim_link_submit(link, packet, now);
        sent = 1;
    }
}

/* Delivers what arrives at `quic` over `link` by now; returns whether that was anything. */
static int receive_all(picoquic_quic_t *quic, picoquictest_sim_link_t *link, struct sockaddr_in *from,
                       struct sockaddr_in *to, uint64_t now) {
    picoquictest_sim_packet_t *packet;
    int any = 0;
    while ((packet = picoquictest_sim_link_dequeue(link, now)) != NULL) {
        picoquic_incoming_packet(quic, packet->bytes, packet->length, (struct sockaddr *)from,
                                 (struct sockaddr *)to, 0, packet->ecn_mark, now);
        free(packet);
        any = 1;
    }
    return any;
}

/* The controller called `name`; `ours` is it if it is one of windlass'. Ends the program without one. */
static picoquic_congestion_algorithm_t const *controller(const char *name, picoquic_congestion_algorithm_t const **ours) {
    char error[400];
    picoquic_congestion_algorithm_t const *algorithm;
    if (strncmp(name, "picoquic:", 9) == 0) {
        picoquic_register_all_congestion_control_algorithms();
        algorithm = picoquic_get_congestion_algorithm(name + 9);
        snprintf(error, sizeof error, "picoquic has no controller \"%s\"", name + 9);
    } else {
        algorithm = *ours = windlass_picoquic_new(name, error, sizeof error);
    }
    if (algorithm == NULL) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return algorithm;
}

/* A server with `algorithm` and the certificate of picoquic's source, which logs into `logs` unless that is NULL. With
 * `now`, time is what it points to. */
static picoquic_quic_t *make_server(picoquic_congestion_algorithm_t const *algorithm, const char *source, const char *logs,
                                    uint64_t *now) {
    char certificate[1000], key[1000];
    snprintf(certificate, sizeof certificate, "%s/certs/cert.pem", source);
    snprintf(key, sizeof key, "%s/certs/key.pem", source);
    picoquic_quic_t *server = picoquic_create(4, certificate, key, NULL, "windlass", at_server, NULL, NULL, NULL, NULL,
                                              now != NULL ? *now : picoquic_current_time(), now, NULL, NULL, 0);
    if (server == NULL) {
        fprintf(stderr, "picoquic cannot start with %s\n", certificate);
        exit(1);
    }
    picoquic_set_default_congestion_algorithm(server, algorithm);
    if (logs != NULL) {
        picoquic_set_qlog(server, logs);
        picoquic_set_log_level(server, 1);
    }
    return server;
}

/* A client's connection to `peer` that asks for all there is. */
static picoquic_quic_t *make_client(struct sockaddr_in *peer, uint64_t *now) {
    const uint64_t time = now != NULL ? *now : picoquic_current_time();
    picoquic_quic_t *client =
        picoquic_create(4, NULL, NULL, NULL, "windlass", NULL, NULL, NULL, NULL, NULL, time, now, NULL, NULL, 0);
    if (client != NULL) {
        picoquic_set_null_verifier(client);
        picoquic_cnx_t *cnx = picoquic_create_cnx(client, picoquic_null_connection_id, picoquic_null_connection_id,
                                                  (struct sockaddr *)peer, time, 0, "example.org", "windlass", 1);
        if (cnx != NULL) {
            picoquic_set_callback(cnx, at_client, NULL);
            if (picoquic_start_client_cnx(cnx) == 0 && picoquic_add_to_stream(cnx, 0, (const uint8_t *)"GET", 3, 1) == 0)
                return client;
        }
    }
    fprintf(stderr, "picoquic cannot connect\n");
    exit(1);
}

/* Ends a packet loop when the connection there was is over. */
static int at_loop(picoquic_quic_t *quic, picoquic_packet_loop_cb_enum event, void *context, void *argument) {
    static int connected;
    (void)event, (void)context, (void)argument;
    picoquic_cnx_t *cnx = picoquic_get_first_cnx(quic);
    if (cnx != NULL && picoquic_get_cnx_state(cnx) != picoquic_state_disconnected)
        connected = 1;
    else if (connected)
        return PICOQUIC_NO_ERROR_TERMINATE_PACKET_LOOP;
    return 0;
}

static int over_sockets(int count, char **arguments) {
    const int serves = strcmp(arguments[1], "serve") == 0;
    const uint16_t port = (uint16_t)number(arguments[2], "PORT");
    if (serves) {
        picoquic_congestion_algorithm_t const *ours = NULL;
        wanted = (uint64_t)number(arguments[4], "BYTES");
        picoquic_quic_t *server =
            make_server(controller(arguments[3], &ours), arguments[5], count == 7 ? arguments[6] : NULL, NULL);
        const int failed = picoquic_packet_loop(server, port, AF_INET, 0, 0, 0, at_loop, NULL);
        picoquic_free(server);
        windlass_picoquic_free(ours);
        return failed != 0 && failed != PICOQUIC_NO_ERROR_TERMINATE_PACKET_LOOP;
    }
    wanted = (uint64_t)number(arguments[3], "BYTES");
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const uint64_t began = picoquic_current_time();
    picoquic_quic_t *client = make_client(&peer, NULL);
    picoquic_packet_loop(client, 0, AF_INET, 0, 0, 0, at_loop, NULL);
    const double seconds = (double)(finished_at - began) / 1e6;
    printf("%" PRIu64 " bytes, %" PRIu64 " of them wrong, in %.3f s: %.2f Mbit/s\n", received, damaged, seconds,
           (double)received * 8e-6 / seconds);
    picoquic_free(client);
    return received == wanted && damaged == 0 ? 0 : 1;
}

int main(int count, char **arguments) {
    if (((count == 6 || count == 7) && strcmp(arguments[1], "serve") == 0) ||
        (count == 4 && strcmp(arguments[1], "fetch") == 0))
        return over_sockets(count, arguments);
    if (count < 8 || count > 9) {
        fprintf(stderr,
                "usage: %s CONTROLLER BYTES MBIT_S RTT_MS QUEUE_MS LOSS_PERMILLE PICOQUIC_SOURCE [QLOG_DIRECTORY]\n"
                "       %s serve PORT CONTROLLER BYTES PICOQUIC_SOURCE [QLOG_DIRECTORY]\n"
                "       %s fetch PORT BYTES\n",
                arguments[0], arguments[0], arguments[0]);
        return 2;
    }
    picoquic_congestion_algorithm_t const *ours = NULL, *algorithm = controller(arguments[1], &ours);
    wanted = (uint64_t)number(arguments[2], "BYTES");
    const double rate = number(arguments[3], "MBIT_S") / 1000, rtt = number(arguments[4], "RTT_MS");
    const double queue = number(arguments[5], "QUEUE_MS");
    uint64_t permille = (uint64_t)number(arguments[6], "LOSS_PERMILLE"), dice = 1;
    struct sockaddr_in at[2];
    memset(at, 0, sizeof at);
    for (int side = 0; side < 2; side++) {
        at[side].sin_family = AF_INET;
        at[side].sin_addr.s_addr = htonl(0xc0000201u + (uint32_t)side);
        at[side].sin_port = htons((uint16_t)(4433 + side));
    }
    uint64_t now = 1000000;
    picoquic_quic_t *server = make_server(algorithm, arguments[7], count == 9 ? arguments[8] : NULL, &now);
    picoquic_quic_t *client = make_client(&at[0], &now);
    const uint64_t one_way = (uint64_t)(rtt * 500);
    picoquictest_sim_link_t *down =
        picoquictest_sim_link_create(rate, one_way, NULL, (uint64_t)(queue * 1000), now);
    picoquictest_sim_link_t *up = picoquictest_sim_link_create(rate, one_way, NULL, 0, now);

    const uint64_t began = now, limit = now + 600u * 1000000u;
    uint64_t done = 0, mask = 0;
    down->loss_mask = &mask;
    while (now < limit && (!finished || now < done + 1000000)) {
        if (finished && done == 0)
            done = now;
        int any = send_all(client, up, now);
        /* The link drops the next packet if the lowest bit is set. */
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        mask = (dice >> 33) % 1000 < permille && now > began + 1000000;
        any |= send_all(server, down, now);
        any |= receive_all(client, down, &at[0], &at[1], now);
        any |= receive_all(server, up, &at[1], &at[0], now);
        if (any)
            continue;
        uint64_t next = picoquic_get_next_wake_time(client, now);
        const uint64_t server_next = picoquic_get_next_wake_time(server, now);
        next = server_next < next ? server_next : next;
        next = picoquictest_sim_link_next_arrival(down, next);
        next = picoquictest_sim_link_next_arrival(up, next);
        now = next > now ? next : now + 1;
    }
    const double seconds = (double)((done != 0 ? done : now) - began) / 1e6;
    printf("%s: %" PRIu64 " bytes, %" PRIu64 " of them wrong, in %.3f s: %.2f Mbit/s; %" PRIu64 " packets dropped\n",
           arguments[1], received, damaged, seconds, (double)received * 8e-6 / seconds, down->packets_dropped);
    picoquic_free(client);
    picoquic_free(server);
    picoquictest_sim_link_delete(down);
    picoquictest_sim_link_delete(up);
    windlass_picoquic_free(ours);
    return received == wanted && damaged == 0 ? 0 : 1;
}
