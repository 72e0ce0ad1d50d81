package dev.rackcall.samples.documents;

import dev.rackcall.samples.documents.proto.DocumentsProto.PlainDocument;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainValue;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Makes protobuf messages of documents. */
public final class PlainDocuments {
    private PlainDocuments() {}

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
}
