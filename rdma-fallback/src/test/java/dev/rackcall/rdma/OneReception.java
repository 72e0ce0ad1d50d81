package dev.rackcall.rdma;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CarrierProvider;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.Function;

/** Answers every peer whose device reaches this one. */
public record OneReception(Function<ByteBuffer, CarrierProvider.Answer> answers) implements CarrierProvider.Reception {
    @Override
    public CarrierProvider.Inspection inspect(ByteBuffer hello, Set<String> names) {
        return CarrierProvider.Inspection.passed(8);
    }

    @Override
    public CarrierProvider.Answer greet(ByteBuffer hello) {
        return answers.apply(hello);
    }

    @Override
    public ByteBuffer refusal(Status why) {
        return ByteBuffer.wrap(why.toString().getBytes(StandardCharsets.UTF_8));
    }
}
