package dev.rackcall.rack.guest;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A message there and back by the verbs' own program, and calls without arguments, between the same guests over the same device: in turns, so that whatever else
 * the machine does meets both. The median of the turns' ratios is what is said.
 */
final class PingPongStep implements GuestStep {
    private static final Step STEP = Step.PINGPONG;
    private static final int ROUNDS = 7;
    /** Of each in a turn. */
    private static final int TIMES = 300;

    private static final int WARM_UP = 3000;
    /** The server says nothing when it listens. */
    private static final int TRIES = 50;

    /** Not its default, which is that of the calls' server. */
    private static final String PORT = "18516";

    private static final long PAUSE_MILLIS = 200;
    private static final Pattern MICROS = Pattern.compile("= (?<micros>[0-9.]+) usec/iter");
    private static final Path SENT_PACKETS =
            Path.of("/sys/class/infiniband", RdmaEnd.DEVICE, "ports/1/hw_counters/sent_pkts");

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        return guest.is("A") ? serve(guest) : call(guest);
    }

    private static Process pingPong(List<String> peer) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "ibv_rc_pingpong",
                "-d",
                RdmaEnd.DEVICE,
                "-g",
                "1",
                "-p",
                PORT,
                "-s",
                "64",
                "-n",
                Integer.toString(TIMES)));
        command.addAll(peer);
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String serve(Guest guest) throws IOException {
        try (RpcServer server = YardCalls.server()
                .dispatch(Dispatch.direct())
                .listen(RemoteStep.ADDRESS)
                .start()) {
            guest.put(STEP, "serving", "");
            for (int round = 0; round < ROUNDS; round++) {
                guest.get(STEP, "called-" + round);
                Process bare = pingPong(List.of());
                guest.put(STEP, "bare-" + round, "");
                String said = new String(bare.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                Guest.require(MICROS.matcher(said).find(), "ibv_rc_pingpong said: " + said);
            }
            return "answered " + server.channels() + " and ibv_rc_pingpong";
        }
    }

    private static String call(Guest guest) throws IOException, InterruptedException {
        guest.get(STEP, "serving");
        double[] calls = new double[ROUNDS];
        double[] bares = new double[ROUNDS];
        double[] ratios = new double[ROUNDS];
        double packets = 0;
        try (RpcChannel channel = RemoteStep.channel()) {
            Yard yard = channel.stub(Yard.class);
            YardCalls.nanosPerNothing(yard, 0, WARM_UP);
            for (int round = 0; round < ROUNDS; round++) {
                long sent = sentPackets();
                calls[round] = YardCalls.nanosPerNothing(yard, 0, TIMES) / 1000.0;
                packets += (sentPackets() - sent) / (double) (ROUNDS * TIMES);
                guest.put(STEP, "called-" + round, "");
                guest.get(STEP, "bare-" + round);
                bares[round] = bareMicros();
                ratios[round] = calls[round] / bares[round];
                guest.note("%.0f us, %.0f us".formatted(calls[round], bares[round]));
            }
        }
        return String.format(
                Locale.ROOT,
                "a call without arguments %.0f us (%.1f packets sent), ibv_rc_pingpong %.0f us, medians of %d turns: %.2f x (wanted: 2 x at most; nothing is"
                        + " demanded of emulated processors)",
                median(calls),
                packets,
                median(bares),
                ROUNDS,
                median(ratios));
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
            Process bare = pingPong(List.of(RemoteStep.ADDRESS.getHost()));
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
