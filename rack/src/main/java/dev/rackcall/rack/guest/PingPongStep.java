package dev.rackcall.rack.guest;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A message there and back by the verbs' own program, and then calls without arguments, between the same guests over the same device. */
final class PingPongStep implements GuestStep {
    private static final Step STEP = Step.PINGPONG;
    private static final int ITERATIONS = 1000;
    private static final int WARM_UP = 3000;
    private static final int TIMED = 1000;
    /** The server says nothing when it listens. */
    private static final int TRIES = 50;

    private static final long PAUSE_MILLIS = 200;
    private static final Pattern MICROS = Pattern.compile("= (?<micros>[0-9.]+) usec/iter");

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        return guest.is("A") ? serve(guest) : call(guest);
    }

    private static Process pingPong(List<String> peer) throws IOException {
        List<String> command = new ArrayList<>(
                List.of("ibv_rc_pingpong", "-d", "rxe0", "-g", "1", "-s", "64", "-n", Integer.toString(ITERATIONS)));
        command.addAll(peer);
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String serve(Guest guest) throws IOException {
        Process bare = pingPong(List.of());
        guest.put(STEP, "bare", "");
        String said = new String(bare.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Guest.require(MICROS.matcher(said).find(), "ibv_rc_pingpong said: " + said);
        try (RpcServer server = YardCalls.server()
                .dispatch(Dispatch.direct())
                .listen(RemoteStep.ADDRESS)
                .start()) {
            guest.put(STEP, "serving", "");
            guest.get(STEP, "called");
            return "answered " + server.channels() + " and ibv_rc_pingpong";
        }
    }

    private static String call(Guest guest) throws IOException, InterruptedException {
        guest.get(STEP, "bare");
        double bare = bareMicros();
        guest.get(STEP, "serving");
        try (RpcChannel channel = RemoteStep.channel()) {
            double micros = YardCalls.nanosPerNothing(channel.stub(Yard.class), WARM_UP, TIMED) / 1000.0;
            guest.put(STEP, "called", "");
            return String.format(
                    Locale.ROOT,
                    "a call without arguments %.0f us, ibv_rc_pingpong %.0f us: %.2f x (wanted: 2 x at most; nothing is demanded of emulated processors)",
                    micros,
                    bare,
                    micros / bare);
        }
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
