package worker;

import java.util.List;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/** What this generation of clients, from 4.1 on, calls otherwise than those before. */
final class Generation {
    private Generation() {}

    static String version() {
        return AppInfoParser.getVersion();
    }

    static List<String> list(Admin admin) throws ExecutionException, InterruptedException {
        return admin.listGroups(ListGroupsOptions.forConsumerGroups()).all().get().stream()
                .map(GroupListing::groupId).sorted().toList();
    }

    static String state(ConsumerGroupDescription group) {
        return group.groupState().toString();
    }
}
