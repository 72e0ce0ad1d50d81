/* 64 bytes there and back over a Unix socket, for the subjects rare-c-uds-MS.
 *   pingpong serve PATH   answers one client
 *   pingpong call PATH    reads lines of "GAP_NS CALLS": so many calls, GAP_NS from the start of one to the next; prints each one's nanoseconds
 * Both print "ready" when they are, and end with their parent. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#define BYTES 64

static void fail(const char *what) { perror(what); exit(1); }

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void sleep_until(long due) {
    struct timespec t = {due / 1000000000L, due % 1000000000L};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0) != 0) {}
}

static void ready(void) {
    puts("ready");
    fflush(stdout);
}

static int serve(int listener, struct sockaddr_un *address) {
    char message[BYTES];
    if (bind(listener, (struct sockaddr *)address, sizeof *address) || listen(listener, 1)) fail("listening");
    ready();
    int client = accept(listener, 0, 0);
    if (client < 0) fail("accepting");
    while (recv(client, message, BYTES, MSG_WAITALL) == BYTES)
        if (write(client, message, BYTES) != BYTES) fail("answering");
    return 0;
}

static int call(int server, struct sockaddr_un *address) {
    long gap, calls;
    if (connect(server, (struct sockaddr *)address, sizeof *address)) fail("connecting");
    ready();
    while (scanf("%ld %ld", &gap, &calls) == 2) {
        long *took = malloc(calls * sizeof *took), due = now();
        if (!took) fail("memory for the latencies");
        for (long i = 0; i < calls; i++) {
            char message[BYTES] = {0}, answer[BYTES];
            memcpy(message, &i, sizeof i);
            due += gap;
            sleep_until(due);
            long start = now();
            if (write(server, message, BYTES) != BYTES || recv(server, answer, BYTES, MSG_WAITALL) != BYTES) fail("calling");
            took[i] = now() - start;
            if (memcmp(message, answer, BYTES)) { fprintf(stderr, "wrong reply to call %ld\n", i); return 1; }
        }
        for (long i = 0; i < calls; i++) printf("%ld\n", took[i]);
        fflush(stdout);
        free(took);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count != 3) { fprintf(stderr, "pingpong serve|call PATH\n"); return 2; }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, arguments[2], sizeof address.sun_path - 1);
    int socket_ = socket(AF_UNIX, SOCK_STREAM, 0);
    if (socket_ < 0) fail("opening a socket");
    return strcmp(arguments[1], "serve") ? call(socket_, &address) : serve(socket_, &address);
}
