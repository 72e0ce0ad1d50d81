package dev.rackcall.verbs.generator;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** What castxml says about C headers: types with sizes and offsets, enumerations, functions. */
final class CastXml {
    /** A member of a struct that is not a struct itself, by its path from the outermost struct. */
    record Leaf(String path, long offset, Carrier carrier) {}

    /** A C function, or the function that a pointer in a struct points to. */
    record Function(String name, Carrier result, List<Carrier> parameters, List<String> names) {}

    /** The Java type that carries a C value. */
    enum Carrier {
        BYTE("byte", "JAVA_BYTE"),
        SHORT("short", "JAVA_SHORT"),
        INT("int", "JAVA_INT"),
        LONG("long", "JAVA_LONG"),
        VOID("void", ""),
        /** Arrays and types that are not looked into: only the offset counts. */
        OPAQUE("", "");

        final String java;
        final String layout;

        Carrier(String java, String layout) {
            this.java = java;
            this.layout = layout;
        }

        static Carrier ofBits(long bits) {
            return switch ((int) bits) {
                case 0 -> VOID;
                case 8 -> BYTE;
                case 16 -> SHORT;
                case 32 -> INT;
                case 64 -> LONG;
                default -> OPAQUE;
            };
        }
    }

    private final Map<String, Element> byId = new HashMap<>();
    private final Map<String, Element> structs = new HashMap<>();
    private final Map<String, Long> enumerators = new HashMap<>();
    private final Map<String, Element> functions = new HashMap<>();

    CastXml(Path file) throws Exception {
        Element root = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(file.toFile())
                .getDocumentElement();
        for (Element element : children(root)) {
            byId.put(element.getAttribute("id"), element);
            String name = element.getAttribute("name");
            switch (element.getTagName()) {
                case "Struct", "Union" -> structs.put(name, element);
                case "Enumeration" ->
                    children(element)
                            .forEach(value -> enumerators.put(
                                    value.getAttribute("name").replace("MACRO_", ""),
                                    Long.parseLong(value.getAttribute("init"))));
                case "Function" -> {
                    // Names with underscores first are what macros of the same name call.
                    if (!name.startsWith("_")) {
                        functions.put(Bindgen.camel(name), element);
                    }
                }
                default -> {}
            }
        }
    }

    Set<String> structs() {
        return new TreeSet<>(structs.keySet());
    }

    /** "struct" or "union". */
    String tag(String struct) {
        return find(structs, struct).getTagName().toLowerCase();
    }

    long bytes(String struct) {
        return Long.parseLong(find(structs, struct).getAttribute("size")) / 8;
    }

    long alignment(String struct) {
        return Long.parseLong(find(structs, struct).getAttribute("align")) / 8;
    }

    /** All leaves, those of nested structs and unions included. */
    List<Leaf> leaves(String struct) {
        List<Leaf> leaves = new ArrayList<>();
        collect(find(structs, struct), "", 0, leaves);
        return leaves;
    }

    private void collect(Element struct, String prefix, long base, List<Leaf> into) {
        for (String id : struct.getAttribute("members").split(" ")) {
            Element field = byId.get(id);
            if (field == null || !field.getTagName().equals("Field") || field.hasAttribute("bits")) {
                continue;
            }
            long offset = base + Long.parseLong(field.getAttribute("offset")) / 8;
            String name = field.getAttribute("name");
            Element type = resolve(field.getAttribute("type"));
            boolean group =
                    type.getTagName().equals("Struct") || type.getTagName().equals("Union");
            if (group && isOurs(type)) {
                collect(type, name.isEmpty() ? prefix : prefix + name + ".", offset, into);
            } else if (!name.isEmpty()) {
                into.add(new Leaf(prefix + name, offset, carrier(type)));
            }
        }
    }

    /** Structs of the system's headers, locks and socket addresses, are not looked into. */
    private static boolean isOurs(Element type) {
        String name = type.getAttribute("name");
        return name.isEmpty() || name.startsWith("ibv_");
    }

    long enumerator(String name) {
        return find(enumerators, name);
    }

    /** By its Java name. */
    Function function(String name) {
        Element function = find(functions, name);
        return function(function.getAttribute("name"), function);
    }

    /** The function that this member of a struct, by its Java name, points to. */
    Function pointed(String struct, String member) {
        for (String id : find(structs, struct).getAttribute("members").split(" ")) {
            Element field = byId.get(id);
            String name = field.getAttribute("name");
            if (!name.isEmpty() && Bindgen.camel(name).equals(member)) {
                Element pointer = resolve(field.getAttribute("type"));
                return function(name, resolve(pointer.getAttribute("type")));
            }
        }
        throw new IllegalArgumentException("struct " + struct + " has no member " + member);
    }

    private Function function(String name, Element function) {
        List<Carrier> parameters = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Element argument : children(function)) {
            if (!argument.getTagName().equals("Argument")) {
                throw new IllegalArgumentException(name + " takes a variable number of arguments");
            }
            parameters.add(carrier(resolve(argument.getAttribute("type"))));
            String given = argument.getAttribute("name");
            names.add(given.isEmpty() ? "argument" + names.size() : Bindgen.camel(given));
        }
        return new Function(name, carrier(resolve(function.getAttribute("returns"))), parameters, names);
    }

    private Carrier carrier(Element type) {
        return switch (type.getTagName()) {
            case "PointerType" -> Carrier.LONG;
            case "FundamentalType", "Enumeration" -> Carrier.ofBits(Long.parseLong(type.getAttribute("size")));
            default -> Carrier.OPAQUE;
        };
    }

    /** Past typedefs, qualifiers and elaborated names. */
    private Element resolve(String id) {
        Element type = byId.get(id);
        if (type == null) {
            // Qualified types have the id of what they qualify with a letter behind it.
            type = byId.get(id.replaceAll("[cvr]+$", ""));
        }
        return switch (type.getTagName()) {
            case "Typedef", "ElaboratedType", "CvQualifiedType" -> resolve(type.getAttribute("type"));
            default -> type;
        };
    }

    private static <T> T find(Map<String, T> all, String name) {
        T found = all.get(name);
        if (found == null) {
            throw new IllegalArgumentException("the headers do not declare " + name);
        }
        return found;
    }

    private static List<Element> children(Element parent) {
        List<Element> all = new ArrayList<>();
        for (Node child = parent.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child instanceof Element element) {
                all.add(element);
            }
        }
        return all;
    }
}
