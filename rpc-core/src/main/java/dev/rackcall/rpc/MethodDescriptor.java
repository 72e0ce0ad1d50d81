package dev.rackcall.rpc;

/** One method of a service as both ends know it. Compared by identity: generated code makes one per method. */
public final class MethodDescriptor {
    /** How a method is called. */
    public enum Kind {
        UNARY,
        ASYNC,
        ONE_WAY,
        SERVER_STREAM,
        CLIENT_STREAM,
        BIDI_STREAM;

        /** Whether the caller sends a stream. */
        public boolean sendsStream() {
            return this == CLIENT_STREAM || this == BIDI_STREAM;
        }

        /** Whether the caller goes on before the call has ended. */
        public boolean isAsynchronous() {
            return this == ASYNC || this == ONE_WAY;
        }

        /** Whether the handler answers with a stream. */
        public boolean returnsStream() {
            return this == SERVER_STREAM || this == BIDI_STREAM;
        }
    }

    private final String service;
    private final String name;
    private final String signature;
    private final int index;
    private final Kind kind;
    private final boolean idempotent;
    private final Isolation isolation;
    private final boolean writes;
    /** Cached because the call path uses it in messages. */
    private final String fullName;

    /**
     * @param service the channel name, for example {@code /shop/search}
     * @param name the Java method's name
     * @param signature the method in readable form, for example {@code long put(String key, byte[] value)}; part of the
     *     fingerprint
     * @param index position in {@code ServiceDefinition.methods()}, which each request contains
     * @param kind how the method is called
     * @param idempotent whether the runtime may repeat it
     * @param isolation of its shared arguments, unless the caller chooses another
     * @param writes whether the handler may store into its shared arguments
     */
    public MethodDescriptor(
            String service,
            String name,
            String signature,
            int index,
            Kind kind,
            boolean idempotent,
            Isolation isolation,
            boolean writes) {
        this.service = service;
        this.name = name;
        this.signature = signature;
        this.index = index;
        this.kind = kind;
        this.idempotent = idempotent;
        this.isolation = isolation.or(Isolation.TRUSTED);
        this.writes = writes;
        fullName = service + "/" + name;
    }

    /** The channel name, for example {@code /shop/search}. */
    public String service() {
        return service;
    }

    /** The Java method's name. */
    public String name() {
        return name;
    }

    /** The method in readable form, for example {@code long put(String key, byte[] value)}. */
    public String signature() {
        return signature;
    }

    /** Position in {@code ServiceDefinition.methods()}. */
    public int index() {
        return index;
    }

    public Kind kind() {
        return kind;
    }

    /** Whether the runtime may repeat it. */
    public boolean idempotent() {
        return idempotent;
    }

    /** The isolation of its shared arguments, unless the caller chooses another; never {@link Isolation#DEFAULT}. */
    public Isolation isolation() {
        return isolation;
    }

    /** Whether the handler may store into the shared arguments; see {@link Rpc#writes}. */
    public boolean writes() {
        return writes;
    }

    /** {@code /shop/search/put}, the form of grpc-java's full method names. */
    public String fullName() {
        return fullName;
    }

    @Override
    public String toString() {
        return fullName;
    }
}
