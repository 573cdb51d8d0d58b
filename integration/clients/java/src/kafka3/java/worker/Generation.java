package worker;

import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupListing;
import org.apache.kafka.common.utils.AppInfoParser;

/** What this generation of clients, before 4.1, calls otherwise than those from then on. */
final class Generation {
    private Generation() {}

    static String version() {
        return AppInfoParser.getVersion();
    }

    static List<String> list(Admin admin) throws ExecutionException, InterruptedException {
        return admin.listConsumerGroups().all().get().stream()
                .map(ConsumerGroupListing::groupId).sorted().toList();
    }

    static String state(ConsumerGroupDescription group) {
        return group.state().toString();
    }
}
