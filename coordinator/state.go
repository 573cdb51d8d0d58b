package coordinator

// State is the state of a classic group, named as Kafka prints it.
//
//	   +--------- first member ---------+
//	   |                                v
//	Empty <---- nobody is left --- PreparingRebalance <---+
//	                                    |       ^         |
//	                        all joined, |       | member  | member comes, goes,
//	                        or too late |       | fails   | or changes its mind
//	                                    v       |         |
//	                          CompletingRebalance         |
//	                                    |                 |
//	                     leader's assignment stored --> Stable
//
// Stable never becomes Empty directly: the last member's departure passes through PreparingRebalance within one
// operation, so that the generation moves on. Dead is the name of a group that does not exist.
//
// Source: Kafka ClassicGroupState.
type State int8

// The states of a classic group.
const (
	Empty State = iota
	PreparingRebalance
	CompletingRebalance
	Stable
	Dead
)

// stateNames are the names on the wire (DescribeGroups, ListGroups).
var stateNames = [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"}

// stateWords are the names in notes, for people.
var stateWords = [...]string{"empty", "rebalancing", "completing the rebalance", "stable", "dead"}

// transitions lists for each state the states that may follow.
var transitions = [...][]State{
	Empty:               {PreparingRebalance, Dead},
	PreparingRebalance:  {CompletingRebalance, Empty, Dead},
	CompletingRebalance: {Stable, PreparingRebalance, Dead},
	Stable:              {PreparingRebalance, Dead},
	Dead:                {},
}

// String is the state's name on the wire.
func (s State) String() string { return stateNames[s] }

// mayBecome says whether a group in state s may enter state next.
func (s State) mayBecome(next State) bool {
	for _, t := range transitions[s] {
		if t == next {
			return true
		}
	}
	return false
}
