package dev.rackcall.rdma.sending;

/** A sending half for peers that always look. */
final class PlainSending extends Sending {
    private int helped;

    PlainSending(Connection connection, ConnectionMemory memory, SendQueue queue, int batch) {
        super(connection, memory, queue, batch);
    }

    /** How often it has asked for help. */
    int helped() {
        return helped;
    }

    /** Gives it. */
    void help() {
        locked(() -> {
            out.drain(System.nanoTime());
            return true;
        });
    }

    @Override
    public boolean publish(long offset, long value, boolean urgent) {
        return locked(() -> out.isAlive()
                && out.add(requests.write(offset, Long.BYTES).inline(value).signaled())
                && out.flush());
    }

    @Override
    public boolean tell(long number) {
        throw new UnsupportedOperationException("nobody is told anything");
    }

    @Override
    protected boolean wantsHelp() {
        return helped == 0 && out.isHeldUp();
    }

    @Override
    protected void askForHelp() {
        helped++;
    }

    @Override
    public void close() {
        locked(() -> {
            out.close();
            return true;
        });
    }
}
