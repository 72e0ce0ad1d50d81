package dev.rackcall.processor;

import com.palantir.javapoet.NameAllocator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The names of a service's methods in generated code; parameter types distinguish overloads. */
final class MethodNames {
    private final Map<RpcMethod, String> identifiers = new HashMap<>();
    private final Map<RpcMethod, String> constants = new HashMap<>();

    /** @param members names that are taken in the generated class; the constants are added */
    MethodNames(List<RpcMethod> methods, NameAllocator members) {
        Map<String, Long> overloads =
                methods.stream().collect(Collectors.groupingBy(RpcMethod::name, Collectors.counting()));
        NameAllocator names = new NameAllocator();
        for (RpcMethod method : methods) {
            String types = overloads.get(method.name()) == 1
                    ? ""
                    : method.parameters().stream()
                            .map(parameter -> TypeText.identifier(parameter.type()))
                            .collect(Collectors.joining("", "_", ""));
            String identifier = names.newName(method.name() + types);
            identifiers.put(method, identifier);
            constants.put(method, members.newName(Sources.constantName(identifier)));
        }
    }

    /** The descriptor's constant: {@code PUT_ALL}. */
    String constant(RpcMethod method) {
        return constants.get(method);
    }

    /** {@code PREFIX_PUT_ALL}. */
    String constant(String prefix, RpcMethod method) {
        return prefix + "_" + constants.get(method);
    }

    /** {@code servePutAll}. */
    String serve(RpcMethod method) {
        String identifier = identifiers.get(method);
        return "serve" + Character.toUpperCase(identifier.charAt(0)) + identifier.substring(1);
    }
}
