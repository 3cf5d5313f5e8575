package dev.podfate;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A request of an operation: its members by name, as the schemas have them. Requests do not change; each method returns another one.
 * Values are maps, lists, texts, numbers, booleans and null, as readers of YAML and JSON give them.
 */
public final class Request {
    private final Map<String, Object> members;

    private Request(Map<String, Object> members) {
        this.members = members;
    }

    /** A request without members, for {@code curve} and {@code describe}.
     *
     * @return a request
     */
    public static Request empty() {
        return new Request(Map.of());
    }

    /** A request about a manifest.
     *
     * @param manifest a Pod, a Job or whatever {@code describe} lists, as JSON; it is sent as it is
     * @return a request
     * @throws PolicyException if the text is not one JSON value
     */
    public static Request of(String manifest) {
        return empty().withJson("manifest", manifest);
    }

    /** A request about a manifest.
     *
     * @param manifest a Pod, a Job or whatever {@code describe} lists, as a reader of YAML gives it
     * @return a request
     */
    public static Request of(Map<String, ?> manifest) {
        return empty().with("manifest", manifest);
    }

    /** The same request for a release of Kubernetes with its default feature gates; without it the newest release is assumed.
     *
     * @param version such as {@code 1.36}
     * @return another request
     */
    public Request cluster(String version) {
        return with("cluster", Map.of("version", version));
    }

    /** The same request with these exits.
     *
     * @param exits what ended, in order
     * @return another request
     */
    public Request exits(List<Exit> exits) {
        return with("exits", exits.stream().map(Exit::json).toList());
    }

    /** The same request with another member: {@code cluster}, {@code pods}, {@code runs}, {@code until}, {@code fieldValidation} and so on.
     *
     * @param member its name
     * @param value its value
     * @return another request
     */
    public Request with(String member, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(members);
        more.put(member, value);
        return new Request(more);
    }

    /** The same request with another member, given as JSON.
     *
     * @param member its name
     * @param json its value; it is sent as it is
     * @return another request
     * @throws PolicyException if the text is not one JSON value: it could say more than this member
     */
    public Request withJson(String member, String json) {
        try {
            Json.parse(json);
        } catch (Json.Malformed e) {
            String message = e.getMessage() + " at character " + e.offset;
            if (e.deep) {
                throw new LimitException(new PodfateException.Details("LIMIT_EXCEEDED", 6, message, member, -1, "jsonDepth", List.of()));
            }
            throw new PolicyException(new PodfateException.Details("BAD_JSON", 1, message, member, -1, "", List.of()));
        }
        return with(member, new Json.Raw(json));
    }

    boolean has(String member) {
        return members.containsKey(member);
    }

    /** The request as it is sent.
     *
     * @return JSON in UTF-8
     * @throws IllegalArgumentException if a value has no JSON: NaN, half of a surrogate pair, an object of another class
     */
    public byte[] bytes() {
        return encode(members);
    }

    static byte[] encode(Map<String, Object> value) {
        StringBuilder out = new StringBuilder(256);
        Json.write(out, value);
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(out));
            byte[] exact = new byte[bytes.remaining()];
            bytes.get(exact);
            return exact;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a text has half of a surrogate pair", e);
        }
    }
}
