package dev.rackcall.processor;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.TypeName;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The types of the language and the JDK that the codec supports, with their part of its method names. */
final class StandardTypes {
    private static final Map<TypeName, Value.Scalar> PRIMITIVES = new LinkedHashMap<>();
    private static final Map<TypeName, Value> CLASSES = new LinkedHashMap<>();

    static {
        primitive(TypeName.BOOLEAN, "Boolean", 1);
        primitive(TypeName.BYTE, "Byte", 1);
        primitive(TypeName.SHORT, "Short", Short.BYTES);
        primitive(TypeName.CHAR, "Char", Character.BYTES);
        primitive(TypeName.INT, "Int", Integer.BYTES);
        primitive(TypeName.LONG, "Long", Long.BYTES);
        primitive(TypeName.FLOAT, "Float", Float.BYTES);
        primitive(TypeName.DOUBLE, "Double", Double.BYTES);
        ClassName string = ClassName.get(String.class);
        CLASSES.put(string, new Value.Direct(string, "String"));
        jdk("java.util", "UUID", 16);
        jdk("java.math", "BigInteger", 4);
        jdk("java.math", "BigDecimal", 8);
        jdk("java.time", "Duration", 12);
        jdk("java.time", "Instant", 12);
        jdk("java.time", "LocalDate", 8);
        jdk("java.time", "LocalTime", 8);
        jdk("java.time", "LocalDateTime", 16);
        jdk("java.time", "OffsetDateTime", 20);
        jdk("java.time", "OffsetTime", 12);
        jdk("java.time", "ZonedDateTime", 24);
        jdk("java.time", "Period", 12);
        jdk("java.time", "Year", 4);
        jdk("java.time", "YearMonth", 8);
        jdk("java.time", "MonthDay", 8);
        jdk("java.time", "ZoneOffset", 4);
        jdk("java.time", "ZoneId", 4);
        jdk("java.net", "URI", 4);
        jdk("java.util", "Currency", 4);
        jdk("java.util", "Locale", 4);
    }

    private StandardTypes() {}

    private static void primitive(TypeName type, String accessor, int bytes) {
        PRIMITIVES.put(type, new Value.Scalar(type, accessor, bytes));
        CLASSES.put(type.box(), new Value.Scalar(type.box(), accessor, bytes));
    }

    private static void jdk(String packageName, String name, int minBytes) {
        ClassName type = ClassName.get(packageName, name);
        CLASSES.put(type, new Value.Beside(type, RpcNames.JDK_VALUES, name, minBytes));
    }

    static Value scalar(TypeName primitive) {
        return PRIMITIVES.get(primitive);
    }

    static Value primitiveArray(TypeName component) {
        TypeName type = ArrayTypeName.of(component);
        String accessor = PRIMITIVES.get(component).accessor() + "s";
        return component.equals(TypeName.BYTE)
                ? new Value.Direct(type, accessor)
                : new Value.Beside(type, RpcNames.PRIMITIVE_ARRAYS, accessor, Integer.BYTES);
    }

    /** How a class of the JDK is encoded; empty for classes that are not in the table. */
    static Optional<Value> ofJdk(ClassName type) {
        return Optional.ofNullable(CLASSES.get(type));
    }

    /** A raw type with example type arguments. */
    static String example(String rawType) {
        return rawType + (rawType.equals("Map") ? "<String, Long>" : "<String>");
    }
}
