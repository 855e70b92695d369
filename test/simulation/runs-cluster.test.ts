import { failedRunClusterSeeds } from './failed-seeds.ts'
import { scenarioSuite } from './scenario-suite.ts'

// over that, lost questions between three processes, hand-overs and a directory that goes away
scenarioSuite({ scenario: 'runs', nodes: 3, failed: failedRunClusterSeeds, repeated: 3 })
