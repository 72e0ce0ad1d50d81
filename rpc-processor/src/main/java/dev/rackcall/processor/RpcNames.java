package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;

/**
 * The annotations that services carry and the run-time classes that generated services use. The processor knows them by
 * name only.
 */
final class RpcNames {
    static final String RPC_SERVICE = "dev.rackcall.rpc.RpcService";
    static final String RPC = "dev.rackcall.rpc.Rpc";
    static final String DEFAULT = "dev.rackcall.rpc.Default";

    static final ClassName ISOLATION = ClassName.get("dev.rackcall.rpc", "Isolation");
    static final ClassName RPC_EXCEPTION = ClassName.get("dev.rackcall.rpc", "RpcException");
    static final ClassName SERVICE_DEFINITION = spi("ServiceDefinition");
    static final ClassName METHOD_DESCRIPTOR = ClassName.get("dev.rackcall.rpc", "MethodDescriptor");
    static final ClassName METHOD_KIND = METHOD_DESCRIPTOR.nestedClass("Kind");
    static final ClassName CLIENT_CALLS = spi("ClientCalls");
    static final ClassName CLIENT_CALL = spi("ClientCall");
    static final ClassName RESULT_READER = CLIENT_CALL.nestedClass("ResultReader");
    static final ClassName ELEMENT_WRITER = CLIENT_CALL.nestedClass("ElementWriter");
    static final ClassName SERVER_CALL = spi("ServerCall");
    static final ClassName RESULT_WRITER = SERVER_CALL.nestedClass("ResultWriter");
    static final ClassName ELEMENT_READER = SERVER_CALL.nestedClass("ElementReader");
    static final ClassName DISPATCHER = spi("Dispatcher");

    static final ClassName PAYLOAD_WRITER = codec("PayloadWriter");
    static final ClassName PAYLOAD_READER = codec("PayloadReader");
    static final ClassName PAYLOAD_EXCEPTION = codec("PayloadException");
    static final ClassName JDK_VALUES = codec("JdkValues");
    static final ClassName PRIMITIVE_ARRAYS = codec("PrimitiveArrays");

    static final ClassName CHRONICLE_BYTES = ClassName.get("dev.rackcall.chronicle", "ChronicleBytes");

    private RpcNames() {}

    private static ClassName spi(String simpleName) {
        return ClassName.get("dev.rackcall.rpc.spi", simpleName);
    }

    private static ClassName codec(String simpleName) {
        return ClassName.get("dev.rackcall.shm.codec", simpleName);
    }
}
