package dev.rackcall.samples.grpc.routeguide;

import dev.rackcall.samples.grpc.routeguide.proto.Feature;
import dev.rackcall.samples.grpc.routeguide.proto.Point;
import dev.rackcall.samples.grpc.routeguide.proto.Rectangle;
import java.util.List;
import java.util.Optional;

/** The features that the server knows, and the geometry of a sphere. */
final class Places {
    private static final double EARTH_RADIUS_METRES = 6_371_000;
    private static final double UNITS_PER_DEGREE = 1e7;

    private static final List<Feature> FEATURES = List.of(
            feature("Greenwich observatory", 51.4769, -0.0005),
            feature("Kew gardens", 51.4787, -0.2956),
            feature("Stonehenge", 51.1789, -1.8262),
            feature("Old Man of Hoy", 58.8864, -3.4316));

    private Places() {}

    static Point point(double latitude, double longitude) {
        return Point.newBuilder()
                .setLatitude((int) Math.round(latitude * UNITS_PER_DEGREE))
                .setLongitude((int) Math.round(longitude * UNITS_PER_DEGREE))
                .build();
    }

    private static Feature feature(String name, double latitude, double longitude) {
        return Feature.newBuilder()
                .setName(name)
                .setLocation(point(latitude, longitude))
                .build();
    }

    static Optional<Feature> at(Point point) {
        return FEATURES.stream()
                .filter(feature -> feature.getLocation().equals(point))
                .findFirst();
    }

    /** Returns the features in {@code area}, edges included; any two opposite corners give it. */
    static List<Feature> in(Rectangle area) {
        return FEATURES.stream()
                .filter(feature -> contains(area, feature.getLocation()))
                .toList();
    }

    private static boolean contains(Rectangle area, Point point) {
        Point one = area.getLo();
        Point other = area.getHi();
        return between(one.getLatitude(), point.getLatitude(), other.getLatitude())
                && between(one.getLongitude(), point.getLongitude(), other.getLongitude());
    }

    private static boolean between(int one, int value, int other) {
        return Math.min(one, other) <= value && value <= Math.max(one, other);
    }

    /** Returns the distance in metres along a great circle, by the haversine formula. */
    static double metres(Point from, Point to) {
        double latitude = radians(from.getLatitude());
        double otherLatitude = radians(to.getLatitude());
        double north = Math.sin((otherLatitude - latitude) / 2);
        double east = Math.sin((radians(to.getLongitude()) - radians(from.getLongitude())) / 2);
        double square = north * north + Math.cos(latitude) * Math.cos(otherLatitude) * east * east;
        return 2 * EARTH_RADIUS_METRES * Math.asin(Math.sqrt(square));
    }

    private static double radians(int units) {
        return Math.toRadians(units / UNITS_PER_DEGREE);
    }
}
