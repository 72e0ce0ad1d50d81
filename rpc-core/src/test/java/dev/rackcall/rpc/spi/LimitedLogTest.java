package dev.rackcall.rpc.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.AbstractLogger;
import org.slf4j.helpers.MessageFormatter;

class LimitedLogTest {
    private final AtomicLong now = new AtomicLong();
    private final Lines lines = new Lines();
    private final LimitedLog log = new LimitedLog(lines, now::get);

    @Test
    void shouldLeaveLinesOutAndSayHowMany() {
        for (int i = 0; i < 1000; i++) {
            log.warn("{} broke the protocol", "peer {}");
        }
        int written = lines.texts.size();
        assertThat(written).isBetween(1, 100);
        assertThat(lines.texts).containsOnly("peer {} broke the protocol");
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        log.warn("{} broke the protocol", "peer {}");
        log.warn("{} broke the protocol", "peer {}");
        assertThat(lines.texts.subList(written, written + 2))
                .containsExactly(
                        "peer {} broke the protocol (" + (1000 - written) + " more such lines were left out)",
                        "peer {} broke the protocol");
    }

    @Test
    void shouldNotLetOneKindOfLineHideAnother() {
        for (int i = 0; i < 1000; i++) {
            log.warn("{} broke the protocol", i);
        }
        log.error("polling failed");
        assertThat(lines.texts.getLast()).isEqualTo("polling failed");
    }

    @Test
    void shouldWriteTheStackTraceOfAnExceptionThatComesLast() {
        RuntimeException thrown = new IllegalStateException("expected in this test");
        log.error("{} failed", "it", thrown);
        assertThat(lines.texts).containsExactly("it failed");
        assertThat(lines.causes).containsExactly(thrown);
    }

    /** Keeps what is written, at all levels. */
    private static final class Lines extends AbstractLogger {
        private static final long serialVersionUID = 1L;

        private final transient List<String> texts = new ArrayList<>();
        private final transient List<Throwable> causes = new ArrayList<>();

        @Override
        protected String getFullyQualifiedCallerName() {
            return Lines.class.getName();
        }

        @Override
        protected void handleNormalizedLoggingCall(
                Level level, Marker marker, String format, Object[] arguments, Throwable thrown) {
            texts.add(MessageFormatter.basicArrayFormat(format, arguments));
            causes.add(thrown);
        }

        @Override
        public boolean isTraceEnabled() {
            return true;
        }

        @Override
        public boolean isTraceEnabled(Marker marker) {
            return true;
        }

        @Override
        public boolean isDebugEnabled() {
            return true;
        }

        @Override
        public boolean isDebugEnabled(Marker marker) {
            return true;
        }

        @Override
        public boolean isInfoEnabled() {
            return true;
        }

        @Override
        public boolean isInfoEnabled(Marker marker) {
            return true;
        }

        @Override
        public boolean isWarnEnabled() {
            return true;
        }

        @Override
        public boolean isWarnEnabled(Marker marker) {
            return true;
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }

        @Override
        public boolean isErrorEnabled(Marker marker) {
            return true;
        }
    }
}
