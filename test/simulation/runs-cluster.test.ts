import { failedRunClusterSeeds } from './failed-seeds.ts'
import { scenarioSuite } from './scenario-suite.ts'

// in addition: lost requests between three processes, hand-overs and outages of the directory
scenarioSuite({ scenario: 'runs', nodes: 3, failed: failedRunClusterSeeds })
