package dev.rackcall.rpc.spi;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.URI;
import java.util.Optional;

/** Turns the address at which a server listens into the one that is announced to other hosts. */
public final class HostAddress {
    private HostAddress() {}

    /**
     * The announced form of a listening address: a wildcard address becomes the first address of this host that other
     * hosts can reach, and the scheme names the device that clients need.
     */
    public static URI announced(URI listening) {
        URI reachable = reachable(listening);
        return CarrierProvider.of(reachable)
                .map(provider -> provider.announced(reachable))
                .orElse(reachable);
    }

    /** Whether clients of an announced address need a hardware device. */
    public static boolean isHardware(URI announced) {
        return CarrierProvider.of(announced)
                .filter(provider -> provider.isHardware(announced))
                .isPresent();
    }

    private static URI reachable(URI listening) {
        if (!isAnyLocal(listening.getHost())) {
            return listening;
        }
        String host = firstOfThisHost().map(InetAddress::getHostAddress).orElse("127.0.0.1");
        return URI.create(listening.getScheme() + "://" + host + ":" + listening.getPort());
    }

    /** Does not resolve names: a name of the control plane may be unknown to DNS. */
    private static boolean isAnyLocal(String host) {
        try {
            return InetAddress.ofLiteral(host).isAnyLocalAddress();
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static Optional<InetAddress> firstOfThisHost() {
        try {
            return NetworkInterface.networkInterfaces()
                    .filter(HostAddress::isUp)
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                    .findFirst();
        } catch (SocketException e) {
            return Optional.empty();
        }
    }

    private static boolean isUp(NetworkInterface each) {
        try {
            return each.isUp() && !each.isLoopback();
        } catch (SocketException e) {
            return false;
        }
    }
}
