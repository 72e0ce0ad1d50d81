package dev.rackcall.rpc.schema;

import java.util.ArrayList;
import java.util.List;

/**
 * The parsed layout of a shared type: {@code shop.Order{id:long@8}:16{note:->String@16}:24} has two versions. Names of
 * enums come with their constants: {@code color:enum shop.Color[RED,GREEN]@8}.
 *
 * @param versions the name and the fields of the first version, then the fields of each later one, without constants
 * @param constants of each enum in the order of the fields
 */
record SharedVersions(List<String> versions, List<String> constants) {
    private static final String ENUM = "enum ";

    static SharedVersions of(String layout) {
        List<String> constants = new ArrayList<>();
        String plain = withoutConstants(layout, constants);
        List<String> versions = new ArrayList<>();
        int from = 0;
        int depth = 0;
        boolean hasFields = false;
        for (int i = 0; i < plain.length(); i++) {
            char c = plain.charAt(i);
            if (c == '{') {
                if (depth == 0 && hasFields) {
                    versions.add(plain.substring(from, i));
                    from = i;
                }
                hasFields = true;
                depth++;
            } else if (c == '}') {
                depth--;
            }
        }
        versions.add(plain.substring(from));
        return new SharedVersions(List.copyOf(versions), List.copyOf(constants));
    }

    private static String withoutConstants(String layout, List<String> constants) {
        StringBuilder plain = new StringBuilder();
        int from = 0;
        int at = layout.indexOf(ENUM);
        while (at >= 0) {
            int open = layout.indexOf('[', at);
            int close = open < 0 ? -1 : layout.indexOf(']', open);
            if (close < 0) {
                break;
            }
            plain.append(layout, from, open);
            constants.add(layout.substring(open + 1, close));
            from = close + 1;
            at = layout.indexOf(ENUM, from);
        }
        return plain.append(layout, from, layout.length()).toString();
    }

    int count() {
        return versions.size();
    }

    /** Whether one layout, and each of its enums, is the beginning of the other. */
    boolean agreesWith(SharedVersions other) {
        int common = Math.min(versions.size(), other.versions.size());
        if (!versions.subList(0, common).equals(other.versions.subList(0, common))) {
            return false;
        }
        int enums = Math.min(constants.size(), other.constants.size());
        for (int i = 0; i < enums; i++) {
            if (!isBeginning(constants.get(i), other.constants.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isBeginning(String one, String other) {
        String shorter = one.length() <= other.length() ? one : other;
        String longer = one.length() <= other.length() ? other : one;
        return longer.equals(shorter) || longer.startsWith(shorter.isEmpty() ? shorter : shorter + ",");
    }
}
