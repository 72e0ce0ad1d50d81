package dev.rackcall.samples.documents;

import dev.rackcall.samples.documents.proto.DocumentsProto.PlainDocument;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainValue;
import dev.rackcall.shm.types.SharedInlineArray;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Makes protobuf messages of documents. An instance reads shared memory for one thread. */
public final class PlainDocuments {
    private final Cursors cursors = new Cursors();

    /** A message with the content of a Jackson tree. */
    public static PlainDocument of(JsonDocument document) {
        PlainDocument.Builder message = PlainDocument.newBuilder().setNumber(document.number());
        fill(message.getContentBuilder(), document.content());
        return message.build();
    }

    private static PlainValue.Builder fill(PlainValue.Builder into, JsonNode node) {
        switch (node.getNodeType()) {
            case OBJECT -> {
                into.setParent(PlainValue.Parent.OBJECT);
                for (Map.Entry<String, JsonNode> member : node.properties()) {
                    PlainValue.Builder child = PlainValue.newBuilder().setName(member.getKey());
                    into.addChildren(fill(child, member.getValue()).build());
                }
            }
            case ARRAY -> {
                into.setParent(PlainValue.Parent.ARRAY);
                for (JsonNode element : node.values()) {
                    into.addChildren(fill(PlainValue.newBuilder(), element).build());
                }
            }
            case STRING -> into.setText(node.stringValue());
            case NUMBER -> number(into, node);
            case BOOLEAN -> into.setTruth(node.booleanValue());
            default -> into.clearContent();
        }
        return into;
    }

    private static void number(PlainValue.Builder into, JsonNode node) {
        if (node.isIntegralNumber() && node.canConvertToLong()) {
            into.setWhole(node.longValue());
        } else if (node.isDouble() || JsonText.isDouble(node.decimalValue())) {
            into.setReal(node.doubleValue());
        } else {
            into.setDigits(JsonText.digits(node.decimalValue()));
        }
    }

    /** A message with the content of a document in shared memory. */
    public PlainDocument of(Document document) {
        PlainDocument.Builder message = PlainDocument.newBuilder().setNumber(document.number());
        fill(message.getContentBuilder(), cursors.root(document), 0);
        return message.build();
    }

    private PlainValue.Builder fill(PlainValue.Builder into, JsonValue value, int depth) {
        switch (value.kind()) {
            case OBJECT -> {
                into.setParent(PlainValue.Parent.OBJECT);
                SharedInlineArray<JsonValue> members = cursors.children(value, depth);
                for (int i = 0; i < members.length(); i++) {
                    JsonValue member = cursors.child(members, i, depth);
                    PlainValue.Builder child =
                            PlainValue.newBuilder().setName(cursors.name(member).toString());
                    into.addChildren(fill(child, member, depth + 1).build());
                }
            }
            case ARRAY -> {
                into.setParent(PlainValue.Parent.ARRAY);
                SharedInlineArray<JsonValue> elements = cursors.children(value, depth);
                for (int i = 0; i < elements.length(); i++) {
                    JsonValue element = cursors.child(elements, i, depth);
                    into.addChildren(
                            fill(PlainValue.newBuilder(), element, depth + 1).build());
                }
            }
            case TEXT -> into.setText(cursors.text(value).toString());
            case DECIMAL -> into.setDigits(cursors.text(value).toString());
            case INTEGER -> into.setWhole(value.bits());
            case DOUBLE -> into.setReal(Double.longBitsToDouble(value.bits()));
            case BOOLEAN -> into.setTruth(value.bits() != 0);
            case NULL -> into.clearContent();
        }
        return into;
    }
}
