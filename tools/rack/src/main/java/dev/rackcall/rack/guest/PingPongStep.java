package dev.rackcall.rack.guest;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Compares calls without arguments with {@code ibv_rc_pingpong} between the same guests over the same device. Both take
 * turns, so that other work of the machine affects both. The step reports the median of the turns' ratios: of calls
 * that wait as that program does, and of calls with the default waiting. A default wait spins for a fraction of a
 * millisecond, which is many times the answer time of a real device. An emulated device takes longer, so calls fall
 * asleep and pay for the wake-up.
 */
final class PingPongStep implements Guest.Work {
    private static final Step STEP = Step.PINGPONG;
    private static final int ROUNDS = 7;
    /** Calls, or messages, in a turn. */
    private static final int TIMES = 300;

    private static final int FIRST_WARM_UP = 2000;
    private static final int WARM_UP = 50;
    /** The client tries again, since the server does not report that it listens. */
    private static final int TRIES = 50;

    /** Not its default, which is that of the calls' server. */
    private static final String PORT = "18516";

    private static final long PAUSE_MILLIS = 200;
    private static final Pattern MICROS = Pattern.compile("= (?<micros>[0-9.]+) usec/iter");
    private static final Path SENT_PACKETS =
            Path.of("/sys/class/infiniband", RdmaEnd.DEVICE, "ports/1/hw_counters/sent_pkts");

    /** How both sides of calls wait. */
    private enum Kind {
        /** As ibv_rc_pingpong does. */
        SPINNING(WaitStrategy.busySpin()),
        USUAL(WaitStrategy.adaptive());

        final WaitStrategy waiting;

        Kind(WaitStrategy waiting) {
            this.waiting = waiting;
        }
    }

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        return guest.is("A") ? serve(guest) : call(guest);
    }

    /** @param peer empty for the server, else a space and its address */
    private static Process pingPong(String peer) throws IOException {
        String command = "ibv_rc_pingpong -d " + RdmaEnd.DEVICE + " -g 1 -p " + PORT + " -s 64 -n " + TIMES + peer;
        return new ProcessBuilder(command.split(" ", -1))
                .redirectErrorStream(true)
                .start();
    }

    private static String serve(Guest guest) throws IOException {
        for (int round = 0; round < ROUNDS; round++) {
            for (Kind kind : Kind.values()) {
                // One at a time: two spinning servers would share the processor.
                try (RpcServer server = YardCalls.server()
                        .dispatch(Dispatch.direct())
                        .waiting(kind.waiting)
                        .listen(RemoteStep.ADDRESS)
                        .start()) {
                    guest.put(STEP, kind + "-serves-" + round, "");
                    guest.get(STEP, kind + "-called-" + round);
                }
            }
            Process bare = pingPong("");
            guest.put(STEP, "bare-" + round, "");
            String said = new String(bare.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Guest.require(MICROS.matcher(said).find(), "ibv_rc_pingpong said: " + said);
        }
        return "answered calls that spin, calls that wait as by default, and ibv_rc_pingpong";
    }

    private static String call(Guest guest) throws IOException, InterruptedException {
        Map<Kind, Turns> calls = new EnumMap<>(Map.of(Kind.SPINNING, new Turns(), Kind.USUAL, new Turns()));
        double[] bares = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            for (Kind kind : Kind.values()) {
                guest.get(STEP, kind + "-serves-" + round);
                try (RpcChannel channel = RemoteStep.channel(RemoteStep.ADDRESS)
                        .waiting(kind.waiting)
                        .open()) {
                    calls.get(kind).call(channel.stub(Yard.class), round == 0 ? FIRST_WARM_UP : WARM_UP);
                }
                guest.put(STEP, kind + "-called-" + round, "");
            }
            guest.get(STEP, "bare-" + round);
            bares[round] = bareMicros();
            guest.note("%.0f us, %.0f us, %.0f us"
                    .formatted(
                            calls.get(Kind.SPINNING).last(),
                            calls.get(Kind.USUAL).last(),
                            bares[round]));
        }
        return summary(calls.get(Kind.SPINNING), calls.get(Kind.USUAL), bares);
    }

    private static String summary(Turns spinning, Turns usual, double[] bares) {
        return String.format(
                Locale.ROOT,
                "a call without arguments %.0f us where both sides spin as ibv_rc_pingpong does (%.1f packets sent), that %.0f us, medians of %d turns: %.2f x (target: at most 2 x;"
                        + " not judged on emulated processors); with the default waiting, in which some calls sleep before an emulated answer arrives, %.0f us: %.2f x",
                median(spinning.micros),
                spinning.packets / ROUNDS,
                median(bares),
                ROUNDS,
                spinning.ratio(bares),
                median(usual.micros),
                usual.ratio(bares));
    }

    /** Times of calls, turn by turn. */
    private static final class Turns {
        final double[] micros = new double[ROUNDS];
        double packets;
        private int count;

        void call(Yard yard, int warmUp) throws IOException {
            YardCalls.nanosPerNothing(yard, 0, warmUp);
            long sent = sentPackets();
            micros[count++] = YardCalls.nanosPerNothing(yard, 0, TIMES) / 1000.0;
            packets += (sentPackets() - sent) / (double) TIMES;
        }

        double last() {
            return micros[count - 1];
        }

        double ratio(double[] bares) {
            double[] ratios = new double[count];
            for (int i = 0; i < count; i++) {
                ratios[i] = micros[i] / bares[i];
            }
            return median(ratios);
        }
    }

    private static long sentPackets() throws IOException {
        return Long.parseLong(Files.readString(SENT_PACKETS).strip());
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static double bareMicros() throws IOException, InterruptedException {
        String said = "";
        for (int i = 0; i < TRIES; i++) {
            Process bare = pingPong(" " + RemoteStep.ADDRESS.getHost());
            said = new String(bare.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher matcher = MICROS.matcher(said);
            if (bare.waitFor() == 0 && matcher.find()) {
                return Double.parseDouble(matcher.group("micros"));
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        throw new IllegalStateException("ibv_rc_pingpong says: " + said);
    }
}
