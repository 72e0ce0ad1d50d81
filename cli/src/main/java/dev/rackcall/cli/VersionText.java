package dev.rackcall.cli;

import picocli.CommandLine.IVersionProvider;

/** Says which Rackcall runs on which Java on which system: the first line of every bug report. */
final class VersionText implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String version = VersionText.class.getPackage().getImplementationVersion();
        return new String[] {
            "rackcall " + (version == null ? "(not packaged)" : version),
            "JDK " + Runtime.version() + ", " + System.getProperty("java.vendor"),
            System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                    + System.getProperty("os.arch")
        };
    }
}
