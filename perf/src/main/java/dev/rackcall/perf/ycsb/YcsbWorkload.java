package dev.rackcall.perf.ycsb;

import java.util.Locale;
import java.util.Properties;

/** The core workloads, with the properties of YCSB's own files. They run in this order, without a reload before E. */
enum YcsbWorkload {
    A("readproportion=0.5 updateproportion=0.5 requestdistribution=zipfian"),
    B("readproportion=0.95 updateproportion=0.05 requestdistribution=zipfian"),
    C("readproportion=1 updateproportion=0 requestdistribution=zipfian"),
    F("readproportion=0.5 updateproportion=0 readmodifywriteproportion=0.5 requestdistribution=zipfian"),
    D("readproportion=0.95 updateproportion=0 insertproportion=0.05 requestdistribution=latest"),
    E("readproportion=0 updateproportion=0 scanproportion=0.95 insertproportion=0.05 requestdistribution=zipfian"
            + " maxscanlength=100 scanlengthdistribution=uniform");

    /** Fields of a record, of 100 bytes each. */
    static final int FIELDS = 10;

    private final String settings;

    YcsbWorkload(String settings) {
        this.settings = settings;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Its properties for a store of so many records. */
    Properties properties(int records) {
        Properties properties = new Properties();
        properties.setProperty("recordcount", Integer.toString(records));
        properties.setProperty("operationcount", Integer.toString(records));
        properties.setProperty("fieldcount", Integer.toString(FIELDS));
        properties.setProperty("fieldlength", "100");
        for (String setting : settings.split(" ", -1)) {
            String[] nameAndValue = setting.split("=", 2);
            properties.setProperty(nameAndValue[0], nameAndValue[1]);
        }
        return properties;
    }
}
