/*
 * Prints how fast this machine's time-stamp counter counts, in thousands a second. Under emulation it is also the guests' clock. A guest that measures it while
 * it boots compares it with an emulated timer: on a busy machine it got a fifth of the truth, its clock ran five times too fast, and all its time-outs passed
 * early. The machine therefore measures it, and tells its guests.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static long long nanos(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Reads both clocks at one moment: of many pairs of readings, the one that took the least time. */
static void both(unsigned long long *ticks, long long *at) {
    unsigned long long least = -1;
    for (int i = 0; i < 1000; i++) {
        unsigned long long before = __rdtsc();
        long long now = nanos();
        unsigned long long after = __rdtsc();
        if (after - before < least) {
            least = after - before;
            *ticks = before + least / 2;
            *at = now;
        }
    }
}

int main(void) {
    unsigned long long first, last;
    long long begin, end;
    both(&first, &begin);
    nanosleep(&(struct timespec) {.tv_nsec = 300000000}, 0);
    both(&last, &end);
    printf("%.0f\n", (last - first) * 1e6 / (end - begin));
}
