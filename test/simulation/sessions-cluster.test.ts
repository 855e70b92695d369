import { failedClusterSeeds } from './failed-seeds.ts'
import { scenarioSuite } from './scenario-suite.ts'

// over that, lost questions between three processes, hand-overs and a directory that goes away
scenarioSuite({ scenario: 'sessions', nodes: 3, failed: failedClusterSeeds, repeated: 3 })
