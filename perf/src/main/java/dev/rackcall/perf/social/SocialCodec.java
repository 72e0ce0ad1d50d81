package dev.rackcall.perf.social;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import dev.rackcall.perf.peers.BytesMarshaller;
import dev.rackcall.perf.social.SocialApi.ComposedText;
import dev.rackcall.perf.social.SocialApi.Creator;
import dev.rackcall.perf.social.SocialApi.Draft;
import dev.rackcall.perf.social.SocialApi.Entry;
import dev.rackcall.perf.social.SocialApi.Post;
import dev.rackcall.perf.social.SocialApi.Range;
import dev.rackcall.perf.social.SocialApi.ShortUrl;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Messages of grpc-java in protobuf's primitive encodings, straight from and to records. Generated message classes
 * would add objects and the numbers of fields, so this flatters gRPC.
 */
record SocialCodec<T>(Writer<T> writer, Reader<T> reader) implements MethodDescriptor.Marshaller<T> {
    interface Writer<T> {
        void write(CodedOutputStream out, T value) throws IOException;
    }

    interface Reader<T> {
        T read(CodedInputStream in) throws IOException;
    }

    private static final int LONGEST = 1 << 20;
    private static final BytesMarshaller BYTES = new BytesMarshaller();
    private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[LONGEST]);

    static final SocialCodec<Long> LONG =
            new SocialCodec<>(CodedOutputStream::writeInt64NoTag, CodedInputStream::readInt64);
    static final SocialCodec<List<Long>> LONGS = LONG.list();
    static final SocialCodec<Integer> INT =
            new SocialCodec<>(CodedOutputStream::writeInt32NoTag, CodedInputStream::readInt32);
    static final SocialCodec<String> STRING =
            new SocialCodec<>(CodedOutputStream::writeStringNoTag, CodedInputStream::readStringRequireUtf8);
    static final SocialCodec<Draft> DRAFT = new SocialCodec<>(
            (out, draft) -> {
                out.writeStringNoTag(draft.author());
                out.writeStringNoTag(draft.text());
            },
            in -> new Draft(in.readStringRequireUtf8(), in.readStringRequireUtf8()));
    static final SocialCodec<Creator> CREATOR = new SocialCodec<>(
            (out, creator) -> {
                out.writeInt64NoTag(creator.id());
                out.writeStringNoTag(creator.name());
            },
            in -> new Creator(in.readInt64(), in.readStringRequireUtf8()));
    static final SocialCodec<ShortUrl> URL = new SocialCodec<>(
            (out, url) -> {
                out.writeStringNoTag(url.url());
                out.writeStringNoTag(url.shortened());
            },
            in -> new ShortUrl(in.readStringRequireUtf8(), in.readStringRequireUtf8()));
    static final SocialCodec<List<Creator>> CREATORS = CREATOR.list();
    static final SocialCodec<List<ShortUrl>> URLS = URL.list();
    static final SocialCodec<ComposedText> TEXT = new SocialCodec<>(
            (out, text) -> {
                out.writeStringNoTag(text.text());
                CREATORS.writer.write(out, text.mentions());
                URLS.writer.write(out, text.urls());
            },
            in -> new ComposedText(in.readStringRequireUtf8(), CREATORS.reader.read(in), URLS.reader.read(in)));
    static final SocialCodec<Post> POST = new SocialCodec<>(
            (out, post) -> {
                out.writeInt64NoTag(post.id());
                CREATOR.writer.write(out, post.creator());
                TEXT.writer.write(out, post.text());
                out.writeInt64NoTag(post.timestamp());
            },
            in -> new Post(in.readInt64(), CREATOR.reader.read(in), TEXT.reader.read(in), in.readInt64()));
    static final SocialCodec<Entry> ENTRY = new SocialCodec<>(
            (out, entry) -> {
                out.writeInt64NoTag(entry.post());
                out.writeInt64NoTag(entry.user());
                LONGS.writer.write(out, entry.mentioned());
            },
            in -> new Entry(in.readInt64(), in.readInt64(), LONGS.reader.read(in)));
    static final SocialCodec<Range> RANGE = new SocialCodec<>(
            (out, range) -> {
                out.writeInt64NoTag(range.user());
                out.writeInt32NoTag(range.start());
                out.writeInt32NoTag(range.stop());
            },
            in -> new Range(in.readInt64(), in.readInt32(), in.readInt32()));

    /** The codec of lists. */
    SocialCodec<List<T>> list() {
        return new SocialCodec<>(
                (out, values) -> {
                    out.writeInt32NoTag(values.size());
                    for (T value : values) {
                        writer.write(out, value);
                    }
                },
                in -> {
                    int size = in.readInt32();
                    List<T> values = new ArrayList<>(size);
                    for (int i = 0; i < size; i++) {
                        values.add(reader.read(in));
                    }
                    return values;
                });
    }

    @Override
    public InputStream stream(T value) {
        byte[] buffer = BUFFER.get();
        CodedOutputStream out = CodedOutputStream.newInstance(buffer);
        try {
            writer.write(out, value);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return BYTES.stream(Arrays.copyOf(buffer, out.getTotalBytesWritten()));
    }

    @Override
    public T parse(InputStream stream) {
        try {
            return reader.read(CodedInputStream.newInstance(BYTES.parse(stream)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
