// A program that knows quiche's C interface and nothing else: two connections in memory, a
// megabyte from the server to the client, with the congestion controller named on the
// command line, or by its number in quiche's enumeration (as #1), or none (-).
//
//   transfer CERTIFICATE.pem KEY.pem CONTROLLER [again]
//
// With `again`, another connection for each line of standard input.
// Prints the first and the last window of the server. Ends with 3 if quiche does not take the
// name, 1 if anything else goes wrong.

#include <errno.h>
#include <netinet/in.h>
#include <quiche.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DATAGRAM = 1350, ANSWER = 1 << 20, PATIENCE_S = 120 };

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static struct sockaddr_in address(unsigned host, unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(0xc0000200 + host);
    return address;
}

static quiche_config *configured(void) {
    quiche_config *config = quiche_config_new(QUICHE_PROTOCOL_VERSION);
    if (config == NULL) {
        fail("no configuration");
    }
    quiche_config_set_application_protos(config, (const uint8_t *)"\x04" "file", 5);
    quiche_config_verify_peer(config, false);
    quiche_config_set_max_recv_udp_payload_size(config, DATAGRAM);
    quiche_config_set_max_send_udp_payload_size(config, DATAGRAM);
    quiche_config_set_initial_max_data(config, 10 * ANSWER);
    quiche_config_set_initial_max_stream_data_bidi_local(config, 10 * ANSWER);
    quiche_config_set_initial_max_stream_data_bidi_remote(config, 10 * ANSWER);
    quiche_config_set_initial_max_streams_bidi(config, 10);
    return config;
}

// Hands everything `from` has to send to `to`.
static void carry(quiche_conn *from, quiche_conn *to, struct sockaddr_in *here, struct sockaddr_in *there) {
    uint8_t datagram[DATAGRAM];
    quiche_send_info sent;
    for (;;) {
        ssize_t size = quiche_conn_send(from, datagram, sizeof(datagram), &sent);
        if (size == QUICHE_ERR_DONE) {
            return;
        }
        if (size < 0) {
            fail("cannot send");
        }
        quiche_recv_info received = {
            (struct sockaddr *)here, sizeof(*here),
            (struct sockaddr *)there, sizeof(*there),
        };
        if (quiche_conn_recv(to, datagram, (size_t)size, &received) < 0) {
            fail("cannot receive");
        }
    }
}

static size_t window(const quiche_conn *connection) {
    quiche_path_stats stats;
    if (quiche_conn_path_stats(connection, 0, &stats) < 0) {
        fail("no path");
    }
    return stats.cwnd;
}

// A megabyte over a connection of its own; prints the first and the last window.
static void transfer(quiche_config *client_config, quiche_config *server_config) {
    struct sockaddr_in here = address(7, 4000), there = address(1, 443);
    const uint8_t client_id[16] = "the-client's id", server_id[16] = "the-server's id";
    quiche_conn *client = quiche_connect("localhost", client_id, sizeof(client_id), (struct sockaddr *)&here,
                                         sizeof(here), (struct sockaddr *)&there, sizeof(there), client_config);
    quiche_conn *server = quiche_accept(server_id, sizeof(server_id), NULL, 0, (struct sockaddr *)&there,
                                        sizeof(there), (struct sockaddr *)&here, sizeof(here), server_config);
    if (client == NULL || server == NULL) {
        fail("no connection");
    }
    size_t first = window(server);

    static uint8_t buffer[65536];
    size_t sent = 0, received = 0;
    bool asked = false, finished = false;
    uint64_t error;
    time_t start = time(NULL);
    while (!finished) {
        if (time(NULL) - start > PATIENCE_S) {
            fail("takes too long");
        }
        if (!asked && quiche_conn_is_established(client)) {
            asked = quiche_conn_stream_send(client, 0, (const uint8_t *)"all", 3, true, &error) == 3;
        }
        while (quiche_conn_stream_readable(server, 0) &&
               quiche_conn_stream_recv(server, 0, buffer, sizeof(buffer), &finished, &error) >= 0) {
            finished = false;
        }
        while (quiche_conn_is_established(server) && sent < ANSWER && quiche_conn_stream_capacity(server, 0) > 0) {
            size_t piece = ANSWER - sent < sizeof(buffer) ? ANSWER - sent : sizeof(buffer);
            ssize_t written = quiche_conn_stream_send(server, 0, buffer, piece, sent + piece == ANSWER, &error);
            if (written <= 0) {
                break;
            }
            sent += (size_t)written;
        }
        while (quiche_conn_stream_readable(client, 0) && !finished) {
            ssize_t read = quiche_conn_stream_recv(client, 0, buffer, sizeof(buffer), &finished, &error);
            if (read < 0) {
                break;
            }
            received += (size_t)read;
        }
        carry(client, server, &here, &there);
        carry(server, client, &there, &here);
        if (quiche_conn_timeout_as_nanos(client) == 0) {
            quiche_conn_on_timeout(client);
        }
        if (quiche_conn_timeout_as_nanos(server) == 0) {
            quiche_conn_on_timeout(server);
        }
    }
    if (received != ANSWER) {
        fail("something is missing");
    }
    printf("%zu %zu\n", first, window(server));
    quiche_conn_free(client);
    quiche_conn_free(server);
}

int main(int count, char **arguments) {
    if (count != 4 && count != 5) {
        fail("usage: transfer CERTIFICATE.pem KEY.pem CONTROLLER [again]");
    }
    quiche_config *server_config = configured();
    if (quiche_config_load_cert_chain_from_pem_file(server_config, arguments[1]) != 0 ||
        quiche_config_load_priv_key_from_pem_file(server_config, arguments[2]) != 0) {
        fail("cannot read the certificate or the key");
    }
    int taken = 0;
    if (arguments[3][0] == '#') {
        quiche_config_set_cc_algorithm(server_config, (enum quiche_cc_algorithm)atoi(arguments[3] + 1));
    } else if (strcmp(arguments[3], "-") != 0) {
        taken = quiche_config_set_cc_algorithm_name(server_config, arguments[3]);
    }
    if (taken != 0) {
        fprintf(stderr, "%s: quiche says %d\n", arguments[3], taken);
        return taken == QUICHE_ERR_CONGESTION_CONTROL ? 3 : 1;
    }
    quiche_config *client_config = configured();

    char line[80];
    do {
        transfer(client_config, server_config);
        fflush(stdout);
    } while (count == 5 && fgets(line, sizeof(line), stdin) != NULL);
    quiche_config_free(client_config);
    quiche_config_free(server_config);
    return 0;
}
